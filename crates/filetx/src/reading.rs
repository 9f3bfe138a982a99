//! What a transaction sees of its files, with what it staged, and what it expects of them.

use std::ffi::OsString;

use crate::path::ToAt;
use crate::state::{Print, Seen};
use crate::view::{Body, Look};
use crate::{Error, Hash, Result, Transaction};

/// What [`Transaction::expect`] compares a path with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expected {
    /// Nothing is there.
    Absent,
    /// A plain file with this content, whatever its mode.
    Content(Hash),
    /// A symlink that points there.
    Symlink(OsString),
}

impl Transaction<'_> {
    /// What is at a path now, with the hash of a file, before this transaction changes it. It is looked at once: what is staged for the
    /// path later is committed only in the place of this. Looking writes nothing, and needs no folder above the path.
    pub fn observe(&mut self, at: impl ToAt) -> Result<&Seen> {
        let at = at.to_at()?;
        self.check_root(at.root)?;
        self.observed(at)
    }

    /// Fails with [`Error::Conflict`] when a path is not what the caller thinks it is.
    pub fn expect(&self, at: impl ToAt, expected: &Expected) -> Result<()> {
        let at = at.to_at()?;
        self.check_root(at.root)?;
        let found = self.view().see(&at)?;
        let holds = match (&found, expected) {
            (Seen::Absent, Expected::Absent) => true,
            (Seen::Symlink { target }, Expected::Symlink(wanted)) => target == wanted,
            (Seen::File { print, .. }, Expected::Content(wanted)) => *print == Print::Whole(*wanted),
            _ => false,
        };
        if holds {
            return Ok(());
        }
        let expected = match expected {
            Expected::Absent => "nothing".to_owned(),
            Expected::Content(hash) => format!("a file with hash {hash:?}"),
            Expected::Symlink(target) => format!("a symlink to `{}`", target.display()),
        };
        Err(Error::Conflict { path: self.show(&at), expected, found: found.to_string() })
    }

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
