//! The fields of a plan's detail about applying it: the apply that is under way, the applies and undos that ended, and the undos under way.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Actor, ChangesetId, PlanId};

use crate::apply::ledger::{Carried, LedgerEvent};
use crate::{Content, Detail, Error, Machine, PathKey, Plan, Result, State};

const APPLY: &str = "apply";
const LANDED: &str = "landed";
pub(crate) const UNDOING: &str = "undoing";
const TAKES: &str = "takes";
const TAKES_AT: &str = "takes_at";
const UNCHANGED: &str = "unchanged";

/// An apply that is under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Intent {
    /// Where.
    pub machine: Machine,
    /// Which process.
    pub process: u32,
    /// The file transaction, by which its journal is known.
    pub transaction: String,
    /// Where its changes are written down before a file is touched. An earlier program did not for an apply of everything.
    pub changeset: Option<ChangesetId>,
    /// The changesets whose changes it brings.
    #[serde(default, rename = "brings", skip_serializing_if = "Vec::is_empty")]
    pub applied: Vec<ChangesetId>,
    /// More of them that single paths hold.
    #[serde(default, rename = "along", skip_serializing_if = "Vec::is_empty")]
    pub carried: Vec<Carried>,
    /// Who began it.
    pub who: Actor,
    /// In which state the plan was.
    pub from: State,
}

/// The changesets that an undo reverts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reverts {
    pub changesets: Vec<ChangesetId>,
    /// Single paths at which it reverts others.
    pub instead: Vec<Carried>,
    /// Paths at which it changes no content: others made the same changes.
    pub unchanged: Vec<Unchanged>,
}

/// A path that holds the same content without the changes of some.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unchanged {
    #[serde(flatten)]
    pub key: PathKey,
    pub content: Option<Content>,
}

/// The transaction's id as it is written.
pub(crate) fn transaction_text(id: u128) -> String {
    format!("{id:032x}")
}

/// The apply that is under way.
pub(crate) fn intent(plan: &Plan) -> Result<Option<Intent>> {
    read(plan, APPLY)
}

/// The applies that ended, of the plan and of those that undo it.
pub(crate) fn events(plan: &Plan) -> Result<Vec<LedgerEvent>> {
    Ok(read(plan, LANDED)?.unwrap_or_default())
}

/// The plans that are taking this one back, or have: what they did is to be noted here.
pub(crate) fn undoing(plan: &Plan) -> Result<Vec<PlanId>> {
    Ok(read(plan, UNDOING)?.unwrap_or_default())
}

/// The changesets that an undo reverts.
pub(crate) fn reverts(plan: &Plan) -> Result<Reverts> {
    Ok(Reverts {
        changesets: read(plan, TAKES)?.unwrap_or_default(),
        instead: read(plan, TAKES_AT)?.unwrap_or_default(),
        unchanged: read(plan, UNCHANGED)?.unwrap_or_default(),
    })
}

fn read<T: for<'de> Deserialize<'de>>(plan: &Plan, field: &str) -> Result<Option<T>> {
    let Some(value) = plan.detail.extra.get(field) else { return Ok(None) };
    let read = serde_json::from_value(value.clone());
    read.map(Some).map_err(|source| Error::Intent { plan: plan.id, source })
}

/// The detail of a plan that is being applied.
pub(crate) fn begun(plan: &Plan, intent: &Intent) -> Detail {
    let mut detail = Detail { error: None, ..plan.detail.clone() };
    detail.extra.insert(APPLY.to_owned(), json(intent));
    detail
}

/// The detail of a plan whose apply ended.
pub(crate) fn ended(plan: &Plan, new: Option<LedgerEvent>, error: Option<String>) -> Result<Detail> {
    let mut detail = with_events(plan, new)?;
    detail.error = error;
    detail.extra.remove(APPLY);
    Ok(detail)
}

/// The detail with more applies that ended.
pub(crate) fn with_events(plan: &Plan, new: impl IntoIterator<Item = LedgerEvent>) -> Result<Detail> {
    let mut all = events(plan)?;
    all.extend(new);
    let mut detail = plan.detail.clone();
    put(&mut detail, LANDED, &all);
    Ok(detail)
}

/// The detail of a plan of which nothing is applied.
pub(crate) fn without_events(detail: Detail) -> Detail {
    let mut detail = detail;
    detail.extra.remove(LANDED);
    detail
}

/// The detail with these plans as the ones that take it back.
pub(crate) fn with_undoing(detail: Detail, undoing: &[PlanId]) -> Detail {
    let mut detail = detail;
    put(&mut detail, UNDOING, undoing);
    detail
}

/// The detail of a new undo.
pub(crate) fn reverting(reverts: &Reverts) -> Detail {
    let mut detail = Detail::default();
    put(&mut detail, TAKES, &reverts.changesets);
    put(&mut detail, TAKES_AT, &reverts.instead);
    put(&mut detail, UNCHANGED, &reverts.unchanged);
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
