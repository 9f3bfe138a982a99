//! What is appended to an audit chain, before it has a place in it; and reading an answer back out of one.

use serde_json::Value;

use crate::limits::json_text;
use crate::{AuditRecord, Body, ChainHash, GENESIS, PlanId, RequestId, Resource, Result, Time, Version};

/// What is appended to a chain.
pub(crate) struct Note<'a> {
    pub(crate) plan: PlanId,
    pub(crate) request: Option<RequestId>,
    pub(crate) kind: &'a str,
    pub(crate) who: &'a str,
    pub(crate) body: Value,
}

impl Note<'_> {
    /// The record behind this head of its chain.
    pub(crate) fn behind(&self, (sequence, previous): (u64, ChainHash), at: Time) -> Result<AuditRecord> {
        let mut record = AuditRecord {
            plan: self.plan,
            sequence: sequence + 1,
            at,
            request: self.request,
            kind: self.kind.to_owned(),
            who: self.who.to_owned(),
            body: Body(json_text(&self.body)?),
            previous,
            hash: GENESIS,
        };
        record.hash = record.computed_hash();
        Ok(record)
    }
}

/// The version that a step gave when it was taken before, if it was this step.
pub(crate) fn version_of(
    answer: &AuditRecord,
    plan: PlanId,
    (kind, resource, to): (&str, Resource, &str),
) -> Option<Version> {
    let body: Value = serde_json::from_str(&answer.body.0).ok()?;
    let (what, id) = match resource {
        Resource::Plan(id) => ("plan", id.to_string()),
        Resource::Node(id) => ("node", id.to_string()),
        Resource::Changeset(id) => ("changeset", id.to_string()),
    };
    let same = answer.plan == plan && answer.kind == kind && body[what] == id.as_str() && body["to"] == to;
    body["version"].as_u64().filter(|_| same).map(Version)
}
