//! Drift: compares every path with the content that the plan recorded, before any file changes.
//!
//! Each path holds the content before its target, or the content after it (nothing is left to do),
//! or it has *drifted*. A folder in place of a new file is no drift if the plan deletes all files
//! in it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

use filetx::{Fingerprint, Observed, RelPath, Snapshot, TreeTransaction, TxPath};
use schemars::JsonSchema;
use serde::Serialize;
use store::{BlobHash, Content, ContentKind, PathBytes};

use crate::blob_source::{BlobSource, TEXT_BYTES_MAX, UnstoredBlobs};
use crate::merge::content::merge;
use crate::merge::delta::{PathKeyJson, key_json};
use crate::roots::{SYMLINK_MODE, ancestors, checked_path};
use crate::{Attribution, Error, OverlaySource, PathKey, Result};

/// A file that differs from the content that the plan recorded.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Drift {
    /// The path.
    #[serde(flatten, serialize_with = "key_json")]
    #[schemars(with = "PathKeyJson")]
    pub key: PathKey,
    /// The content that the plan recorded.
    pub expected: Option<Content>,
    /// The content of the file, if it is one that plans record.
    pub actual: Option<Content>,
    /// The file in words.
    pub description: String,
}

/// The change of one path that an apply makes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Target {
    /// The content that the path must hold.
    pub before: Option<Content>,
    pub after: Option<Content>,
    /// The old path of a renamed file.
    pub renamed_from: Option<PathBytes>,
    pub authors: Vec<Attribution>,
}

impl Target {
    /// Returns a target that keeps the content of its path.
    pub(crate) fn unchanged(content: Option<Content>) -> Self {
        Self { before: content.clone(), after: content, ..Self::default() }
    }
}

pub(crate) type Targets = BTreeMap<PathKey, Target>;

/// Reads files of the roots of a plan.
pub(crate) trait RootReader {
    fn observe(&mut self, at: &TxPath) -> filetx::Result<Observed>;
    fn read(&self, at: &TxPath) -> filetx::Result<Option<Vec<u8>>>;
    fn list(&self, at: &TxPath) -> filetx::Result<Vec<OsString>>;
}

/// Reads under the lock. The commit compares staged paths with what was read.
impl RootReader for TreeTransaction<'_> {
    fn observe(&mut self, at: &TxPath) -> filetx::Result<Observed> {
        TreeTransaction::observe(self, at).cloned()
    }

    fn read(&self, at: &TxPath) -> filetx::Result<Option<Vec<u8>>> {
        TreeTransaction::read(self, at)
    }

    fn list(&self, at: &TxPath) -> filetx::Result<Vec<OsString>> {
        TreeTransaction::list(self, at)
    }
}

/// Reads one snapshot per root, and writes nothing.
impl RootReader for Vec<Snapshot> {
    fn observe(&mut self, at: &TxPath) -> filetx::Result<Observed> {
        self[at.root].observe(&at.path)
    }

    fn read(&self, at: &TxPath) -> filetx::Result<Option<Vec<u8>>> {
        self[at.root].read(&at.path)
    }

    fn list(&self, at: &TxPath) -> filetx::Result<Vec<OsString>> {
        self[at.root].list(&at.path)
    }
}

/// Targets compared with the files.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    /// Targets to apply; `before` is the present content.
    pub pending: Targets,
    /// Targets whose paths hold the content after them.
    pub already_applied: Targets,
    pub drifts: Vec<Drift>,
    /// Contents that merging made, and the contents of files that they were merged from.
    pub unstored: UnstoredBlobs,
}

impl Checked {
    /// Returns all targets; `before` is the present content.
    pub(crate) fn all(&self) -> Targets {
        let applied = self
            .already_applied
            .iter()
            .map(|(key, target)| (key.clone(), Target { before: target.after.clone(), ..target.clone() }));
        self.pending.clone().into_iter().chain(applied).collect()
    }
}

