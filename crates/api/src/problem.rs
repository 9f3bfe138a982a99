//! Problems: errors as plain data that can be serialised.

use std::path::Path;

use filetx::causes;
use serde::{Deserialize, Serialize};

use crate::{Error, HintFor, Kind};

/// How much of a line is shown around a spot: a file may be one line of megabytes.
const EXCERPT_CHARS_MAX: usize = 160;

/// Something that went wrong, for a person and for a program.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
pub struct Problem {
    /// What sort it is.
    #[serde(skip_serializing)]
    pub kind: Kind,
    /// A name that scripts may rely on.
    pub code: String,
    /// What went wrong.
    pub text: String,
    /// The causes, nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
    /// What may help.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The spot in a file that does not parse.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spot: Option<Location>,
}

/// A spot in a file.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct Location {
    /// The file.
    pub file: String,
    /// Bytes before the spot.
    pub byte_offset: usize,
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
    /// The line, or the part of a long one around the spot, unless it may hold a secret.
    pub excerpt: String,
    /// How many characters of the excerpt are before the spot.
    pub caret: usize,
}

impl Problem {
    /// Describes an error, without a hint.
    pub fn of(error: &Error) -> Problem {
        if let Error::Refused { problem } = error {
            return (**problem).clone();
        }
        let mut problem = Problem { spot: spot(error), ..Self::new(error.kind(), error.code(), error) };
        match error {
            Error::Plan(error) => drop(problem.causes.splice(0..0, crate::error::plan_details(error))),
            // Each by itself, not as lines of one text.
            Error::Run(executor::Error::PlanFile { file, problems }) if problems.len() > 1 => {
                problem.text = format!("plan file `{}` has {} problems", file.display(), problems.len());
                problem.causes = problems.iter().map(ToString::to_string).collect();
            }
            _ => {}
        }
        problem
    }

    /// Something that is no error of ours: a code, a text and what it comes from.
    pub fn new(kind: Kind, code: &str, error: &dyn std::error::Error) -> Problem {
        let causes = causes(error).map(ToString::to_string).collect();
        Problem { causes, ..Self::said(kind, code, error.to_string()) }
    }

    /// A text that comes from nothing else.
    pub fn said(kind: Kind, code: &str, text: String) -> Problem {
        Problem { kind, code: code.to_owned(), text, causes: Vec::new(), hint: None, spot: None }
    }

    /// Describes an error, with the hint of the frontend. A problem that another process described has its hint.
    pub fn hinted(error: &Error, hint: Option<HintFor>) -> Problem {
        let problem = Self::of(error);
        match problem.hint {
            Some(_) => problem,
            None => Problem { hint: hint.and_then(|hint| hint(error)), ..problem },
        }
    }

    pub(crate) fn of_config(error: &config::Error, hint: Option<HintFor>) -> Problem {
        Self::hinted(&Error::Config(error.clone()), hint)
    }
}

fn spot(error: &Error) -> Option<Location> {
    let found = match error {
        Error::Config(config::Error::Parse(found)) => found,
        Error::Config(config::Error::NotTaken { source, .. }) => match &**source {
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
