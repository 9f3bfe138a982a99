//! The program `agents`: parses arguments, calls the library, prints. It holds no rules of its own.

mod args;
mod commands;
mod confirm;
mod demo;
mod display;
mod error;
mod escape;
mod hints;
mod input;
mod interrupt;
mod log;
mod output;
mod sandbox;
mod session;
mod stream;
mod style;
mod table;
mod time;
mod usage;

use std::process::ExitCode;

fn main() -> ExitCode {
    match args::Args::parse_process() {
        Ok(args) => commands::run(args),
        Err(error) => usage::report(&error),
    }
}
