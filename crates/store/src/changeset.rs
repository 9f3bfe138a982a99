//! Changesets and their entries, as data.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    Actor, BlobHash, ChangesetId, Holding, NodeId, PackedBlob, PathBytes, PlanId, RequestId, State, Time,
    Tool,
};

/// A changeset to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewChangeset {
    /// Made by the caller, so that asking again starts no second one.
    pub id: ChangesetId,
    /// Its plan.
    pub plan: PlanId,
    /// The node of the plan whose work it holds.
    pub node: Option<NodeId>,
    /// To whom every entry is credited.
    pub actor: Actor,
    /// Who may record into it.
    pub holding: Holding,
    /// It is started only while the plan is in one of these states; in any when empty.
    pub plan_states: Vec<State>,
}

/// Whether a changeset takes entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It does.
    Open,
    /// It is whole, and takes no more.
    Sealed,
    /// It was given up. Its entries are kept and do not count.
    Abandoned,
}

impl Status {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Sealed => "sealed",
            Self::Abandoned => "abandoned",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A changeset as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changeset {
    /// Its id.
    pub id: ChangesetId,
    /// Its plan.
    pub plan: PlanId,
    /// The node of the plan whose work it holds.
    pub node: Option<NodeId>,
    /// To whom every entry is credited.
    pub actor: Actor,
    /// Whether it takes entries.
    pub status: Status,
    /// How many entries it has. Their sequence numbers are 1 to this.
    pub entries: u64,
    /// When it was started, by the store's clock.
    pub started_at: Time,
    /// When it was sealed or abandoned.
    pub ended_at: Option<Time>,
    /// Why it was abandoned.
    pub reason: Option<String>,
}

/// What a content is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContentKind {
    /// A file's bytes.
    File,
    /// A symlink's target.
    Symlink,
}

/// What a path held, or is to hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Content {
    /// File or symlink.
    pub kind: ContentKind,
    /// The bytes, by hash.
    pub blob: BlobHash,
    /// How many bytes.
    pub bytes: u64,
    /// The permission bits.
    pub mode: u32,
}

/// What was done to a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// It was not there.
    Create,
    /// Its content changed.
    Modify,
    /// It went.
    Delete,
    /// It got another name, and perhaps another content.
    Rename {
        /// The new path below the same root.
        to: PathBytes,
    },
    /// Its permission bits changed.
    Mode,
}

/// One change to record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEntry {
    /// The folder.
    pub root: PathBytes,
    /// The path below it.
    pub path: PathBytes,
    /// What was done.
    pub operation: Operation,
    /// What was there.
    pub before: Option<Content>,
    /// What is there now.
    pub after: Option<Content>,
    /// With what it was done.
    pub tool: Option<Tool>,
}

/// Changes to record together: all of them or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// The wish. It happens once, however often it is asked for.
    pub request: RequestId,
    /// The changes, in order.
    pub entries: Vec<NewEntry>,
    /// Contents that come with them and need not be in the store yet.
    pub blobs: Vec<PackedBlob>,
}

/// One recorded change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeEntry {
    /// The changeset that it belongs to.
    pub changeset: ChangesetId,
    /// Its place in the changeset, from 1, without gaps.
    pub sequence: u64,
    /// The changeset's actor.
    pub actor: Actor,
    /// The folder.
    pub root: PathBytes,
    /// The path below it.
    pub path: PathBytes,
    /// What was done.
    pub operation: Operation,
    /// What was there.
    pub before: Option<Content>,
    /// What is there now.
    pub after: Option<Content>,
    /// With what it was done.
    pub tool: Option<Tool>,
    /// When it was recorded, by the store's clock.
    pub at: Time,
}

impl ChangeEntry {
    /// Whether this is what was to be recorded.
    pub fn is(&self, new: &NewEntry) -> bool {
        self.root == new.root
            && self.path == new.path
            && self.operation == new.operation
            && self.before == new.before
            && self.after == new.after
            && self.tool == new.tool
    }
}

/// Where recorded entries went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// The sequence number of the first.
    pub first: u64,
    /// How many.
    pub count: u64,
}
