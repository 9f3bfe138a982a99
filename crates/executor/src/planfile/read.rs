//! From a checked file to what it says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toml_edit::{Item, TableLike, Value};

use super::check::{place_of_key, start};
use super::spec::parse_timeout;
use super::{Merge, Need, NodeSpec, PlanFile, RootSpec, Run};
use crate::Place;
use crate::problem::Text;

/// What a file says that has no problems.
pub(super) fn plan(file: &Path, text: &Text<'_>, plan: &dyn TableLike) -> PlanFile {
    let defaults = plan.get("defaults").and_then(Item::as_table_like);
    let tables = |name| plan.get(name).and_then(Item::as_table_like);
    let roots = tables("roots")
        .map(|roots| roots.iter().map(|(name, item)| (name.to_owned(), root(text, roots, name, item))));
    let nodes = tables("nodes").map(|nodes| {
        nodes.iter().filter_map(|(name, item)| {
            let fields = Fields { text, own: item.as_table_like()?, defaults };
            Some(fields.node(name, place_of_key(text, nodes, name)))
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

/// The order of the file, which the parser's tables need not have.
fn in_order(mut nodes: Vec<NodeSpec>) -> Vec<NodeSpec> {
    nodes.sort_by_key(|node| node.place);
    nodes
}

fn root(text: &Text<'_>, roots: &dyn TableLike, name: &str, item: &Item) -> RootSpec {
    let path = item.get("path").and_then(Item::as_str).unwrap_or_default();
    RootSpec { path: PathBuf::from(path), place: place_of_key(text, roots, name) }
}

/// The fields of a node, over the defaults.
struct Fields<'a> {
    text: &'a Text<'a>,
    own: &'a dyn TableLike,
    defaults: Option<&'a dyn TableLike>,
}

impl Fields<'_> {
    fn node(&self, name: &str, place: Place) -> NodeSpec {
        let text = |name| self.get(name).and_then(Item::as_str).map(str::to_owned);
        NodeSpec {
            name: name.to_owned(),
            place,
            run: self.run(),
            needs: self.needs(),
            root: text("root"),
            // The root itself is written as people write it, and kept as nothing.
            workdir: text("workdir").filter(|path| path != ".").map(PathBuf::from),
            env: self.env(),
            stdin: text("stdin"),
            timeout: text("timeout").as_deref().and_then(parse_timeout),
            retries: self.get("retries").and_then(Item::as_integer).unwrap_or(0) as u32,
            writes: self.get("writes").map(texts),
            continue_on_error: self.get("continue-on-error").and_then(Item::as_bool).unwrap_or(false),
        }
    }

    fn get(&self, name: &str) -> Option<&Item> {
        self.own.get(name).or_else(|| self.defaults?.get(name))
    }

    fn run(&self) -> Run {
        match self.own.get("run").and_then(Item::as_str) {
            Some(line) => Run::Shell(line.to_owned()),
            None => Run::Program(self.own.get("run").map(texts).unwrap_or_default()),
        }
    }

    fn needs(&self) -> Vec<Need> {
        let array = self.own.get("needs").and_then(Item::as_array);
        let needs = array.into_iter().flatten();
        needs
            .map(|value| Need {
                name: value.as_str().unwrap_or_default().to_owned(),
                place: self.text.place(start(value.span())),
            })
            .collect()
    }

    /// The variables of both, a node's own over the defaults.
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
