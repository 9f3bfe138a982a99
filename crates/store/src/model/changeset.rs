//! Changesets and their entries, as data.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::REASON_BYTES_MAX;
use crate::{
    Actor, BlobHash, ChainHash, ChangesetId, Epoch, Error, Holding, NodeId, PackedBlob, PathBytes, PlanId,
    RequestId, Result, State, Time, Tool,
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
    /// The epoch of the lease on the plan, which must not have changed hands.
    pub plan_epoch: Option<Epoch>,
}

/// When a changeset starts whose plan has others, the last of which was started at this time: later than that, also when the clock went
/// back since. So they are in the order in which they were started.
pub(crate) fn next_start(now: Time, last: Option<Time>) -> Time {
    last.map_or(now, |last| now.max(last.plus(Duration::from_micros(1))))
}

/// Whether a changeset takes entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
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

    /// What becomes of a changeset that is sealed, or abandoned for a reason; and what the audit calls that.
    pub(crate) fn ending(reason: Option<&str>) -> Result<(Self, &'static str)> {
        match reason {
            None => Ok((Self::Sealed, "changeset.sealed")),
            Some(reason) if reason.len() <= REASON_BYTES_MAX => Ok((Self::Abandoned, "changeset.abandoned")),
            Some(_) => Err(Error::Limit { what: "a reason's bytes", limit: REASON_BYTES_MAX as u64 }),
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A changeset as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
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
    /// When it was started, by the store's clock; later than those of its plan that were started before.
    pub started_at: Time,
    /// When it was sealed or abandoned.
    pub ended_at: Option<Time>,
    /// Why it was abandoned.
    pub reason: Option<String>,
}

/// What a content is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContentKind {
    /// A file's bytes.
    File,
    /// A symlink's target.
    Symlink,
}

/// What a path held, or is to hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
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

impl Operation {
    /// Name, as stored.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Modify => "modify",
            Self::Delete => "delete",
            Self::Rename { .. } => "rename",
            Self::Mode => "mode",
        }
    }
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

    /// All but the hashes of its contents, as JSON without spaces: `[root, path, operation, before, after, tool]`, where a content is
    /// `[kind, bytes, mode]`.
    pub fn form(&self) -> String {
        let NewEntry { root, path, operation, before, after, tool } = self;
        form(root, path, operation, [before, after], tool)
    }

    /// From its form and the hashes of its contents; `None` when they do not fit.
    pub fn from_form(form: &str, before: Option<BlobHash>, after: Option<BlobHash>) -> Option<Self> {
        type Rest = Option<(ContentKind, u64, u32)>;
        type Form = (PathBytes, PathBytes, Operation, Rest, Rest, Option<Tool>);
        let (root, path, operation, before_rest, after_rest, tool): Form = serde_json::from_str(form).ok()?;
        let content = |rest: Rest, blob: Option<BlobHash>| match (rest, blob) {
            (Some((kind, bytes, mode)), Some(blob)) => Some(Some(Content { kind, blob, bytes, mode })),
            (None, None) => Some(None),
            _ => None,
        };
        let (before, after) = (content(before_rest, before)?, content(after_rest, after)?);
        Some(NewEntry { root, path, operation, before, after, tool })
    }
}

fn form(
    root: &PathBytes,
    path: &PathBytes,
    operation: &Operation,
    contents: [&Option<Content>; 2],
    tool: &Option<Tool>,
) -> String {
    let [before, after] =
        contents.map(|content| content.as_ref().map(|content| (content.kind, content.bytes, content.mode)));
    serde_json::to_string(&(root, path, operation, before, after, tool)).expect("an entry has a form in JSON")
}

/// What an entry is, without where it went: its form and the hashes of its contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Formed {
    pub(crate) form: String,
    pub(crate) before: Option<BlobHash>,
    pub(crate) after: Option<BlobHash>,
}

impl Formed {
    pub(crate) fn of(entry: &NewEntry) -> Self {
        let blob = |content: &Option<Content>| content.as_ref().map(|content| content.blob);
        Self { form: entry.form(), before: blob(&entry.before), after: blob(&entry.after) }
    }

    /// BLAKE3 over the form, then the hashes of the two contents, zeros where there is none.
    pub(crate) fn hash(&self) -> ChainHash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.form.as_bytes());
        for blob in [self.before, self.after] {
            hasher.update(blob.map_or([0; 32], |blob| *blob.as_bytes()).as_slice());
        }
        ChainHash::from_bytes(hasher.finalize().into())
    }
}

/// Where an entry went.
pub(crate) struct Place<'a> {
    pub(crate) changeset: ChangesetId,
    pub(crate) sequence: u64,
    pub(crate) at: Time,
    pub(crate) actor: &'a Actor,
}

impl Place<'_> {
    /// The digest of a changeset with an entry of this hash at this place, from that before it; see [`ChangeEntry::digest`].
    pub(crate) fn digest(&self, before: ChainHash, hash: ChainHash) -> ChainHash {
        let mut form = Vec::with_capacity(256);
        form.extend_from_slice(b"agents-entry-1\n");
        form.extend_from_slice(before.as_bytes());
        form.extend_from_slice(&self.changeset.to_bytes());
        form.extend_from_slice(&self.sequence.to_le_bytes());
        form.extend_from_slice(&self.at.as_micros().to_le_bytes());
        form.extend_from_slice(hash.as_bytes());
        form.extend_from_slice(self.actor.as_str().as_bytes());
        ChainHash::of(&form)
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
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
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
    /// little-endian), the hash of what was recorded (32), the actor. The hash of what was recorded is BLAKE3 over
    /// [`NewEntry::form`], then the hashes of the contents before and after (32 each, zeros where there is none).
    pub fn digest(&self, before: ChainHash) -> ChainHash {
        let ChangeEntry { changeset, sequence, at, actor, .. } = self;
        let blob = |content: &Option<Content>| content.as_ref().map(|content| content.blob);
        let contents = [&self.before, &self.after];
        let formed = Formed {
            form: form(&self.root, &self.path, &self.operation, contents, &self.tool),
            before: blob(&self.before),
            after: blob(&self.after),
        };
        let place = Place { changeset: *changeset, sequence: *sequence, at: *at, actor };
        place.digest(before, formed.hash())
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
        let blob = entry.after.as_ref().map(|content| content.blob);
        assert_eq!(new.form(), r#"["/srv",{"hex":"ff"},{"rename":{"to":"b"}},null,["symlink",1,511],null]"#);
        assert_eq!(NewEntry::from_form(&new.form(), None, blob), Some(new.clone()));
        assert_eq!(NewEntry::from_form(&new.form(), blob, blob), None);
        assert_eq!(NewEntry::from_form(&new.form(), None, None), None);
        assert_eq!(NewEntry::from_form("[]", None, None), None);
        assert_eq!(
            entry.digest(ChainHash::from_bytes([0; 32])).to_string(),
            "a909426192ea5ad7fb09ab11f33d1aace3bf3a9a288f584d8d60f1abe807bcd1"
        );
    }
}
