//! A record on its way into an audit chain, and the answer that an earlier record holds.

use serde_json::{Map, Value};

use crate::limits::{body_text, json_text};
use crate::{AuditRecord, Body, ChainHash, GENESIS, PlanId, RequestId, Resource, Result, Time, Version};

/// A record that has no position in its chain yet.
pub(crate) struct PendingRecord<'a> {
    pub(crate) plan: PlanId,
    pub(crate) request: Option<RequestId>,
    pub(crate) kind: &'a str,
    pub(crate) actor: &'a str,
    pub(crate) body: Value,
}

impl PendingRecord<'_> {
    /// Makes the record that follows this head of the chain.
    pub(crate) fn chain_onto(&self, (sequence, previous): (u64, ChainHash), at: Time) -> Result<AuditRecord> {
        // A note has the limit of a detail.
        json_text(&self.body["note"])?;
        let mut record = AuditRecord {
            plan: self.plan,
            sequence: sequence + 1,
            at,
            request: self.request,
            kind: self.kind.to_owned(),
            actor: self.actor.to_owned(),
            body: Body(body_text(&self.body)?),
            previous,
            hash: GENESIS,
        };
        record.hash = record.computed_hash();
        Ok(record)
    }
}

/// Returns the version that a recorded step led to, if the record is of this step.
pub(crate) fn recorded_version(
    record: &AuditRecord,
    plan: PlanId,
    (kind, resource, to): (&str, Resource, &str),
) -> Option<Version> {
    let body: Value = serde_json::from_str(&record.body.0).ok()?;
    let (what, id) = match resource {
        Resource::Plan(id) => ("plan", id.to_string()),
        Resource::Node(id) => ("node", id.to_string()),
        Resource::Changeset(id) => ("changeset", id.to_string()),
    };
    let same = record.plan == plan && record.kind == kind && body[what] == id.as_str() && body["to"] == to;
    body["version"].as_u64().filter(|_| same).map(Version)
}

/// Hashes the detail of a plan or node, for the record that sets it: BLAKE3 over its JSON without
/// spaces and with sorted keys.
pub(crate) fn detail_digest(detail: &Value) -> ChainHash {
    ChainHash::of(sorted(detail).to_string().as_bytes())
}

/// Sorts the keys: a program that uses this crate may choose maps in the order of insertion.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        Value::Object(fields) => {
            let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
            fields.sort_by_key(|(key, _)| *key);
            let fields = fields.into_iter().map(|(key, value)| (key.clone(), sorted(value)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        value => value.clone(),
    }
}
