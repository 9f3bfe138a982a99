//! A plan as this layer sees it, with its state and detail read.

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};
use store::limits::GRACE;
use store::{Actor, Epoch, Kind, Name, OpenChangesets, PathBytes, PlanId, RequestId, Time, Version};

use crate::{Error, Result, State, Strategy};

/// A plan as it was when it was read. What happens to it next is compared with its version.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Its id.
    pub id: PlanId,
    /// Its name.
    pub name: Option<Name>,
    /// Its state, as it was persisted.
    pub state: State,
    /// How often it has changed.
    pub version: Version,
    /// Work, or the undoing of other work.
    pub purpose: Purpose,
    /// The folders that it changes, absolute and without symlinks.
    pub roots: Vec<PathBytes>,
    /// What else is kept with it.
    pub detail: Detail,
    /// Who made it.
    pub created_by: Actor,
    /// When.
    pub created_at: Time,
    /// Who changed it last.
    pub changed_by: Actor,
    /// When.
    pub changed_at: Time,
}

/// What a plan is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Changes that actors make.
    Work,
    /// Taking back what another plan changed.
    Undo {
        /// The plan that is undone.
        of: PlanId,
    },
}

/// What is kept with a plan beside its state. Fields that this program does not know are kept as they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Detail {
    /// Why it failed, or what the conflict is, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What is made of a path that several actors changed, if the plan says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge: Option<Strategy>,
    /// Everything else.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl Detail {
    pub(crate) fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("texts and JSON have a form in JSON")
    }
}

impl Plan {
    /// Reads what the store has.
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
    /// Whether it was made, or worked on, in the last day and holds no result yet: somebody may be about to start a changeset in it.
    pub fn is_new(&self) -> bool {
        matches!(self.state, State::Queued | State::Running) && self.changed_at.plus(GRACE) > Time::now()
    }

    /// Whether it names an undo: one that is under way, or whose end is to be noted ([`Plans::note_undone`](crate::Plans::note_undone)).
    pub fn is_being_undone(&self) -> bool {
        self.detail.more.contains_key(crate::apply::intent::UNDOING)
    }
}

/// As programs are told of it.
impl Serialize for Plan {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let roots: Vec<_> = self.roots.iter().map(PathBytes::show).collect();
        let mut form = serializer.serialize_map(None)?;
        form.serialize_entry("id", &self.id)?;
        form.serialize_entry("name", &self.name)?;
        form.serialize_entry("state", &self.state)?;
        form.serialize_entry("meaning", self.state.meaning())?;
        if let Purpose::Undo { of } = &self.purpose {
            form.serialize_entry("undo_of", of)?;
        }
        form.serialize_entry("roots", &roots)?;
        form.serialize_entry("created_by", &self.created_by)?;
        form.serialize_entry("created_at", &self.created_at)?;
        form.serialize_entry("changed_by", &self.changed_by)?;
        form.serialize_entry("changed_at", &self.changed_at)?;
        if let Some(error) = &self.detail.error {
            form.serialize_entry("error", error)?;
        }
        form.end()
    }
}

/// A step to take: [`Plans::step`](crate::Plans::step).
#[derive(Clone, Debug)]
pub struct Step {
    /// The state to enter.
    pub to: State,
    /// Who.
    pub who: Actor,
    /// What the audit record is called; `plan.step` unless said otherwise.
    pub kind: Kind,
    /// What else the audit record says.
    pub note: Value,
    /// New detail, if it changes.
    pub detail: Option<Detail>,
    /// What happens to open changesets, in the same transaction.
    pub open: OpenChangesets,
    /// The epoch of a lease on the plan, which must not have changed hands.
    pub epoch: Option<Epoch>,
    /// The wish. It happens once, however often it is asked for.
    pub request: RequestId,
}

impl Step {
    /// A step of its own that leaves detail and changesets as they are.
    pub fn to(state: State, who: &Actor) -> Self {
        Self {
            to: state,
            who: who.clone(),
            kind: Kind::parse("plan.step").expect("words with a dot"),
            note: Value::Null,
            detail: None,
            open: OpenChangesets::Leave,
            epoch: None,
            request: RequestId::new(),
        }
    }

    /// What the audit record is called.
    #[must_use]
    pub fn kind(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }

    /// What else the audit record says.
    #[must_use]
    pub fn note(self, note: Value) -> Self {
        Self { note, ..self }
    }

    /// New detail.
    #[must_use]
    pub fn detail(self, detail: Detail) -> Self {
        Self { detail: Some(detail), ..self }
    }

    /// Only while the lease on the plan has this epoch.
    #[must_use]
    pub fn epoch(self, epoch: Epoch) -> Self {
        Self { epoch: Some(epoch), ..self }
    }

    /// What happens to open changesets.
    #[must_use]
    pub fn open(self, open: OpenChangesets) -> Self {
        Self { open, ..self }
    }
}
