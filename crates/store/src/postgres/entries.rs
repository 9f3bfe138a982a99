//! Entries in PostgreSQL: many recordings in one transaction of a few statements.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use futures_util::future::join3;
use tokio_postgres::Row;

use super::blobs;
use super::changesets::{self, AppendState};
use super::columns::{count, get, integer, page, params};
use super::engine::failure::{EngineResult, Failure};
use super::engine::recorder::RecordRequest;
use super::engine::transaction::Transaction;
use crate::model::entry::{CanonicalEntry, EntryPosition};
use crate::model::recording::EncodedRecording;
use crate::{
    Actor, BlobHash, ChainHash, ChangeEntry, ChangesetId, EntryStore, Epoch, Error, NewEntry, PathBytes,
    PostgresStore, Recorded, Recording, RequestId, Resource, Result, Status, Time,
};

impl EntryStore for PostgresStore {
    fn record(&self, changeset: ChangesetId, epoch: Epoch, recording: &Recording) -> Result<Recorded> {
        let recording = EncodedRecording::new(recording)?;
        self.engine.recorder.record(&self.engine, changeset, epoch, recording)
    }

    fn entries(&self, changeset: ChangesetId, after: u64, limit: usize) -> Result<Vec<ChangeEntry>> {
        self.engine.read("list entries", async |transaction| list(transaction, changeset, after, limit).await)
    }

    fn last_entries(
        &self,
        changeset: ChangesetId,
        paths: &[(PathBytes, PathBytes)],
    ) -> Result<Vec<Option<ChangeEntry>>> {
        self.engine.read("look up entries", async |transaction| last(transaction, changeset, paths).await)
    }
}

/// Rows to insert, column by column.
#[derive(Default)]
pub(super) struct Columns<'a> {
    pub(super) changesets: Vec<ChangesetId>,
    pub(super) sequences: Vec<i64>,
    pub(super) requests: Vec<Option<RequestId>>,
    pub(super) before: Vec<Option<BlobHash>>,
    pub(super) after: Vec<Option<BlobHash>>,
    pub(super) forms: Vec<&'a str>,
}

/// Records all requests that are not refused. Returns an answer per request, and the new states of
/// the changesets. Locks changesets by id and blobs by hash, so that groups cannot deadlock.
pub(super) async fn record(
    transaction: &Transaction<'_>,
    group: &[RecordRequest],
) -> EngineResult<(Vec<Result<Recorded>>, HashMap<ChangesetId, AppendState>)> {
    let ids: Vec<ChangesetId> =
        group.iter().map(|request| request.changeset).collect::<BTreeSet<_>>().into_iter().collect();
    let requests: Vec<RequestId> = group.iter().map(|request| request.recording.request).collect();
    let needed: BTreeSet<BlobHash> =
        group.iter().flat_map(|request| &request.recording.needed).map(|(hash, _)| *hash).collect();
    // Pipelined; each statement sees what was committed when the one before had its locks.
    let (targets, used, there) = join3(
        changesets::lock_append_states(transaction, &ids),
        find_requests(transaction, &requests),
        blobs::lock_blobs(transaction, needed.iter().copied().collect()),
    )
    .await;
    let (mut targets, used, there) = (targets?, used?, there?);
    let mut answers = Vec::with_capacity(group.len());
    let mut columns = Columns::default();
    let mut packed = Vec::new();
    for request in group {
        let recording = &request.recording;
        if let Some(first) = used.get(&(recording.request, request.changeset)) {
            answers.push(find_recorded(transaction, request, *first).await?);
            continue;
        }
        let target = match check_request(request, targets.get_mut(&request.changeset), &there) {
            Ok(target) => target,
            Err(refusal) => {
                answers.push(Err(refusal));
                continue;
            }
        };
        let recorded = Recorded { first: target.entries + 1, count: recording.entries.len() as u64 };
        append_rows(&mut columns, request, target, transaction.now);
        packed.extend(&recording.blobs);
        answers.push(Ok(recorded));
    }
    let written = join3(
        blobs::put_with_entries(transaction, &packed),
        insert(transaction, &columns),
        changesets::advance(transaction, &targets),
    );
    let (stored, inserted, advanced) = written.await;
    stored.and(inserted).and(advanced)?;
    Ok((answers, targets))
}

