//! Command lines that do not parse, and those that ask for help.

use std::ffi::OsString;
use std::process::ExitCode;

use api::{Kind, Problem};
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::error::Exit;
use crate::output::Output;
use crate::style::{Format, Style};

/// Prints help or the version where they were asked for, else a usage error, as text or as an envelope.
pub(crate) fn report(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        // A reader that closed the pipe gets no message.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let arguments: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|argument: OsString| argument.to_string_lossy().into_owned())
        .collect();
    let style = if selects_json(&arguments) { Style::json() } else { Style::default_for_terminal() };
    Output::start("", style).finish_problem(Exit::Usage, problem(error, &arguments))
}

fn problem(error: &clap::Error, arguments: &[String]) -> Problem {
    let hint = correction(error, arguments).unwrap_or_else(|| help_command(arguments));
    let (text, causes) = sentence(error);
    Problem { causes, hint: vec![hint], ..Problem::without_cause(Kind::Usage, "usage", text) }
}

/// The error as one sentence, and the allowed values as a detail.
fn sentence(error: &clap::Error) -> (String, Vec<String>) {
    let text = error.render().to_string();
    let first = text.lines().next().unwrap_or_default();
    let first = first.strip_prefix("error: ").unwrap_or(first);
    let listed = |kind| match error.get(kind) {
        Some(ContextValue::Strings(words)) if !words.is_empty() => Some(words.join(", ")),
        _ => None,
    };
    match error.kind() {
        ErrorKind::MissingRequiredArgument => {
            let missing = listed(ContextKind::InvalidArg).unwrap_or_default();
            (format!("missing arguments: {missing}"), Vec::new())
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            ("missing command".to_owned(), Vec::new())
        }
        ErrorKind::InvalidValue => {
            let values = listed(ContextKind::ValidValue).map(|values| format!("allowed: {values}"));
            (first.to_owned(), values.into_iter().collect())
        }
        _ => (first.to_owned(), Vec::new()),
    }
}

/// The whole command with the mistyped word corrected, where clap suggests one.
fn correction(error: &clap::Error, arguments: &[String]) -> Option<String> {
    let word = |kind| match error.get(kind)? {
        ContextValue::String(word) => Some(word.clone()),
        ContextValue::Strings(words) => words.last().cloned(),
        _ => None,
    };
    let pairs = [
        (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand),
        (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        (ContextKind::InvalidValue, ContextKind::SuggestedValue),
    ];
    let (typed, suggested) =
        pairs.into_iter().find_map(|(typed, meant)| Some((word(typed)?, word(meant)?)))?;
    let place = arguments.iter().position(|argument| {
        *argument == typed
            || argument.split_once('=').is_some_and(|(name, value)| name == typed || value == typed)
    })?;
    let mut corrected = arguments.to_vec();
    corrected[place] = corrected[place].replacen(&typed, &suggested, 1);
    Some(format!("agents {}", corrected.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")))
}

/// `agents help plan apply`, as far as the words before the first option name commands.
fn help_command(arguments: &[String]) -> String {
    let root = crate::args::command();
    let (mut command, mut text) = (&root, "agents help".to_owned());
    for name in arguments.iter().filter(|argument| !argument.starts_with('-')) {
        let Some(found) = command.find_subcommand(name).filter(|found| !found.is_hide_set()) else { break };
        (command, text) = (found, format!("{text} {name}"));
    }
    text
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_=./:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Returns true if the output is to be JSON. Only the option and the variable count, as the arguments did not parse.
fn selects_json(arguments: &[String]) -> bool {
    let mut option = None;
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.split_once('=') {
            _ if argument == "--" => break,
            Some(("--format", format)) => option = Some(format.to_owned()),
            _ if argument == "--format" => option = arguments.next().cloned(),
            _ => {}
        }
    }
    match option {
        Some(format) => format == Format::Json.to_string(),
        None => Style::variable_selects_json(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(line: &str) -> String {
        let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let words = std::iter::once("agents").chain(line.split(' '));
        let error = crate::args::command().try_get_matches_from(words).expect_err("it does not parse");
        problem(&error, &arguments).hint.join("\n")
    }

    #[test]
    fn a_typo_is_corrected_in_the_whole_command() {
        assert_eq!(hint("dmo --kills 3"), "agents demo --kills 3");
        assert_eq!(hint("plan list --stat=ready"), "agents plan list --state=ready");
        assert_eq!(hint("--format=jsn plan list"), "agents --format=json plan list");
    }

    #[test]
    fn without_a_suggestion_the_hint_is_the_help_of_the_command() {
        assert_eq!(hint("plan apply"), "agents help plan apply");
        assert_eq!(hint("zzz"), "agents help");
        assert_eq!(hint("__writer"), "agents help");
    }

    #[test]
    fn words_are_quoted_for_the_shell() {
        for (word, expected) in [("a.txt", "a.txt"), ("a b", "'a b'"), ("it's", r"'it'\''s'"), ("", "''")] {
            assert_eq!(quoted(word), expected);
        }
    }
}
