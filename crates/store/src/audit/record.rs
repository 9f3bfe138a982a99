//! Records of the audit trail. Each has the hash of the one before it.
//!
//! The hash of a record is BLAKE3 over its canonical form. Numbers are little-endian; a *text* is
//! its length as `u64`, then its bytes.
//!
//! | bytes | what |
//! |---|---|
//! | 15 | `agents-audit-1` and a line feed |
//! | 16 | plan id |
//! | 8 | sequence number, from 1 |
//! | 8 | time in microseconds since 1970 |
//! | 17 | request id after a byte `1`, or 17 zero bytes |
//! | text | kind |
//! | text | actor |
//! | text | body, the JSON text exactly as stored |
//! | 32 | hash of the previous record; zeros before the first |
//!
//! To alter, drop or move a record unnoticed, one has to change the hashes of all later records and
//! of the head. A checkpoint, a copy of the heads kept elsewhere, reveals that, too.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::limits::PAGE_MAX;
use crate::{ChainHash, PlanId, RequestId, Result, Store, Time};

/// A record of the audit trail.
///
/// Its texts are not validated: an altered record must be readable to be reported.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct AuditRecord {
    /// The plan whose chain it belongs to.
    pub plan: PlanId,
    /// Position in the chain, from 1 without gaps.
    pub sequence: u64,
    /// Time of the change, by the store's clock.
    pub at: Time,
    /// The idempotency key of the call.
    pub request: Option<RequestId>,
    /// The kind of change.
    pub kind: String,
    /// The actor of the change; `who` in exports, which keep the form of version 0.1.
    #[serde(rename = "who")]
    pub actor: String,
    /// The change itself, as JSON.
    pub body: Body,
    /// The hash of the previous record.
    pub previous: ChainHash,
    /// The hash of this record.
    pub hash: ChainHash,
}

/// JSON as the text that was hashed.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(transparent)]
pub struct Body(#[schemars(with = "serde_json::Value")] pub String);

impl Serialize for Body {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match RawValue::from_string(self.0.clone()) {
            Ok(raw) => raw.serialize(serializer),
            // The body was altered. Show it as text; `verify` reports it.
            Err(_) => serializer.serialize_str(&self.0),
        }
    }
}

impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Box::<RawValue>::deserialize(deserializer)?.get().to_owned()))
    }
}

/// The `previous` hash of the first record.
pub const GENESIS: ChainHash = ChainHash::from_bytes([0; 32]);

impl AuditRecord {
    /// Computes the hash of this record.
    pub fn computed_hash(&self) -> ChainHash {
        let mut form = Vec::with_capacity(256 + self.body.0.len());
        form.extend_from_slice(b"agents-audit-1\n");
        form.extend_from_slice(&self.plan.to_bytes());
        form.extend_from_slice(&self.sequence.to_le_bytes());
        form.extend_from_slice(&self.at.as_micros().to_le_bytes());
        form.push(u8::from(self.request.is_some()));
        form.extend_from_slice(&self.request.map_or([0; 16], RequestId::to_bytes));
        for text in [&self.kind, &self.actor, &self.body.0] {
            form.extend_from_slice(&(text.len() as u64).to_le_bytes());
            form.extend_from_slice(text.as_bytes());
        }
        form.extend_from_slice(self.previous.as_bytes());
        ChainHash::of(&form)
    }
}

/// The head of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The plan of the chain.
    pub plan: PlanId,
    /// The sequence number of the last record; 0 when there is none.
    pub sequence: u64,
    /// The hash of the last record.
    pub hash: ChainHash,
}

/// Selects records, by plan and sequence number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditQuery {
    /// Records of this plan.
    pub plan: Option<PlanId>,
    /// Records from this time on.
    pub since: Option<Time>,
    /// Records after this one, the last of the previous page.
    pub after: Option<(PlanId, u64)>,
    /// Page size, at most [`PAGE_MAX`], which is the default.
    pub limit: Option<usize>,
}

/// Iterates over all records of a query, page by page.
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

/// Returns the heads of all chains, to be kept elsewhere.
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
    fn the_canonical_form_is_stable() {
        let record = AuditRecord {
            plan: "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap(),
            sequence: 2,
            at: Time::from_micros(3),
            request: Some("01ARZ3NDEKTSV4RRFFQ69G5FAW".parse().unwrap()),
            kind: "plan.created".into(),
            actor: "ana".into(),
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
    fn a_body_keeps_its_text() {
        let body: Body = serde_json::from_str("{\"b\": 1.10, \"a\": 2}").unwrap();
        assert_eq!(serde_json::to_string(&body).unwrap(), "{\"b\": 1.10, \"a\": 2}");
        assert_eq!(serde_json::to_string(&Body("{".into())).unwrap(), "\"{\"");
    }
}