/// Returns the state of the changeset, or the reason to refuse: it is closed, its lease has changed
/// hands, or a blob is missing.
fn check_request<'a>(
    request: &RecordRequest,
    target: Option<&'a mut AppendState>,
    there: &HashSet<(BlobHash, u64)>,
) -> Result<&'a mut AppendState> {
    let id = request.changeset;
    let target = target.ok_or_else(|| Error::not_found("changeset", id))?;
    if target.status != Status::Open {
        return Err(Error::Closed { changeset: id, status: target.status });
    }
    if target.epoch != request.epoch {
        let (resource, given) = (Resource::Changeset(id), request.epoch);
        return Err(Error::Stale { resource, given, current: target.epoch, owner: target.owner.clone() });
    }
    match request.recording.needed.iter().find(|needed| !there.contains(needed)) {
        Some((hash, _)) => Err(Error::MissingBlob { hash: *hash }),
        None => Ok(target),
    }
}

/// Appends the entries of a request to the rows, and advances the state of its changeset.
pub(super) fn append_rows<'a>(
    columns: &mut Columns<'a>,
    request: &'a RecordRequest,
    target: &mut AppendState,
    now: Time,
) {
    for (index, (canonical, hash)) in request.recording.entries.iter().enumerate() {
        let sequence = target.entries + 1;
        columns.changesets.push(request.changeset);
        columns.sequences.push(integer(sequence));
        columns.requests.push(Some(request.recording.request).filter(|_| index == 0));
        columns.before.push(canonical.before);
        columns.after.push(canonical.after);
        columns.forms.push(&canonical.form);
        let position =
            EntryPosition { changeset: request.changeset, sequence, at: now, actor: &target.actor };
        target.digest = position.digest(target.digest, *hash);
        target.entries = sequence;
        target.advanced = true;
    }
}

async fn insert(transaction: &Transaction<'_>, columns: &Columns<'_>) -> EngineResult<()> {
    if columns.forms.is_empty() {
        return Ok(());
    }
    let inserted = transaction
        .execute(
            "INSERT INTO entries (changeset, sequence, request, at, before_blob, after_blob, form)
             SELECT changeset, sequence, request, $1, before_blob, after_blob, form
             FROM unnest($2, $3, $4, $5, $6, $7) AS new (changeset, sequence, request, before_blob, after_blob, form)",
            params![
                transaction.now,
                columns.changesets,
                columns.sequences,
                columns.requests,
                columns.before,
                columns.after,
                columns.forms
            ],
        )
        .await?;
    if inserted == columns.forms.len() as u64 { Ok(()) } else { Err(Failure::LostRace) }
}

/// Returns the first sequence number of each request that was recorded before.
async fn find_requests(
    transaction: &Transaction<'_>,
    requests: &Vec<RequestId>,
) -> EngineResult<HashMap<(RequestId, ChangesetId), u64>> {
    let sql = "SELECT request, changeset, sequence FROM entries WHERE request = ANY ($1)";
    let rows = transaction.rows(sql, params![*requests]).await?;
    rows.iter().map(|row| Ok(((get(row, 0)?, get(row, 1)?), count(row, 2)?))).collect()
}

