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

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::limits::PAGE_MAX;
use crate::{ChainHash, PlanId, RequestId, Result, Store, Time};

/// One record of the audit trail.
///
/// Its texts are as they are stored, unchecked: what was tampered with must be read to be found.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(transparent)]
pub struct Body(#[schemars(with = "serde_json::Value")] pub String);

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
