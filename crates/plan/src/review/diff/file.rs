//! One file's difference, as data.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;
use store::{Content, ContentKind, PathBytes};

use super::hunk::{Hunk, hunks};
use crate::merge::lines::is_text;
use crate::{Combined, CombinedChange, Contents, Credit, Error, PathKey, Result, Settled};

/// What is to be shown of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The path.
    pub key: PathKey,
    /// The path that it had, when it was renamed.
    pub renamed_from: Option<PathBytes>,
    /// What was there; of a renamed file, under its old name.
    pub old: Option<Content>,
    /// What is to be there.
    pub new: Option<Content>,
    /// Who changed it.
    pub credits: Vec<Credit>,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// It is new.
    Created,
    /// It has another content, or other permission bits.
    Modified,
    /// It is gone.
    Deleted,
    /// It has another name, and perhaps another content.
    Renamed,
}

/// One end of a difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileSide {
    /// File or symlink.
    pub kind: ContentKind,
    /// Permission bits.
    pub mode: u32,
    /// Length.
    pub bytes: u64,
    /// The content, of a file that is not text and not too long.
    #[serde(skip)]
    pub content: Option<Arc<[u8]>>,
}

/// One file's difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileDiff {
    /// The path.
    #[serde(flatten)]
    pub key: PathKey,
    /// The path that it had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<PathBytes>,
    /// What became of it.
    pub what: What,
    /// Before.
    pub old: Option<FileSide>,
    /// After.
    pub new: Option<FileSide>,
    /// Whether it is shown by its sizes, since it is not text or too long.
    pub binary: bool,
    /// The lines that differ.
    pub hunks: Vec<Hunk>,
    /// How many lines were added.
    pub added: u64,
    /// How many lines were removed.
    pub removed: u64,
    /// Who changed it.
    pub credits: Vec<Credit>,
}

impl Combined {
    /// What is to be shown of the final changes: a renamed file once, under its new name. One that was renamed in place of another is a
    /// change of that other and a deletion, since git takes no rename onto a path where something was.
    pub fn shown(&self) -> Vec<Shown> {
        let change = |key: &PathKey| match self.paths.get(key) {
            Some(Settled::Change(change)) => Some(change),
            _ => None,
        };
        // The path that a file came from, if it is gone now; one that was made anew is a file of its own.
        let source = |key: &PathKey, change: &CombinedChange| {
            let is_new = change.base.is_none() && change.after.is_some();
            let path = change.renamed_from.clone().filter(|_| is_new)?;
            Some(PathKey { root: key.root.clone(), path })
        };
        let renamed = |key: &PathKey, this: &CombinedChange| {
            source(key, this)
                .filter(|from| change(from).is_some_and(|old| old.after.is_none() && old.base.is_some()))
        };
        let sources: BTreeSet<PathKey> =
            self.changes().filter_map(|(key, change)| renamed(key, change)).collect();
        let shown = self.changes().filter(|(key, _)| !sources.contains(key)).map(|(key, this)| {
            let from = renamed(key, this);
            let old =
                from.as_ref().map_or(&this.base, |from| change(from).map_or(&this.base, |old| &old.base));
            Shown {
                key: key.clone(),
                old: old.clone(),
                renamed_from: from.map(|from| from.path),
                new: this.after.clone(),
                credits: this.credits.clone(),
            }
        });
        shown.collect()
    }
}

/// The differences of one path: none, one, or two where a symlink becomes a file or the other way round.
pub fn diffs(shown: &Shown, contents: &dyn Contents) -> Result<Vec<FileDiff>> {
    let (old, new) = (shown.old.as_ref(), shown.new.as_ref());
    if let (Some(from), Some(to)) = (old, new)
        && from.kind != to.kind
    {
        let gone = match &shown.renamed_from {
            Some(path) => PathKey { root: shown.key.root.clone(), path: path.clone() },
            None => shown.key.clone(),
        };
        let gone = one(shown, gone, None, (Some(from), None), contents)?;
        let made = one(shown, shown.key.clone(), None, (None, Some(to)), contents)?;
        return Ok(gone.into_iter().chain(made).collect());
    }
    let diff = one(shown, shown.key.clone(), shown.renamed_from.clone(), (old, new), contents)?;
    Ok(diff.into_iter().collect())
}

fn one(
    shown: &Shown,
    key: PathKey,
    renamed_from: Option<PathBytes>,
    (old, new): (Option<&Content>, Option<&Content>),
    contents: &dyn Contents,
) -> Result<Option<FileDiff>> {
    let what = match (old, new) {
        (None, None) => return Ok(None),
        (None, Some(_)) => What::Created,
        (Some(_), None) => What::Deleted,
        _ if renamed_from.is_some() => What::Renamed,
        _ if old == new => return Ok(None),
        _ => What::Modified,
    };
    let same = old.map(|content| content.blob) == new.map(|content| content.blob);
    let read =
        |content: Option<&Content>| match content.filter(|_| !same).map(|content| contents.bytes(content)) {
            None => Ok(Some(Arc::from([]))),
            Some(Ok(bytes)) => Ok(Some(bytes)),
            Some(Err(Error::TooLong { .. })) => Ok(None),
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
        what,
        old,
        new,
        binary,
        hunks,
        added,
        removed,
        credits: shown.credits.clone(),
    }))
}
