//! Changesets and their entries, as data.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    Actor, BlobHash, ChainHash, ChangesetId, Holding, NodeId, PackedBlob, PathBytes, PlanId, RequestId,
    State, Time, Tool,
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
    /// The hash of all of them, in order; see [`ChangeEntry::digest`].
    pub digest: ChainHash,
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

impl NewEntry {
    /// The entry as it is recorded.
    pub fn at(&self, changeset: ChangesetId, sequence: u64, actor: &Actor, at: Time) -> ChangeEntry {
        let NewEntry { root, path, operation, before, after, tool } = self.clone();
        ChangeEntry {
            changeset,
            sequence,
            actor: actor.clone(),
            root,
            path,
            operation,
            before,
            after,
            tool,
            at,
        }
    }
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
    /// The digest of a changeset up to this entry, from that up to the one before; zeros before the first.
    ///
    /// BLAKE3 over: `agents-entry-1` and a line feed, the digest before (32), the changeset's id (16), sequence number and time (8 each,
    /// little-endian), then the rest of the entry as JSON without spaces: `[actor, root, path, operation, before, after, tool]`.
    pub fn digest(&self, before: ChainHash) -> ChainHash {
        let rest =
            (&self.actor, &self.root, &self.path, &self.operation, &self.before, &self.after, &self.tool);
        let mut form = b"agents-entry-1\n".to_vec();
        form.extend_from_slice(before.as_bytes());
        form.extend_from_slice(&self.changeset.to_bytes());
        form.extend_from_slice(&self.sequence.to_le_bytes());
        form.extend_from_slice(&self.at.as_micros().to_le_bytes());
        serde_json::to_writer(&mut form, &rest).expect("an entry has a form in JSON");
        ChainHash::of(&form)
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_an_entry_does_not_change() {
        let path = |text: &[u8]| PathBytes::parse(text).unwrap();
        let content = Content { kind: ContentKind::Symlink, blob: BlobHash::of(b"x"), bytes: 1, mode: 0o777 };
        let new = NewEntry {
            root: path(b"/srv"),
            path: path(&[0xff]),
            operation: Operation::Rename { to: path(b"b") },
            before: None,
            after: Some(content),
            tool: None,
        };
        let actor = Actor::parse("ana").unwrap();
        let id = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
        let entry = new.at(id, 2, &actor, Time::from_micros(3));
        assert!(entry.is(&new));
        assert_eq!(
            entry.digest(ChainHash::from_bytes([0; 32])).to_string(),
            "377430f37f4177deb5abf3ef67a41535c02cc36366492a6057eb5d6157a497d5"
        );
    }
}
