//! One recording in one statement, when nobody else was at the changeset since this store recorded into it last.
//!
//! What the changeset's row was is known then, so the new one, with its digest, can be worked out before; the statement writes it where the
//! row still is as it was. If it is not, nothing is written and the usual way is taken. The time in the digest has to be known before as well:
//! it is the server's, carried on by our clock since its last answer, and the server refuses what is not near its own.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::changesets::Target;
use super::entries::{Columns, add};
use super::failure::Attempt;
use super::recorder::Wish;
use super::transaction::Transaction;
use super::values::{Parameter, integer, params};
use crate::{BlobHash, ChangesetId, Recorded, Status, Time};

/// Changesets that are known of. When there are more, all are forgotten.
const KNOWN_MAX: usize = 1024;

/// What is known of the server.
#[derive(Default)]
pub(super) struct Known {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// When the server last said what time it was, and what.
    clock: Option<(Instant, Time)>,
    changesets: HashMap<ChangesetId, Target>,
}

impl Known {
    /// Keeps what a transaction left, which is committed.
    pub(super) fn learn(&self, now: Time, begun: Instant, targets: HashMap<ChangesetId, Target>) {
        let mut state = self.state();
        state.clock = Some((begun, now));
        if state.changesets.len() + targets.len() > KNOWN_MAX {
            state.changesets.clear();
        }
        state.changesets.extend(targets.into_iter().filter(|(_, target)| target.status == Status::Open));
    }

    /// A recording that may go in one statement. What is known of its changeset is forgotten, until that is known to be done.
    pub(super) fn prepare<'a>(&self, wish: &'a Wish) -> Option<Alone<'a>> {
        let mut state = self.state();
        let (said, time) = state.clock?;
        let prepared = &wish.prepared;
        if prepared.entries.is_empty() || !prepared.blobs.is_empty() {
            return None;
        }
        let before = state.changesets.remove(&wish.changeset)?;
        if before.epoch != wish.epoch {
            return None;
        }
        let at = time.plus(said.elapsed());
        let (mut after, mut columns) = (before.clone(), Columns::default());
        add(&mut columns, wish, &mut after, at);
        Some(Alone { wish, at, before, after, columns })
    }

    /// It was done.
    pub(super) fn done(&self, alone: Alone<'_>) -> Recorded {
        let recorded = alone.recorded();
        self.state().changesets.insert(alone.wish.changeset, alone.after);
        recorded
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A recording, and what it makes of its changeset.
pub(super) struct Alone<'a> {
    wish: &'a Wish,
    at: Time,
    before: Target,
    after: Target,
    columns: Columns<'a>,
}

impl Alone<'_> {
    fn recorded(&self) -> Recorded {
        Recorded { first: self.before.entries + 1, count: self.wish.prepared.entries.len() as u64 }
    }

    /// Whether it was recorded. It is not when anything is not as it was known, or a content is not there.
    pub(super) async fn record(&self, transaction: &Transaction<'_>) -> Attempt<bool> {
        let needed = &self.wish.prepared.needed;
        let hashes: Vec<BlobHash> = needed.iter().map(|(hash, _)| *hash).collect();
        let bytes: Vec<i64> = needed.iter().map(|(_, bytes)| integer(*bytes)).collect();
        let columns = &self.columns;
        let (after, before) = (integer(self.after.entries), integer(self.before.entries));
        // What is not needed is not planned for.
        let (held, is_held) = match needed.is_empty() {
            true => ("", ""),
            false => (
                "needed AS (SELECT DISTINCT hash, bytes FROM unnest($13, $14) AS needed (hash, bytes)),
                 held AS (SELECT blobs.hash FROM agents.blobs JOIN needed USING (hash, bytes) FOR KEY SHARE OF blobs),",
                "AND (SELECT count(*) FROM held) = (SELECT count(*) FROM needed)",
            ),
        };
        let sql = format!(
            "WITH {held} target AS (
                 UPDATE agents.changesets SET entries = $1, digest = $2
                 WHERE id = $3 AND epoch = $4 AND status = 'open' AND entries = $5 AND digest = $6
                   AND clock_timestamp() BETWEEN $7 - interval '1 second' AND $7 + interval '1 second' {is_held}
                 RETURNING id)
             INSERT INTO agents.entries (changeset, sequence, request, at, before_blob, after_blob, form)
             SELECT id, sequence, request, $7, before_blob, after_blob, form FROM target
             CROSS JOIN unnest($8, $9, $10, $11, $12) AS new (sequence, request, before_blob, after_blob, form)"
        );
        let all: &[Parameter<'_>] = params![
            after,
            self.after.digest,
            self.wish.changeset,
            self.wish.epoch,
            before,
            self.before.digest,
            self.at,
            columns.sequences,
            columns.requests,
            columns.before,
            columns.after,
            columns.forms,
            hashes,
            bytes
        ];
        let used = if needed.is_empty() { &all[..12] } else { all };
        let inserted = transaction.execute(&sql, used).await?;
        Ok(inserted > 0)
    }
}
