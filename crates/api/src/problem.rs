//! Problems: errors as plain data that can be serialised.

use std::path::Path;

use filetx::causes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Error, HintFor, Kind};

/// Characters of a line that an excerpt shows: a file may be one line of megabytes.
const EXCERPT_CHARS_MAX: usize = 160;

/// An error or a warning, for people and programs.
#[derive(Clone, PartialEq, JsonSchema, Serialize, Deserialize, Debug)]
pub struct Problem {
    /// Class of the error, which decides the exit code.
    #[serde(skip_serializing)]
    #[schemars(skip)]
    pub kind: Kind,
    /// Stable name, for scripts.
    pub code: String,
    /// One sentence: object, failure, reason.
    pub message: String,
    /// Causes and details, nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
    /// Suggestions, most useful first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hint: Vec<String>,
    /// Position in a file that does not parse, or of the first problem in a plan file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
}

/// A position in a file.
#[derive(Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize, Debug)]
pub struct Location {
    /// Path of the file.
    pub file: String,
    /// Bytes before the position.
    pub byte_offset: usize,
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
    /// The line, or part of a long one; empty if it may hold a secret, and for plan files.
    pub excerpt: String,
    /// Characters of the excerpt before the position.
    pub caret: usize,
}

impl Problem {
    /// Describes an error, without a hint.
    pub fn of(error: &Error) -> Problem {
        if let Error::Refused { problem } = error {
            return (**problem).clone();
        }
        let mut problem =
            Problem { location: location(error), ..Self::new(error.kind(), error.code(), error) };
        match error {
            Error::Plan(error) => drop(problem.causes.splice(0..0, crate::error::plan_details(error))),
            // One cause each, not lines of one text.
            Error::Run(executor::Error::PlanFile { file, problems }) if problems.len() > 1 => {
                problem.message = format!("{} has {} problems", file.display(), problems.len());
                problem.causes = problems.iter().map(ToString::to_string).collect();
            }
            _ => {}
        }
        problem
    }

    /// Describes an error of a frontend.
    pub fn new(kind: Kind, code: &str, error: &dyn std::error::Error) -> Problem {
        let causes = causes(error).map(ToString::to_string).collect();
        Problem { causes, ..Self::without_cause(kind, code, error.to_string()) }
    }

    /// A message that no error caused.
    pub fn without_cause(kind: Kind, code: &str, message: String) -> Problem {
        let code = code.to_owned();
        Problem { kind, code, message, causes: Vec::new(), hint: Vec::new(), location: None }
    }

    /// Describes an error, with the hints of the frontend. A problem from another process keeps its own hints.
    pub fn hinted(error: &Error, hint: Option<HintFor>) -> Problem {
        let mut problem = Self::of(error);
        if let (true, Some(hint)) = (problem.hint.is_empty(), hint) {
            problem.hint = hint(error);
        }
        problem
    }

    pub(crate) fn of_config(error: &config::Error, hint: Option<HintFor>) -> Problem {
        Self::hinted(&Error::Config(error.clone()), hint)
    }
}

fn location(error: &Error) -> Option<Location> {
    let found = match error {
        Error::Run(executor::Error::PlanFile { file, problems }) => {
            let executor::Position { line, column, offset } = problems.first()?.position;
            let (file, excerpt) = (text(file), String::new());
            return Some(Location { file, byte_offset: offset, line, column, excerpt, caret: 0 });
        }
        Error::Config(config::Error::Parse(found)) => found,
        Error::Config(config::Error::EditRejected { source, .. }) => match &**source {
            config::Error::Parse(found) => found,
            _ => return None,
        },
        _ => return None,
    };
    let before = found.column - 1;
    let start = before.saturating_sub(EXCERPT_CHARS_MAX / 2);
    Some(Location {
        file: text(&found.file),
        byte_offset: found.offset,
        line: found.line,
        column: found.column,
        excerpt: found.source_line.chars().skip(start).take(EXCERPT_CHARS_MAX).collect(),
        caret: before - start,
    })
}

/// A path as text, as JSON has no other form; replaces what is not UTF-8.
pub(crate) fn text(path: &Path) -> String {
    path.display().to_string()
}
