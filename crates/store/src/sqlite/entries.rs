//! Entries in SQLite: one table in the order of recording, indexed by blocks of rows.

use rusqlite::types::{FromSqlError, Type};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::changesets::{self, AppendState};
use super::columns::{integer, page, rows};
use super::engine::failure::{EngineResult, Failure};
use super::engine::record_cache::RecordCache;
use super::leases;
use crate::model::entry::{CanonicalEntry, EntryPosition};
use crate::model::recording::EncodedRecording;
use crate::{
    Actor, ChangeEntry, ChangesetId, EntryStore, Epoch, Error, NewEntry, PathBytes, Recorded, Recording,
    RequestId, Resource, Result, SqliteStore, Status, Time,
};

impl EntryStore for SqliteStore {
    fn record(&self, changeset: ChangesetId, epoch: Epoch, recording: &Recording) -> Result<Recorded> {
        let recording = EncodedRecording::new(recording)?;
        self.engine.record("record entries", recording.bytes(), move |connection, cache, now| {
            record(connection, cache, now, changeset, epoch, &recording)
        })
    }

    fn entries(&self, changeset: ChangesetId, after: u64, limit: usize) -> Result<Vec<ChangeEntry>> {
        self.engine.read("list entries", |connection, _| list(connection, changeset, after, limit))
    }

    fn last_entries(
        &self,
        changeset: ChangesetId,
        paths: &[(PathBytes, PathBytes)],
    ) -> Result<Vec<Option<ChangeEntry>>> {
        self.engine.read("look up entries", |connection, _| last(connection, changeset, paths))
    }
}

/// Binary logarithm of the block size, as in the index of the schema.
const BLOCK_BITS: u32 = 9;

/// Records, or refuses before anything is written.
fn record(
    connection: &Connection,
    cache: &mut RecordCache,
    now: Time,
    id: ChangesetId,
    epoch: Epoch,
    recording: &EncodedRecording,
) -> EngineResult<Recorded> {
    let mut target = cache.take(connection, id)?;
    if let Some(refusal) = refusal(connection, cache, id, epoch, &target, recording)? {
        // A repeated call returns the first answer, whatever happened since.
        return find_recorded(connection, id, recording)?.ok_or(refusal.into());
    }
    let first = target.entries + 1;
    for (index, (canonical, hash)) in recording.entries.iter().enumerate() {
        let sequence = target.entries + 1;
        let request = Some(recording.request).filter(|_| index == 0);
        if !insert(connection, id, sequence, request, now, canonical).map_err(Failure::after_write)? {
            // The index of requests rejected the row: a repeated call, and nothing is written yet.
            let again = find_recorded(connection, id, recording)?;
            return again.ok_or_else(|| Error::request_reused(recording.request).into());
        }
        let last_id = connection.last_insert_rowid();
        target.ids = (if target.ids.0 == 0 { last_id } else { target.ids.0 }, last_id);
        let position = EntryPosition { changeset: id, sequence, at: now, actor: &target.actor };
        target.digest = position.digest(target.digest, *hash);
        target.entries = sequence;
    }
    finish(connection, cache, now, id, &target, recording).map_err(Failure::after_write)?;
    cache.keep(id, target);
    Ok(Recorded { first, count: recording.entries.len() as u64 })
}

fn finish(
    connection: &Connection,
    cache: &mut RecordCache,
    now: Time,
    id: ChangesetId,
    target: &AppendState,
    recording: &EncodedRecording,
) -> EngineResult<()> {
    for blob in &recording.blobs {
        cache.put(connection, now, blob)?;
    }
    changesets::advance(connection, id, target)
}

/// Returns the reason to refuse: the changeset is closed, its lease has changed hands, or a blob is
/// missing.
fn refusal(
    connection: &Connection,
    cache: &mut RecordCache,
    id: ChangesetId,
    epoch: Epoch,
    target: &AppendState,
    recording: &EncodedRecording,
) -> EngineResult<Option<Error>> {
    if target.status != Status::Open {
        return Ok(Some(Error::Closed { changeset: id, status: target.status }));
    }
    if target.epoch != epoch {
        return leases::stale(connection, Resource::Changeset(id), epoch);
    }
    for (hash, bytes) in &recording.needed {
        if !cache.has(connection, *hash, *bytes)? {
            return Ok(Some(Error::MissingBlob { hash: *hash }));
        }
    }
    Ok(None)
}

/// Returns what an earlier call with this request recorded.
fn find_recorded(
    connection: &Connection,
    id: ChangesetId,
    recording: &EncodedRecording,
) -> EngineResult<Option<Recorded>> {
    let found: Option<(i64, u64)> = connection
        .prepare_cached("SELECT id, sequence FROM entries WHERE request = ?1 AND changeset = ?2")?
        .query_row(params![recording.request, id], |row| {
            Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs()))
        })
        .optional()?;
    let Some((first_id, first)) = found else { return Ok(None) };
    // Entries that were recorded together have consecutive row ids; only the first has the request.
    let recorded = rows(
        connection,
        "SELECT form, before_blob, after_blob, changeset, request FROM entries WHERE id >= ?1 ORDER BY id LIMIT ?2",
        params![first_id, integer(recording.entries.len() as u64 + 1)],
        |row| {
            let canonical = CanonicalEntry { form: row.get(0)?, before: row.get(1)?, after: row.get(2)? };
            Ok((canonical, row.get::<_, ChangesetId>(3)?, row.get::<_, Option<RequestId>>(4)?))
        },
    )?;
    let more =
        recorded[1..].iter().take_while(|(_, changeset, request)| *changeset == id && request.is_none());
    let count = 1 + more.count();
    let same = count == recording.entries.len()
        && recorded.iter().zip(&recording.entries).all(|((before, ..), (canonical, _))| before == canonical);
    if !same {
        return Err(Error::request_reused(recording.request).into());
    }
    Ok(Some(Recorded { first, count: count as u64 }))
}

