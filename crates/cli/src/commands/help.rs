//! `agents help`: the help of a command, and the options of all commands.

use schemars::JsonSchema;
use serde::Serialize;

use super::schema::{Entry, of};
use crate::args;
use crate::error::{Error, Result};
use crate::output::{Answer, Output};

/// The page with the options of all commands.
const OPTIONS: &str = "options";

/// Commands of `agents --help`, in groups.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Work", &["run", "logs"]),
    ("Review", &["plan", "changeset"]),
    ("State", &["config", "context", "audit"]),
    ("Administration", &["doctor", "store", "demo", "schema", "completions", "man"]),
];

pub(crate) const EXIT_CODES: &str = "\
Exit codes: 0 ok, 1 failed, 2 usage, 3 not found, 4 refused, 5 busy, 6 outcome unknown, 70 bug, 130 interrupted";

/// Print the help of a command
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  agents help plan apply\n  agents help options")]
pub(crate) struct Args {
    /// Print the help of this command, or `options` for the options of all commands
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
}

pub(super) const SCHEMAS: &[Entry] = &[("help", of::<Data>)];

/// The `data` of the envelope.
#[derive(JsonSchema, Serialize)]
struct Data {
    help: String,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Answer> {
    let help = match args.command.as_slice() {
        [page] if page == OPTIONS => options(),
        names => long_help(names)?,
    };
    output.print_text(help.trim_end())?;
    Ok(Answer::of(&Data { help }))
}

/// The template of `agents --help`: the commands in groups.
pub(crate) fn template(command: &clap::Command) -> String {
    let mut text = "{about}\n".to_owned();
    for (title, names) in GROUPS {
        text += &format!("\n{title}\n");
        for name in names {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            text += &format!("  {name:<11}  {about}\n");
        }
    }
    text + "\nSee `agents help COMMAND` for a command, `agents help options` for options of all commands."
}

fn long_help(names: &[String]) -> Result<String> {
    let mut root = args::command();
    root.build();
    let mut command = &mut root;
    for name in names {
        let unknown = || Error::UnknownCommand { command: names.join(" ") };
        command = command.find_subcommand_mut(name).ok_or_else(unknown)?;
    }
    Ok(command.render_long_help().to_string())
}

fn options() -> String {
    let arguments = args::visible().get_arguments().cloned().collect::<Vec<_>>();
    let mut command = clap::Command::new(OPTIONS)
        .help_template("Options of all commands\n\n{options}\n\n{after-help}")
        .after_help(EXIT_CODES)
        .disable_help_flag(true)
        .args(arguments);
    command.render_help().to_string()
}
