//! A single command as a plan file, so that there is one way to run actors.

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, value};

use super::fields::is_name;

/// Stands for the path of the plan file of a single command.
pub const COMMAND_LINE: &str = "(command line)";

/// Name of a node whose program has no valid name.
const DEFAULT_NAME: &str = "actor";

/// A single actor, as the command line describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SingleCommand {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// Name of the node; default: name of the program.
    pub node: Option<String>,
    /// Timeout, such as `90s`.
    pub timeout: Option<String>,
    /// Number of retries after a failure.
    pub retries: u32,
    /// Patterns of paths that it may change; all if empty.
    pub paths: Vec<String>,
    /// Additions to the environment.
    pub env: Vec<(String, String)>,
}

/// Makes the text of a plan file with this single node.
pub fn plan_file_for_command(command: &SingleCommand) -> String {
    let mut node = Table::new();
    node.insert("run", value(command.words.iter().collect::<Array>()));
    if let Some(timeout) = &command.timeout {
        node.insert("timeout", value(timeout));
    }
    if command.retries > 0 {
        node.insert("retries", value(i64::from(command.retries)));
    }
    if !command.paths.is_empty() {
        node.insert("paths", value(command.paths.iter().collect::<Array>()));
    }
    if !command.env.is_empty() {
        let variables = command.env.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        node.insert("env", value(variables.collect::<InlineTable>()));
    }
    let program = command.words.first().map(String::as_str).unwrap_or_default();
    let program = program.rsplit('/').next().filter(|name| is_name(name)).unwrap_or(DEFAULT_NAME);
    let mut nodes = Table::new();
    nodes.set_implicit(true);
    nodes.insert(command.node.as_deref().unwrap_or(program), Item::Table(node));
    let mut document = DocumentMut::new();
    document.insert("nodes", Item::Table(nodes));
    document.to_string()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::*;
    use crate::{NodeCommand, PlanFile};

    #[test]
    fn a_command_is_a_plan_of_one_node() {
        let words = ["/usr/bin/sed", "-i", "s/\"a\"/'b'\n/", ""].map(str::to_owned).to_vec();
        let command = SingleCommand {
            words: words.clone(),
            timeout: Some("90s".to_owned()),
            retries: 2,
            paths: vec!["src/**".to_owned()],
            env: vec![("A B".to_owned(), "x=\"y\"".to_owned())],
            ..SingleCommand::default()
        };
        let text = plan_file_for_command(&command);
        let plan = PlanFile::parse(Path::new("command"), &text).unwrap();
        let [node] = plan.nodes.as_slice() else { panic!("one node") };
        assert_eq!((node.name.as_str(), &node.run), ("sed", &NodeCommand::Program(words)));
        assert_eq!((node.timeout, node.retries), (Some(Duration::from_secs(90)), 2));
        assert_eq!(node.paths.as_deref(), Some(&["src/**".to_owned()][..]));
        assert_eq!(node.env["A B"], "x=\"y\"");
    }

    #[test]
    fn a_node_always_has_a_name() {
        let named = |word: &str, node: Option<&str>| {
            let words = vec![word.to_owned()];
            let command = SingleCommand { words, node: node.map(str::to_owned), ..SingleCommand::default() };
            PlanFile::parse(Path::new("command"), &plan_file_for_command(&command)).unwrap().nodes[0]
                .name
                .clone()
        };
        assert_eq!(named("./a b", None), "actor");
        assert_eq!(named("bin/true", None), "true");
        assert_eq!(named("true", Some("mine")), "mine");
    }
}
