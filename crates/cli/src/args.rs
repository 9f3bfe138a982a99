//! The command line. The arguments of a command are beside its function.

use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::commands::{
    audit, changeset, completions, config, context, doctor, help, logs, man, plan, run, schema, store,
};
use crate::demo;
use crate::style::{Color, Format};

/// Run coding agents in parallel, review what they changed, apply or undo it
#[derive(Parser, Debug)]
#[command(name = "agents", version, disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of all commands, listed by `agents help options`. Those with a configuration key win over the environment and files.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct GlobalArgs {
    /// Use this home folder [env: CLEVERAGENTS_HOME] [default: ~/.cleveragents]
    #[arg(long, global = true, hide = true, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) home: Option<PathBuf>,

    /// Use this project folder [default: the nearest folder above with `.cleveragents` in it]
    #[arg(long, global = true, hide = true, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) project: Option<PathBuf>,

    /// Set a configuration key for this command only (repeatable)
    #[arg(short, long, global = true, hide = true, value_name = "KEY=VALUE")]
    pub(crate) config: Vec<String>,

    /// Choose the output format [default: rich on a terminal, else plain] [key: core.format]
    #[arg(long, global = true, hide = true, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<FormatArg>,

    /// Choose when to use colours [default: auto] [key: core.color]
    #[arg(long, global = true, hide = true, value_enum, value_name = "WHEN")]
    pub(crate) color: Option<Color>,

    /// Print only data and errors
    #[arg(short, long, global = true, hide = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Print also which files and folders are used
    #[arg(short, long, global = true, hide = true)]
    pub(crate) verbose: bool,

    /// Wait this long for a lock of another process, such as `500ms` [default: 30s] [key: core.lock-timeout]
    #[arg(long, global = true, hide = true, value_name = "DURATION")]
    pub(crate) lock_timeout: Option<String>,

    /// Log at this level: off, error, warn, info, debug, trace [default: off] [key: core.log]
    #[arg(long, global = true, hide = true, value_name = "LEVEL")]
    pub(crate) log: Option<String>,

    /// Append the log to this file [default: standard error] [key: core.log-file]
    #[arg(long, global = true, hide = true, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) log_file: Option<String>,
}

/// Values of `--format`. The hidden ones are for `agents context export` alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum FormatArg {
    /// Colours and symbols, for a terminal
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
    /// The output format, if one is given.
    pub(crate) fn output_format(&self) -> Option<Format> {
        match self.format? {
            FormatArg::Rich => Some(Format::Rich),
            FormatArg::Plain => Some(Format::Plain),
            FormatArg::Json => Some(Format::Json),
            _ => None,
        }
    }

    /// The format of an export, if one is given.
    pub(crate) fn export_format(&self) -> Option<&'static str> {
        match self.format? {
            FormatArg::Archive => Some("archive"),
            FormatArg::Json4 => Some("json4"),
            FormatArg::Openai => Some("openai"),
            FormatArg::Markdown => Some("markdown"),
            _ => None,
        }
    }

    /// Options that set configuration keys, as `KEY=VALUE`. One with its own name wins over `--config`.
    pub(crate) fn values(&self) -> Vec<String> {
        let mut values = self.config.clone();
        values.extend(self.output_format().map(|format| format!("core.format={format}")));
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
    Logs(logs::Args),
    Plan(plan::Args),
    Changeset(changeset::Args),
    Audit(audit::Args),
    Store(store::Args),
    Doctor(doctor::Args),
    Demo(demo::Args),
    Schema(schema::Args),
    Completions(completions::Args),
    Man(man::Args),
    Help(help::Args),
    // Unlike all other names, so that it is never suggested.
    #[command(name = demo::WRITER, hide = true)]
    DemoWriter(demo::WriterArgs),
}

impl Command {
    /// The `command` of the envelope.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Command::Config(args) => args.name(),
            Command::Context(args) => args.name(),
            Command::Run(_) => "run",
            Command::Logs(_) => "logs",
            Command::Plan(args) => args.name(),
            Command::Changeset(args) => args.name(),
            Command::Audit(args) => args.name(),
            Command::Store(args) => args.name(),
            Command::Doctor(_) => "doctor",
            Command::Demo(_) => "demo",
            Command::Schema(_) => "schema",
            Command::Completions(_) => "completions",
            Command::Man(_) => "man",
            Command::Help(_) => "help",
            Command::DemoWriter(_) => demo::WRITER,
        }
    }
}

impl Args {
    /// Parses the arguments of this process.
    pub(crate) fn parse_process() -> Result<Args, clap::Error> {
        let mut matches = command().try_get_matches().map_err(with_export_formats)?;
        Args::from_arg_matches_mut(&mut matches)?.check()
    }

    /// Refuses options that parse one by one, but not together.
    fn check(self) -> Result<Args, clap::Error> {
        let is_export = matches!(&self.command, Command::Context(args) if args.is_export());
        match self.global.export_format() {
            Some(format) if !is_export => {
                let text =
                    format!("`--format {format}` is for `agents context export`; use rich, plain or json");
                Err(Args::command().error(ErrorKind::InvalidValue, text))
            }
            _ => Ok(self),
        }
    }
}

/// Lists the formats of an export in the error for an unknown one.
fn with_export_formats(mut error: clap::Error) -> clap::Error {
    let is_format = matches!(error.get(ContextKind::InvalidArg),
        Some(ContextValue::String(option)) if option.starts_with("--format"));
    if is_format && std::env::args().any(|word| word == "export") {
        let formats = ["archive", "json4", "openai", "markdown"].map(str::to_owned);
        error.insert(ContextKind::ValidValue, ContextValue::Strings(formats.into()));
    }
    error
}

/// The command line, with the commands of `agents --help` in groups.
pub(crate) fn command() -> clap::Command {
    let command = Args::command();
    let template = help::template(&command);
    command.help_template(template)
}

/// The command line as generators of scripts and pages list it: with the options of all commands, without hidden commands.
pub(crate) fn visible() -> clap::Command {
    let all = Args::command();
    let commands = all.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    clap::Command::new("agents")
        .version(env!("CARGO_PKG_VERSION"))
        .about(all.get_about().cloned().unwrap_or_default())
        .after_help(help::EXIT_CODES)
        .disable_help_subcommand(true)
        .args(all.get_arguments().cloned().map(|argument| argument.hide(false)))
        .subcommands(commands)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }
}
