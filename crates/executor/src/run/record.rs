//! Records in the store from which any process can resume a run.

use std::collections::BTreeMap;
use std::path::PathBuf;

use plan::{ChangesetId, Detail, NodeChangesets, PlanId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{NodeReport, NodeState};
use crate::sandbox::Confinement;
use crate::{Confine, Error, Ignored, Merge, Result};

/// The field of a plan's detail.
const FIELD: &str = "run";

/// The record of a run, stored with its plan. Aliases are the names of version 0.1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The part that `agents plan show` prints.
    #[serde(flatten)]
    pub settings: RunSettings,
    /// The text of the plan file.
    pub text: String,
    /// The absolute folder of each root. The name is empty if the file declares none.
    pub roots: BTreeMap<String, PathBuf>,
    /// Stop all nodes after the first failure.
    pub fail_fast: bool,
    /// Merge strategy.
    pub merge: Merge,
    /// Requested confinement.
    pub confine: Confine,
    /// Treatment of files that git ignores.
    pub ignored: Ignored,
    /// Sandbox strategy.
    pub strategy: String,
    /// True if the actor has the terminal.
    pub terminal: bool,
    /// The longest file that is copied or recorded, in bytes. Runs of version 0.1 have no limit.
    #[serde(default = "no_limit")]
    pub file_bytes_max: u64,
}

fn no_limit() -> u64 {
    u64::MAX
}

/// The part of the record that `agents plan show` prints.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct RunSettings {
    /// The plan file.
    pub file: PathBuf,
    /// Maximum number of concurrent nodes.
    pub concurrency: usize,
    /// Confinement of the actors.
    pub confinement: Confinement,
    /// Folders outside the sandbox that actors may write to.
    #[serde(alias = "writable")]
    pub allow_write: Vec<PathBuf>,
}

impl RunSettings {
    /// The settings of a plan's run, if it has one.
    pub fn of(detail: &Detail) -> Option<Self> {
        Self::deserialize(detail.extra.get(FIELD)?).ok()
    }
}

impl RunRecord {
    /// Stores the record in a plan's detail.
    pub(crate) fn put_into(&self, detail: &mut Detail) {
        detail.extra.insert(FIELD.to_owned(), json!(self));
        // Review and apply use this copy.
        detail.merge = Some(self.merge);
    }

    /// The record of a plan's run, if it has one.
    pub(crate) fn of(plan: PlanId, detail: &Detail) -> Result<Option<Self>> {
        let Some(stored) = detail.extra.get(FIELD) else { return Ok(None) };
        let read = serde_json::from_value(stored.clone());
        read.map(Some).map_err(|source| plan::Error::Detail { plan, source }.into())
    }

    /// The record of a plan's run, or an error.
    pub(crate) fn required(plan: PlanId, detail: &Detail) -> Result<Self> {
        Self::of(plan, detail)?.ok_or(Error::NoRun { plan })
    }
}

/// The record of a node, stored with it. Aliases are the names of version 0.1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct NodeRecord {
    /// The names of the nodes that it needs.
    pub needs: Vec<String>,
    /// Number of attempts so far.
    #[serde(default)]
    pub attempts: u32,
    /// The changeset of the last attempt. Its id is the process tag of the actor.
    #[serde(default)]
    pub changeset: Option<ChangesetId>,
    /// The actor's process: pid, start time in ticks, boot id.
    #[serde(default)]
    pub process: Option<(u32, u64, String)>,
    /// The part that the crate `plan` reads.
    #[serde(flatten)]
    pub links: NodeChangesets,
    /// Exit code of the actor.
    #[serde(default)]
    pub code: Option<i32>,
    /// Signal that killed the actor.
    #[serde(default)]
    pub signal: Option<i32>,
    /// Duration of the last attempt.
    #[serde(default)]
    pub seconds: Option<f64>,
    /// Number of paths it changed.
    #[serde(default, alias = "files")]
    pub files_changed: usize,
    /// The cause, unless it succeeded.
    #[serde(default)]
    pub reason: Option<String>,
    /// The last lines of output, unless it succeeded.
    #[serde(default)]
    pub last_lines: Vec<String>,
    /// Remarks, such as files that were not recorded.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl NodeRecord {
    pub(crate) fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("texts and numbers have a form in JSON")
    }

    pub(crate) fn report(self, name: &str, state: NodeState) -> NodeReport {
        NodeReport {
            name: name.to_owned(),
            needs: self.needs,
            state,
            attempts: self.attempts,
            changeset: self.changeset.map(|changeset| changeset.to_string()),
            code: self.code,
            signal: self.signal,
            seconds: self.seconds,
            files_changed: self.files_changed,
            reason: self.reason,
            last_lines: self.last_lines,
            notes: self.notes,
        }
    }

    pub(crate) fn of(node: &store::Node) -> Result<Self> {
        serde_json::from_value(node.detail.clone())
            .map_err(|source| plan::Error::Detail { plan: node.plan, source }.into())
    }
}
