//! Verification of the audit trail: every chain is read, and compared with its head and with heads that were written down before.

use serde::{Deserialize, Serialize};

use crate::limits::PAGE_MAX;
use crate::{
    AuditQuery, AuditRecord, ChainHash, ChangesetId, Error, GENESIS, Head, PlanId, Result, Store, checkpoint,
    export,
};

/// What is wrong at a place of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// There is no record with this sequence number, though there is, or was, a later one.
    Missing,
    /// The record is not what was hashed.
    Altered,
    /// The record does not follow the one before it.
    Unlinked,
    /// The chain's end is not what the store says that it is.
    WrongHead,
    /// The chain is not the one that a checkpoint saw.
    NotAsCheckpointed,
    /// The entries of the changeset that this record closed are not those that it had then.
    EntriesAltered,
}

/// The first thing that is wrong with a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The plan.
    pub plan: PlanId,
    /// The sequence number of the record.
    pub sequence: u64,
    /// What is wrong.
    pub fault: Fault,
}

/// What a verification found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// How many chains were read.
    pub chains: u64,
    /// How many records were read.
    pub records: u64,
    /// The first thing that is wrong with each bad chain.
    pub findings: Vec<Finding>,
}

/// Reads every chain, and compares it with its head and with heads that were written down before.
///
/// Others may go on writing meanwhile: what is appended after the heads were read is checked as well.
pub fn verify(store: &dyn Store, checkpoint: &[Head]) -> Result<Verdict> {
    let mut heads = crate::checkpoint(store)?;
    let known: Vec<PlanId> = heads.iter().map(|head| head.plan).collect();
    let gone = checkpoint.iter().filter(|seen| known.binary_search(&seen.plan).is_err());
    heads.extend(gone.map(|seen| Head { plan: seen.plan, sequence: 0, hash: GENESIS }));
    let mut verdict = Verdict::default();
    let mut longer = Vec::new();
    for head in heads {
        let seen: Vec<Head> = checkpoint.iter().filter(|seen| seen.plan == head.plan).copied().collect();
        let mut chain = Chain { expected: [vec![head], seen].concat(), last: (0, GENESIS) };
        let query = AuditQuery { plan: Some(head.plan), ..AuditQuery::default() };
        let mut fault = None;
        for record in export(store, query) {
            verdict.records += 1;
            let record = record?;
            fault = chain.follow(&record);
            if fault.is_none() && !entries_fit(store, &record)? {
                fault = Some((record.sequence, Fault::EntriesAltered));
            }
            if fault.is_some() {
                break;
            }
        }
        verdict.chains += 1;
        if let Some((sequence, fault)) = fault.or_else(|| chain.end()) {
            verdict.findings.push(Finding { plan: head.plan, sequence, fault });
        } else if chain.last.0 > head.sequence {
            longer.push(Head { plan: head.plan, sequence: chain.last.0, hash: chain.last.1 });
        }
    }
    verdict.findings.extend(behind_their_heads(store, &longer)?);
    Ok(verdict)
}

/// Chains that had grown since their heads were read must have newer heads by now; else a record was put behind the head.
fn behind_their_heads(store: &dyn Store, longer: &[Head]) -> Result<Vec<Finding>> {
    if longer.is_empty() {
        return Ok(Vec::new());
    }
    let heads = checkpoint(store)?;
    let short = longer.iter().filter_map(|seen| {
        let head = heads.iter().find(|head| head.plan == seen.plan)?;
        let fault = Fault::WrongHead;
        (head.sequence < seen.sequence).then_some(Finding {
            plan: seen.plan,
            sequence: head.sequence + 1,
            fault,
        })
    });
    Ok(short.collect())
}

/// Whether the changeset that a record closed, if it did, still has the entries that it had then. Those of a plan that was removed are
/// gone with it; the record of that is in the chain.
fn entries_fit(store: &dyn Store, record: &AuditRecord) -> Result<bool> {
    #[derive(Deserialize)]
    struct Closed {
        changeset: ChangesetId,
        entries: u64,
        digest: ChainHash,
    }
    let closes = matches!(record.kind.as_str(), "changeset.sealed" | "changeset.abandoned");
    let Some(closed) = serde_json::from_str::<Closed>(&record.body.0).ok().filter(|_| closes) else {
        return Ok(true);
    };
    match store.plan(record.plan) {
        Err(Error::NotFound { .. }) => return Ok(true),
        found => found?,
    };
    let (mut digest, mut count) = (GENESIS, 0);
    loop {
        let page = match store.entries(closed.changeset, count, PAGE_MAX) {
            Err(Error::NotFound { .. }) => return Ok(false),
            page => page?,
        };
        if page.is_empty() {
            return Ok((count, digest) == (closed.entries, closed.digest));
        }
        count += page.len() as u64;
        digest = page.iter().fold(digest, |digest, entry| entry.digest(digest));
    }
}

/// A chain as far as it was read.
struct Chain {
    /// What must be seen on the way: first the head of the store, then those of checkpoints.
    expected: Vec<Head>,
    last: (u64, ChainHash),
}

impl Chain {
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
