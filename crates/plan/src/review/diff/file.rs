//! The diff of one file, as data.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use store::{Content, ContentKind, JsonBytes, PathBytes};

use super::hunk::{Hunk, hunks};
use crate::merge::delta::{PathKeyJson, key_json};
use crate::merge::lines::is_text;
use crate::{Attribution, BlobSource, Combined, CombinedChange, Error, MergeOutcome, PathKey, Result};

/// The two sides of a path to compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffEntry {
    /// The path.
    pub key: PathKey,
    /// The old path of a renamed file.
    pub renamed_from: Option<PathBytes>,
    /// The old content; of a renamed file, under its old path.
    pub old: Option<Content>,
    /// The new content.
    pub new: Option<Content>,
    /// The actors and changesets that changed it.
    pub authors: Vec<Attribution>,
}

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// The file is new.
    Create,
    /// The content differs, and the permission bits may.
    Modify,
    /// The file was deleted.
    Delete,
    /// The file has a new path, and may have new content.
    Rename,
    /// Only the permission bits differ.
    Mode,
}

impl ChangeKind {
    pub(crate) fn of(before: Option<&Content>, after: Option<&Content>) -> Self {
        match (before, after) {
            (_, None) => Self::Delete,
            (None, _) => Self::Create,
            (Some(before), Some(after)) => {
                let same_content = (before.blob, before.kind) == (after.blob, after.kind);
                if same_content && before.mode != after.mode { Self::Mode } else { Self::Modify }
            }
        }
    }
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Create => "create",
            Self::Modify => "modify",
            Self::Delete => "delete",
            Self::Rename => "rename",
            Self::Mode => "mode",
        })
    }
}

/// One side of a diff.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct FileSide {
    /// File or symlink.
    pub kind: ContentKind,
    /// Permission bits.
    pub mode: u32,
    /// Length, in bytes.
    pub bytes: u64,
    /// The content of a binary file of at most [`TEXT_BYTES_MAX`](crate::TEXT_BYTES_MAX) bytes.
    #[serde(skip)]
    pub content: Option<Arc<[u8]>>,
}

/// The diff of one file.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct FileDiff {
    /// The path.
    #[serde(flatten, serialize_with = "key_json")]
    #[schemars(with = "PathKeyJson")]
    pub key: PathKey,
    /// The old path of a renamed file.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "JsonBytes::serialize_option")]
    #[schemars(with = "Option<JsonBytes>")]
    pub renamed_from: Option<PathBytes>,
    /// The kind of the change.
    pub change: ChangeKind,
    /// The old side; `None` for a new file.
    pub old: Option<FileSide>,
    /// The new side; `None` for a deleted file.
    pub new: Option<FileSide>,
    /// True if the file is binary or too large, so that there are no hunks.
    pub binary: bool,
    /// The hunks, in order.
    pub hunks: Vec<Hunk>,
    /// The number of added lines.
    pub added: u64,
    /// The number of removed lines.
    pub removed: u64,
    /// The actors and changesets that changed it.
    pub authors: Vec<Attribution>,
}

impl Combined {
    /// Returns the paths to compare: a renamed file once, under its new path. A rename onto an
    /// existing path is a change of that path and a deletion, because git does not accept such a
    /// rename.
    pub fn diff_entries(&self) -> Vec<DiffEntry> {
        let change = |key: &PathKey| match self.paths.get(key) {
            Some(MergeOutcome::Resolved(change)) => Some(change),
            _ => None,
        };
        // The old path of a file, if no file is there now: a new file there is a separate file.
        let source = |key: &PathKey, change: &CombinedChange| {
            let is_new = change.base.is_none() && change.after.is_some();
            Some(key.with_path(change.renamed_from.as_ref().filter(|_| is_new)?))
        };
        let renamed = |key: &PathKey, this: &CombinedChange| {
            source(key, this)
                .filter(|from| change(from).is_some_and(|old| old.after.is_none() && old.base.is_some()))
        };
        let sources: BTreeSet<PathKey> =
            self.changes().filter_map(|(key, change)| renamed(key, change)).collect();
        let entries = self.changes().filter(|(key, _)| !sources.contains(key)).map(|(key, this)| {
            let from = renamed(key, this);
            let old =
                from.as_ref().map_or(&this.base, |from| change(from).map_or(&this.base, |old| &old.base));
            DiffEntry {
                key: key.clone(),
                old: old.clone(),
                renamed_from: from.map(|from| from.path),
                new: this.after.clone(),
                authors: this.authors.clone(),
            }
        });
        entries.collect()
    }
}

/// Compares the two sides of a path. Returns no diff, one, or two if a symlink becomes a file or
/// the other way round.
pub fn diffs(entry: &DiffEntry, blobs: &dyn BlobSource) -> Result<Vec<FileDiff>> {
    let (old, new) = (entry.old.as_ref(), entry.new.as_ref());
    if let (Some(from), Some(to)) = (old, new)
        && from.kind != to.kind
    {
        let old_key = match &entry.renamed_from {
            Some(path) => entry.key.with_path(path),
            None => entry.key.clone(),
        };
        let deleted = file_diff(entry, old_key, None, (Some(from), None), blobs)?;
        let created = file_diff(entry, entry.key.clone(), None, (None, Some(to)), blobs)?;
        return Ok(deleted.into_iter().chain(created).collect());
    }
    let diff = file_diff(entry, entry.key.clone(), entry.renamed_from.clone(), (old, new), blobs)?;
    Ok(diff.into_iter().collect())
}

fn file_diff(
    entry: &DiffEntry,
    key: PathKey,
    renamed_from: Option<PathBytes>,
    (old, new): (Option<&Content>, Option<&Content>),
    blobs: &dyn BlobSource,
) -> Result<Option<FileDiff>> {
    if old == new && renamed_from.is_none() {
        return Ok(None);
    }
    let change = if renamed_from.is_some() { ChangeKind::Rename } else { ChangeKind::of(old, new) };
    let same = old.map(|content| content.blob) == new.map(|content| content.blob);
    let read = |content: Option<&Content>| match content.filter(|_| !same).map(|content| blobs.bytes(content))
    {
        None => Ok(Some(Arc::from([]))),
        Some(Ok(bytes)) => Ok(Some(bytes)),
        Some(Err(Error::ContentTooLarge { .. })) => Ok(None),
        Some(Err(error)) => Err(error),
    };
    let texts = (read(old)?, read(new)?);
    let (hunks, added, removed, binary) = match &texts {
        (Some(old), Some(new)) if is_text(old) && is_text(new) => {
            let (hunks, added, removed) = hunks(old, new);
            (hunks, added, removed, false)
        }
        _ => (Vec::new(), 0, 0, true),
    };
    let side = |content: Option<&Content>, bytes: Option<Arc<[u8]>>| {
        content.map(|content| FileSide {
            kind: content.kind,
            mode: content.mode,
            bytes: content.bytes,
            content: bytes.filter(|_| binary),
        })
    };
    let (old, new) = (side(old, texts.0), side(new, texts.1));
    Ok(Some(FileDiff {
        key,
        renamed_from,
        change,
        old,
        new,
        binary,
        hunks,
        added,
        removed,
        authors: entry.authors.clone(),
    }))
}
