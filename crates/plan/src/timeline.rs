//! What happened to a plan: its audit chain, read for people and programs.

use serde::Serialize;
use serde_json::Value;
use store::{AuditQuery, AuditRecord, ChangesetId, PlanId, Store, Time};

use crate::{Result, State};

/// One thing that happened to a plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Event {
    /// Its place in the plan's audit chain, from 1.
    pub sequence: u64,
    /// When, by the store's clock.
    pub at: Time,
    /// What: `plan.created`, `plan.step`, `changeset.sealed`, …
    pub kind: String,
    /// Who: a person, an actor.
    pub who: String,
    /// The state before, of a step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<State>,
    /// The state after, of a step, and the first one of a plan that was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<State>,
    /// The changeset that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changeset: Option<ChangesetId>,
    /// How many entries the changeset had then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entries: Option<u64>,
    /// Why it failed, was abandoned or cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Everything the record says.
    pub body: Value,
}

/// All of a plan, in order.
pub(crate) fn timeline(store: &dyn Store, plan: PlanId) -> Result<Vec<Event>> {
    store.plan(plan)?;
    let query = AuditQuery { plan: Some(plan), ..AuditQuery::default() };
    let mut events = Vec::new();
    for record in store::export(store, query) {
        events.push(event(&record?));
    }
    Ok(events)
}

/// Reads one record. What does not fit is left out: whether the chain is sound is for `verify` to say.
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
        who: record.who.clone(),
        from: state("from"),
        to: state("to").or_else(|| state("state")),
        changeset: body["changeset"].as_str().and_then(|id| id.parse().ok()),
        entries: body["entries"].as_u64(),
        error,
        body,
    }
}
