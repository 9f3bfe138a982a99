//! Cache of the rows that recording looks up, valid while no other connection writes.
//!
//! It belongs to the writer's connection. SQLite's `data_version` reveals writes of other
//! connections; other jobs on this connection, and failed transactions, invalidate the cache.

use std::collections::{HashMap, HashSet};

use rusqlite::Connection;

use super::failure::EngineResult;
use crate::sqlite::blobs;
use crate::sqlite::changesets::{self, AppendState};
use crate::{BlobHash, ChangesetId, PackedBlob, Time};

/// Cached changesets. When there are more, the cache is cleared.
const CHANGESETS_MAX: usize = 1024;
/// Cached blobs. When there are more, the cache is cleared.
const BLOBS_MAX: usize = 4096;

#[derive(Default)]
pub(crate) struct RecordCache {
    /// SQLite's `data_version`, which changes when another connection has written.
    version: i64,
    changesets: HashMap<ChangesetId, AppendState>,
    /// Blobs that are in the store, with their lengths.
    blobs: HashSet<(BlobHash, u64)>,
}

impl RecordCache {
    /// Clears the cache if another connection has written since the last transaction. Called inside
    /// a write transaction.
    pub(crate) fn begin(&mut self, connection: &Connection) -> EngineResult<()> {
        let version = connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        if version != self.version {
            self.clear();
            self.version = version;
        }
        Ok(())
    }

    pub(crate) fn clear(&mut self) {
        self.changesets.clear();
        self.blobs.clear();
    }

    /// Takes the state of a changeset out of the cache, or reads it. [`keep`](Self::keep) puts the
    /// advanced state back.
    pub(crate) fn take(&mut self, connection: &Connection, id: ChangesetId) -> EngineResult<AppendState> {
        match self.changesets.remove(&id) {
            Some(target) => Ok(target),
            None => changesets::append_state(connection, id),
        }
    }

    pub(crate) fn keep(&mut self, id: ChangesetId, target: AppendState) {
        if self.changesets.len() == CHANGESETS_MAX {
            self.changesets.clear();
        }
        self.changesets.insert(id, target);
    }

    /// Tells whether a blob of this length is in the store.
    pub(crate) fn has(&mut self, connection: &Connection, hash: BlobHash, bytes: u64) -> EngineResult<bool> {
        let cached = self.blobs.contains(&(hash, bytes));
        if !cached && blobs::exists(connection, hash, bytes)? {
            self.insert_blob(hash, bytes);
            return Ok(true);
        }
        Ok(cached)
    }

    /// Stores a blob together with the entry that refers to it.
    pub(crate) fn put(&mut self, connection: &Connection, now: Time, blob: &PackedBlob) -> EngineResult<()> {
        blobs::put_with_entry(connection, now, blob)?;
        self.insert_blob(blob.hash(), u64::from(blob.chunk().bytes()));
        Ok(())
    }

    fn insert_blob(&mut self, hash: BlobHash, bytes: u64) {
        if self.blobs.len() == BLOBS_MAX {
            self.blobs.clear();
        }
        self.blobs.insert((hash, bytes));
    }
}
