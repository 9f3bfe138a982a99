//! Verification of the audit trail: reads every chain, and compares it with its head, with checkpoints,
//! and with the rows of its plan.
//!
//! Others may write at the same time: the rows of a plan and the head of its chain are read in one
//! transaction.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::audit::replay::{ClosedChangeset, Difference, Replay};
use crate::limits::PAGE_MAX;
use crate::{
    AuditQuery, AuditRecord, ChainHash, ChangeEntry, Changeset, Error, GENESIS, Head, PlanId, PlanSnapshot,
    Resource, Result, Status, Store, export,
};

/// A fault at one record of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// No record has this sequence number, though there is, or was, a later one.
    Missing,
    /// The record does not match its hash.
    Altered,
    /// The record does not continue the one before it.
    Unlinked,
    /// The record belongs to no chain: its plan is not an id, or its number is below 1.
    Orphan,
    /// The last record is not the head that the store has.
    WrongHead,
    /// The chain is not the one that a checkpoint saw.
    NotAsCheckpointed,
    /// The row of a plan, node or changeset contradicts this record.
    RowAltered,
    /// The plan, node or changeset of this record has no row, though the plan was not removed.
    RowMissing,
    /// A plan, node or changeset has a row, but no record up to this one, the last, is about it.
    Unrecorded,
    /// The entries of the changeset that this record closed are not those that it had then.
    EntriesAltered,
    /// The record, or the row that it is about, has values that this program does not write.
    Unreadable,
}

/// The first fault of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Finding {
    /// The plan of the chain.
    pub plan: PlanId,
    /// The sequence number of the record.
    pub sequence: u64,
    /// The fault.
    pub fault: Fault,
    /// The faulty row, unless the record itself is faulty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<Resource>,
}

/// The result of a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct AuditReport {
    /// Number of chains that were read.
    pub chains: u64,
    /// Number of records that were read.
    pub records: u64,
    /// The first fault of each bad chain, and the records that belong to none.
    pub findings: Vec<Finding>,
}

/// Verifies every chain against its head, the heads of a checkpoint, and the rows of its plan.
///
/// Others may write at the same time: records that are appended after the rows were read are checked
/// only as parts of the chain.
pub fn verify(store: &dyn Store, checkpoint: &[Head]) -> Result<AuditReport> {
    let mut heads = crate::checkpoint(store)?;
    let mut checkpoint_heads: BTreeMap<PlanId, Vec<Head>> = BTreeMap::new();
    for seen in checkpoint {
        checkpoint_heads.entry(seen.plan).or_default().push(*seen);
    }
    let plans: BTreeSet<PlanId> = heads.iter().map(|head| head.plan).collect();
    let gone = checkpoint_heads.keys().filter(|plan| !plans.contains(plan));
    heads.extend(gone.map(|plan| Head { plan: *plan, sequence: 0, hash: GENESIS }));
    let mut report = AuditReport::default();
    for head in heads {
        let seen = checkpoint_heads.get(&head.plan).map_or(&[][..], Vec::as_slice);
        let (first, records) = verify_chain(store, head, seen, Entries::Read)?;
        report.chains += 1;
        report.records += records;
        report.findings.extend(first);
    }
    let orphan = |(plan, sequence)| Finding { plan, sequence, fault: Fault::Orphan, resource: None };
    report.findings.extend(store.orphan_records()?.into_iter().map(orphan));
    Ok(report)
}

/// Verifies the chain and the rows of one plan. The entries of its changesets are not read: a caller
/// that reads them compares them with the digest of their changeset ([`matches_digest`]).
pub fn verify_plan(store: &dyn Store, plan: PlanId) -> Result<Option<Finding>> {
    let (first, _) = verify_chain(store, Head { plan, sequence: 0, hash: GENESIS }, &[], Entries::Skip)?;
    Ok(first)
}

/// Returns whether these are the entries with which a changeset was closed. An open changeset has
/// any.
pub fn matches_digest(changeset: &Changeset, entries: &[ChangeEntry]) -> bool {
    let digest = || entries.iter().fold(GENESIS, |digest, entry| entry.digest(digest));
    changeset.status == Status::Open
        || entries.len() as u64 == changeset.entries && digest() == changeset.digest
}

/// Treatment of the entries of closed changesets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Entries {
    Read,
    Skip,
}

/// Verifies one chain, which must contain the heads `seen`, and the rows of its plan. Returns the first fault and the number of records.
fn verify_chain(
    store: &dyn Store,
    head: Head,
    seen: &[Head],
    entries: Entries,
) -> Result<(Option<Finding>, u64)> {
    // Rows before records: a record that is appended later is not compared with the rows.
    let snapshot = snapshot(store, head.plan)?;
    let head = snapshot.as_ref().map_or(head, |snapshot| snapshot.head);
    let mut chain = Chain { expected: [&[head], seen].concat(), last: (0, GENESIS) };
    let (mut fault, replay) = chain.read(store)?;
    let records = chain.last.0 + u64::from(fault.is_some());
    if fault.is_none() {
        fault = chain.end().or(chain.past_head(store)?);
    }
    let first = match (fault, snapshot) {
        (Some((sequence, fault)), _) => Some((sequence, fault, None)),
        (None, None) => Some((head.sequence, Fault::Unreadable, None)),
        (None, Some(snapshot)) => {
            let first = first_difference(store, head.plan, replay, &snapshot, entries)?;
            first.map(|Difference { sequence, resource, fault }| (sequence, fault, Some(resource)))
        }
    };
    let finding = |(sequence, fault, resource)| Finding { plan: head.plan, sequence, fault, resource };
    Ok((first.map(finding), records))
}

