//! Entries in PostgreSQL: recorded for many at once, in one transaction of a few statements.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use futures_util::future::join3;
use tokio_postgres::Row;

use super::blobs;
use super::changesets::{self, Target};
use super::columns::{count, get, integer, page, params};
use super::engine::failure::{Attempt, Failure};
use super::engine::recorder::Wish;
use super::engine::transaction::Transaction;
use crate::model::changeset::{Formed, Place};
use crate::model::recording::Prepared;
use crate::{
    Actor, BlobHash, ChainHash, ChangeEntry, ChangesetId, EntryStore, Epoch, Error, NewEntry, PathBytes,
    PostgresStore, Recorded, Recording, RequestId, Resource, Result, Status, Time,
};

impl EntryStore for PostgresStore {
    fn record(&self, changeset: ChangesetId, epoch: Epoch, recording: &Recording) -> Result<Recorded> {
        let prepared = Prepared::new(recording)?;
        self.engine.recorder.record(&self.engine, changeset, epoch, prepared)
    }

    fn entries(&self, changeset: ChangesetId, after: u64, limit: usize) -> Result<Vec<ChangeEntry>> {
        self.engine.read("list entries", async |transaction| list(transaction, changeset, after, limit).await)
    }

    fn last_entries(
        &self,
        changeset: ChangesetId,
        paths: &[(PathBytes, PathBytes)],
    ) -> Result<Vec<Option<ChangeEntry>>> {
        self.engine.read("look for entries", async |transaction| last(transaction, changeset, paths).await)
    }
}

/// What goes into the table of entries, column by column.
#[derive(Default)]
pub(super) struct Columns<'a> {
    pub(super) changesets: Vec<ChangesetId>,
    pub(super) sequences: Vec<i64>,
    pub(super) requests: Vec<Option<RequestId>>,
    pub(super) before: Vec<Option<BlobHash>>,
    pub(super) after: Vec<Option<BlobHash>>,
    pub(super) forms: Vec<&'a str>,
}

/// Records what is not refused, each with its own answer; and gives what the changesets are then. Changesets are locked in the order of their ids, contents in that of their hashes,
/// so that no two groups wait for each other in a circle.
pub(super) async fn record(
    transaction: &Transaction<'_>,
    group: &[Wish],
) -> Attempt<(Vec<Result<Recorded>>, HashMap<ChangesetId, Target>)> {
    let ids: Vec<ChangesetId> =
        group.iter().map(|wish| wish.changeset).collect::<BTreeSet<_>>().into_iter().collect();
    let requests: Vec<RequestId> = group.iter().map(|wish| wish.prepared.request).collect();
    let needed: BTreeSet<BlobHash> =
        group.iter().flat_map(|wish| &wish.prepared.needed).map(|(hash, _)| *hash).collect();
    // They go out together; each sees what was committed when the one before it had its locks.
    let (targets, used, there) = join3(
        changesets::targets(transaction, &ids),
        used(transaction, &requests),
        blobs::hold(transaction, needed.iter().copied().collect()),
    )
    .await;
    let (mut targets, used, there) = (targets?, used?, there?);
    let mut answers = Vec::with_capacity(group.len());
    let mut columns = Columns::default();
    let mut packed = Vec::new();
    for wish in group {
        let prepared = &wish.prepared;
        if let Some(first) = used.get(&(prepared.request, wish.changeset)) {
            answers.push(answer(transaction, wish, *first).await?);
            continue;
        }
        let target = match accepted(wish, targets.get_mut(&wish.changeset), &there) {
            Ok(target) => target,
            Err(refusal) => {
                answers.push(Err(refusal));
                continue;
            }
        };
        let recorded = Recorded { first: target.entries + 1, count: prepared.entries.len() as u64 };
        add(&mut columns, wish, target, transaction.now);
        packed.extend(&prepared.blobs);
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

/// The changeset that a wish records into; or why it cannot: it is closed, its lease has changed hands, a content is missing.
fn accepted<'a>(
    wish: &Wish,
    target: Option<&'a mut Target>,
    there: &HashSet<(BlobHash, u64)>,
) -> Result<&'a mut Target> {
    let id = wish.changeset;
    let target = target.ok_or_else(|| Error::not_found("changeset", id))?;
    if target.status != Status::Open {
        return Err(Error::Closed { changeset: id, status: target.status });
    }
    if target.epoch != wish.epoch {
        let (resource, given) = (Resource::Changeset(id), wish.epoch);
        return Err(Error::Stale { resource, given, current: target.epoch, owner: target.owner.clone() });
    }
    match wish.prepared.needed.iter().find(|needed| !there.contains(needed)) {
        Some((hash, _)) => Err(Error::MissingBlob { hash: *hash }),
        None => Ok(target),
    }
}

