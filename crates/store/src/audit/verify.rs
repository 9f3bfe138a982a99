//! Verification of the audit trail: every chain is read, and compared with its head, with heads that were written down before, and with the
//! rows that it tells of.
//!
//! Others may go on writing meanwhile: the rows of a plan and the end of its chain are read from one state of the store.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::audit::replay::{Closed, Difference, Told};
use crate::limits::PAGE_MAX;
use crate::{
    AuditQuery, AuditRecord, ChainHash, Error, GENESIS, Head, Inventory, PlanId, Resource, Result, Store,
    export,
};

/// What is wrong at a place of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// There is no record with this sequence number, though there is, or was, a later one.
    Missing,
    /// The record is not what was hashed.
    Altered,
    /// The record does not follow the one before it.
    Unlinked,
    /// The record is in no chain: its plan is no id, or its number is none.
    Stray,
    /// The chain's end is not what the store says that it is.
    WrongHead,
    /// The chain is not the one that a checkpoint saw.
    NotAsCheckpointed,
    /// The row of a plan, node or changeset is not as this record tells.
    RowAltered,
    /// There is no row of the plan, node or changeset that this record tells of, though no record tells that the plan was removed.
    RowMissing,
    /// There is a row of a plan, node or changeset that no record up to this one, the last, tells of.
    Unrecorded,
    /// The entries of the changeset that this record closed are not those that it had then.
    EntriesAltered,
    /// What this record tells of, or the record itself, cannot be read: its row is none that this program writes.
    Unreadable,
}

/// The first thing that is wrong with a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Finding {
    /// The plan.
    pub plan: PlanId,
    /// The sequence number of the record.
    pub sequence: u64,
    /// What is wrong.
    pub fault: Fault,
    /// The row that is wrong, when it is not the record itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<Resource>,
}

/// What a verification found.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Verdict {
    /// How many chains were read.
    pub chains: u64,
    /// How many records were read.
    pub records: u64,
    /// The first thing that is wrong with each bad chain, and the records that are in none.
    pub findings: Vec<Finding>,
}

/// Reads every chain, and compares it with its head, with heads that were written down before, and with the rows of its plan.
///
/// Others may go on writing meanwhile: what is appended after a plan's rows were read is checked as a chain.
pub fn verify(store: &dyn Store, checkpoint: &[Head]) -> Result<Verdict> {
    let mut heads = crate::checkpoint(store)?;
    let known: Vec<PlanId> = heads.iter().map(|head| head.plan).collect();
    let gone = checkpoint.iter().filter(|seen| known.binary_search(&seen.plan).is_err());
    heads.extend(gone.map(|seen| Head { plan: seen.plan, sequence: 0, hash: GENESIS }));
    let mut verdict = Verdict::default();
    for head in heads {
        let seen: Vec<Head> = checkpoint.iter().filter(|seen| seen.plan == head.plan).copied().collect();
        // The rows first: what is appended after that is in the chain, and not told of them.
        let inventory = inventory(store, head.plan)?;
        let head = inventory.as_ref().map_or(head, |inventory| inventory.head);
        let mut chain = Chain { expected: [vec![head], seen].concat(), last: (0, GENESIS) };
        let (mut wrong, told) = chain.read(store)?;
        verdict.chains += 1;
        verdict.records += chain.last.0 + u64::from(wrong.is_some());
        if wrong.is_none() {
            wrong = chain.end().or(chain.behind_its_head(store)?);
        }
        let place = match (wrong, inventory) {
            (Some((sequence, fault)), _) => Some((sequence, fault, None)),
            (None, None) => Some((head.sequence, Fault::Unreadable, None)),
            (None, Some(inventory)) => {
                let first = first_difference(store, head.plan, told, &inventory)?;
                first.map(|Difference { sequence, on, fault }| (sequence, fault, Some(on)))
            }
        };
        let finding = |(sequence, fault, on)| Finding { plan: head.plan, sequence, fault, on };
        verdict.findings.extend(place.map(finding));
    }
    let stray = |(plan, sequence)| Finding { plan, sequence, fault: Fault::Stray, on: None };
    verdict.findings.extend(store.audit_strays()?.into_iter().map(stray));
    Ok(verdict)
}