/// Reads the rows of a plan; `None` when even their ids are unreadable.
fn snapshot(store: &dyn Store, plan: PlanId) -> Result<Option<PlanSnapshot>> {
    match store.plan_snapshot(plan) {
        Err(Error::Damaged { .. }) => Ok(None),
        read => read.map(Some),
    }
}

/// Finds the first row that contradicts its chain, or changeset whose entries do.
fn first_difference(
    store: &dyn Store,
    plan: PlanId,
    replay: Replay,
    snapshot: &PlanSnapshot,
    entries: Entries,
) -> Result<Option<Difference>> {
    let (first, closed) = replay.compare(snapshot);
    for closed in closed.into_iter().filter(|_| entries == Entries::Read) {
        let ClosedChangeset { sequence, changeset, .. } = closed;
        if first.is_some_and(|first| first.sequence <= sequence) {
            break;
        }
        if let Some(fault) = entries_fault(store, plan, closed)? {
            return Ok(Some(Difference { sequence, resource: Resource::Changeset(changeset), fault }));
        }
    }
    Ok(first)
}

/// Checks that a closed changeset has the entries that it had when it was closed.
fn entries_fault(store: &dyn Store, plan: PlanId, closed: ClosedChangeset) -> Result<Option<Fault>> {
    let (mut digest, mut count) = (GENESIS, 0);
    // Bounded: entries with altered sequence numbers could be listed for ever.
    while count <= closed.entries {
        let page = match store.entries(closed.changeset, count, PAGE_MAX) {
            Err(Error::Damaged { .. }) => return Ok(Some(Fault::Unreadable)),
            Err(Error::NotFound { .. }) => break,
            page => page?,
        };
        if page.is_empty() {
            let same = (count, digest) == (closed.entries, closed.digest);
            return Ok(Some(Fault::EntriesAltered).filter(|_| !same));
        }
        count += page.len() as u64;
        digest = page.iter().fold(digest, |digest, entry| entry.digest(digest));
    }
    match store.plan(plan) {
        // The plan was removed since its rows were read, with all its entries.
        Err(Error::NotFound { .. }) => Ok(None),
        _ => Ok(Some(Fault::EntriesAltered)),
    }
}

/// A chain, up to the last record that was read.
struct Chain {
    /// Heads that the chain must contain: first that of the store, then those of checkpoints.
    expected: Vec<Head>,
    last: (u64, ChainHash),
}

impl Chain {
    /// Reads the chain up to its end or first fault, and replays it up to the head that belongs to the
    /// rows.
    fn read(&mut self, store: &dyn Store) -> Result<(Option<(u64, Fault)>, Replay)> {
        let head = self.expected[0];
        let query = AuditQuery { plan: Some(head.plan), ..AuditQuery::default() };
        let mut replay = Replay::default();
        for record in export(store, query) {
            let record = match record {
                Err(Error::Damaged { .. }) => {
                    return Ok((Some((self.last.0 + 1, Fault::Unreadable)), replay));
                }
                record => record?,
            };
            if let Some(fault) = self.follow(&record) {
                return Ok((Some(fault), replay));
            }
            if record.sequence <= head.sequence {
                replay.apply(&record);
            }
        }
        Ok((None, replay))
    }

    /// Checks a chain that is longer than its head says: unless the head has moved on since it was read,
    /// a record was added without it.
    fn past_head(&self, store: &dyn Store) -> Result<Option<(u64, Fault)>> {
        let head = self.expected[0];
        if self.last.0 <= head.sequence {
            return Ok(None);
        }
        let now = snapshot(store, head.plan)?.map_or(head, |snapshot| snapshot.head);
        Ok(Some((now.sequence + 1, Fault::WrongHead)).filter(|_| now.sequence < self.last.0))
    }

    fn follow(&mut self, record: &AuditRecord) -> Option<(u64, Fault)> {
        let next = self.last.0 + 1;
        if record.sequence != next {
            return Some((next, Fault::Missing));
        }
        if record.computed_hash() != record.hash {
            return Some((next, Fault::Altered));
        }
        if record.previous != self.last.1 {
            return Some((next, Fault::Unlinked));
        }
        self.last = (next, record.hash);
        let wrong = self.expected.iter().position(|head| head.sequence == next && head.hash != record.hash);
        wrong.map(|index| (next, if index == 0 { Fault::WrongHead } else { Fault::NotAsCheckpointed }))
    }

    /// Checks that the chain reaches all expected heads. Every plan has at least the record of its
    /// creation.
    fn end(&self) -> Option<(u64, Fault)> {
        let next = self.last.0 + 1;
        let [head, seen @ ..] = self.expected.as_slice() else { return None };
        match head.sequence {
            0 if self.last.0 > 0 => Some((self.last.0, Fault::WrongHead)),
            0 => Some((1, Fault::Missing)),
            sequence if sequence > self.last.0 => Some((next, Fault::Missing)),
            _ if seen.iter().any(|seen| seen.sequence > self.last.0) => Some((next, Fault::Missing)),
            // A checkpoint has no head of an empty chain.
            _ if seen.iter().any(|seen| seen.sequence == 0) => Some((1, Fault::NotAsCheckpointed)),
            _ => None,
        }
    }
}
