//! `agents completions`: a script that teaches a shell the commands and flags.

use clap::CommandFactory;
use clap_complete::Shell;
use serde_json::json;

use crate::error::Result;
use crate::output::{Answer, Output};

/// Print a completion script for a shell
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
    clap_complete::generate(args.shell, &mut visible(), "agents", &mut script);
    let script = String::from_utf8(script).expect("shell scripts are made of names and help texts");
    output.say(script.trim_end())?;
    Ok(Answer::ok(json!({ "shell": args.shell.to_string(), "script": script })))
}

/// The command line without what is hidden, which the generators would list.
fn visible() -> clap::Command {
    let all = crate::args::Args::command();
    let commands = all.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    clap::Command::new("agents")
        .version(env!("CARGO_PKG_VERSION"))
        .args(all.get_arguments().cloned())
        .subcommands(commands)
}
