//! Records a group in one round trip, if this store was the last to record into its changesets.
//!
//! The rows of these changesets are cached, so their new counts and digests can be computed in
//! advance; the database function `record` writes them only if all rows still match the cache.
//! Otherwise nothing is written, and the group takes the slow path. The digests contain the time,
//! so it is computed in advance, too, from the server's last time and our clock; the server refuses
//! a time that is not close to its own.

use std::collections::btree_map::{BTreeMap, Entry};
use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

use super::failure::EngineResult;
use super::recorder::RecordRequest;
use super::transaction::Transaction;
use crate::postgres::changesets::AppendState;
use crate::postgres::columns::{get, integer, params};
use crate::postgres::entries::{Columns, append_rows};
use crate::{BlobHash, ChainHash, ChangesetId, Chunk, Codec, Epoch, Recorded, Status, Time};

/// Cached changesets. When there are more, the cache is cleared.
const CHANGESETS_MAX: usize = 1024;

/// The cached state of the server.
#[derive(Default)]
pub(crate) struct FastPath {
    /// The server's last time, and when it arrived.
    clock: Option<(Instant, Time)>,
    changesets: HashMap<ChangesetId, AppendState>,
}

impl FastPath {
    /// Caches the state that a committed transaction left.
    pub(crate) fn update(&mut self, now: Time, started: Instant, targets: HashMap<ChangesetId, AppendState>) {
        self.clock = Some((started, now));
        if self.changesets.len() + targets.len() > CHANGESETS_MAX {
            self.changesets.clear();
        }
        self.changesets.extend(targets.into_iter().filter(|(_, target)| target.status == Status::Open));
    }

    /// Builds the batch of a group, if all its changesets are cached. Takes their states out of the
    /// cache until [`commit`](Self::commit).
    pub(crate) fn batch<'a>(&mut self, group: &'a [RecordRequest]) -> Option<OptimisticBatch<'a>> {
        let (received, time) = self.clock?;
        let at = time.plus(received.elapsed());
        let mut batch = OptimisticBatch {
            at,
            targets: BTreeMap::new(),
            columns: Columns::default(),
            required: BTreeSet::new(),
            new_blobs: BTreeMap::new(),
            recorded: Vec::with_capacity(group.len()),
        };
        for request in group {
            let (id, recording) = (request.changeset, &request.recording);
            let (.., target) = match batch.targets.entry(id) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => {
                    let before = self.changesets.remove(&id)?;
                    entry.insert((before.entries, before.digest, before))
                }
            };
            if recording.entries.is_empty() || target.epoch != request.epoch {
                return None;
            }
            let (first, count) = (target.entries + 1, recording.entries.len() as u64);
            batch.recorded.push(Recorded { first, count });
            append_rows(&mut batch.columns, request, target, at);
            batch.required.extend(&recording.needed);
            for blob in &recording.blobs {
                batch.required.insert((blob.hash(), u64::from(blob.chunk().bytes())));
                batch.new_blobs.insert(blob.hash(), blob.chunk());
            }
        }
        Some(batch)
    }

    /// Returns the states of a committed batch to the cache.
    pub(crate) fn commit(&mut self, batch: OptimisticBatch<'_>) -> Vec<Recorded> {
        let after = batch.targets.into_iter().map(|(id, (.., target))| (id, target));
        self.changesets.extend(after);
        batch.recorded
    }
}

/// Recordings with the expected and the new states of their changesets.
pub(crate) struct OptimisticBatch<'a> {
    at: Time,
    /// Count and digest of each changeset before, and its state after.
    targets: BTreeMap<ChangesetId, (u64, ChainHash, AppendState)>,
    columns: Columns<'a>,
    /// Blobs that must be in the store afterwards, with their lengths.
    required: BTreeSet<(BlobHash, u64)>,
    /// Blobs that the recordings bring.
    new_blobs: BTreeMap<BlobHash, &'a Chunk>,
    recorded: Vec<Recorded>,
}

impl OptimisticBatch<'_> {
    /// Records the batch. Returns false, and records nothing, if a row does not match the cache or
    /// a blob is missing.
    pub(crate) async fn record(&self, statement: &Transaction<'_>) -> EngineResult<bool> {
        let ids: Vec<ChangesetId> = self.targets.keys().copied().collect();
        let epochs: Vec<Epoch> = self.targets.values().map(|(.., target)| target.epoch).collect();
        let old_counts: Vec<i64> = self.targets.values().map(|(count, ..)| integer(*count)).collect();
        let old_digests: Vec<ChainHash> = self.targets.values().map(|(_, digest, _)| *digest).collect();
        let new_counts: Vec<i64> =
            self.targets.values().map(|(.., target)| integer(target.entries)).collect();
        let new_digests: Vec<ChainHash> = self.targets.values().map(|(.., target)| target.digest).collect();
        let columns = &self.columns;
        let hashes: Vec<BlobHash> = self.required.iter().map(|(hash, _)| *hash).collect();
        let lengths: Vec<i64> = self.required.iter().map(|(_, bytes)| integer(*bytes)).collect();
        let new_hashes: Vec<BlobHash> = self.new_blobs.keys().copied().collect();
        let new_lengths: Vec<i64> = self.new_blobs.values().map(|chunk| i64::from(chunk.bytes())).collect();
        let new_codecs: Vec<Codec> = self.new_blobs.values().map(|chunk| chunk.codec()).collect();
        let new_contents: Vec<&[u8]> = self.new_blobs.values().map(|chunk| chunk.stored()).collect();
        let row = statement
            .one(
                "SELECT agents.record($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)",
                params![
                    self.at,
                    ids,
                    epochs,
                    old_counts,
                    old_digests,
                    new_counts,
                    new_digests,
                    columns.changesets,
                    columns.sequences,
                    columns.requests,
                    columns.before,
                    columns.after,
                    columns.forms,
                    hashes,
                    lengths,
                    new_hashes,
                    new_lengths,
                    new_codecs,
                    new_contents
                ],
            )
            .await?;
        get(&row, 0)
    }
}
