//! Warnings about a context that is still usable.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

use crate::Name;

/// A warning about the files of a context.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Notice {
    /// The last line is torn. It is not among the messages; the next write preserves it in another
    /// file.
    TornTail {
        /// Name of the context.
        name: Name,
        /// Line, counted from 1.
        line: u64,
        /// Length of the line.
        bytes: u64,
    },
    /// Recovery found content of another program, and preserved it. It stays until a person removes
    /// it.
    Preserved {
        /// Name of the context.
        name: Name,
        /// File that holds the content.
        preserved_at: PathBuf,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::TornTail { name, line, bytes } => write!(
                f,
                "line {line} of the messages of context `{name}` is torn ({bytes} bytes); the next write moves it to another file"
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

impl JsonSchema for Notice {
    fn schema_name() -> Cow<'static, str> {
        "Notice".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}
