//! One command as a plan file, so that there is one way to run things.

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, value};

use super::fields::is_name;

/// The name of a node whose program has no name that could be one.
const NAMELESS: &str = "actor";

/// One actor, as a command line describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OneCommand {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// The node's name; that of the program when not given.
    pub node: Option<String>,
    /// How long it may take, as people write it.
    pub timeout: Option<String>,
    /// How often it is started again when it fails.
    pub retries: u32,
    /// Patterns of the paths that it may change; all when there are none.
    pub writes: Vec<String>,
    /// What is added to the environment.
    pub env: Vec<(String, String)>,
}

/// The text of a plan file with this one node.
pub fn plan_of_command(command: &OneCommand) -> String {
    let mut node = Table::new();
    node.insert("run", value(command.words.iter().collect::<Array>()));
    if let Some(timeout) = &command.timeout {
        node.insert("timeout", value(timeout));
    }
    if command.retries > 0 {
        node.insert("retries", value(i64::from(command.retries)));
    }
    if !command.writes.is_empty() {
        node.insert("writes", value(command.writes.iter().collect::<Array>()));
    }
    if !command.env.is_empty() {
        let variables = command.env.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        node.insert("env", value(variables.collect::<InlineTable>()));
    }
    let program = command.words.first().map(String::as_str).unwrap_or_default();
    let program = program.rsplit('/').next().filter(|name| is_name(name)).unwrap_or(NAMELESS);
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
    use crate::{PlanFile, Run};

    #[test]
    fn a_command_is_a_plan_of_one_node() {
        let words = ["/usr/bin/sed", "-i", "s/\"a\"/'b'\n/", ""].map(str::to_owned).to_vec();
        let command = OneCommand {
            words: words.clone(),
            timeout: Some("90s".to_owned()),
            retries: 2,
            writes: vec!["src/**".to_owned()],
            env: vec![("A B".to_owned(), "x=\"y\"".to_owned())],
            ..OneCommand::default()
        };
        let text = plan_of_command(&command);
        let plan = PlanFile::parse(Path::new("command"), &text).unwrap();
        let [node] = plan.nodes.as_slice() else { panic!("one node") };
        assert_eq!((node.name.as_str(), &node.run), ("sed", &Run::Program(words)));
        assert_eq!((node.timeout, node.retries), (Some(Duration::from_secs(90)), 2));
        assert_eq!(node.writes.as_deref(), Some(&["src/**".to_owned()][..]));
        assert_eq!(node.env["A B"], "x=\"y\"");
    }

    #[test]
    fn a_node_always_has_a_name() {
        let named = |word: &str, node: Option<&str>| {
            let words = vec![word.to_owned()];
            let command = OneCommand { words, node: node.map(str::to_owned), ..OneCommand::default() };
            PlanFile::parse(Path::new("command"), &plan_of_command(&command)).unwrap().nodes[0].name.clone()
        };
        assert_eq!(named("./a b", None), "actor");
        assert_eq!(named("bin/true", None), "true");
        assert_eq!(named("true", Some("mine")), "mine");
    }
}
