//! One file per command. A command prints through [`Output`] and returns an [`Answer`](crate::output::Answer).

pub(crate) mod completions;
pub(crate) mod demo;

use std::process::ExitCode;

use crate::args::{Args, Command};
use crate::output::Output;

pub(crate) fn run(args: Args) -> ExitCode {
    let mut output = Output::start(args.command.name(), args.format);
    let result = match &args.command {
        Command::Demo(args) => demo::run(args, &mut output),
        Command::Completions(args) => completions::run(args, &mut output),
        Command::DemoWriter(args) => demo::run_writer(args),
    };
    output.finish(result)
}
