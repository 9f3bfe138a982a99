//! What a transaction sees of its files, with what it staged.

use std::ffi::OsString;

use crate::Result;
use crate::path::ToAt;
use crate::tx::change::Look;
use crate::tx::view::Body;
use crate::tx::{Policy, Transaction};

impl<P: Policy> Transaction<P> {
    /// What is at a path, with what was staged.
    pub fn look(&self, at: impl ToAt) -> Result<Look> {
        let at = at.to_at()?;
        self.check_root(at.root)?;
        self.view().look(&at)
    }

    /// All the bytes of a file, with what was staged; `None` when nothing is there.
    pub fn read(&self, at: impl ToAt) -> Result<Option<Vec<u8>>> {
        let at = at.to_at()?;
        self.check_root(at.root)?;
        self.view().read(&at)
    }

    /// A file's content to be read in pieces, with what was staged so far; `None` when nothing is there.
    pub fn open(&self, at: impl ToAt) -> Result<Option<Body>> {
        let at = at.to_at()?;
        self.check_root(at.root)?;
        self.view().open(&at)
    }

    /// The names in a folder, with what was staged, sorted.
    pub fn list(&self, at: impl ToAt) -> Result<Vec<OsString>> {
        let at = at.to_at()?;
        self.check_root(at.root)?;
        self.view().list(&at)
    }
}