/// Finds the root of a path. Refuses a path that leads out of its root, or into a protected folder.
pub(crate) fn locate(roots: &[PathBytes], key: &PathKey) -> Result<TxPath> {
    let refuse = || Error::BadPath {
        path: key.path.show().into_owned(),
        reason: format!("`{}` is not a root of the plan", key.root.show()),
    };
    let root = roots.iter().position(|root| *root == key.root).ok_or_else(refuse)?;
    Ok(TxPath { root, path: checked_path(&key.path)? })
}

/// Compares targets with the files. With `contents`, merges texts that drifted in other lines.
pub(crate) fn check(
    roots: &[PathBytes],
    targets: &Targets,
    reader: &mut dyn RootReader,
    contents: Option<&dyn BlobSource>,
) -> Result<Checked> {
    let mut checked = Checked::default();
    let deleted = deleted(roots, targets)?;
    let mut folders = BTreeSet::new();
    for (key, target) in targets {
        let (key, target) = (key.clone(), target.clone());
        let at = locate(roots, &key)?;
        let seen = reader.observe(&at).map_err(file_error)?;
        if let Some(description) = blocking_file(&at, &target, reader, &deleted, &mut folders)? {
            let (expected, actual) = (target.before, observed_content(&seen));
            checked.drifts.push(Drift { key, expected, actual, description });
        } else if holds(&seen, target.before.as_ref()) {
            let is_applied = target.before == target.after;
            let list = if is_applied { &mut checked.already_applied } else { &mut checked.pending };
            list.insert(key, target);
        } else if is_applied(&seen, &key, targets) {
            checked.already_applied.insert(key, target);
        } else if matches!(seen, Observed::Folder { .. })
            && target.before.is_none()
            && becomes_empty(reader, &at, &deleted)?
        {
            checked.pending.insert(key, target);
        } else if let Some(merged) =
            merge_drift(&target, &seen, &at, reader, contents, &mut checked.unstored)?
        {
            checked.pending.insert(key, merged);
        } else {
            let (expected, actual) = (target.before, observed_content(&seen));
            checked.drifts.push(Drift { key, expected, actual, description: seen.to_string() });
        }
    }
    Ok(checked)
}

/// The paths that the targets delete.
pub(crate) fn deleted(roots: &[PathBytes], targets: &Targets) -> Result<Vec<TxPath>> {
    let deleted = targets.iter().filter(|(_, target)| target.after.is_none());
    deleted.map(|(key, _)| locate(roots, key)).collect()
}

/// Describes a file in place of a folder that a new path needs, unless the plan deletes it.
/// `folders` caches paths without such a file.
fn blocking_file(
    at: &TxPath,
    target: &Target,
    reader: &mut dyn RootReader,
    deleted: &[TxPath],
    folders: &mut BTreeSet<TxPath>,
) -> Result<Option<String>> {
    if target.before.is_some() || target.after.is_none() {
        return Ok(None);
    }
    for path in ancestors(&at.path) {
        let above = TxPath { root: at.root, path };
        if folders.contains(&above) {
            break;
        }
        let seen = reader.observe(&above).map_err(file_error)?;
        if matches!(seen, Observed::File { .. }) && !deleted.contains(&above) {
            return Ok(Some(format!("below `{}`, which is {seen}", above.path)));
        }
        folders.insert(above);
    }
    Ok(None)
}

/// Returns whether a path holds exactly this content.
pub(crate) fn holds(seen: &Observed, content: Option<&Content>) -> bool {
    match (seen, content) {
        (Observed::Absent, None) => true,
        (Observed::File { mode, len, fingerprint: Fingerprint::Whole(hash) }, Some(content)) => {
            content.kind == ContentKind::File
                && content.mode == *mode
                && content.bytes == *len
                && content.blob.as_bytes() == &hash.0
        }
        (Observed::Symlink { target }, Some(content)) => {
            content.kind == ContentKind::Symlink && content.blob == BlobHash::of(target.as_encoded_bytes())
        }
        _ => false,
    }
}

