//! Checks the fields of a plan file and their values.

use std::ops::Range;

use plan::Patterns;
use toml_edit::{Item, TableLike, Value};

use super::fields::{Field, NAME_BYTES_MAX, PLAN, Shape, is_name};
use super::spec::parse_timeout;
use super::{NODES_MAX, NodeCommand, NodeSpec, PlanFile};
use crate::problem::{LineIndex, suggestion};
use crate::{Position, Problem};

/// Finds unknown, missing and mistyped fields.
pub(super) fn shape_problems(index: &LineIndex<'_>, plan: &dyn TableLike) -> Vec<Problem> {
    let mut check = Check { index, problems: Vec::new() };
    check.table(plan, PLAN, "the file", index.position(0));
    if let Some(nodes) = plan.get("nodes").and_then(Item::as_table_like) {
        let at = key_position(index, plan, "nodes");
        match nodes.len() {
            0 => check.problems.push(Problem::new(at, "there are no nodes")),
            many if many > NODES_MAX => {
                check
                    .problems
                    .push(Problem::new(at, format!("{many} nodes exceed the limit of {NODES_MAX}")));
            }
            _ => {}
        }
    }
    check.problems
}

/// The position of a key in its table; the start of the text for an implicit table.
pub(super) fn key_position(index: &LineIndex<'_>, table: &dyn TableLike, name: &str) -> Position {
    let span = table.key(name).and_then(toml_edit::Key::span);
    index.position(start(span.or_else(|| table.get(name).and_then(Item::span))))
}

pub(super) fn start(span: Option<Range<usize>>) -> usize {
    span.unwrap_or_default().start
}

struct Check<'a> {
    index: &'a LineIndex<'a>,
    problems: Vec<Problem>,
}

impl Check<'_> {
    fn table(&mut self, table: &dyn TableLike, fields: &[Field], what: &str, position: Position) {
        for (name, item) in table.iter() {
            match fields.iter().find(|field| field.names().any(|known| known == name)) {
                Some(field) => self.field(table, field, name, item),
                None => {
                    let hint = suggestion(name, fields.iter().map(|field| field.name));
                    let position = key_position(self.index, table, name);
                    self.problems.push(Problem::new(position, format!("unknown field `{name}`")).hint(hint));
                }
            }
        }
        for field in fields.iter().filter(|field| field.required && !table.contains_key(field.name)) {
            self.problems
                .push(Problem::new(position, format!("{what} has no `{}`: {}", field.name, field.help)));
        }
    }

    fn field(&mut self, table: &dyn TableLike, field: &Field, name: &str, item: &Item) {
        if name != field.name && table.contains_key(field.name) {
            let position = key_position(self.index, table, name);
            let message = format!("`{name}` is the old name of `{}`: give one of them", field.name);
            self.problems.push(Problem::new(position, message));
        }
        let value = item.as_value();
        let text = value.and_then(Value::as_str);
        let expected = match field.shape {
            Shape::Text => text.is_none().then(|| "a text".to_owned()),
            Shape::Flag => item.as_bool().is_none().then(|| "true or false".to_owned()),
            Shape::Count { min, max } => {
                let fits = item.as_integer().is_some_and(|count| (min..=max).contains(&count));
                (!fits).then(|| format!("a number from {min} to {max}"))
            }
            Shape::Duration => text
                .and_then(parse_timeout)
                .is_none()
                .then(|| "a duration such as \"90s\" or \"1h30m\", of a year at most".to_owned()),
            Shape::Word(words) => {
                let words = words();
                let fits = text.is_some_and(|text| words.contains(&text));
                (!fits).then(|| format!("one of {}", words.join(", ")))
            }
            Shape::Texts => (!value.is_some_and(is_texts)).then(|| "an array of texts".to_owned()),
            Shape::Command => {
                let fits = text.is_some_and(|line| !line.trim().is_empty())
                    || value.is_some_and(|value| {
                        is_texts(value) && !value.as_array().is_some_and(|a| a.is_empty())
                    });
                (!fits).then(|| "a line for the shell, or an array of a program and its arguments".to_owned())
            }
            Shape::Variables => match item.as_table_like() {
                Some(table) if table.iter().all(|(_, item)| item.as_str().is_some()) => None,
                _ => Some("a table of texts".to_owned()),
            },
            Shape::Table(fields) => match item.as_table_like() {
                Some(inner) => {
                    let position = key_position(self.index, table, name);
                    self.table(inner, fields, &format!("`{name}`"), position);
                    None
                }
                None => Some("a table".to_owned()),
            },
            Shape::Tables(fields) => match item.as_table_like() {
                Some(inner) => {
                    self.tables(inner, fields);
                    None
                }
                None => Some("a table of tables".to_owned()),
            },
        };
        if let Some(expected) = expected {
            let position = match item.span() {
                Some(span) => self.index.position(span.start),
                None => key_position(self.index, table, name),
            };
            self.problems.push(Problem::new(position, format!("`{name}` is not {expected}")));
        }
    }

    /// Checks tables with names chosen by people.
    fn tables(&mut self, tables: &dyn TableLike, fields: &[Field]) {
        for (name, item) in tables.iter() {
            let position = key_position(self.index, tables, name);
            if !is_name(name) {
                let message = format!(
                    "`{name}` is not a name: use up to {NAME_BYTES_MAX} letters, digits, `_`, `-` and `.`, and do not start with `-` or `.`"
                );
                self.problems.push(Problem::new(position, message));
            }
            match item.as_table_like() {
                Some(table) => self.table(table, fields, &format!("`{name}`"), position),
                None => self.problems.push(Problem::new(position, format!("`{name}` is not a table"))),
            }
        }
    }
}

fn is_texts(value: &Value) -> bool {
    value.as_array().is_some_and(|array| array.iter().all(Value::is_str))
}

/// Finds invalid values in fields of the right shape.
pub(super) fn value_problems(plan: &PlanFile) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, root) in &plan.roots {
        if root.path.as_os_str().is_empty() {
            problems.push(Problem::new(root.position, format!("the path of root `{name}` is empty")));
        }
    }
    for node in &plan.nodes {
        problems.extend(
            node_problems(node)
                .into_iter()
                .map(|message| Problem::new(node.position, format!("node `{}`: {message}", node.name))),
        );
    }
    problems
}

fn node_problems(node: &NodeSpec) -> Vec<String> {
    let mut problems = Vec::new();
    let words = match &node.run {
        NodeCommand::Shell(line) => std::slice::from_ref(line),
        NodeCommand::Program(words) => words,
    };
    if words.iter().any(|word| word.contains('\0')) {
        problems.push("`run` contains a NUL character".to_owned());
    }
    if words[0].is_empty() {
        problems.push("`run` has no program".to_owned());
    }
    if let Some(workdir) = &node.workdir
        && let Err(error) = filetx::RelPath::new(workdir)
    {
        problems.push(format!("`workdir`: {error}"));
    }
    for (name, value) in &node.env {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            problems.push(format!("`env`: `{name}` is not a variable name, or its value contains NUL"));
        }
    }
    if let Some(Err(error)) = node.paths.as_deref().map(Patterns::new) {
        problems.push(format!("`paths`: {error}"));
    }
    problems
}
