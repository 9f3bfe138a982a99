//! What is kept with a plan and its nodes in the store, so that any process can go on.

use std::collections::BTreeMap;
use std::path::PathBuf;

use plan::{ChangesetId, Detail, NodeLinks, PlanId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{NodeReport, NodeState};
use crate::{Confine, Error, Ignored, Merge, Result};

/// Where a plan's detail has it.
const FIELD: &str = "run";

/// How a plan is run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    /// What people are told of it.
    #[serde(flatten)]
    pub terms: RunTerms,
    /// The text of the plan file.
    pub text: String,
    /// The folder of each root, whole; one without a name when the file declares none.
    pub roots: BTreeMap<String, PathBuf>,
    /// Whether the first failure stops the others.
    pub fail_fast: bool,
    /// What is made of a path that several changed.
    pub merge: Merge,
    /// Whether actors are to be confined.
    pub confine: Confine,
    /// What becomes of files that git ignores.
    pub ignored: Ignored,
    /// How sandboxes are made.
    pub strategy: String,
    /// Whether the actor has the terminal.
    pub terminal: bool,
}

/// The part of the record that `agents plan show` tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunTerms {
    /// The plan file.
    pub file: PathBuf,
    /// How many nodes run at once.
    pub concurrency: usize,
    /// How actors are confined: `fully`, `partly` or `not`.
    pub confinement: String,
    /// Folders that they may write to beside their sandbox.
    pub writable: Vec<PathBuf>,
}

impl RunTerms {
    /// Those of a plan, if it is one that is run.
    pub fn of(detail: &Detail) -> Option<Self> {
        Self::deserialize(detail.extra.get(FIELD)?).ok()
    }
}

impl RunRecord {
    /// As it goes into a plan's detail.
    pub(crate) fn put_into(&self, detail: &mut Detail) {
        detail.extra.insert(FIELD.to_owned(), json!(self));
        // What reviewing and applying go by.
        detail.merge = Some(self.merge);
    }

    /// That of a plan, if it is one that is run.
    pub(crate) fn of(plan: PlanId, detail: &Detail) -> Result<Option<Self>> {
        let Some(kept) = detail.extra.get(FIELD) else { return Ok(None) };
        let read = serde_json::from_value(kept.clone());
        read.map(Some).map_err(|source| plan::Error::Detail { plan, source }.into())
    }

    /// That of a plan that is run.
    pub(crate) fn required(plan: PlanId, detail: &Detail) -> Result<Self> {
        Self::of(plan, detail)?.ok_or(Error::NotRun { plan })
    }
}

/// What is kept with a node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct NodeRecord {
    /// The nodes that it needs, by name.
    pub needs: Vec<String>,
    /// How often it was started.
    #[serde(default)]
    pub attempts: u32,
    /// The changeset of the last attempt; its text is the mark of the actor's processes.
    #[serde(default)]
    pub changeset: Option<ChangesetId>,
    /// The actor's process, once it was started: id, time and run of the system.
    #[serde(default)]
    pub process: Option<(u32, u64, String)>,
    /// What `plan` goes by.
    #[serde(flatten)]
    pub links: NodeLinks,
    /// The code that the actor exited with.
    #[serde(default)]
    pub code: Option<i32>,
    /// The signal that ended it.
    #[serde(default)]
    pub signal: Option<i32>,
    /// How long the last attempt took.
    #[serde(default)]
    pub seconds: Option<f64>,
    /// How many paths it changed.
    #[serde(default)]
    pub files: usize,
    /// Why it did not succeed.
    #[serde(default)]
    pub reason: Option<String>,
    /// What it printed last.
    #[serde(default)]
    pub last_lines: Vec<String>,
    /// What is not as one might expect.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl NodeRecord {
    pub(crate) fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("texts and numbers have a form in JSON")
    }

    /// What people are told of it.
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
            files: self.files,
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
