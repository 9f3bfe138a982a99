//! Recordings in one call, when nobody else was at their changesets since this store recorded into them last.
//!
//! What the changesets' rows were is known then, so the new ones, with their digests, can be worked out before; the function `record` of
//! the database writes them where all rows still are as they were. If one is not, nothing is written and the usual way is taken. The time
//! in the digests has to be known before as well: it is the server's, carried on by our clock since its last answer, and the server refuses
//! what is not near its own.

use std::collections::btree_map::{BTreeMap, Entry};
use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

use super::failure::Attempt;
use super::recorder::Wish;
use super::transaction::Transaction;
use crate::postgres::changesets::Target;
use crate::postgres::columns::{get, integer, params};
use crate::postgres::entries::{Columns, add};
use crate::{BlobHash, ChainHash, ChangesetId, Chunk, Codec, Epoch, Recorded, Status, Time};

/// Changesets that are known of. When there are more, all are forgotten.
const KNOWN_MAX: usize = 1024;

/// What is known of the server.
#[derive(Default)]
pub(crate) struct Known {
    /// When the server last said what time it was, and what.
    clock: Option<(Instant, Time)>,
    changesets: HashMap<ChangesetId, Target>,
}

impl Known {
    /// Keeps what a transaction left, which is committed.
    pub(crate) fn learn(&mut self, now: Time, begun: Instant, targets: HashMap<ChangesetId, Target>) {
        self.clock = Some((begun, now));
        if self.changesets.len() + targets.len() > KNOWN_MAX {
            self.changesets.clear();
        }
        self.changesets.extend(targets.into_iter().filter(|(_, target)| target.status == Status::Open));
    }

    /// Recordings that may go in one call. What is known of their changesets is forgotten, until that is known to be done.
    pub(crate) fn prepare<'a>(&mut self, group: &'a [Wish]) -> Option<Sure<'a>> {
        let (said, time) = self.clock?;
        let at = time.plus(said.elapsed());
        let mut sure = Sure {
            at,
            targets: BTreeMap::new(),
            columns: Columns::default(),
            held: BTreeSet::new(),
            brought: BTreeMap::new(),
            recorded: Vec::with_capacity(group.len()),
        };
        for wish in group {
            let (id, prepared) = (wish.changeset, &wish.prepared);
            let (.., target) = match sure.targets.entry(id) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => {
                    let before = self.changesets.remove(&id)?;
                    entry.insert((before.entries, before.digest, before))
                }
            };
            if prepared.entries.is_empty() || target.epoch != wish.epoch {
                return None;
            }
            let (first, count) = (target.entries + 1, prepared.entries.len() as u64);
            sure.recorded.push(Recorded { first, count });
            add(&mut sure.columns, wish, target, at);
            sure.held.extend(&prepared.needed);
            for blob in &prepared.blobs {
                sure.held.insert((blob.hash(), u64::from(blob.chunk().bytes())));
                sure.brought.insert(blob.hash(), blob.chunk());
            }
        }
        Some(sure)
    }

    /// They were done.
    pub(crate) fn done(&mut self, sure: Sure<'_>) -> Vec<Recorded> {
        let after = sure.targets.into_iter().map(|(id, (.., target))| (id, target));
        self.changesets.extend(after);
        sure.recorded
    }
}

/// Recordings, and what they make of their changesets.
pub(crate) struct Sure<'a> {
    at: Time,
    /// Count and digest of each changeset before, and the changeset after.
    targets: BTreeMap<ChangesetId, (u64, ChainHash, Target)>,
    columns: Columns<'a>,
    /// Contents that must be there, with their lengths.
    held: BTreeSet<(BlobHash, u64)>,
    /// Those of them that come along.
    brought: BTreeMap<BlobHash, &'a Chunk>,
    recorded: Vec<Recorded>,
}

impl Sure<'_> {
    /// Whether they were recorded. They are not when anything is not as it was known, or a content is not there.
    pub(crate) async fn record(&self, statement: &Transaction<'_>) -> Attempt<bool> {
        let ids: Vec<ChangesetId> = self.targets.keys().copied().collect();
        let epochs: Vec<Epoch> = self.targets.values().map(|(.., target)| target.epoch).collect();
        let old_counts: Vec<i64> = self.targets.values().map(|(count, ..)| integer(*count)).collect();
        let old_digests: Vec<ChainHash> = self.targets.values().map(|(_, digest, _)| *digest).collect();
        let new_counts: Vec<i64> =
            self.targets.values().map(|(.., target)| integer(target.entries)).collect();
        let new_digests: Vec<ChainHash> = self.targets.values().map(|(.., target)| target.digest).collect();
        let columns = &self.columns;
        let hashes: Vec<BlobHash> = self.held.iter().map(|(hash, _)| *hash).collect();
        let lengths: Vec<i64> = self.held.iter().map(|(_, bytes)| integer(*bytes)).collect();
        let new_hashes: Vec<BlobHash> = self.brought.keys().copied().collect();
        let new_lengths: Vec<i64> = self.brought.values().map(|chunk| i64::from(chunk.bytes())).collect();
        let new_codecs: Vec<Codec> = self.brought.values().map(|chunk| chunk.codec()).collect();
        let new_contents: Vec<&[u8]> = self.brought.values().map(|chunk| chunk.stored()).collect();
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
