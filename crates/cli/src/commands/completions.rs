//! `agents completions`: completion scripts for shells.

use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use schemars::JsonSchema;
use serde::Serialize;

use super::schema::{Entry, of};
use crate::args;
use crate::error::Result;
use crate::output::{Answer, Output};

/// Print a completion script for a shell
///
/// Completes commands, options and configuration keys.
///
/// For bash: `agents completions bash > ~/.local/share/bash-completion/completions/agents`
#[derive(clap::Args, Debug)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// Shell that the script is for
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) const SCHEMAS: &[Entry] = &[("completions", of::<Data>)];

/// The `data` of the envelope.
#[derive(JsonSchema, Serialize)]
struct Data {
    shell: String,
    script: String,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Answer> {
    let mut script = Vec::new();
    let mut command = args::visible();
    command.build();
    clap_complete::generate(args.shell, &mut with_keys(command), "agents", &mut script);
    let script = String::from_utf8(script).expect("shell scripts are made of names and help texts");
    output.print_text(script.trim_end())?;
    Ok(Answer::of(&Data { shell: args.shell.to_string(), script }))
}

/// Adds the registered keys as values wherever a key is expected. Parsing does not: other keys are allowed there.
fn with_keys(command: clap::Command) -> clap::Command {
    let keys = PossibleValuesParser::new(api::keys());
    command.mut_subcommand("config", |config| {
        config.mut_subcommands(|command| {
            command.mut_args(|argument| match argument.get_id().as_str() {
                "key" | "prefix" | "words" => argument.value_parser(keys.clone()),
                _ => argument,
            })
        })
    })
}
