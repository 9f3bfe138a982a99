//! Fields of a plan's detail about its applies: the apply in progress, ledger events, and undos in
//! progress.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Actor, ChangesetId, PlanId};

use crate::apply::drift::{Target, Targets};
use crate::apply::ledger::{Carried, LedgerEvent};
use crate::{Content, Detail, Error, Machine, PathKey, Plan, Result, State};

// The names under which these are stored.
const INTENT: &str = "apply";
pub(crate) const EVENTS: &str = "landed";
pub(crate) const UNDOING: &str = "undoing";
const REVERTS: &str = "takes";
const REVERTS_AT: &str = "takes_at";
const UNCHANGED: &str = "unchanged";
const UNCHANGED_LOG: &str = "unchanged_log";

/// An apply in progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Intent {
    pub machine: Machine,
    pub process: u32,
    /// The file transaction, which identifies the journal.
    pub transaction: String,
    /// The inodes of the roots, in the order of the plan: they tell the folders from copies.
    /// Version 0.1 stored none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inodes: Vec<u64>,
    /// True for a transaction of recovery, which changes only the paths that are still pending.
    #[serde(default, rename = "resumed", skip_serializing_if = "std::ops::Not::not")]
    pub is_resumed: bool,
    /// The log of its targets, complete before a file changes. Version 0.1 wrote none for an apply
    /// of a whole plan.
    #[serde(rename = "changeset")]
    pub target_log: Option<ChangesetId>,
    /// The changesets that it applies.
    #[serde(default, rename = "brings", skip_serializing_if = "Vec::is_empty")]
    pub applied: Vec<ChangesetId>,
    /// Further changesets that it applies at single paths.
    #[serde(default, rename = "along", skip_serializing_if = "Vec::is_empty")]
    pub carried: Vec<Carried>,
    /// The actor who started it.
    #[serde(rename = "who")]
    pub actor: Actor,
    /// The state of the plan before it.
    #[serde(rename = "from")]
    pub previous_state: State,
}

/// The changesets that an undo reverts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reverts {
    pub changesets: Vec<ChangesetId>,
    /// Single paths at which it reverts other changesets.
    pub overrides: Vec<Carried>,
}

/// A path that holds the same content without the reverted changes.
#[derive(Deserialize)]
struct Unchanged {
    #[serde(flatten)]
    key: PathKey,
    content: Option<Content>,
}

/// Formats the id of a file transaction.
pub(crate) fn transaction_text(id: u128) -> String {
    format!("{id:032x}")
}

/// Reads the apply in progress.
pub(crate) fn intent(plan: &Plan) -> Result<Option<Intent>> {
    read(plan, INTENT)
}

/// Reads the applies that ended, of the plan and of plans that undo it.
pub(crate) fn events(plan: &Plan) -> Result<Vec<LedgerEvent>> {
    Ok(read(plan, EVENTS)?.unwrap_or_default())
}

/// Reads the undos of the plan that its ledger does not have yet.
pub(crate) fn undoing(plan: &Plan) -> Result<Vec<PlanId>> {
    Ok(read(plan, UNDOING)?.unwrap_or_default())
}

/// Reads the changesets that an undo reverts.
pub(crate) fn reverts(plan: &Plan) -> Result<Reverts> {
    Ok(Reverts {
        changesets: read(plan, REVERTS)?.unwrap_or_default(),
        overrides: read(plan, REVERTS_AT)?.unwrap_or_default(),
    })
}

/// Reads the paths whose content stays in an undo, because other actors made the same changes: a
/// target log, and those in the detail, where earlier programs listed them.
pub(crate) fn unchanged(plan: &Plan) -> Result<(Option<ChangesetId>, Targets)> {
    let listed: Vec<Unchanged> = read(plan, UNCHANGED)?.unwrap_or_default();
    let target = |Unchanged { key, content }: Unchanged| (key, Target::unchanged(content));
    Ok((read(plan, UNCHANGED_LOG)?, listed.into_iter().map(target).collect()))
}

fn read<T: for<'de> Deserialize<'de>>(plan: &Plan, field: &str) -> Result<Option<T>> {
    let Some(value) = plan.detail.extra.get(field) else { return Ok(None) };
    let read = serde_json::from_value(value.clone());
    read.map(Some).map_err(|source| Error::Intent { plan: plan.id, source })
}

/// Adds an intent.
pub(crate) fn with_intent(plan: &Plan, intent: &Intent) -> Detail {
    let mut detail = Detail { error: None, ..plan.detail.clone() };
    detail.extra.insert(INTENT.to_owned(), json(intent));
    detail
}

/// Removes the intent, and adds the event of an apply that changed files.
pub(crate) fn without_intent(
    plan: &Plan,
    event: Option<LedgerEvent>,
    error: Option<String>,
) -> Result<Detail> {
    let mut detail = with_events(plan, event)?;
    detail.error = error;
    detail.extra.remove(INTENT);
    Ok(detail)
}

/// Adds ledger events.
pub(crate) fn with_events(plan: &Plan, new: impl IntoIterator<Item = LedgerEvent>) -> Result<Detail> {
    let mut all = events(plan)?;
    all.extend(new);
    let mut detail = plan.detail.clone();
    put(&mut detail, EVENTS, &all);
    Ok(detail)
}

/// Removes all ledger events.
pub(crate) fn without_events(detail: Detail) -> Detail {
    let mut detail = detail;
    detail.extra.remove(EVENTS);
    detail
}

/// Replaces the undos in progress.
pub(crate) fn with_undoing(detail: Detail, undoing: &[PlanId]) -> Detail {
    let mut detail = detail;
    put(&mut detail, UNDOING, undoing);
    detail
}

/// Returns the detail of a new undo. `unchanged` is the log of the paths whose content stays.
pub(crate) fn undo_detail(reverts: &Reverts, unchanged: Option<ChangesetId>) -> Detail {
    let mut detail = Detail::default();
    put(&mut detail, REVERTS, &reverts.changesets);
    put(&mut detail, REVERTS_AT, &reverts.overrides);
    detail.extra.extend(unchanged.map(|log| (UNCHANGED_LOG.to_owned(), json(&log))));
    detail
}

fn put(detail: &mut Detail, field: &str, list: &[impl Serialize]) {
    match list {
        [] => detail.extra.remove(field),
        list => detail.extra.insert(field.to_owned(), json(&list)),
    };
}

fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("texts and ids have a form in JSON")
}
