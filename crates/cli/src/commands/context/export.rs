//! `agents context export`.

use std::path::PathBuf;

use api::{ContextName, Contexts, ExportFormat};
use schemars::JsonSchema;
use serde_json::{Map, Value};

use super::plural;
use crate::args::GlobalArgs;
use crate::display;
use crate::error::{Error, Result};
use crate::output::{Answer, Output};

/// Export a conversation for other tools and machines
///
/// Formats: `archive` (default) is one file with a checksum, which `import` restores without loss;
/// `json4` is a folder with the four files of older tools; `openai` is a list of messages for the
/// chat APIs; `markdown` is for people.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Context name
    name: ContextName,
    /// File to write, or folder for json4 [default: standard output]
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::AnyPath)]
    output: Option<PathBuf>,
}

/// A line of an archive on standard output. The library writes it as text, because values keep their spelling.
#[derive(JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(dead_code, reason = "describes the lines; a test compares real ones")]
pub(super) enum ArchiveLine {
    /// The first line.
    #[serde(rename = "cleveragents-context")]
    Head {
        version: u64,
        name: String,
    },
    Metadata {
        value: Map<String, Value>,
    },
    State {
        value: Map<String, Value>,
    },
    GlobalContext {
        value: Map<String, Value>,
    },
    Message {
        value: Map<String, Value>,
    },
    /// The last line.
    End {
        message_count: u64,
        /// `sha256:` and the hash of all bytes before this line.
        checksum: String,
    },
}

pub(super) fn run(
    args: &Args,
    global: &GlobalArgs,
    contexts: &Contexts,
    output: &mut Output,
) -> Result<Answer> {
    let form = global.export_format().unwrap_or("archive");
    let format: ExportFormat = form.parse().expect("every form of the command line is one");
    if let Some(path) = &args.output {
        let written = contexts.export_to(&args.name, format, path)?;
        output.done(format!(
            "{}: exported {} to {}",
            written.name,
            plural(written.message_count),
            display::path(&written.path)
        ));
        return Ok(Answer::of(&written));
    }
    if format == ExportFormat::Json4 {
        return Err(Error::Usage { reason: "`--format json4` writes a folder: name it with `-o`" });
    }
    contexts.export(&args.name, format, output.bytes())?;
    output.bytes().flush().map_err(|source| Error::Print { source })?;
    // The export is the output; no envelope follows.
    Ok(Answer::ok(Value::Null))
}
