//! Conflicts, as data.

use schemars::JsonSchema;
use serde::Serialize;
use store::{Content, JsonBytes, PathBytes};

use super::delta::{PathKeyJson, key_json};
use crate::{Attribution, PathKey};

/// Changes of one path by two or more actors that do not merge.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Conflict {
    /// The path.
    #[serde(flatten, serialize_with = "key_json")]
    #[schemars(with = "PathKeyJson")]
    pub key: PathKey,
    /// Kind of the conflict.
    pub kind: ConflictKind,
    /// Content that the root must hold.
    pub base: Option<Content>,
    /// The change of each actor, in the order of the changesets that were combined.
    pub sides: Vec<Side>,
    /// The lines in conflict; empty when it is not about lines.
    pub hunks: Vec<ConflictHunk>,
    /// Other paths of the conflict: new names, files in a folder that is a file elsewhere. A
    /// resolution reverts those of the actors it does not take.
    pub others: Vec<OtherPath>,
    /// Paths from which files were renamed to these. They stay unchanged until the conflict is
    /// resolved.
    #[serde(serialize_with = "JsonBytes::serialize_list")]
    #[schemars(with = "Vec<JsonBytes>")]
    pub old_names: Vec<PathBytes>,
}

/// Another path of a conflict.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct OtherPath {
    /// The path, below the same root.
    #[serde(serialize_with = "JsonBytes::serialize_bytes")]
    #[schemars(with = "JsonBytes")]
    pub path: PathBytes,
    /// Content that the root must hold.
    pub base: Option<Content>,
    /// Authors of its change.
    pub authors: Vec<Attribution>,
}

/// Kind of a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConflictKind {
    /// Both changed the same or adjacent lines.
    Lines,
    /// Both changed a file that is binary, or too long to be merged.
    Binary,
    /// Both created the file, with different contents.
    Created,
    /// One deleted a file that the other changed.
    Deleted,
    /// Both changed the permission bits.
    Mode,
    /// Both made a symlink with different targets, or one a symlink and the other a file.
    FileType,
    /// Both renamed it, to different names; or one renamed it and the other deleted it.
    Renamed,
    /// Different files got the same path: one by a rename, the other by a rename too, or it was
    /// created, edited or deleted there.
    SamePath,
    /// One needs a folder where the other has a file.
    Folder,
    /// Several changed it, and the strategy is [`FailOnConflict`](crate::Strategy::FailOnConflict).
    MultipleChanges,
}

/// Change of one actor in a conflict.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Side {
    /// The author.
    #[serde(flatten)]
    pub attribution: Attribution,
    /// Content that the change is against.
    pub base: Option<Content>,
    /// Content after the change.
    pub after: Option<Content>,
}

/// Lines in conflict between two sides; of three sides in conflict, each pair has its own. Lines
/// include their line feeds.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct ConflictHunk {
    /// First line in the base, from 1.
    pub line: u64,
    /// Lines of the base.
    #[serde(serialize_with = "JsonBytes::serialize_list")]
    #[schemars(with = "Vec<JsonBytes>")]
    pub base: Vec<Vec<u8>>,
    /// Lines of one side.
    #[serde(serialize_with = "JsonBytes::serialize_list")]
    #[schemars(with = "Vec<JsonBytes>")]
    pub ours: Vec<Vec<u8>>,
    /// Authors of that side.
    pub ours_by: Vec<Attribution>,
    /// Lines of the other side.
    #[serde(serialize_with = "JsonBytes::serialize_list")]
    #[schemars(with = "Vec<JsonBytes>")]
    pub theirs: Vec<Vec<u8>>,
    /// Authors of the other side; empty when the file was changed outside of the plan.
    pub theirs_by: Vec<Attribution>,
}
