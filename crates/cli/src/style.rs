//! Output style: format, colours and verbosity. Colour never carries meaning alone.

use std::fmt::{self, Display};
use std::io::{self, IsTerminal};

use api::{Location, Preferences, Problem};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::GlobalArgs;
use crate::escape::{replace_hidden, styled, visible, visible_text};

/// Output format.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Format {
    /// Colours and symbols, for a terminal
    Rich,
    /// Plain ASCII text
    Plain,
    /// One JSON object with command, status, exit_code, data, timing and messages
    Json,
}

/// Use of colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Color {
    /// On a terminal unless NO_COLOR is set; elsewhere if CLICOLOR_FORCE is set
    Auto,
    /// Everywhere, also in a pipe
    Always,
    /// Nowhere
    Never,
}

/// Amount of text beside the data.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Verbosity {
    Quiet,
    Normal,
    Verbose,
}

/// Format, colours and verbosity of one invocation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub(crate) format: Format,
    pub(crate) color: Color,
    pub(crate) verbosity: Verbosity,
}

/// Severity of a message.
#[derive(Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    Error,
    Warning,
    Note,
}

impl Style {
    /// Reads the style from configuration, and verbosity from flags.
    pub(crate) fn from_preferences(preferences: &Preferences, args: &GlobalArgs) -> Style {
        let color = parse(&preferences.color).unwrap_or(Color::Auto);
        Style {
            format: format_or_default(parse(&preferences.format), color),
            color,
            verbosity: verbosity(args),
        }
    }

    /// Reads the style from flags and the format variable alone, for commands that read no configuration.
    pub(crate) fn from_flags(args: &GlobalArgs) -> Style {
        let color = args.color.unwrap_or(Color::Auto);
        let from_variable = || format_variable().as_deref().and_then(parse);
        Style {
            format: format_or_default(args.output_format().or_else(from_variable), color),
            color,
            verbosity: verbosity(args),
        }
    }

    /// The default style, for errors before options are known.
    pub(crate) fn default_for_terminal() -> Style {
        Style { format: format_or_default(None, Color::Auto), ..Style::json() }
    }

    pub(crate) fn json() -> Style {
        Style { format: Format::Json, color: Color::Auto, verbosity: Verbosity::Normal }
    }

    pub(crate) fn paint(self) -> Paint {
        Paint { is_rich: self.format == Format::Rich }
    }

    /// Returns true if the environment selects JSON.
    pub(crate) fn variable_selects_json() -> bool {
        format_variable().is_some_and(|format| format == Format::Json.to_string())
    }
}

fn format_variable() -> Option<String> {
    std::env::var("CLEVERAGENTS_CORE_FORMAT").ok()
}

fn parse<T: clap::ValueEnum>(name: &str) -> Option<T> {
    T::from_str(name, false).ok()
}

/// Defaults to rich on a terminal and where colours are forced, to plain elsewhere.
fn format_or_default(format: Option<Format>, color: Color) -> Format {
    let is_forced = match color {
        Color::Always => true,
        Color::Auto => std::env::var_os("CLICOLOR_FORCE").is_some_and(|force| force != "0"),
        Color::Never => false,
    };
    let default = if is_forced || io::stdout().is_terminal() { Format::Rich } else { Format::Plain };
    format.unwrap_or(default)
}

fn verbosity(args: &GlobalArgs) -> Verbosity {
    match (args.quiet, args.verbose) {
        (true, _) => Verbosity::Quiet,
        (_, true) => Verbosity::Verbose,
        _ => Verbosity::Normal,
    }
}

/// Styles text in the rich format, and leaves it as it is in the others.
#[derive(Clone, Copy)]
pub(crate) struct Paint {
    is_rich: bool,
}

impl Paint {
    pub(crate) fn strong(self, text: impl Display) -> String {
        if self.is_rich { styled("1", &text.to_string()) } else { text.to_string() }
    }

    pub(crate) fn faint(self, text: impl Display) -> String {
        if self.is_rich { styled("2", &text.to_string()) } else { text.to_string() }
    }

    pub(crate) fn good(self, text: impl Display) -> String {
        if self.is_rich { styled("32", &text.to_string()) } else { text.to_string() }
    }

    pub(crate) fn bad(self, text: impl Display) -> String {
        if self.is_rich { styled("1;31", &text.to_string()) } else { text.to_string() }
    }

    /// Returns a symbol in the rich format, a word or letter elsewhere.
    pub(crate) fn symbol(self, rich: &'static str, plain: &'static str) -> &'static str {
        if self.is_rich { rich } else { plain }
    }

    /// Colours the headers, added and removed lines of a patch, and makes its lines visible for a terminal. Changes nothing else.
    pub(crate) fn patch(self, patch: &[u8], has_colors: bool, is_terminal: bool) -> Vec<u8> {
        let has_colors = self.is_rich && has_colors;
        let mut shown = Vec::with_capacity(patch.len());
        for line in patch.split_inclusive(|byte| *byte == b'\n') {
            let color: &[u8] = match line {
                _ if !has_colors => b"",
                [b'+', b'+', b'+', b' ', ..] | [b'-', b'-', b'-', b' ', ..] => b"\x1b[1m",
                [b'+', ..] => b"\x1b[32m",
                [b'-', ..] => b"\x1b[31m",
                [b'@', ..] => b"\x1b[36m",
                [b' ', ..] => b"",
                _ => b"\x1b[1m",
            };
            let body = line.strip_suffix(b"\n").unwrap_or(line);
            shown.extend_from_slice(color);
            match is_terminal {
                true => shown.extend_from_slice(visible_text(body).as_bytes()),
                false => shown.extend_from_slice(body),
            }
            if !color.is_empty() {
                shown.extend_from_slice(b"\x1b[0m");
            }
            shown.extend_from_slice(&line[body.len()..]);
        }
        shown
    }

    /// Formats a message: a sentence, the location it is about, details and hints, one a line.
    pub(crate) fn message(self, level: Level, problem: &Problem) -> String {
        let level = match level {
            Level::Error => self.bad("error"),
            Level::Warning => self.strong("warning"),
            Level::Note => self.faint("note"),
        };
        let mut text = format!("{level}: {}\n", visible(&problem.message));
        // Problems of a plan file name their positions themselves.
        let location = problem.location.iter().filter(|_| problem.code != "invalid-plan-file");
        text.extend(location.map(|location| self.location(location)));
        text.extend(problem.causes.iter().map(|cause| format!("  {}\n", visible(cause))));
        text + &self.hints(&problem.hint)
    }

    /// Formats hints, one a line: `hint:` stands before the first, the others are aligned with it.
    pub(crate) fn hints(self, hints: &[String]) -> String {
        let labels = ["  hint: "].into_iter().chain(std::iter::repeat("        "));
        labels.zip(hints).map(|(label, hint)| format!("{label}{}\n", visible(hint))).collect()
    }

    /// Formats an excerpt with a caret below the position.
    fn location(self, location: &Location) -> String {
        let number = location.line.to_string();
        let margin = " ".repeat(number.len());
        // Tabs stay tabs, so that the caret is below its character whatever their width.
        let before: String = location.excerpt.chars().take(location.caret).map(blank).collect();
        let Location { file, line, column, byte_offset, excerpt, .. } = location;
        let (file, excerpt) = (visible(file), replace_hidden(excerpt));
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
