//! The files of a context, and reading them from whatever sees one commit: a snapshot or a transaction.

pub(crate) mod index;
pub(crate) mod lines;
pub(crate) mod loaded;

use std::path::PathBuf;

use filetx::{Body, FolderTransaction, Look, Snapshot};

use crate::error::Damage;
use crate::{Error, Name};

/// One message a line.
pub(crate) const MESSAGES: &str = "messages.jsonl";
/// Where every 64th message begins.
pub(crate) const INDEX: &str = "messages.index";
pub(crate) const METADATA: &str = "metadata.json";
pub(crate) const STATE: &str = "state.json";
pub(crate) const GLOBAL: &str = "global_context.json";
/// The messages of older tools: one array.
pub(crate) const OLD_MESSAGES: &str = "messages.json";
/// Where these go when the context is converted.
pub(crate) const OLD_MESSAGES_ASIDE: &str = "messages.json.old";

/// The largest file that is read at once: metadata, state, global context.
pub(crate) const DOCUMENT_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The largest array of messages of an older tool.
pub(crate) const OLD_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// What sees the files of a folder as of one commit.
pub(crate) trait View {
    fn look_at(&self, file: &str) -> filetx::Result<Look>;
    fn open_file(&self, file: &str) -> filetx::Result<Option<Body>>;
}

impl View for Snapshot {
    fn look_at(&self, file: &str) -> filetx::Result<Look> {
        self.look(file)
    }

    fn open_file(&self, file: &str) -> filetx::Result<Option<Body>> {
        self.open(file)
    }
}

impl View for FolderTransaction<'_> {
    fn look_at(&self, file: &str) -> filetx::Result<Look> {
        self.look(file)
    }

    fn open_file(&self, file: &str) -> filetx::Result<Option<Body>> {
        self.open(file)
    }
}

/// The files of one context as of one commit.
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

    /// The length of a file; `None` when nothing is there.
    pub(crate) fn len(&self, file: &str) -> Result<Option<u64>, Error> {
        match self.view.look_at(file).map_err(|source| self.failed(source))? {
            Look::Absent => Ok(None),
            Look::File { len, .. } => Ok(Some(len)),
            _ => Err(self.damaged(file, Damage::Kind { expected: "a plain file" })),
        }
    }

    pub(crate) fn open(&self, file: &str) -> Result<Option<Body>, Error> {
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
        let place = match &source {
            Damage::Json(json) => json.place(),
            _ => None,
        };
        let (line, column) = place.map(|(line, column)| (line as u64, column as u64)).unzip();
        Error::Damaged { file: self.path(file), line, column, source: Box::new(source) }
    }

    /// Says which line of the messages, counted from 1, is damaged.
    pub(crate) fn damaged_line(&self, line: u64, source: Damage) -> Error {
        Error::Damaged { file: self.path(MESSAGES), line: Some(line), column: None, source: Box::new(source) }
    }
}
