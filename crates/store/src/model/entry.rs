//! Entries: single changes in a changeset, with their canonical form and hash.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use crate::{Actor, BlobHash, ChainHash, ChangesetId, JsonBytes, PathBytes, Time, Tool};

/// The type of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContentKind {
    /// A regular file. The blob holds its bytes.
    File,
    /// A symlink. The blob holds its target.
    Symlink,
}

/// The content and mode of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct Content {
    /// Regular file or symlink.
    pub kind: ContentKind,
    /// The hash of its bytes.
    pub blob: BlobHash,
    /// Number of bytes.
    pub bytes: u64,
    /// Permission bits.
    pub mode: u32,
}

/// A kind of change to a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// Create a path that did not exist.
    Create,
    /// Change the content.
    Modify,
    /// Delete the path.
    Delete,
    /// Rename the path, perhaps with new content.
    Rename {
        /// The new path below the same root.
        to: PathBytes,
    },
    /// Change the permission bits.
    Mode,
}

impl Operation {
    /// Returns the stored word.
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

/// A change to record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEntry {
    /// The root.
    pub root: PathBytes,
    /// The path below the root.
    pub path: PathBytes,
    /// The kind of change.
    pub operation: Operation,
    /// The content before; `None` if the path did not exist.
    pub before: Option<Content>,
    /// The content after; `None` if the path does not exist any more.
    pub after: Option<Content>,
    /// The tool that made the change.
    pub tool: Option<Tool>,
}

impl NewEntry {
    /// Returns the entry at its position in a changeset.
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

    /// Returns the canonical form: all but the blob hashes, as JSON without spaces, `[root, path,
    /// operation, before, after, tool]`, where a content is `[kind, bytes, mode]`.
    pub fn canonical_form(&self) -> String {
        let NewEntry { root, path, operation, before, after, tool } = self;
        canonical_form(root, path, operation, [before, after], tool)
    }

    /// Parses a canonical form with its blob hashes; `None` if they do not fit together.
    pub fn from_canonical_form(
        form: &str,
        before: Option<BlobHash>,
        after: Option<BlobHash>,
    ) -> Option<Self> {
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

fn canonical_form(
    root: &PathBytes,
    path: &PathBytes,
    operation: &Operation,
    contents: [&Option<Content>; 2],
    tool: &Option<Tool>,
) -> String {
    let [before, after] =
        contents.map(|content| content.as_ref().map(|content| (content.kind, content.bytes, content.mode)));
    serde_json::to_string(&(root, path, operation, before, after, tool))
        .expect("every entry serializes as JSON")
}

/// An entry without its position: its canonical form and blob hashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CanonicalEntry {
    pub(crate) form: String,
    pub(crate) before: Option<BlobHash>,
    pub(crate) after: Option<BlobHash>,
}

impl CanonicalEntry {
    pub(crate) fn of(entry: &NewEntry) -> Self {
        let blob = |content: &Option<Content>| content.as_ref().map(|content| content.blob);
        Self { form: entry.canonical_form(), before: blob(&entry.before), after: blob(&entry.after) }
    }

    /// Hashes with BLAKE3 the canonical form, then the two blob hashes, zeros where there is none.
    pub(crate) fn hash(&self) -> ChainHash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.form.as_bytes());
        for blob in [self.before, self.after] {
            hasher.update(blob.map_or([0; 32], |blob| *blob.as_bytes()).as_slice());
        }
        ChainHash::from_bytes(hasher.finalize().into())
    }
}

/// The position of an entry.
pub(crate) struct EntryPosition<'a> {
    pub(crate) changeset: ChangesetId,
    pub(crate) sequence: u64,
    pub(crate) at: Time,
    pub(crate) actor: &'a Actor,
}

impl EntryPosition<'_> {
    /// Continues the digest of a changeset with an entry of this hash; see [`ChangeEntry::digest`].
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

