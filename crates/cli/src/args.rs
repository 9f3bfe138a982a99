//! What can be said on the command line. Arguments of a command stand beside the command.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

use crate::commands::{audit, changeset, completions, config, context, doctor, man, plan, run, store};
use crate::demo;
use crate::look::{Color, Format};

/// Keeps what many agents change at once: nothing lost, nothing half-written.
///
/// It keeps configuration, `agents config`, and conversations, `agents context`. It runs actors in parallel, `agents run`, and keeps what they
/// change in your folders under control, `agents plan` and `agents changeset`. `agents demo` shows the layer that everything rests on: a commit that changes several files all-or-nothing, whatever is
/// killed meanwhile.
#[derive(Parser, Debug)]
#[command(name = "agents", version, after_help = EXIT_CODES)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command understands. Those with a key of configuration win over the environment, which wins over files.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct GlobalArgs {
    /// The home folder of this program [env: CLEVERAGENTS_HOME] [default: ~/.cleveragents]
    #[arg(long, global = true, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) home: Option<PathBuf>,

    /// The project's folder [default: the nearest one above with a `.cleveragents` folder]
    #[arg(long, global = true, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) project: Option<PathBuf>,

    /// Set a key of configuration for this command only; may be repeated
    #[arg(short, long, global = true, value_name = "KEY=VALUE")]
    pub(crate) config: Vec<String>,

    /// How to print [key: core.format] [default: rich on a terminal, plain otherwise]
    #[arg(long, global = true, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<FormatWord>,

    /// When to use colours [key: core.color] [default: auto]
    ///
    /// `auto` goes by the terminal, NO_COLOR and CLICOLOR_FORCE.
    #[arg(long, global = true, value_enum, value_name = "WHEN")]
    pub(crate) color: Option<Color>,

    /// Say nothing but what was asked for, and errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Say also where things were looked for
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,

    /// How long to wait for somebody else's lock, such as `500ms` [key: core.lock-timeout] [default: 30s]
    #[arg(long, global = true, value_name = "DURATION")]
    pub(crate) lock_timeout: Option<String>,

    /// Log what is done, for finding faults: off, error, warn, info, debug or trace [key: core.log] [default: off]
    #[arg(long, global = true, value_name = "LEVEL")]
    pub(crate) log: Option<String>,

    /// The file to append the log to [key: core.log-file] [default: standard error]
    #[arg(long, global = true, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) log_file: Option<String>,
}

/// What `--format` may say. The hidden ones are forms of an export, which has them under the same name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum FormatWord {
    /// Colours and signs, for a terminal
    Rich,
    /// Plain ASCII text
    Plain,
    /// One JSON object with command, status, exit_code, data, timing and messages
    Json,
    #[value(hide = true)]
    Archive,
    #[value(hide = true)]
    Json4,
    #[value(hide = true)]
    Openai,
    #[value(hide = true)]
    Markdown,
}

impl GlobalArgs {
    /// How to print, if it was said.
    pub(crate) fn look(&self) -> Option<Format> {
        match self.format? {
            FormatWord::Rich => Some(Format::Rich),
            FormatWord::Plain => Some(Format::Plain),
            FormatWord::Json => Some(Format::Json),
            _ => None,
        }
    }

    /// The form of an export, if it was said.
    pub(crate) fn export(&self) -> Option<&'static str> {
        match self.format? {
            FormatWord::Archive => Some("archive"),
            FormatWord::Json4 => Some("json4"),
            FormatWord::Openai => Some("openai"),
            FormatWord::Markdown => Some("markdown"),
            _ => None,
        }
    }

    /// The flags that set keys of configuration, as `KEY=VALUE`. One with a name of its own wins over `--config`.
    pub(crate) fn values(&self) -> Vec<String> {
        let mut values = self.config.clone();
        values.extend(self.look().map(|format| format!("core.format={format}")));
        values.extend(self.color.map(|color| format!("core.color={color}")));
        values.extend(self.log.as_ref().map(|level| format!("core.log={level}")));
        values.extend(self.log_file.as_ref().map(|file| format!("core.log-file={file}")));
        values.extend(self.lock_timeout.as_ref().map(|timeout| format!("core.lock-timeout={timeout}")));
        values
    }
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Config(config::Args),
    Context(context::Args),
    Run(run::Args),
    Plan(plan::Args),
    Changeset(changeset::Args),
    Audit(audit::Args),
    Store(store::Args),
    Doctor(doctor::Args),
    Demo(demo::Args),
    Completions(completions::Args),
    Man(man::Args),
    /// Its name is unlike all others, so that it is never suggested.
    #[command(name = demo::WRITER, hide = true)]
    DemoWriter(demo::WriterArgs),
}

impl Command {
    /// As the JSON envelope names it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Command::Config(args) => args.name(),
            Command::Context(args) => args.name(),
            Command::Run(_) => "run",
            Command::Plan(args) => args.name(),
            Command::Changeset(args) => args.name(),
            Command::Audit(args) => args.name(),
            Command::Store(args) => args.name(),
            Command::Doctor(_) => "doctor",
            Command::Demo(_) => "demo",
            Command::Completions(_) => "completions",
            Command::Man(_) => "man",
            Command::DemoWriter(_) => demo::WRITER,
        }
    }
}

impl Args {
    /// What this process was started with.
    pub(crate) fn of_process() -> Result<Args, clap::Error> {
        Args::try_parse()?.check()
    }

    /// Words that parse one by one, but not together.
    fn check(self) -> Result<Args, clap::Error> {
        let is_export = matches!(&self.command, Command::Context(args) if args.is_export());
        match self.global.export() {
            Some(form) if !is_export => {
                let text =
                    format!("`--format {form}` is for `agents context export`; use rich, plain or json");
                Err(Args::command().error(ErrorKind::InvalidValue, text))
            }
            _ => Ok(self),
        }
    }
}

/// The command line without what is hidden, which generators of scripts and pages would list.
pub(crate) fn visible() -> clap::Command {
    let all = Args::command();
    let commands = all.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    clap::Command::new("agents")
        .version(env!("CARGO_PKG_VERSION"))
        .about(all.get_about().cloned().unwrap_or_default())
        .long_about(all.get_long_about().cloned().unwrap_or_default())
        .after_help(EXIT_CODES)
        .args(all.get_arguments().cloned())
        .subcommands(commands)
}

const EXIT_CODES: &str = "\
Exit codes: 0 ok, 1 error, 2 usage, 3 not found, 4 conflict, 5 busy, 6 outcome unknown, 70 a bug of this program, 130 interrupted.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }
}