/// Returns what an earlier call with this request recorded.
async fn find_recorded(
    transaction: &Transaction<'_>,
    request: &RecordRequest,
    first: u64,
) -> EngineResult<Result<Recorded>> {
    let recording = &request.recording;
    let rows = transaction
        .rows(
            "SELECT form, before_blob, after_blob, request FROM entries WHERE changeset = $1 AND sequence >= $2
             ORDER BY sequence LIMIT $3",
            params![request.changeset, integer(first), integer(recording.entries.len() as u64 + 1)],
        )
        .await?;
    let mut recorded = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        // Entries that were recorded together have consecutive sequence numbers; only the first has
        // the request.
        if index > 0 && get::<Option<RequestId>>(row, 3)?.is_some() {
            break;
        }
        recorded.push(CanonicalEntry { form: get(row, 0)?, before: get(row, 1)?, after: get(row, 2)? });
    }
    let same = recorded.len() == recording.entries.len()
        && recorded.iter().zip(&recording.entries).all(|(before, (canonical, _))| before == canonical);
    Ok(match same {
        true => Ok(Recorded { first, count: recorded.len() as u64 }),
        false => Err(Error::request_reused(recording.request)),
    })
}

async fn list(
    transaction: &Transaction<'_>,
    id: ChangesetId,
    after: u64,
    limit: usize,
) -> EngineResult<Vec<ChangeEntry>> {
    let actor = changesets::get(transaction, id).await?.actor;
    let rows = transaction
        .rows(
            "SELECT sequence, at, form, before_blob, after_blob FROM entries WHERE changeset = $1 AND sequence > $2
             ORDER BY sequence LIMIT $3",
            params![id, integer(after), page(Some(limit))],
        )
        .await?;
    rows.iter().map(|row| entry(row, id, &actor)).collect()
}

/// Returns the last entry of each path. The path indices hold hashes, so the query compares the
/// paths, too.
async fn last(
    transaction: &Transaction<'_>,
    id: ChangesetId,
    paths: &[(PathBytes, PathBytes)],
) -> EngineResult<Vec<Option<ChangeEntry>>> {
    let actor = changesets::get(transaction, id).await?.actor;
    let roots: Vec<String> = paths.iter().map(|(root, _)| root.to_json()).collect();
    let names: Vec<String> = paths.iter().map(|(_, path)| path.to_json()).collect();
    let rows = transaction.rows(LAST, params![id, roots, names]).await?;
    let mut found = vec![None; paths.len()];
    for row in &rows {
        let number = usize::try_from(count(row, 5)?).unwrap_or(0);
        found[number - 1] = Some(entry(row, id, &actor)?);
    }
    Ok(found)
}

const LAST: &str = "
    SELECT last.sequence, last.at, last.form, last.before_blob, last.after_blob, wanted.number
    FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS wanted (root, path, number)
    CROSS JOIN LATERAL (
        (SELECT * FROM entries
         WHERE changeset = $1 AND md5((form::json -> 1)::text) = md5(wanted.path)
           AND (form::json -> 1)::text = wanted.path AND (form::json -> 0)::text = wanted.root
         ORDER BY sequence DESC LIMIT 1)
        UNION ALL
        (SELECT * FROM entries
         WHERE changeset = $1 AND md5((form::json #> '{2,rename,to}')::text) = md5(wanted.path)
           AND (form::json #> '{2,rename,to}') IS NOT NULL
           AND (form::json #> '{2,rename,to}')::text = wanted.path AND (form::json -> 0)::text = wanted.root
         ORDER BY sequence DESC LIMIT 1)
        ORDER BY sequence DESC LIMIT 1) AS last";

fn entry(row: &Row, id: ChangesetId, actor: &Actor) -> EngineResult<ChangeEntry> {
    let new = NewEntry::from_canonical_form(get(row, 2)?, get(row, 3)?, get(row, 4)?);
    // The entry was altered. The digest of the changeset reveals it.
    let damaged = || Failure::Unreadable(Arc::from(Box::from("the canonical form of an entry is invalid")));
    Ok(new.ok_or_else(damaged)?.at(id, count(row, 0)?, actor, get(row, 1)?))
}

/// The digest of a changeset without entries.
pub(super) const NO_ENTRIES: ChainHash = ChainHash::from_bytes([0; 32]);
