//! Command lines that cannot be understood, and those that ask for help.

use std::ffi::OsString;
use std::process::ExitCode;

use api::{Kind, Problem};
use clap::error::{ContextKind, ContextValue};

use crate::error::Exit;
use crate::look::{Format, Look};
use crate::output::Output;

/// Prints help where it was asked for, and otherwise what is wrong, in the format that was asked for as far as one can tell.
pub(crate) fn report(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() || !asks_for_json(std::env::args_os()) {
        // Nobody is left to tell when this fails.
        let _ = error.print();
        return if error.use_stderr() { Exit::Usage.code().into() } else { ExitCode::SUCCESS };
    }
    Output::start("", Look::json()).finish_problem(Exit::Usage, problem(error))
}

fn problem(error: &clap::Error) -> Problem {
    let text = error.render().to_string();
    let first = text.lines().next().unwrap_or_default();
    let text = first.strip_prefix("error: ").unwrap_or(first).to_owned();
    let suggested =
        [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue]
            .into_iter()
            .find_map(|kind| match error.get(kind)? {
                ContextValue::String(word) => Some(word.clone()),
                ContextValue::Strings(words) => words.last().cloned(),
                _ => None,
            });
    let hint = match suggested {
        Some(word) => format!("did you mean `{word}`? see `agents --help`"),
        None => "see `agents --help`".to_owned(),
    };
    Problem { hint: vec![hint], ..Problem::without_cause(Kind::Usage, "usage", text) }
}

/// Whether JSON is wanted. The line could not be parsed, so this looks for the flag and the variable alone.
fn asks_for_json(arguments: impl Iterator<Item = OsString>) -> bool {
    let mut by_flag = None;
    let mut arguments = arguments.map(|argument| argument.to_string_lossy().into_owned()).skip(1);
    while let Some(argument) = arguments.next() {
        match argument.split_once('=') {
            _ if argument == "--" => break,
            Some(("--format", format)) => by_flag = Some(format.to_owned()),
            _ if argument == "--format" => by_flag = arguments.next(),
            _ => {}
        }
    }
    match by_flag {
        Some(format) => format == Format::Json.to_string(),
        None => Look::variable_asks_for_json(),
    }
}
