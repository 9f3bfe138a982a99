//! What a person should know about a context that can be used all the same.

use std::fmt;
use std::path::PathBuf;

use serde::{Serialize, Serializer};

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
    /// Recovery found content that another program had written, and preserved it. It stays there until a person removes it.
    Preserved {
        /// The context.
        name: Name,
        /// The file that holds the content.
        preserved_at: PathBuf,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::TornTail { name, line, bytes } => write!(
                f,
                "line {line} of the messages of context `{name}` is torn ({bytes} bytes); the next write sets it aside"
            ),
            Notice::Preserved { name, preserved_at } => write!(
                f,
                "another program changed context `{name}` while a save was interrupted; its content is preserved in `{}`",
                preserved_at.display()
            ),
        }
    }
}

impl Serialize for Notice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
