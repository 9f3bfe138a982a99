//! Converts a checked document to types.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toml_edit::{Item, TableLike, Value};

use super::check::{key_position, start};
use super::fields::PATHS;
use super::spec::parse_timeout;
use super::{Merge, Need, NodeCommand, NodeSpec, PlanFile, RootSpec};
use crate::Position;
use crate::problem::LineIndex;

/// Converts a document without problems.
pub(super) fn plan(file: &Path, index: &LineIndex<'_>, plan: &dyn TableLike) -> PlanFile {
    let defaults = plan.get("defaults").and_then(Item::as_table_like);
    let tables = |name| plan.get(name).and_then(Item::as_table_like);
    let roots = tables("roots")
        .map(|roots| roots.iter().map(|(name, item)| (name.to_owned(), root(index, roots, name, item))));
    let nodes = tables("nodes").map(|nodes| {
        nodes.iter().filter_map(|(name, item)| {
            let fields = Fields { index, own: item.as_table_like()?, defaults };
            Some(fields.node(name, key_position(index, nodes, name)))
        })
    });
    let merge = plan.get("merge").and_then(Item::as_str);
    PlanFile {
        file: file.to_owned(),
        name: plan.get("name").and_then(Item::as_str).map(str::to_owned),
        roots: roots.into_iter().flatten().collect(),
        nodes: in_order(nodes.into_iter().flatten().collect()),
        concurrency: plan.get("concurrency").and_then(Item::as_integer).map(|count| count as usize),
        fail_fast: plan.get("fail-fast").and_then(Item::as_bool).unwrap_or(false),
        merge: Merge::ALL.into_iter().find(|known| Some(known.name()) == merge),
    }
}

/// Sorts nodes by position: the parser's tables may have another order.
fn in_order(mut nodes: Vec<NodeSpec>) -> Vec<NodeSpec> {
    nodes.sort_by_key(|node| node.position);
    nodes
}

fn root(index: &LineIndex<'_>, roots: &dyn TableLike, name: &str, item: &Item) -> RootSpec {
    let path = item.get("path").and_then(Item::as_str).unwrap_or_default();
    RootSpec { path: PathBuf::from(path), position: key_position(index, roots, name) }
}

/// The fields of a node and their defaults.
struct Fields<'a> {
    index: &'a LineIndex<'a>,
    own: &'a dyn TableLike,
    defaults: Option<&'a dyn TableLike>,
}

impl Fields<'_> {
    fn node(&self, name: &str, position: Position) -> NodeSpec {
        let text = |name| self.get(name).and_then(Item::as_str).map(str::to_owned);
        NodeSpec {
            name: name.to_owned(),
            position,
            run: self.run(),
            needs: self.needs(),
            root: text("root"),
            // `.` is the root itself.
            workdir: text("workdir").filter(|path| path != ".").map(PathBuf::from),
            env: self.env(),
            stdin: text("stdin"),
            timeout: text("timeout").as_deref().and_then(parse_timeout),
            retries: self.get("retries").and_then(Item::as_integer).unwrap_or(0) as u32,
            paths: self.paths().map(texts),
            continue_on_error: self.get("continue-on-error").and_then(Item::as_bool).unwrap_or(false),
        }
    }

    fn get(&self, name: &str) -> Option<&Item> {
        self.own.get(name).or_else(|| self.defaults?.get(name))
    }

    /// The `paths`, also under their old name.
    fn paths(&self) -> Option<&Item> {
        let tables = [Some(self.own), self.defaults].into_iter().flatten();
        tables.flat_map(|table| PATHS.names().map(move |name| table.get(name))).flatten().next()
    }

    fn run(&self) -> NodeCommand {
        match self.own.get("run").and_then(Item::as_str) {
            Some(line) => NodeCommand::Shell(line.to_owned()),
            None => NodeCommand::Program(self.own.get("run").map(texts).unwrap_or_default()),
        }
    }

    fn needs(&self) -> Vec<Need> {
        let array = self.own.get("needs").and_then(Item::as_array);
        let needs = array.into_iter().flatten();
        needs
            .map(|value| Need {
                name: value.as_str().unwrap_or_default().to_owned(),
                position: self.index.position(start(value.span())),
            })
            .collect()
    }

    /// The variables of both; those of the node override the defaults.
    fn env(&self) -> BTreeMap<String, String> {
        let tables = self.defaults.into_iter().chain([self.own]);
        let variables = tables.filter_map(|table| table.get("env")?.as_table_like());
        variables
            .flat_map(|table| table.iter())
            .map(|(name, value)| (name.to_owned(), value.as_str().unwrap_or_default().to_owned()))
            .collect()
    }
}

fn texts(item: &Item) -> Vec<String> {
    let values = item.as_array().into_iter().flatten();
    values.filter_map(Value::as_str).map(str::to_owned).collect()
}
