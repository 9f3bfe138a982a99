//! `agents completions`: a script that teaches a shell the commands, flags and keys.

use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use serde_json::json;

use crate::args;
use crate::error::Result;
use crate::output::{Answer, Output};

/// Print a completion script for a shell
///
/// Completes commands, flags, and the keys of configuration.
///
/// For bash: `agents completions bash > ~/.local/share/bash-completion/completions/agents`
#[derive(clap::Args, Debug)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// The shell to complete in
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Answer> {
    let mut script = Vec::new();
    let mut line = args::visible();
    line.build();
    clap_complete::generate(args.shell, &mut with_keys(line), "agents", &mut script);
    let script = String::from_utf8(script).expect("shell scripts are made of names and help texts");
    output.say_text(script.trim_end())?;
    Ok(Answer::ok(json!({ "shell": args.shell.to_string(), "script": script })))
}

/// The command line, with the registered keys wherever a key is expected. Only here: other keys are allowed, and parsing needs no list.
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
