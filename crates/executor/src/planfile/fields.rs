//! What may stand in a plan file: one table, from which come the check and the JSON Schema.

use serde_json::{Map, Value as Json, json};

use super::Merge;

/// The longest name of a node or root: it becomes the name of a folder.
pub const NAME_BYTES_MAX: usize = 64;
/// As a regular expression, for the schema.
const NAME_PATTERN: &str = "^[A-Za-z0-9_][A-Za-z0-9_.-]*$";

/// One field of a table.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    pub(super) help: &'static str,
    pub(super) required: bool,
}

/// What a field holds.
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
    /// A line for the shell, or a program with its arguments.
    Run,
    /// Names with texts.
    Variables,
    Table(&'static [Field]),
    /// Tables by names that people choose.
    Tables(&'static [Field]),
}

const fn field(name: &'static str, shape: Shape, help: &'static str) -> Field {
    Field { name, shape, help, required: false }
}

const fn required(name: &'static str, shape: Shape, help: &'static str) -> Field {
    Field { name, shape, help, required: true }
}

/// The file.
pub(super) const PLAN: &[Field] = &[
    field("name", Shape::Text, "what people call the plan"),
    field("concurrency", Shape::Count { min: 1, max: 1024 }, "how many nodes run at once"),
    field("fail-fast", Shape::Flag, "whether the first failure stops the others"),
    field("merge", Shape::Word(merges), "what is made of a path that several nodes changed"),
    field("roots", Shape::Tables(ROOT), "the folders the plan works on; the project when there are none"),
    field("defaults", Shape::Table(DEFAULTS), "for nodes that say nothing else"),
    required("nodes", Shape::Tables(NODE), "the actors"),
];

const ROOT: &[Field] =
    &[required("path", Shape::Text, "the folder, absolute or from the folder of this file")];

const DEFAULTS: &[Field] = &[
    WORK[0].again(),
    WORK[1].again(),
    WORK[2].again(),
    WORK[3].again(),
    WORK[4].again(),
    WORK[5].again(),
    WORK[6].again(),
];

/// What nodes and defaults share.
const WORK: &[Field] = &[
    field("root", Shape::Text, "the root it works on"),
    field("workdir", Shape::Text, "the folder below the root that it starts in"),
    field("env", Shape::Variables, "what is added to the environment"),
    field("timeout", Shape::Duration, "how long it may take, such as 90s or 1h30m"),
    field("retries", Shape::Count { min: 0, max: 100 }, "how often it is started again when it fails"),
    field("writes", Shape::Texts, "patterns of the paths that it may change: *, ?, **, [...], {a,b}"),
    field("continue-on-error", Shape::Flag, "whether nodes that need it run although it failed"),
];

const NODE: &[Field] = &[
    required("run", Shape::Run, "a line for the shell, or a program and its arguments"),
    field("needs", Shape::Texts, "the nodes that come before it"),
    field("stdin", Shape::Text, "what it reads from standard input"),
    WORK[0].again(),
    WORK[1].again(),
    WORK[2].again(),
    WORK[3].again(),
    WORK[4].again(),
    WORK[5].again(),
    WORK[6].again(),
];

impl Field {
    const fn again(&self) -> Field {
        Field { name: self.name, shape: self.shape, help: self.help, required: self.required }
    }
}

fn merges() -> Vec<&'static str> {
    Merge::ALL.map(Merge::name).to_vec()
}

/// Whether a node or root may have this name.
pub(super) fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.len() <= NAME_BYTES_MAX
        && name.bytes().next().is_some_and(plain)
        && name.bytes().all(|byte| plain(byte) || byte == b'.' || byte == b'-')
}

/// A JSON Schema of plan files, for editors that complete and check TOML.
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
        Shape::Run => json!({ "anyOf": [
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
