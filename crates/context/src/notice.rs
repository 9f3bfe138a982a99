//! What a person should know about a context that can be used all the same.

use std::fmt;

use crate::Name;

/// Something that was found, that is no error, and that is not kept silent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Notice {
    /// The last line was cut. It is not among the messages; the next write sets it aside.
    TornTail {
        /// The context.
        name: Name,
        /// The line, counted from 1.
        line: u64,
        /// How long it is.
        bytes: u64,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::TornTail { name, line, bytes } => write!(
                f,
                "line {line} of the messages of context `{name}` is torn ({bytes} bytes); the next write sets it aside"
            ),
        }
    }
}
