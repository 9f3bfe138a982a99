//! Files of a context, read as of one commit from a snapshot or a transaction.

pub(crate) mod digest;
pub(crate) mod index;
pub(crate) mod lines;
pub(crate) mod loaded;

use std::path::PathBuf;

use filetx::{ContentReader, FolderTransaction, PathState, Snapshot};

use crate::error::Damage;
use crate::{Error, Name};

/// One message a line.
pub(crate) const MESSAGES: &str = "messages.jsonl";
/// Offset of every 64th message.
pub(crate) const INDEX: &str = "messages.index";
pub(crate) const METADATA: &str = "metadata.json";
pub(crate) const STATE: &str = "state.json";
pub(crate) const GLOBAL: &str = "global_context.json";
/// Messages of older tools: one array.
pub(crate) const LEGACY_MESSAGES: &str = "messages.json";
/// Name of that file after the conversion.
pub(crate) const LEGACY_MESSAGES_BACKUP: &str = "messages.json.old";

/// Maximum size of metadata, state and global context in bytes.
pub(crate) const DOCUMENT_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Maximum size of an array of messages in bytes.
pub(crate) const LEGACY_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// A view of a folder's files as of one commit.
pub(crate) trait View {
    fn look_at(&self, file: &str) -> filetx::Result<PathState>;
    fn open_file(&self, file: &str) -> filetx::Result<Option<ContentReader>>;
}

impl View for Snapshot {
    fn look_at(&self, file: &str) -> filetx::Result<PathState> {
        self.path_state(file)
    }

    fn open_file(&self, file: &str) -> filetx::Result<Option<ContentReader>> {
        self.open(file)
    }
}

impl View for FolderTransaction<'_> {
    fn look_at(&self, file: &str) -> filetx::Result<PathState> {
        self.path_state(file)
    }

    fn open_file(&self, file: &str) -> filetx::Result<Option<ContentReader>> {
        self.open(file)
    }
}

/// Files of one context as of one commit.
#[derive(Clone, Copy)]
pub(crate) struct Files<'a> {
    pub(crate) view: &'a dyn View,
    pub(crate) name: &'a Name,
    pub(crate) folder: &'a PathBuf,
}

impl Files<'_> {
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// Returns the length of a file; `None` if it does not exist.
    pub(crate) fn len(&self, file: &str) -> Result<Option<u64>, Error> {
        match self.view.look_at(file).map_err(|source| self.failed(source))? {
            PathState::Absent => Ok(None),
            PathState::File { len, .. } => Ok(Some(len)),
            _ => Err(self.damaged(file, Damage::WrongType { expected: "a plain file" })),
        }
    }

    pub(crate) fn open(&self, file: &str) -> Result<Option<ContentReader>, Error> {
        self.view.open_file(file).map_err(|source| self.failed(source))
    }

    pub(crate) fn read(&self, file: &str, limit: u64) -> Result<Option<Vec<u8>>, Error> {
        let Some(body) = self.open(file)? else { return Ok(None) };
        if body.len() > limit {
            return Err(self.damaged(file, Damage::TooLarge { limit }));
        }
        body.read_range(0, body.len()).map(Some).map_err(|source| self.failed(source))
    }

    pub(crate) fn failed(&self, source: filetx::Error) -> Error {
        Error::files("read", self.name, source)
    }

    pub(crate) fn damaged(&self, file: &str, source: Damage) -> Error {
        let position = match &source {
            Damage::Json(json) => json.position(),
            _ => None,
        };
        let (line, column) = position.map(|(line, column)| (line as u64, column as u64)).unzip();
        Error::Damaged { file: self.path(file), line, column, source: Box::new(source) }
    }

    /// Returns the error for a damaged line of the messages, counted from 1.
    pub(crate) fn damaged_line(&self, line: u64, source: Damage) -> Error {
        Error::Damaged { file: self.path(MESSAGES), line: Some(line), column: None, source: Box::new(source) }
    }
}
