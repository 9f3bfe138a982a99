//! How the program looks to whoever reads it: format, colours, and how much is said.
//!
//! Colour never carries meaning alone.

use std::fmt::{self, Display};
use std::io::{self, IsTerminal};

use api::{Location, Preferences, Problem};
use owo_colors::OwoColorize;
use serde::Serialize;

use crate::args::GlobalArgs;
use crate::escape::{blotted, escaped};

/// How to print.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Format {
    /// Colours and signs, for a terminal
    Rich,
    /// Plain ASCII text
    Plain,
    /// One JSON object with command, status, exit_code, data, timing and messages
    Json,
}

/// When to use colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set; elsewhere if CLICOLOR_FORCE is
    Auto,
    /// Also in a pipe
    Always,
    /// Not even on a terminal
    Never,
}

/// How much is said beside the answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Volume {
    Quiet,
    Usual,
    Verbose,
}

/// How the program looks to whoever reads it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) format: Format,
    pub(crate) color: Color,
    pub(crate) volume: Volume,
}

/// How much something that is told weighs.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    Error,
    Warning,
    Note,
}

impl Look {
    /// By the layers.
    pub(crate) fn of_preferences(preferences: &Preferences, args: &GlobalArgs) -> Look {
        let color = word(&preferences.color).unwrap_or(Color::Auto);
        Look { format: chosen(word(&preferences.format), color), color, volume: volume(args) }
    }

    /// By flags, and the variable of the format, alone: for commands that read no configuration.
    pub(crate) fn of_flags(args: &GlobalArgs) -> Look {
        let color = args.color.unwrap_or(Color::Auto);
        let by_variable = || variable_of_format().as_deref().and_then(word);
        Look { format: chosen(args.look().or_else(by_variable), color), color, volume: volume(args) }
    }

    pub(crate) fn json() -> Look {
        Look { format: Format::Json, color: Color::Auto, volume: Volume::Usual }
    }

    /// How text is made up.
    pub(crate) fn paint(self) -> Paint {
        Paint { is_rich: self.format == Format::Rich }
    }

    /// Whether the environment wants JSON.
    pub(crate) fn variable_asks_for_json() -> bool {
        variable_of_format().is_some_and(|format| format == Format::Json.to_string())
    }
}

fn variable_of_format() -> Option<String> {
    std::env::var("CLEVERAGENTS_CORE_FORMAT").ok()
}

fn word<T: clap::ValueEnum>(name: &str) -> Option<T> {
    T::from_str(name, false).ok()
}

/// Rich on a terminal, and where somebody wants colours all the same.
fn chosen(format: Option<Format>, color: Color) -> Format {
    let is_forced = match color {
        Color::Always => true,
        Color::Auto => std::env::var_os("CLICOLOR_FORCE").is_some_and(|force| force != "0"),
        Color::Never => false,
    };
    let usual = if is_forced || io::stdout().is_terminal() { Format::Rich } else { Format::Plain };
    format.unwrap_or(usual)
}

fn volume(args: &GlobalArgs) -> Volume {
    match (args.quiet, args.verbose) {
        (true, _) => Volume::Quiet,
        (_, true) => Volume::Verbose,
        _ => Volume::Usual,
    }
}

/// Makes text stand out where the format has it.
#[derive(Clone, Copy)]
pub(crate) struct Paint {
    is_rich: bool,
}

impl Paint {
    pub(crate) fn strong(self, text: impl Display) -> String {
        if self.is_rich { text.bold().to_string() } else { text.to_string() }
    }

    pub(crate) fn faint(self, text: impl Display) -> String {
        if self.is_rich { text.dimmed().to_string() } else { text.to_string() }
    }

    pub(crate) fn good(self, text: impl Display) -> String {
        if self.is_rich { text.green().to_string() } else { text.to_string() }
    }

    pub(crate) fn bad(self, text: impl Display) -> String {
        if self.is_rich { text.red().bold().to_string() } else { text.to_string() }
    }

    /// A sign where signs can be shown, letters elsewhere.
    pub(crate) fn sign(self, rich: &'static str, plain: &'static str) -> &'static str {
        if self.is_rich { rich } else { plain }
    }

    /// A patch, with colours for what goes and what comes.
    pub(crate) fn patch(self, patch: &[u8]) -> Vec<u8> {
        if !self.is_rich {
            return patch.to_vec();
        }
        let mut painted = Vec::with_capacity(patch.len() * 2);
        for line in patch.split_inclusive(|byte| *byte == b'\n') {
            let color: &[u8] = match line {
                [b'+', b'+', b'+', b' ', ..] | [b'-', b'-', b'-', b' ', ..] => b"\x1b[1m",
                [b'+', ..] => b"\x1b[32m",
                [b'-', ..] => b"\x1b[31m",
                [b'@', ..] => b"\x1b[36m",
                [b' ', ..] => {
                    painted.extend_from_slice(line);
                    continue;
                }
                _ => b"\x1b[1m",
            };
            let body = line.strip_suffix(b"\n").unwrap_or(line);
            painted.extend([color, body, b"\x1b[0m"].concat());
            painted.extend_from_slice(&line[body.len()..]);
        }
        painted
    }

    /// Something that is told, with the position it is about, its causes and a hint.
    pub(crate) fn message(self, level: Level, problem: &Problem) -> String {
        let level = match level {
            Level::Error => self.bad("error"),
            Level::Warning => self.strong("warning"),
            Level::Note => self.faint("note"),
        };
        let mut text = format!("{level}: {}\n", escaped(&problem.message));
        text.extend(problem.location.iter().map(|location| self.location(location)));
        text.extend(problem.causes.iter().map(|cause| format!("  because: {}\n", escaped(cause))));
        let heads = ["  hint: "].into_iter().chain(std::iter::repeat("        "));
        text.extend(heads.zip(&problem.hint).map(|(head, hint)| format!("{head}{}\n", escaped(hint))));
        text
    }

    /// The line, with a caret under the position.
    fn location(self, location: &Location) -> String {
        let number = location.line.to_string();
        let margin = " ".repeat(number.len());
        // Tabs stay tabs, so that the caret is under its character whatever their width.
        let before: String = location.excerpt.chars().take(location.caret).map(blank).collect();
        let Location { file, line, column, byte_offset, excerpt, .. } = location;
        let (file, excerpt) = (escaped(file), blotted(excerpt));
        format!(
            "  {margin}--> {file}:{line}:{column} (byte {byte_offset})\n  {margin} |\n  {number} | {excerpt}\n  {margin} | {before}{}\n",
            self.bad("^")
        )
    }
}

fn blank(c: char) -> char {
    if c == '\t' { '\t' } else { ' ' }
}

impl Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Rich => "rich",
            Format::Plain => "plain",
            Format::Json => "json",
        })
    }
}

impl Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Color::Auto => "auto",
            Color::Always => "always",
            Color::Never => "never",
        })
    }
}
