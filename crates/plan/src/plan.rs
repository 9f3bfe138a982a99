//! A plan as read from the store, with its state and detail parsed.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};
use store::limits::GRACE;
use store::{
    Actor, AuditKind, Epoch, JsonBytes, Name, OpenChangesets, PathBytes, PlanId, RequestId, Time, Version,
};

use crate::{Error, Result, State, Strategy};

/// A plan as it was when it was read. A later step fails if the version has changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The id.
    pub id: PlanId,
    /// The name.
    pub name: Option<Name>,
    /// The stored state.
    pub state: State,
    /// The number of changes so far.
    pub version: Version,
    /// Work of actors, or the undo of another plan.
    pub purpose: Purpose,
    /// The roots, absolute and without symlinks.
    pub roots: Vec<PathBytes>,
    /// Further stored data.
    pub detail: Detail,
    /// The actor who created it.
    pub created_by: Actor,
    /// The time of its creation.
    pub created_at: Time,
    /// The actor who changed it last.
    pub changed_by: Actor,
    /// The time of its last change.
    pub changed_at: Time,
}

/// The purpose of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Applies changes that actors record.
    Work,
    /// Undoes another plan.
    Undo {
        /// The plan to undo.
        of: PlanId,
    },
}

/// The detail of a plan, stored beside its state. Unknown fields are preserved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Detail {
    /// The reason of a failure or conflict, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The merge strategy, if the plan sets one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge: Option<Strategy>,
    /// All other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Detail {
    pub(crate) fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("strings and JSON values serialize")
    }
}

impl Plan {
    /// Parses a stored plan.
    pub fn from_stored(plan: store::Plan) -> Result<Self> {
        let detail = match plan.detail {
            Value::Null => Detail::default(),
            detail => {
                serde_json::from_value(detail).map_err(|source| Error::Detail { plan: plan.id, source })?
            }
        };
        Ok(Self {
            id: plan.id,
            name: plan.name,
            state: plan.state.as_str().parse()?,
            version: plan.version,
            purpose: plan.undo_of.map_or(Purpose::Work, |of| Purpose::Undo { of }),
            roots: plan.roots,
            detail,
            created_by: plan.created_by,
            created_at: plan.created_at,
            changed_by: plan.changed_by,
            changed_at: plan.changed_at,
        })
    }
}

impl Plan {
    /// Returns whether the plan is queued, running or an undo that was not applied yet, and changed
    /// within the last day: a process may be about to start a changeset in it, or to apply it.
    pub fn is_recent(&self) -> bool {
        let may_continue = matches!(self.state, State::Queued | State::Running) || self.is_unfinished_undo();
        may_continue && self.changed_at.plus(GRACE) > Time::now()
    }

    /// Returns whether the plan is an undo that has changed no file. It holds no work: the same undo
    /// can be made again.
    pub fn is_unfinished_undo(&self) -> bool {
        let is_undo = matches!(self.purpose, Purpose::Undo { .. });
        let is_settled = matches!(self.state, State::Applying | State::Applied | State::Undone);
        is_undo && !is_settled && !self.detail.extra.contains_key(crate::apply::intent::EVENTS)
    }

    /// Returns whether an undo of the plan is in progress, or its result is not recorded in the
    /// plan yet ([`Plans::reconcile_undos`](crate::Plans::reconcile_undos)).
    pub fn has_pending_undo(&self) -> bool {
        self.detail.extra.contains_key(crate::apply::intent::UNDOING)
    }
}

/// The form of a plan in JSON output.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Plan")]
struct PlanJson<'a> {
    id: PlanId,
    name: &'a Option<Name>,
    state: State,
    state_description: &'static str,
    /// The plan that this one undoes.
    #[serde(skip_serializing_if = "Option::is_none")]
    undo_of: Option<PlanId>,
    roots: Vec<JsonBytes>,
    created_by: &'a Actor,
    created_at: Time,
    changed_by: &'a Actor,
    changed_at: Time,
    /// The reason of a failure or conflict, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: &'a Option<String>,
}

impl Serialize for Plan {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let undo_of = match self.purpose {
            Purpose::Undo { of } => Some(of),
            Purpose::Work => None,
        };
        let form = PlanJson {
            id: self.id,
            name: &self.name,
            state: self.state,
            state_description: self.state.description(),
            undo_of,
            roots: self.roots.iter().map(|root| JsonBytes::of(root.as_bytes())).collect(),
            created_by: &self.created_by,
            created_at: self.created_at,
            changed_by: &self.changed_by,
            changed_at: self.changed_at,
            error: &self.detail.error,
        };
        form.serialize(serializer)
    }
}

impl JsonSchema for Plan {
    fn schema_name() -> Cow<'static, str> {
        PlanJson::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        PlanJson::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        PlanJson::json_schema(generator)
    }
}

/// A step of a plan to another state: [`Plans::step`](crate::Plans::step).
#[derive(Clone, Debug)]
pub struct Step {
    /// The state to enter.
    pub to: State,
    /// The actor who takes the step.
    pub actor: Actor,
    /// The kind of the audit record; by default `plan.step`.
    pub kind: AuditKind,
    /// Further data for the audit record.
    pub note: Value,
    /// The new detail; `None` keeps the old one.
    pub detail: Option<Detail>,
    /// The effect on open changesets, in the same transaction.
    pub open: OpenChangesets,
    /// The fencing token of a lease on the plan: the step fails if another process has taken the
    /// lease.
    pub epoch: Option<Epoch>,
    /// Idempotency key: repeating the step has no further effect.
    pub request: RequestId,
}

impl Step {
    /// Creates a step that keeps the detail and leaves changesets open.
    pub fn to(state: State, actor: &Actor) -> Self {
        Self {
            to: state,
            actor: actor.clone(),
            kind: AuditKind::parse("plan.step").expect("a valid kind"),
            note: Value::Null,
            detail: None,
            open: OpenChangesets::Leave,
            epoch: None,
            request: RequestId::new(),
        }
    }

    /// Sets the kind of the audit record.
    #[must_use]
    pub fn kind(self, kind: AuditKind) -> Self {
        Self { kind, ..self }
    }

    /// Sets further data for the audit record.
    #[must_use]
    pub fn note(self, note: Value) -> Self {
        Self { note, ..self }
    }

    /// Sets the new detail.
    #[must_use]
    pub fn detail(self, detail: Detail) -> Self {
        Self { detail: Some(detail), ..self }
    }

    /// Fences the step with the epoch of a lease on the plan.
    #[must_use]
    pub fn epoch(self, epoch: Epoch) -> Self {
        Self { epoch: Some(epoch), ..self }
    }

    /// Sets the effect on open changesets.
    #[must_use]
    pub fn open(self, open: OpenChangesets) -> Self {
        Self { open, ..self }
    }
}
