//! Data of an error, for programs: plans, paths and actors that the message names.

use plan::Error as E;
use serde_json::{Value, json};

/// Data of an error; null if its message says all.
pub(crate) fn details(error: &E) -> Value {
    match error {
        E::Conflicts { plan, conflicts } => json!({ "plan": plan, "conflicts": conflicts }),
        E::Drifted { plan, drifts, .. } => json!({ "plan": plan, "files": drifts }),
        E::ModifiedSinceApply { plan, files } => json!({ "plan": plan, "files": files }),
        E::DependentChanges { plan, path, actors, others } => {
            json!({ "plan": plan, "path": path, "actors": actors, "others": others })
        }
        E::HasDependents { plan, by } => json!({ "plan": plan, "by": by }),
        E::Unapplied { plan, state, changesets } => {
            json!({ "plan": plan, "state": state, "changesets": changesets })
        }
        E::IllegalStep { plan, state, to, allowed } => {
            json!({ "plan": plan, "state": state, "to": to, "allowed": allowed })
        }
        E::ActorNotInvolved { actor, path, actors } => {
            json!({ "actor": actor, "path": path, "actors": actors })
        }
        _ => Value::Null,
    }
}
