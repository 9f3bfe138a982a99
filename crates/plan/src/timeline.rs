//! The timeline of a plan: the events of its audit chain.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use store::{AuditQuery, AuditRecord, ChangesetId, PlanId, Store, Time};

use crate::{Result, State};

/// An event of a plan.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Event {
    /// The sequence number in the audit chain of the plan, from 1.
    pub sequence: u64,
    /// The time, by the clock of the store.
    pub at: Time,
    /// The kind: `plan.created`, `plan.step`, `changeset.sealed`, …
    pub kind: String,
    /// The actor.
    pub actor: String,
    /// The state before a step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<State>,
    /// The state after a step, or the first state of a new plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<State>,
    /// The changeset that the event is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changeset: Option<ChangesetId>,
    /// The number of entries of the changeset at that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entries: Option<u64>,
    /// The reason of a failure, an abandonment or a cancellation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The body of the audit record.
    pub body: Value,
}

/// Reads the events of a plan, in order.
pub(crate) fn timeline(store: &dyn Store, plan: PlanId) -> Result<Vec<Event>> {
    store.plan(plan)?;
    let query = AuditQuery { plan: Some(plan), ..AuditQuery::default() };
    let mut events = Vec::new();
    for record in store::export(store, query) {
        events.push(event(&record?));
    }
    Ok(events)
}

/// Reads one record. Omits fields that do not parse: only `verify` checks the chain.
pub(crate) fn event(record: &AuditRecord) -> Event {
    let body: Value = serde_json::from_str(&record.body.0).unwrap_or(Value::Null);
    let state = |field: &str| body[field].as_str().and_then(|word| word.parse::<State>().ok());
    let error = [&body["note"]["error"], &body["note"]["reason"], &body["reason"]]
        .into_iter()
        .find_map(|text| text.as_str())
        .map(str::to_owned);
    Event {
        sequence: record.sequence,
        at: record.at,
        kind: record.kind.clone(),
        actor: record.actor.clone(),
        from: state("from"),
        to: state("to").or_else(|| state("state")),
        changeset: body["changeset"].as_str().and_then(|id| id.parse().ok()),
        entries: body["entries"].as_u64(),
        error,
        body,
    }
}
