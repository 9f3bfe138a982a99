//! `agents context export`.

use std::path::PathBuf;

use api::{ContextName, Contexts, ExportFormat};
use serde_json::Value;

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