/// A recorded change.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct ChangeEntry {
    /// The changeset.
    pub changeset: ChangesetId,
    /// Position in the changeset, from 1 without gaps.
    pub sequence: u64,
    /// The actor of the changeset.
    pub actor: Actor,
    /// The root.
    #[serde(serialize_with = "JsonBytes::serialize_bytes")]
    #[schemars(with = "JsonBytes")]
    pub root: PathBytes,
    /// The path below the root.
    #[serde(serialize_with = "JsonBytes::serialize_bytes")]
    #[schemars(with = "JsonBytes")]
    pub path: PathBytes,
    /// The kind of change.
    #[serde(serialize_with = "operation_json")]
    #[schemars(with = "OperationJson")]
    pub operation: Operation,
    /// The content before; `None` if the path did not exist.
    pub before: Option<Content>,
    /// The content after; `None` if the path does not exist any more.
    pub after: Option<Content>,
    /// The tool that made the change.
    pub tool: Option<Tool>,
    /// Time of recording, by the store's clock.
    pub at: Time,
}

/// The form of an operation in JSON output. The stored form is that of [`Operation`].
#[derive(JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Operation")]
enum OperationJson {
    Create,
    Modify,
    Delete,
    Rename {
        /// The new path below the same root.
        to: JsonBytes,
    },
    Mode,
}

fn operation_json<S: Serializer>(operation: &Operation, serializer: S) -> Result<S::Ok, S::Error> {
    let form = match operation {
        Operation::Create => OperationJson::Create,
        Operation::Modify => OperationJson::Modify,
        Operation::Delete => OperationJson::Delete,
        Operation::Rename { to } => OperationJson::Rename { to: JsonBytes::of(to.as_bytes()) },
        Operation::Mode => OperationJson::Mode,
    };
    form.serialize(serializer)
}

impl ChangeEntry {
    /// Continues the digest of a changeset with this entry; the digest before the first entry is
    /// zeros.
    ///
    /// BLAKE3 over: `agents-entry-1` and a line feed, the digest so far (32 bytes), the id of the
    /// changeset (16), sequence number and time (8 each, little-endian), the hash of the entry
    /// (32), the actor. The hash of the entry is BLAKE3 over [`NewEntry::canonical_form`], then the blob
    /// hashes before and after (32 each, zeros where there is none).
    pub fn digest(&self, before: ChainHash) -> ChainHash {
        let ChangeEntry { changeset, sequence, at, actor, .. } = self;
        let blob = |content: &Option<Content>| content.as_ref().map(|content| content.blob);
        let contents = [&self.before, &self.after];
        let canonical = CanonicalEntry {
            form: canonical_form(&self.root, &self.path, &self.operation, contents, &self.tool),
            before: blob(&self.before),
            after: blob(&self.after),
        };
        let position = EntryPosition { changeset: *changeset, sequence: *sequence, at: *at, actor };
        position.digest(before, canonical.hash())
    }

    /// Compares with an entry to record, ignoring the position.
    pub fn matches(&self, new: &NewEntry) -> bool {
        self.root == new.root
            && self.path == new.path
            && self.operation == new.operation
            && self.before == new.before
            && self.after == new.after
            && self.tool == new.tool
    }
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
        assert!(entry.matches(&new));
        let blob = entry.after.as_ref().map(|content| content.blob);
        assert_eq!(
            new.canonical_form(),
            r#"["/srv",{"hex":"ff"},{"rename":{"to":"b"}},null,["symlink",1,511],null]"#
        );
        assert_eq!(NewEntry::from_canonical_form(&new.canonical_form(), None, blob), Some(new.clone()));
        assert_eq!(NewEntry::from_canonical_form(&new.canonical_form(), blob, blob), None);
        assert_eq!(NewEntry::from_canonical_form(&new.canonical_form(), None, None), None);
        assert_eq!(NewEntry::from_canonical_form("[]", None, None), None);
        assert_eq!(
            entry.digest(ChainHash::from_bytes([0; 32])).to_string(),
            "a909426192ea5ad7fb09ab11f33d1aace3bf3a9a288f584d8d60f1abe807bcd1"
        );
    }
}
