//! Entries in SQLite: one table in the order of recording, found by blocks of it.

use rusqlite::types::{FromSqlError, Type};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::changesets::{self, Target};
use super::columns::{integer, page, rows};
use super::engine::failure::{Attempt, Failure};
use super::engine::record_cache::Known;
use super::leases;
use crate::model::changeset::{Formed, Place};
use crate::model::recording::Prepared;
use crate::{
    Actor, ChangeEntry, ChangesetId, EntryStore, Epoch, Error, NewEntry, PathBytes, Recorded, Recording,
    RequestId, Resource, Result, SqliteStore, Status, Time,
};

impl EntryStore for SqliteStore {
    fn record(&self, changeset: ChangesetId, epoch: Epoch, recording: &Recording) -> Result<Recorded> {
        let prepared = Prepared::new(recording)?;
        self.engine.record("record entries", prepared.bytes(), move |connection, known, now| {
            record(connection, known, now, changeset, epoch, &prepared)
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
        self.engine.read("look for entries", |connection, _| last(connection, changeset, paths))
    }
}

/// Two to this many entries are a block of the index by changeset, as the tables say.
const BLOCK_BITS: u32 = 9;

/// Records, or refuses before anything is written.
fn record(
    connection: &Connection,
    known: &mut Known,
    now: Time,
    id: ChangesetId,
    epoch: Epoch,
    prepared: &Prepared,
) -> Attempt<Recorded> {
    let mut target = known.take(connection, id)?;
    if let Some(refusal) = refusal(connection, known, id, epoch, &target, prepared)? {
        // Whoever asks again gets the first answer, whatever has happened since.
        return answer(connection, id, prepared)?.ok_or(refusal.into());
    }
    let first = target.entries + 1;
    for (place, (formed, hash)) in prepared.entries.iter().enumerate() {
        let sequence = target.entries + 1;
        let request = Some(prepared.request).filter(|_| place == 0);
        if !insert(connection, id, sequence, request, now, formed).map_err(Failure::half_done)? {
            // The index of requests has it: this was recorded before, and nothing is written yet.
            let again = answer(connection, id, prepared)?;
            return again.ok_or_else(|| Error::request_reused(prepared.request).into());
        }
        let last_id = connection.last_insert_rowid();
        target.ids = (if target.ids.0 == 0 { last_id } else { target.ids.0 }, last_id);
        let place = Place { changeset: id, sequence, at: now, actor: &target.actor };
        target.digest = place.digest(target.digest, *hash);
        target.entries = sequence;
    }
    finish(connection, known, now, id, &target, prepared).map_err(Failure::half_done)?;
    known.keep(id, target);
    Ok(Recorded { first, count: prepared.entries.len() as u64 })
}

fn finish(
    connection: &Connection,
    known: &mut Known,
    now: Time,
    id: ChangesetId,
    target: &Target,
    prepared: &Prepared,
) -> Attempt<()> {
    for blob in &prepared.blobs {
        known.put(connection, now, blob)?;
    }
    changesets::advance(connection, id, target)
}

/// Why nothing can be recorded: the changeset is closed, its lease has changed hands, a content is missing.
fn refusal(
    connection: &Connection,
    known: &mut Known,
    id: ChangesetId,
    epoch: Epoch,
    target: &Target,
    prepared: &Prepared,
) -> Attempt<Option<Error>> {
    if target.status != Status::Open {
        return Ok(Some(Error::Closed { changeset: id, status: target.status }));
    }
    if target.epoch != epoch {
        return leases::stale(connection, Resource::Changeset(id), epoch);
    }
    for (hash, bytes) in &prepared.needed {
        if !known.has(connection, *hash, *bytes)? {
            return Ok(Some(Error::MissingBlob { hash: *hash }));
        }
    }
    Ok(None)
}

/// What this request recorded before, if it did.
fn answer(connection: &Connection, id: ChangesetId, prepared: &Prepared) -> Attempt<Option<Recorded>> {
    let found: Option<(i64, u64)> = connection
        .prepare_cached("SELECT id, sequence FROM entries WHERE request = ?1 AND changeset = ?2")?
        .query_row(params![prepared.request, id], |row| {
            Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs()))
        })
        .optional()?;
    let Some((first_id, first)) = found else { return Ok(None) };
    // What is recorded together has ids one after the other; only the first has the request.
    let recorded = rows(
        connection,
        "SELECT form, before_blob, after_blob, changeset, request FROM entries WHERE id >= ?1 ORDER BY id LIMIT ?2",
        params![first_id, integer(prepared.entries.len() as u64 + 1)],
        |row| {
            let formed = Formed { form: row.get(0)?, before: row.get(1)?, after: row.get(2)? };
            Ok((formed, row.get::<_, ChangesetId>(3)?, row.get::<_, Option<RequestId>>(4)?))
        },
    )?;
    let more =
        recorded[1..].iter().take_while(|(_, changeset, request)| *changeset == id && request.is_none());
    let count = 1 + more.count();
    let same = count == prepared.entries.len()
        && recorded.iter().zip(&prepared.entries).all(|((before, ..), (formed, _))| before == formed);
    if !same {
        return Err(Error::request_reused(prepared.request).into());
    }
    Ok(Some(Recorded { first, count: count as u64 }))
}

/// Whether it was: not when the request has been used in this changeset.
fn insert(
    connection: &Connection,
    id: ChangesetId,
    sequence: u64,
    request: Option<RequestId>,
    now: Time,
    formed: &Formed,
) -> Attempt<bool> {
    let inserted = connection
        .prepare_cached(
            "INSERT INTO entries (changeset, sequence, request, at, before_blob, after_blob, form)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING",
        )?
        .execute(params![id, integer(sequence), request, now, formed.before, formed.after, formed.form])?;
    Ok(inserted == 1)
}

fn list(connection: &Connection, id: ChangesetId, after: u64, limit: usize) -> Attempt<Vec<ChangeEntry>> {
    let target = changesets::target(connection, id)?;
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

/// The last entry of each path, by the indices of paths.
fn last(
    connection: &Connection,
    id: ChangesetId,
    paths: &[(PathBytes, PathBytes)],
) -> Attempt<Vec<Option<ChangeEntry>>> {
    let actor = changesets::target(connection, id)?.actor;
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

/// Removes all entries of a changeset, and says how many.
pub(super) fn remove(connection: &Connection, id: ChangesetId) -> Attempt<u64> {
    let mut removed = 0;
    for block in blocks(changesets::target(connection, id)?.ids) {
        let sql = format!("DELETE FROM entries WHERE id >> {BLOCK_BITS} = ?1 AND changeset = ?2");
        removed += connection.prepare_cached(&sql)?.execute(params![block, id])? as u64;
    }
    Ok(removed)
}

fn blocks((first, last): (i64, i64)) -> impl Iterator<Item = i64> {
    (first >> BLOCK_BITS)..=(last >> BLOCK_BITS)
}

fn entry(row: &Row<'_>, id: ChangesetId, actor: &Actor) -> rusqlite::Result<ChangeEntry> {
    let new = NewEntry::from_form(row.get_ref(2)?.as_str()?, row.get(3)?, row.get(4)?);
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
    fn the_last_entry_of_a_path_is_found_by_indices_alone() {
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
