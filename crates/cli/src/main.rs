//! The program `agents`: parses, calls, prints. Rules live in the library crates.

mod args;
mod ask;
mod commands;
mod demo;
mod error;
mod escape;
mod hints;
mod input;
mod interrupt;
mod log;
mod look;
mod output;
mod sandbox;
mod session;
mod usage;

use std::process::ExitCode;

fn main() -> ExitCode {
    match args::Args::of_process() {
        Ok(args) => commands::run(args),
        Err(error) => usage::report(&error),
    }
}
