//! `agents schema`: JSON Schemas of the output for programs, generated from the serialized types.

use std::borrow::Cow;

use api::ErrorData;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;

use super::{
    audit, changeset, completions, config, context, doctor, help, logs, man, plan, run as run_command, store,
};
use crate::demo;
use crate::error::{Error, Result};
use crate::output::{Answer, Envelope, Output};

/// Print a JSON Schema of output for programs
///
/// Without a name, lists the names: `envelope`, the object that `--format json` prints; a command, for the `data` in its envelope (for `audit export`,
/// a line); a command and `event`, for the lines before its envelope (for
/// `context export`, of an archive); and `error`, for the `data` of commands that fail.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  agents schema envelope\n  agents schema plan show\n  agents schema run event"
)]
pub(crate) struct Args {
    /// Name of the schema [default: list the names]
    name: Vec<String>,
}

/// A name, and the function that generates its schema.
pub(crate) type Entry = (&'static str, fn() -> Schema);

/// The schemas of what several commands print.
const SCHEMAS: &[Entry] =
    &[("envelope", of::<Envelope<'_>>), ("error", of::<Option<ErrorData<'_>>>), ("schema", of::<Data<'_>>)];

/// The `data` of the envelope.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
enum Data<'a> {
    Names { schemas: &'a [&'a str] },
    Schema(Document),
}

/// A JSON Schema.
#[derive(Serialize)]
pub(super) struct Document(pub(super) Value);

impl JsonSchema for Document {
    fn schema_name() -> Cow<'static, str> {
        "JsonSchema".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A JSON Schema",
            "type": "object",
            "properties": { "$schema": { "type": "string" } },
            "required": ["$schema"],
        })
    }
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Answer> {
    if args.name.is_empty() {
        let names: Vec<&str> = all().map(|(name, _)| *name).collect();
        output.print_text(names.join("\n"))?;
        return Ok(Answer::of(&Data::Names { schemas: &names }));
    }
    let name = args.name.join(" ");
    let (title, generate) = all().find(|(known, _)| *known == name).ok_or(Error::NoSchema { name })?;
    let mut schema = generate();
    schema.insert("title".to_owned(), (*title).into());
    let schema = schema.to_value();
    output.print_text(format_args!("{schema:#}"))?;
    Ok(Answer::of(&Data::Schema(Document(schema))))
}

/// Generates the schema of a type in its serialized form.
pub(crate) fn of<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}

fn all() -> impl Iterator<Item = &'static Entry> {
    let groups = [
        SCHEMAS,
        config::SCHEMAS,
        context::SCHEMAS,
        run_command::SCHEMAS,
        logs::SCHEMAS,
        plan::SCHEMAS,
        changeset::SCHEMAS,
        audit::SCHEMAS,
        store::SCHEMAS,
        doctor::SCHEMAS,
        demo::SCHEMAS,
        completions::SCHEMAS,
        man::SCHEMAS,
        help::SCHEMAS,
    ];
    groups.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Collects the full names of commands without subcommands.
    fn leaves(command: &clap::Command, prefix: &str, names: &mut Vec<String>) {
        for inner in command.get_subcommands() {
            let name = format!("{prefix} {}", inner.get_name()).trim().to_owned();
            match inner.has_subcommands() {
                true => leaves(inner, &name, names),
                false => names.push(name),
            }
        }
    }

    #[test]
    fn every_command_has_a_schema() {
        let mut commands = Vec::new();
        leaves(&crate::args::visible(), "", &mut commands);
        assert!(commands.len() > 50, "{commands:?}");
        let known: BTreeSet<&str> = all().map(|(name, _)| *name).collect();
        let missing: Vec<_> = commands.iter().filter(|name| !known.contains(name.as_str())).collect();
        assert!(missing.is_empty(), "no schema of {missing:?}");
        for name in known {
            let command = name.strip_suffix(" event").unwrap_or(name);
            let is_known = commands.iter().any(|known| known == command);
            assert!(is_known || ["envelope", "error"].contains(&command), "`{name}` is not a command");
        }
    }

    #[test]
    fn schemas_have_different_names() {
        let names: BTreeSet<_> = all().map(|(name, _)| name).collect();
        assert_eq!(names.len(), all().count());
    }
}