/// Returns whether a path holds the content after its target. A folder counts as the deletion of a
/// file if a target creates a file in it.
pub(crate) fn is_applied(seen: &Observed, key: &PathKey, targets: &Targets) -> bool {
    let Some(target) = targets.get(key) else { return false };
    let became_folder = || {
        let mut folder = key.path.as_bytes().to_vec();
        folder.push(b'/');
        let is_inside =
            |other: &PathKey| other.root == key.root && other.path.as_bytes().starts_with(&folder);
        // `d-x` sorts between `d` and `d/x`.
        targets
            .range(key..)
            .skip(1)
            .take_while(|(other, _)| {
                other.root == key.root && other.path.as_bytes().starts_with(key.path.as_bytes())
            })
            .any(|(other, target)| is_inside(other) && target.after.is_some())
    };
    holds(seen, target.after.as_ref())
        || (target.after.is_none() && matches!(seen, Observed::Folder { .. }) && became_folder())
}

/// Returns whether all files in a folder are deleted.
pub(crate) fn becomes_empty(
    reader: &mut dyn RootReader,
    folder: &TxPath,
    deleted: &[TxPath],
) -> Result<bool> {
    for name in reader.list(folder).map_err(file_error)? {
        let child = TxPath { root: folder.root, path: folder.path.join(name) };
        let is_folder = matches!(reader.observe(&child).map_err(file_error)?, Observed::Folder { .. });
        let is_deleted =
            if is_folder { becomes_empty(reader, &child, deleted)? } else { deleted.contains(&child) };
        if !is_deleted {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Merges a target with the edits of a person. Returns `None` on a conflict.
fn merge_drift(
    target: &Target,
    seen: &Observed,
    at: &TxPath,
    reader: &dyn RootReader,
    contents: Option<&dyn BlobSource>,
    unstored: &mut UnstoredBlobs,
) -> Result<Option<Target>> {
    let (Some(contents), Observed::File { mode, len, .. }) = (contents, seen) else { return Ok(None) };
    if *len > TEXT_BYTES_MAX || target.before.is_none() || target.after.is_none() {
        return Ok(None);
    }
    let Some(bytes) = reader.read(at).map_err(file_error)? else { return Ok(None) };
    let edited = unstored.add(bytes, *mode);
    let mut new = UnstoredBlobs::default();
    let overlay = OverlaySource { overlay: unstored, base: contents };
    let (base, after) = (target.before.as_ref(), target.after.as_ref());
    let merged = merge(base, Some(&edited), after, &overlay, &mut new)?;
    unstored.extend(new);
    match merged {
        Ok(after) if holds(seen, Some(&edited)) => {
            Ok(Some(Target { before: Some(edited), after, ..target.clone() }))
        }
        _ => Ok(None),
    }
}

pub(crate) fn file_error(source: filetx::Error) -> Error {
    Error::Files { source: Box::new(source) }
}

/// Returns the content of a file or symlink.
fn observed_content(seen: &Observed) -> Option<Content> {
    match seen {
        Observed::File { mode, len, fingerprint: Fingerprint::Whole(hash) } => Some(Content {
            kind: ContentKind::File,
            blob: BlobHash::from_bytes(hash.0),
            bytes: *len,
            mode: *mode,
        }),
        Observed::Symlink { target } => Some(Content {
            kind: ContentKind::Symlink,
            blob: BlobHash::of(target.as_encoded_bytes()),
            bytes: target.len() as u64,
            mode: SYMLINK_MODE,
        }),
        _ => None,
    }
}

/// The folders above a path of a root, the nearest first.
pub(crate) fn folders_above(at: &TxPath) -> impl Iterator<Item = TxPath> {
    let root = at.root;
    ancestors(&at.path).map(move |path: RelPath| TxPath { root, path })
}
