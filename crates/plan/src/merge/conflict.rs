//! Conflicts, as data.

use serde::Serialize;
use store::{Content, PathBytes};

use crate::{Credit, PathKey};

/// Two or more actors changed a path in ways that do not go together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Conflict {
    /// The path.
    #[serde(flatten)]
    pub key: PathKey,
    /// In what way.
    pub clash: Clash,
    /// What the root is expected to hold there.
    pub base: Option<Content>,
    /// What each of them made of it, in the order of the changesets that were combined.
    pub sides: Vec<Side>,
    /// Where the texts clash; empty when it is not about lines.
    pub hunks: Vec<ConflictHunk>,
    /// Other paths that it is about: new names, files in a folder that is a file elsewhere. Those of an actor who is not taken go.
    pub others: Vec<OtherPath>,
    /// The paths from which files were renamed to these. Nothing is done to them before it is resolved.
    pub old_names: Vec<PathBytes>,
}

/// Another path that a conflict is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OtherPath {
    /// The path, below the same root.
    pub path: PathBytes,
    /// What the root is expected to hold there.
    pub base: Option<Content>,
    /// Who changed it.
    pub credits: Vec<Credit>,
}

/// In what way changes clash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clash {
    /// Both changed the same lines.
    Lines,
    /// Both changed a file that is not text, or too long to be merged.
    Binary,
    /// Both made a file, with different content.
    Created,
    /// One deleted what the other changed.
    Deleted,
    /// Both changed the permission bits.
    Mode,
    /// Both made a symlink with different targets, or one a symlink and the other a file.
    Kind,
    /// Both renamed it, to different names; or one renamed it and the other deleted it.
    Renamed,
    /// Different files came under one name: one was renamed to it, and the other was renamed to it too, or was made, edited or deleted there.
    SameName,
    /// One needs a folder where the other has a file.
    Folder,
    /// Several changed it, and the strategy is to call that a conflict.
    Several,
}

/// What one actor made of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Side {
    /// Whose.
    #[serde(flatten)]
    pub credit: Credit,
    /// What they started from.
    pub base: Option<Content>,
    /// What they made of it.
    pub after: Option<Content>,
}

/// Lines that clash, of two sides. Where three clash there is one for each two of them. Of a line the line feed is part, where it has one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConflictHunk {
    /// The line of the base at which it begins, counted from 1.
    pub line: u64,
    /// The lines that both started from.
    pub base: Vec<String>,
    /// The lines of the one side.
    pub ours: Vec<String>,
    /// Whose they are.
    pub ours_by: Vec<Credit>,
    /// The lines of the other.
    pub theirs: Vec<String>,
    /// Whose they are; nobody's, when the file was changed outside of the plan.
    pub theirs_by: Vec<Credit>,
}