/// Inserts an entry. Returns false if the changeset already has the request.
fn insert(
    connection: &Connection,
    id: ChangesetId,
    sequence: u64,
    request: Option<RequestId>,
    now: Time,
    canonical: &CanonicalEntry,
) -> EngineResult<bool> {
    let inserted = connection
        .prepare_cached(
            "INSERT INTO entries (changeset, sequence, request, at, before_blob, after_blob, form)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING",
        )?
        .execute(params![
            id,
            integer(sequence),
            request,
            now,
            canonical.before,
            canonical.after,
            canonical.form
        ])?;
    Ok(inserted == 1)
}

fn list(
    connection: &Connection,
    id: ChangesetId,
    after: u64,
    limit: usize,
) -> EngineResult<Vec<ChangeEntry>> {
    let target = changesets::append_state(connection, id)?;
    let limit = page(Some(limit));
    let mut entries = Vec::new();
    for block in blocks(target.ids) {
        let left = limit - integer(entries.len() as u64);
        if left == 0 {
            break;
        }
        entries.extend(rows(
            connection,
            &format!(
                "SELECT sequence, at, form, before_blob, after_blob FROM entries
                 WHERE id >> {BLOCK_BITS} = ?1 AND changeset = ?2 AND sequence > ?3 ORDER BY sequence LIMIT ?4"
            ),
            params![block, id, integer(after), left],
            |row| entry(row, id, &target.actor),
        )?);
    }
    Ok(entries)
}

/// Returns the last entry of each path, using the path indices.
fn last(
    connection: &Connection,
    id: ChangesetId,
    paths: &[(PathBytes, PathBytes)],
) -> EngineResult<Vec<Option<ChangeEntry>>> {
    let actor = changesets::append_state(connection, id)?.actor;
    let mut find = connection.prepare_cached(LAST)?;
    let last = |(root, path): &(PathBytes, PathBytes)| {
        let parameters = params![id, root.to_json(), path.to_json()];
        Ok(find.query_row(parameters, |row| entry(row, id, &actor)).optional()?)
    };
    paths.iter().map(last).collect()
}

const LAST: &str = "
    SELECT * FROM (
        SELECT sequence, at, form, before_blob, after_blob FROM entries
        WHERE changeset = ?1 AND iif(json_valid(form), form -> '$[1]', NULL) = ?3 AND form -> '$[0]' = ?2
        ORDER BY sequence DESC LIMIT 1)
    UNION ALL SELECT * FROM (
        SELECT sequence, at, form, before_blob, after_blob FROM entries
        WHERE changeset = ?1 AND iif(json_valid(form), form -> '$[2].rename.to', NULL) = ?3 AND form -> '$[0]' = ?2
        ORDER BY sequence DESC LIMIT 1)
    ORDER BY sequence DESC LIMIT 1";

/// Removes all entries of a changeset, and returns their number.
pub(super) fn remove(connection: &Connection, id: ChangesetId) -> EngineResult<u64> {
    let mut removed = 0;
    for block in blocks(changesets::append_state(connection, id)?.ids) {
        let sql = format!("DELETE FROM entries WHERE id >> {BLOCK_BITS} = ?1 AND changeset = ?2");
        removed += connection.prepare_cached(&sql)?.execute(params![block, id])? as u64;
    }
    Ok(removed)
}

fn blocks((first, last): (i64, i64)) -> impl Iterator<Item = i64> {
    (first >> BLOCK_BITS)..=(last >> BLOCK_BITS)
}

fn entry(row: &Row<'_>, id: ChangesetId, actor: &Actor) -> rusqlite::Result<ChangeEntry> {
    let new = NewEntry::from_canonical_form(row.get_ref(2)?.as_str()?, row.get(3)?, row.get(4)?);
    let invalid = || {
        let cause = Box::new(FromSqlError::InvalidType);
        rusqlite::Error::FromSqlConversionFailure(2, Type::Text, cause)
    };
    let sequence = row.get::<_, i64>(0)?.unsigned_abs();
    Ok(new.ok_or_else(invalid)?.at(id, sequence, actor, row.get(1)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::engine::connect::MIGRATIONS;

    #[test]
    fn last_entries_are_found_by_indices_alone() {
        let connection = Connection::open_in_memory().unwrap();
        MIGRATIONS.iter().for_each(|sql| connection.execute_batch(sql).unwrap());
        let explain = format!("EXPLAIN QUERY PLAN {LAST}");
        let plan = rows(&connection, &explain, params![0, 0, 0], |row| row.get::<_, String>(3)).unwrap();
        let searches: Vec<_> = plan.iter().filter(|step| step.contains("entries")).collect();
        for (search, index) in searches.iter().zip(["entries_of_path", "entries_of_new_path"]) {
            let expected = format!("SEARCH entries USING INDEX {index} (changeset=? AND <expr>=?)");
            assert_eq!(**search, expected, "{plan:#?}");
        }
        assert_eq!(searches.len(), 2, "{plan:#?}");
    }
}