/// Puts a recording behind what its changeset has.
pub(super) fn add<'a>(columns: &mut Columns<'a>, wish: &'a Wish, target: &mut Target, now: Time) {
    for (place, (formed, hash)) in wish.prepared.entries.iter().enumerate() {
        let sequence = target.entries + 1;
        columns.changesets.push(wish.changeset);
        columns.sequences.push(integer(sequence));
        columns.requests.push(Some(wish.prepared.request).filter(|_| place == 0));
        columns.before.push(formed.before);
        columns.after.push(formed.after);
        columns.forms.push(&formed.form);
        let place = Place { changeset: wish.changeset, sequence, at: now, actor: &target.actor };
        target.digest = place.digest(target.digest, *hash);
        target.entries = sequence;
        target.advanced = true;
    }
}

async fn insert(transaction: &Transaction<'_>, columns: &Columns<'_>) -> Attempt<()> {
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
    if inserted == columns.forms.len() as u64 { Ok(()) } else { Err(Failure::Again) }
}

/// Where requests that were recorded before began.
async fn used(
    transaction: &Transaction<'_>,
    requests: &Vec<RequestId>,
) -> Attempt<HashMap<(RequestId, ChangesetId), u64>> {
    let sql = "SELECT request, changeset, sequence FROM entries WHERE request = ANY ($1)";
    let rows = transaction.rows(sql, params![*requests]).await?;
    rows.iter().map(|row| Ok(((get(row, 0)?, get(row, 1)?), count(row, 2)?))).collect()
}

/// What this request recorded before.
async fn answer(transaction: &Transaction<'_>, wish: &Wish, first: u64) -> Attempt<Result<Recorded>> {
    let prepared = &wish.prepared;
    let rows = transaction
        .rows(
            "SELECT form, before_blob, after_blob, request FROM entries WHERE changeset = $1 AND sequence >= $2
             ORDER BY sequence LIMIT $3",
            params![wish.changeset, integer(first), integer(prepared.entries.len() as u64 + 1)],
        )
        .await?;
    let mut recorded = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        // What is recorded together has numbers one after the other; only the first has the request.
        if place > 0 && get::<Option<RequestId>>(row, 3)?.is_some() {
            break;
        }
        recorded.push(Formed { form: get(row, 0)?, before: get(row, 1)?, after: get(row, 2)? });
    }
    let same = recorded.len() == prepared.entries.len()
        && recorded.iter().zip(&prepared.entries).all(|(before, (formed, _))| before == formed);
    Ok(match same {
        true => Ok(Recorded { first, count: recorded.len() as u64 }),
        false => Err(Error::request_reused(prepared.request)),
    })
}

async fn list(
    transaction: &Transaction<'_>,
    id: ChangesetId,
    after: u64,
    limit: usize,
) -> Attempt<Vec<ChangeEntry>> {
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

/// The last entry of each path, by the indices of paths; those have hashes, so the paths are compared too.
async fn last(
    transaction: &Transaction<'_>,
    id: ChangesetId,
    paths: &[(PathBytes, PathBytes)],
) -> Attempt<Vec<Option<ChangeEntry>>> {
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

fn entry(row: &Row, id: ChangesetId, actor: &Actor) -> Attempt<ChangeEntry> {
    let new = NewEntry::from_form(get(row, 2)?, get(row, 3)?, get(row, 4)?);
    // Somebody changed it: the digest of the changeset tells, and no reading of it is right.
    let damaged = || Failure::Unreadable(Arc::from(Box::from("the form of an entry is none")));
    Ok(new.ok_or_else(damaged)?.at(id, count(row, 0)?, actor, get(row, 1)?))
}

/// The digest of a changeset without entries.
pub(super) const NO_ENTRIES: ChainHash = ChainHash::from_bytes([0; 32]);
