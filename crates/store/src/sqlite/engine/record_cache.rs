//! What recording looks up, kept from one transaction to the next for as long as nobody else writes.
//!
//! It holds for the connection that it was learned with. SQLite says when another one has written; whatever else is written with this
//! one makes its writer forget everything, as does a transaction that fails.

use std::collections::{HashMap, HashSet};

use rusqlite::Connection;

use super::failure::Attempt;
use crate::sqlite::blobs;
use crate::sqlite::changesets::{self, Target};
use crate::{BlobHash, ChangesetId, PackedBlob, Time};

/// Changesets that are known of. When there are more, all are forgotten.
const CHANGESETS_MAX: usize = 1024;
/// The same of contents.
const CONTENTS_MAX: usize = 4096;

#[derive(Default)]
pub(crate) struct Known {
    /// Another number than before when another connection has written.
    version: i64,
    changesets: HashMap<ChangesetId, Target>,
    /// Contents that are in the store, with their lengths.
    contents: HashSet<(BlobHash, u64)>,
}

impl Known {
    /// Looks, in a transaction that nobody else writes beside, whether somebody has written since the last one.
    pub(crate) fn begin(&mut self, connection: &Connection) -> Attempt<()> {
        let version = connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        if version != self.version {
            self.forget();
            self.version = version;
        }
        Ok(())
    }

    pub(crate) fn forget(&mut self) {
        self.changesets.clear();
        self.contents.clear();
    }

    /// What recording into a changeset needs to know. It is not known any more until what has become of it is kept.
    pub(crate) fn take(&mut self, connection: &Connection, id: ChangesetId) -> Attempt<Target> {
        match self.changesets.remove(&id) {
            Some(target) => Ok(target),
            None => changesets::target(connection, id),
        }
    }

    pub(crate) fn keep(&mut self, id: ChangesetId, target: Target) {
        if self.changesets.len() == CHANGESETS_MAX {
            self.changesets.clear();
        }
        self.changesets.insert(id, target);
    }

    /// Whether a content of this length is in the store.
    pub(crate) fn has(&mut self, connection: &Connection, hash: BlobHash, bytes: u64) -> Attempt<bool> {
        let known = self.contents.contains(&(hash, bytes));
        if !known && blobs::is_there(connection, hash, bytes)? {
            self.stored(hash, bytes);
            return Ok(true);
        }
        Ok(known)
    }

    /// Stores a content that an entry of the same transaction refers to.
    pub(crate) fn put(&mut self, connection: &Connection, now: Time, blob: &PackedBlob) -> Attempt<()> {
        blobs::put_with_entry(connection, now, blob)?;
        self.stored(blob.hash(), u64::from(blob.chunk().bytes()));
        Ok(())
    }

    fn stored(&mut self, hash: BlobHash, bytes: u64) {
        if self.contents.len() == CONTENTS_MAX {
            self.contents.clear();
        }
        self.contents.insert((hash, bytes));
    }
}