/// The rows of a plan; none when they cannot be read, not even to be named.
fn inventory(store: &dyn Store, plan: PlanId) -> Result<Option<Inventory>> {
    match store.inventory(plan) {
        Err(Error::Damaged { .. }) => Ok(None),
        read => read.map(Some),
    }
}

/// The first row that is not as it was told, or changeset whose entries are not.
fn first_difference(
    store: &dyn Store,
    plan: PlanId,
    told: Told,
    inventory: &Inventory,
) -> Result<Option<Difference>> {
    let (first, closed) = told.compare(inventory);
    for closed in closed {
        let Closed { sequence, changeset, .. } = closed;
        if first.is_some_and(|first| first.sequence <= sequence) {
            break;
        }
        if let Some(fault) = entries_fault(store, plan, closed)? {
            return Ok(Some(Difference { sequence, on: Resource::Changeset(changeset), fault }));
        }
    }
    Ok(first)
}

/// What is wrong with the entries of a changeset that was closed, if they are not those that it had then.
fn entries_fault(store: &dyn Store, plan: PlanId, closed: Closed) -> Result<Option<Fault>> {
    let (mut digest, mut count) = (GENESIS, 0);
    // What is numbered otherwise may be listed for ever.
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
        // It was removed since its rows were read, and all entries with it.
        Err(Error::NotFound { .. }) => Ok(None),
        _ => Ok(Some(Fault::EntriesAltered)),
    }
}

/// A chain as far as it was read.
struct Chain {
    /// What must be seen on the way: first the head of the store, then those of checkpoints.
    expected: Vec<Head>,
    last: (u64, ChainHash),
}

impl Chain {
    /// Reads all of it, or up to what is wrong. Gives what it tells up to its head, where the rows were read.
    fn read(&mut self, store: &dyn Store) -> Result<(Option<(u64, Fault)>, Told)> {
        let head = self.expected[0];
        let query = AuditQuery { plan: Some(head.plan), ..AuditQuery::default() };
        let mut told = Told::default();
        for record in export(store, query) {
            let record = match record {
                Err(Error::Damaged { .. }) => return Ok((Some((self.last.0 + 1, Fault::Unreadable)), told)),
                record => record?,
            };
            if let Some(wrong) = self.follow(&record) {
                return Ok((Some(wrong), told));
            }
            if record.sequence <= head.sequence {
                told.hear(&record);
            }
        }
        Ok((None, told))
    }

    /// A chain that has grown since its head was read must have a newer head by now; else a record was put behind the head.
    fn behind_its_head(&self, store: &dyn Store) -> Result<Option<(u64, Fault)>> {
        let head = self.expected[0];
        if self.last.0 <= head.sequence {
            return Ok(None);
        }
        let now = inventory(store, head.plan)?.map_or(head, |inventory| inventory.head);
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
        wrong.map(|place| (next, if place == 0 { Fault::WrongHead } else { Fault::NotAsCheckpointed }))
    }

    /// Whether the chain reaches as far as it must. Each plan has at least the record of its making.
    fn end(&self) -> Option<(u64, Fault)> {
        let next = self.last.0 + 1;
        let [head, seen @ ..] = self.expected.as_slice() else { return None };
        match head.sequence {
            0 if self.last.0 > 0 => Some((self.last.0, Fault::WrongHead)),
            0 => Some((1, Fault::Missing)),
            sequence if sequence > self.last.0 => Some((next, Fault::Missing)),
            _ if seen.iter().any(|seen| seen.sequence > self.last.0) => Some((next, Fault::Missing)),
            _ => None,
        }
    }
}
