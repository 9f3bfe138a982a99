//! Data of an error, for programs: plans, paths and actors that the message names.

use plan::{Actor, Conflict, Drift, Error as E, ModifiedFile, PlanId, State};
use schemars::JsonSchema;
use serde::Serialize;

/// Data of an error: plans, paths and actors that its message names.
#[derive(JsonSchema, Serialize, Debug)]
#[serde(untagged)]
#[expect(missing_docs, reason = "the fields are those of the errors of the same name")]
pub enum ErrorData<'a> {
    Conflicts { plan: PlanId, conflicts: &'a [Conflict] },
    ModifiedSinceApply { plan: PlanId, files: &'a [ModifiedFile] },
    Drifted { plan: PlanId, files: &'a [Drift] },
    DependentChanges { plan: PlanId, path: &'a str, actors: &'a [Actor], others: &'a [Actor] },
    HasDependents { plan: PlanId, by: PlanId },
    Unapplied { plan: PlanId, state: State, changesets: usize },
    IllegalStep { plan: PlanId, state: State, to: State, allowed: &'a [State] },
    ActorNotInvolved { actor: &'a Actor, path: &'a str, actors: &'a [Actor] },
}

impl<'a> ErrorData<'a> {
    /// Data of an error; none if its message says all.
    pub(crate) fn of(error: &'a E) -> Option<Self> {
        Some(match error {
            E::Conflicts { plan, conflicts } => Self::Conflicts { plan: *plan, conflicts },
            E::Drifted { plan, drifts, .. } => Self::Drifted { plan: *plan, files: drifts },
            E::ModifiedSinceApply { plan, files } => Self::ModifiedSinceApply { plan: *plan, files },
            E::DependentChanges { plan, path, actors, others } => {
                Self::DependentChanges { plan: *plan, path, actors, others }
            }
            E::HasDependents { plan, by } => Self::HasDependents { plan: *plan, by: *by },
            E::Unapplied { plan, state, changesets } => {
                Self::Unapplied { plan: *plan, state: *state, changesets: *changesets }
            }
            E::IllegalStep { plan, state, to, allowed } => {
                Self::IllegalStep { plan: *plan, state: *state, to: *to, allowed }
            }
            E::ActorNotInvolved { actor, path, actors } => Self::ActorNotInvolved { actor, path, actors },
            _ => return None,
        })
    }
}
