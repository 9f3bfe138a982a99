//! The audit trail: one chain of records per plan, each with the hash of the one before.
//!
//! The hash of a record is BLAKE3 over its canonical form. Numbers are little-endian; a *text* is its length as `u64`, then its bytes.
//!
//! | bytes | what |
//! |---|---|
//! | 15 | `agents-audit-1` and a line feed |
//! | 16 | plan id |
//! | 8 | sequence number, from 1 |
//! | 8 | time in microseconds since 1970 |
//! | 17 | request id after a byte `1`, or 17 zero bytes |
//! | text | kind |
//! | text | who |
//! | text | body, the very JSON text that is stored |
//! | 32 | hash of the record before; zeros before the first |
//!
//! So whoever changes, drops or moves a record has to change the hash of all that follow, and of the head. Whoever changes those too is
//! noticed against a checkpoint: heads that were written down elsewhere before.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::limits::PAGE_MAX;
use crate::{ChainHash, ChangesetId, Error, PlanId, RequestId, Result, Store, Time};

/// One record of the audit trail.
///
/// Its texts are as they are stored, unchecked: what was tampered with must be read to be found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRecord {
    /// The plan whose chain it belongs to.
    pub plan: PlanId,
    /// Its place in the chain, from 1, without gaps.
    pub sequence: u64,
    /// When, by the store's clock.
    pub at: Time,
    /// The wish that it answers.
    pub request: Option<RequestId>,
    /// What it is about.
    pub kind: String,
    /// Who did it.
    pub who: String,
    /// The rest, as JSON.
    pub body: Body,
    /// The hash of the record before.
    pub previous: ChainHash,
    /// The hash of this one.
    pub hash: ChainHash,
}

/// JSON as the very text that was hashed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body(pub String);

impl Serialize for Body {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match RawValue::from_string(self.0.clone()) {
            Ok(raw) => raw.serialize(serializer),
            // It was tampered with: shown as text, and `verify` tells.
            Err(_) => serializer.serialize_str(&self.0),
        }
    }
}

impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Box::<RawValue>::deserialize(deserializer)?.get().to_owned()))
    }
}

/// The hash before the first record.
pub const GENESIS: ChainHash = ChainHash::from_bytes([0; 32]);

impl AuditRecord {
    /// The hash that this record should have.
    pub fn computed_hash(&self) -> ChainHash {
        let mut form = Vec::with_capacity(256 + self.body.0.len());
        form.extend_from_slice(b"agents-audit-1\n");
        form.extend_from_slice(&self.plan.to_bytes());
        form.extend_from_slice(&self.sequence.to_le_bytes());
        form.extend_from_slice(&self.at.as_micros().to_le_bytes());
        form.push(u8::from(self.request.is_some()));
        form.extend_from_slice(&self.request.map_or([0; 16], RequestId::to_bytes));
        for text in [&self.kind, &self.who, &self.body.0] {
            form.extend_from_slice(&(text.len() as u64).to_le_bytes());
            form.extend_from_slice(text.as_bytes());
        }
        form.extend_from_slice(self.previous.as_bytes());
        ChainHash::of(&form)
    }
}

/// The end of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The plan.
    pub plan: PlanId,
    /// The sequence number of the last record; 0 when there is none.
    pub sequence: u64,
    /// The hash of the last record.
    pub hash: ChainHash,
}

/// Which records to list: by plan, then by sequence number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditQuery {
    /// Only those of this plan.
    pub plan: Option<PlanId>,
    /// Only those from this time on.
    pub since: Option<Time>,
    /// Only those behind this record, which was the last of the page before.
    pub after: Option<(PlanId, u64)>,
    /// How many, up to [`PAGE_MAX`]; that many when not given.
    pub limit: Option<usize>,
}

/// All records that a query finds, page by page.
pub fn export(store: &dyn Store, query: AuditQuery) -> impl Iterator<Item = Result<AuditRecord>> {
    let mut query = AuditQuery { limit: Some(PAGE_MAX), ..query };
    let mut page = Vec::new().into_iter();
    let mut more = true;
    std::iter::from_fn(move || {
        if page.len() == 0 && more {
            match store.audit(&query) {
                Ok(records) => {
                    more = records.len() == PAGE_MAX;
                    query.after = records.last().map(|record| (record.plan, record.sequence));
                    page = records.into_iter();
                }
                Err(error) => {
                    more = false;
                    return Some(Err(error));
                }
            }
        }
        page.next().map(Ok)
    })
}

/// The heads of all chains, to be written down elsewhere.
pub fn checkpoint(store: &dyn Store) -> Result<Vec<Head>> {
    let mut heads: Vec<Head> = Vec::new();
    loop {
        let page = store.audit_heads(heads.last().map(|head| head.plan))?;
        if page.is_empty() {
            return Ok(heads);
        }
        heads.extend(page);
    }
}

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
    let mut heads = self::checkpoint(store)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_canonical_form_does_not_change() {
        let record = AuditRecord {
            plan: "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap(),
            sequence: 2,
            at: Time::from_micros(3),
            request: Some("01ARZ3NDEKTSV4RRFFQ69G5FAW".parse().unwrap()),
            kind: "plan.created".into(),
            who: "ana".into(),
            body: Body("{\"a\": 1.10}".into()),
            previous: GENESIS,
            hash: GENESIS,
        };
        assert_eq!(
            record.computed_hash().to_string(),
            "b430265a5457ac07dbf14aaab6fdb26188d9ec7ca53d1230ad2c31ba0775a808"
        );
    }

    #[test]
    fn a_body_is_kept_to_the_letter() {
        let body: Body = serde_json::from_str("{\"b\": 1.10, \"a\": 2}").unwrap();
        assert_eq!(serde_json::to_string(&body).unwrap(), "{\"b\": 1.10, \"a\": 2}");
        assert_eq!(serde_json::to_string(&Body("{".into())).unwrap(), "\"{\"");
    }
}
