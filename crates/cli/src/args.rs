//! What can be said on the command line. Arguments of a command stand beside the command.

use clap::{Parser, Subcommand};

use crate::commands::{completions, demo};
use crate::output::Format;

/// Keeps what many agents change at once: nothing lost, nothing half-written.
///
/// Today it shows the layer that everything else will rest on: a commit that changes several files all-or-nothing, whatever
/// is killed meanwhile. Start with `agents demo`.
#[derive(Parser, Debug)]
#[command(name = "agents", version, after_help = EXIT_CODES)]
pub(crate) struct Args {
    /// How to print [default: rich on a terminal, plain otherwise]
    ///
    /// NO_COLOR switches colours off.
    #[arg(long, global = true, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Demo(demo::Args),
    Completions(completions::Args),
    /// Its name is unlike all others, so that it is never suggested.
    #[command(name = demo::WRITER, hide = true)]
    DemoWriter(demo::WriterArgs),
}

impl Command {
    /// As the JSON envelope names it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Command::Demo(_) => "demo",
            Command::Completions(_) => "completions",
            Command::DemoWriter(_) => demo::WRITER,
        }
    }
}

const EXIT_CODES: &str = "\
Exit codes: 0 ok, 1 error, 2 usage, 3 not found, 4 conflict, 5 busy, 6 outcome unknown, 70 a bug of this program, 130 interrupted.";

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Args::command().debug_assert();
    }
}
