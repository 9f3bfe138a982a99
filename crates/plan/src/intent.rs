//! What is kept in a plan's detail about applying it: what is under way, what has landed, and what is being taken back.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Actor, ChangesetId, PlanId};

use crate::landed::{Along, Landed};
use crate::{Detail, Error, Machine, Plan, Result, State};

const APPLY: &str = "apply";
const LANDED: &str = "landed";
pub(crate) const UNDOING: &str = "undoing";
const TAKES: &str = "takes";

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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub brings: Vec<ChangesetId>,
    /// What goes to another name with its file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub along: Vec<Along>,
    /// Who began it.
    pub who: Actor,
    /// In which state the plan was.
    pub from: State,
}

/// The transaction's id as it is written.
pub(crate) fn transaction_text(id: u128) -> String {
    format!("{id:032x}")
}

/// The apply that is under way.
pub(crate) fn intent(plan: &Plan) -> Result<Option<Intent>> {
    read(plan, APPLY)
}

/// The applies that ended.
pub(crate) fn landed(plan: &Plan) -> Result<Vec<Landed>> {
    Ok(read(plan, LANDED)?.unwrap_or_default())
}

/// The plans that are taking this one back, or have: what they did is to be noted here.
pub(crate) fn undoing(plan: &Plan) -> Result<Vec<PlanId>> {
    Ok(read(plan, UNDOING)?.unwrap_or_default())
}

/// The changesets whose changes an undo takes back.
pub(crate) fn takes(plan: &Plan) -> Result<Vec<ChangesetId>> {
    Ok(read(plan, TAKES)?.unwrap_or_default())
}

fn read<T: for<'de> Deserialize<'de>>(plan: &Plan, field: &str) -> Result<Option<T>> {
    let Some(value) = plan.detail.more.get(field) else { return Ok(None) };
    let read = serde_json::from_value(value.clone());
    read.map(Some).map_err(|source| Error::Intent { plan: plan.id, source })
}

/// The detail of a plan that is being applied.
pub(crate) fn begun(plan: &Plan, intent: &Intent) -> Detail {
    let mut detail = Detail { error: None, ..plan.detail.clone() };
    detail.more.insert(APPLY.to_owned(), json(intent));
    detail
}

/// The detail of a plan whose apply ended, with what has landed.
pub(crate) fn ended(plan: &Plan, new: Option<Landed>, error: Option<String>) -> Result<Detail> {
    let mut detail = with_landed(plan, new)?;
    detail.error = error;
    detail.more.remove(APPLY);
    Ok(detail)
}

/// The detail with more that has landed, or was taken back.
pub(crate) fn with_landed(plan: &Plan, new: impl IntoIterator<Item = Landed>) -> Result<Detail> {
    let mut all = landed(plan)?;
    all.extend(new);
    let mut detail = plan.detail.clone();
    put(&mut detail, LANDED, &all);
    Ok(detail)
}

/// The detail of a plan of which nothing is left.
pub(crate) fn without_landed(detail: Detail) -> Detail {
    let mut detail = detail;
    detail.more.remove(LANDED);
    detail
}

/// The detail with these plans as the ones that take it back.
pub(crate) fn with_undoing(detail: Detail, undoing: &[PlanId]) -> Detail {
    let mut detail = detail;
    put(&mut detail, UNDOING, undoing);
    detail
}

/// The detail of a new undo.
pub(crate) fn taking(takes: &[ChangesetId]) -> Detail {
    let mut detail = Detail::default();
    put(&mut detail, TAKES, takes);
    detail
}

fn put(detail: &mut Detail, field: &str, list: &[impl Serialize]) {
    match list {
        [] => detail.more.remove(field),
        list => detail.more.insert(field.to_owned(), json(&list)),
    };
}

fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("texts and ids have a form in JSON")
}
