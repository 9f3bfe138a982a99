//! Reads of a transaction: the files, with its staged changes.

use std::ffi::OsString;

use crate::Result;
use crate::path::ToTxPath;
use crate::tx::change::PathState;
use crate::tx::view::ContentReader;
use crate::tx::{Policy, Transaction};

impl<P: Policy> Transaction<P> {
    /// The state of a path, with staged changes.
    pub fn path_state(&self, at: impl ToTxPath) -> Result<PathState> {
        let at = at.to_tx_path()?;
        self.check_root(at.root)?;
        self.view().path_state(&at)
    }

    /// The content of a file, with staged changes; `None` if the path does not exist.
    pub fn read(&self, at: impl ToTxPath) -> Result<Option<Vec<u8>>> {
        let at = at.to_tx_path()?;
        self.check_root(at.root)?;
        self.view().read(&at)
    }

    /// Opens a file, with the changes staged so far, to read it in pieces; `None` if the path does
    /// not exist.
    pub fn open(&self, at: impl ToTxPath) -> Result<Option<ContentReader>> {
        let at = at.to_tx_path()?;
        self.check_root(at.root)?;
        self.view().open(&at)
    }

    /// The names in a folder, with staged changes, sorted.
    pub fn list(&self, at: impl ToTxPath) -> Result<Vec<OsString>> {
        let at = at.to_tx_path()?;
        self.check_root(at.root)?;
        self.view().list(&at)
    }
}
