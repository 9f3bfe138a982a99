//! Entries in SQLite.

use rusqlite::types::FromSqlError;
use rusqlite::{Connection, Row, params};

use super::failure::Attempt;
use super::values::{Count, integer, page, rows};
use super::{blobs, changesets};
use crate::limits::{ENTRIES_MAX, RECORD_BYTES_MAX};
use crate::{
    ChangeEntry, ChangesetId, Content, Epoch, Error, Operation, PackedBlob, PathBytes, Recorded, Recording,
    RequestId, Result, Time,
};

/// What can be refused before the writer is bothered.
pub(super) fn check_limits(recording: &Recording) -> Result<()> {
    if recording.entries.len() > ENTRIES_MAX {
        return Err(Error::Limit { what: "the entries of one call", limit: ENTRIES_MAX as u64 });
    }
    if bytes(recording) > RECORD_BYTES_MAX {
        return Err(Error::Limit { what: "the contents of one call", limit: RECORD_BYTES_MAX as u64 });
    }
    Ok(())
}

/// About how much a recording writes.
pub(super) fn bytes(recording: &Recording) -> usize {
    recording.blobs.iter().map(|blob| blob.chunk().stored().len()).sum()
}

pub(super) fn record(
    connection: &Connection,
    now: Time,
    id: ChangesetId,
    epoch: Epoch,
    recording: &Recording,
) -> Attempt<Recorded> {
    if let Some(recorded) = answer(connection, id, recording)? {
        return Ok(recorded);
    }
    let count = recording.entries.len() as u64;
    let Some(changeset) = changesets::advance(connection, id, epoch, count)? else {
        return Err(changesets::refusal(connection, id, epoch)?.into());
    };
    let before = changeset.entries - count;
    let mut digest = changeset.digest;
    for blob in &recording.blobs {
        blobs::put_with_entry(connection, now, blob)?;
    }
    let brought = |content: &Content| {
        let same = |blob: &PackedBlob| {
            blob.hash() == content.blob && u64::from(blob.chunk().bytes()) == content.bytes
        };
        recording.blobs.iter().any(same)
    };
    for (sequence, entry) in (before + 1..).zip(&recording.entries) {
        for content in [&entry.before, &entry.after].into_iter().flatten() {
            if !brought(content) && !blobs::is_there(connection, content)? {
                return Err(Error::MissingBlob { hash: content.blob }.into());
            }
        }
        let entry = entry.at(id, sequence, &changeset.actor, now);
        insert(connection, recording.request, &entry)?;
        digest = entry.digest(digest);
    }
    changesets::set_digest(connection, id, digest)?;
    Ok(Recorded { first: before + 1, count })
}

/// What this request recorded before, if it did.
fn answer(connection: &Connection, id: ChangesetId, recording: &Recording) -> Attempt<Option<Recorded>> {
    let sql = format!("{SELECT} WHERE changeset = ?1 AND request = ?2 ORDER BY sequence");
    let before = rows(connection, &sql, params![id, recording.request], entry)?;
    let Some(first) = before.first() else { return Ok(None) };
    let same = before.len() == recording.entries.len()
        && before.iter().zip(&recording.entries).all(|(entry, new)| entry.is(new));
    if !same {
        return Err(Error::request_reused(recording.request).into());
    }
    Ok(Some(Recorded { first: first.sequence, count: before.len() as u64 }))
}

fn insert(connection: &Connection, request: RequestId, entry: &ChangeEntry) -> Attempt<()> {
    let (operation, renamed_to) = match &entry.operation {
        Operation::Create => ("create", None),
        Operation::Modify => ("modify", None),
        Operation::Delete => ("delete", None),
        Operation::Rename { to } => ("rename", Some(to)),
        Operation::Mode => ("mode", None),
    };
    let (before, after) = (entry.before.as_ref(), entry.after.as_ref());
    let blob = |content: Option<&Content>| content.map(|content| content.blob);
    let bytes = |content: Option<&Content>| content.map(|content| integer(content.bytes));
    connection
        .prepare_cached(
            "INSERT INTO entries VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
        )?
        .execute(params![
            entry.changeset,
            integer(entry.sequence),
            request,
            entry.root,
            entry.path,
            operation,
            renamed_to,
            before.map(|content| content.kind),
            blob(before),
            bytes(before),
            before.map(|content| content.mode),
            after.map(|content| content.kind),
            blob(after),
            bytes(after),
            after.map(|content| content.mode),
            entry.tool,
            entry.at
        ])?;
    Ok(())
}

const SELECT: &str = "SELECT changeset, sequence, (SELECT actor FROM changesets WHERE id = changeset), root, path, operation, renamed_to,
    before_kind, before_blob, before_bytes, before_mode, after_kind, after_blob, after_bytes, after_mode, tool, at FROM entries";

fn entry(row: &Row<'_>) -> rusqlite::Result<ChangeEntry> {
    Ok(ChangeEntry {
        changeset: row.get(0)?,
        sequence: row.get::<_, Count>(1)?.0,
        actor: row.get(2)?,
        root: row.get(3)?,
        path: row.get(4)?,
        operation: operation(row)?,
        before: content(row, 7)?,
        after: content(row, 11)?,
        tool: row.get(15)?,
        at: row.get(16)?,
    })
}

fn operation(row: &Row<'_>) -> rusqlite::Result<Operation> {
    let word: String = row.get(5)?;
    match (word.as_str(), row.get::<_, Option<PathBytes>>(6)?) {
        ("create", None) => Ok(Operation::Create),
        ("modify", None) => Ok(Operation::Modify),
        ("delete", None) => Ok(Operation::Delete),
        ("mode", None) => Ok(Operation::Mode),
        ("rename", Some(to)) => Ok(Operation::Rename { to }),
        _ => Err(rusqlite::Error::FromSqlConversionFailure(
            5,
            rusqlite::types::Type::Text,
            Box::new(FromSqlError::InvalidType),
        )),
    }
}

fn content(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<Content>> {
    let Some(kind) = row.get(first)? else { return Ok(None) };
    Ok(Some(Content {
        kind,
        blob: row.get(first + 1)?,
        bytes: row.get::<_, Count>(first + 2)?.0,
        mode: row.get(first + 3)?,
    }))
}

pub(super) fn list(
    connection: &Connection,
    id: ChangesetId,
    after: u64,
    limit: usize,
) -> Attempt<Vec<ChangeEntry>> {
    changesets::get(connection, id)?;
    let sql = format!("{SELECT} WHERE changeset = ?1 AND sequence > ?2 ORDER BY sequence LIMIT ?3");
    rows(connection, &sql, params![id, integer(after), page(Some(limit))], entry)
}
