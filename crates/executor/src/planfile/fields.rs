//! The fields of a plan file: one table, from which come the check and the JSON Schema.

use serde_json::{Map, Value as Json, json};

use super::Merge;

/// The longest name of a node or root: it becomes the name of a folder.
pub const NAME_BYTES_MAX: usize = 64;
/// Names as a regular expression, for the schema.
const NAME_PATTERN: &str = "^[A-Za-z0-9_][A-Za-z0-9_.-]*$";

/// One field of a table.
#[derive(Clone, Copy)]
pub(super) struct Field {
    pub(super) name: &'static str,
    /// The name in version 0.1. Parsed, and not in the schema.
    pub(super) alias: Option<&'static str>,
    pub(super) shape: Shape,
    pub(super) help: &'static str,
    pub(super) required: bool,
}

/// The value of a field.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    Text,
    Flag,
    Count {
        min: i64,
        max: i64,
    },
    Duration,
    /// One of some words.
    Word(fn() -> Vec<&'static str>),
    Texts,
    /// A line for the shell, or a program and its arguments.
    Command,
    /// A table of texts.
    Variables,
    Table(&'static [Field]),
    /// A table of tables with names chosen by people.
    Tables(&'static [Field]),
}

const fn field(name: &'static str, shape: Shape, help: &'static str) -> Field {
    Field { name, alias: None, shape, help, required: false }
}

const fn required(name: &'static str, shape: Shape, help: &'static str) -> Field {
    Field { required: true, ..field(name, shape, help) }
}

/// The fields of the file.
pub(super) const PLAN: &[Field] = &[
    field("name", Shape::Text, "name of the plan"),
    field("concurrency", Shape::Count { min: 1, max: 1024 }, "maximum number of concurrent nodes"),
    field("fail-fast", Shape::Flag, "stop all nodes after the first failure"),
    field("merge", Shape::Word(merges), "merge strategy for files that several nodes change"),
    field("roots", Shape::Tables(ROOT), "folders that the plan may change [default: the project]"),
    field("defaults", Shape::Table(DEFAULTS), "defaults of node fields"),
    required("nodes", Shape::Tables(NODE), "the actors"),
];

const ROOT: &[Field] =
    &[required("path", Shape::Text, "the folder, absolute or relative to the folder of this file")];

/// The fields that nodes and defaults share.
const DEFAULTS: &[Field] = &[
    field("root", Shape::Text, "root to work on"),
    field("workdir", Shape::Text, "folder to start in, relative to the root"),
    field("env", Shape::Variables, "additions to the environment"),
    field("timeout", Shape::Duration, "longest duration, such as 90s or 1h30m"),
    field("retries", Shape::Count { min: 0, max: 100 }, "number of retries after a failure"),
    PATHS,
    field("continue-on-error", Shape::Flag, "start the nodes that need it even if it fails"),
];

pub(super) const PATHS: Field = Field {
    alias: Some("writes"),
    ..field("paths", Shape::Texts, "patterns of paths that it may change: *, ?, **, [...], {a,b}")
};

const NODE: &[Field] = &[
    required("run", Shape::Command, "a line for the shell, or a program and its arguments"),
    field("needs", Shape::Texts, "nodes that must succeed first"),
    field("stdin", Shape::Text, "text for standard input"),
    DEFAULTS[0],
    DEFAULTS[1],
    DEFAULTS[2],
    DEFAULTS[3],
    DEFAULTS[4],
    DEFAULTS[5],
    DEFAULTS[6],
];

impl Field {
    /// Its name and its alias.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.alias)
    }
}

fn merges() -> Vec<&'static str> {
    Merge::ALL.map(Merge::name).to_vec()
}

/// Returns true if a node or root may have this name.
pub(super) fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.len() <= NAME_BYTES_MAX
        && name.bytes().next().is_some_and(plain)
        && name.bytes().all(|byte| plain(byte) || byte == b'.' || byte == b'-')
}

/// The JSON Schema of plan files, for editors that complete and check TOML.
pub fn plan_file_schema() -> Json {
    let mut schema = table(PLAN);
    schema["$schema"] = "http://json-schema.org/draft-07/schema#".into();
    schema["title"] = "agents plan".into();
    schema
}

fn table(fields: &[Field]) -> Json {
    let mut properties = Map::new();
    for field in fields {
        let mut property = rule(field.shape);
        property["description"] = field.help.into();
        properties.insert(field.name.to_owned(), property);
    }
    let required: Vec<_> = fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    json!({ "type": "object", "additionalProperties": false, "properties": properties, "required": required })
}

fn rule(shape: Shape) -> Json {
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    match shape {
        Shape::Text => json!({ "type": "string" }),
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::Count { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Shape::Duration => json!({ "type": "string", "pattern": config::DURATION_PATTERN }),
        Shape::Word(words) => json!({ "type": "string", "enum": words() }),
        Shape::Texts => texts,
        Shape::Command => json!({ "anyOf": [
            { "type": "string", "minLength": 1 },
            { "type": "array", "items": { "type": "string" }, "minItems": 1 },
        ] }),
        Shape::Variables => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        Shape::Table(fields) => table(fields),
        Shape::Tables(fields) => json!({
            "type": "object",
            "propertyNames": { "pattern": NAME_PATTERN, "maxLength": NAME_BYTES_MAX },
            "additionalProperties": table(fields),
        }),
    }
}
