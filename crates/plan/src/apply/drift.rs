//! Whether the files are what a plan was made for, path by path, before anything is touched.
//!
//! Each path holds what is expected, or what it is to hold anyway (then there is nothing to do), or it has *drifted*. A folder where a
//! file is to be made is expected when the plan removes all that is in it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

use filetx::{Fingerprint, Observed, RelPath, Snapshot, TreeTransaction, TxPath};
use serde::Serialize;
use store::{BlobHash, Content, ContentKind, PathBytes};

use crate::blob_source::{BlobSource, TEXT_BYTES_MAX, UnstoredBlobs};
use crate::merge::content::merge;
use crate::roots::{SYMLINK_MODE, checked_path};
use crate::{Credit, Error, OverlaySource, PathKey, Result};

/// A file that is not what the plan was made for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Drift {
    /// Where.
    #[serde(flatten)]
    pub key: PathKey,
    /// What the plan found there when it was made.
    pub expected: Option<Content>,
    /// What is there, when it is something that plans record.
    pub seen: Option<Content>,
    /// What is there, in words.
    pub found: String,
}

/// What is to become of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// What is expected to be there.
    pub expected: Option<Content>,
    /// What is to be there.
    pub after: Option<Content>,
    /// Whose change it is.
    pub credits: Vec<Credit>,
}

/// What is to become of paths.
pub(crate) type Targets = BTreeMap<PathKey, Target>;

/// Something that looks at files.
pub(crate) trait RootReader {
    fn observe(&mut self, at: &TxPath) -> filetx::Result<Observed>;
    fn read(&self, at: &TxPath) -> filetx::Result<Option<Vec<u8>>>;
    fn list(&self, at: &TxPath) -> filetx::Result<Vec<OsString>>;
}

/// Under the lock, with what will be staged compared with what was seen.
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

/// Without writing anything; one snapshot per root.
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

/// What looking at the files came to.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    /// What is to be done, with what is there as the expected.
    pub todo: Targets,
    /// What is as it is to be already.
    pub there: Targets,
    /// What is neither.
    pub drifts: Vec<Drift>,
    /// Contents that merging made, and those of people that it was made from.
    pub unstored: UnstoredBlobs,
}

impl Checked {
    /// Everything, with what is there as the expected.
    pub(crate) fn all(&self) -> Targets {
        let there = |(key, target): (&PathKey, &Target)| {
            (key.clone(), Target { expected: target.after.clone(), ..target.clone() })
        };
        self.todo.clone().into_iter().chain(self.there.iter().map(there)).collect()
    }
}

/// Where a path is among the roots of a plan. A path that leads out of its root, or into a protected folder, is refused.
pub(crate) fn place(roots: &[PathBytes], key: &PathKey) -> Result<TxPath> {
    let refuse = || Error::BadPath {
        path: key.path.show().into_owned(),
        reason: format!("`{}` is no root of the plan", key.root.show()),
    };
    let root = roots.iter().position(|root| *root == key.root).ok_or_else(refuse)?;
    Ok(TxPath { root, path: checked_path(&key.path)? })
}

/// Looks at every path. With `contents`, texts that drifted are merged where other lines were edited.
pub(crate) fn check(
    roots: &[PathBytes],
    targets: &Targets,
    reader: &mut dyn RootReader,
    contents: Option<&dyn BlobSource>,
) -> Result<Checked> {
    let mut checked = Checked::default();
    let removed: Vec<TxPath> = targets
        .iter()
        .filter(|(_, target)| target.after.is_none())
        .map(|(key, _)| place(roots, key))
        .collect::<Result<_>>()?;
    let mut folders = BTreeSet::new();
    for (key, target) in targets {
        let (key, target) = (key.clone(), target.clone());
        let at = place(roots, &key)?;
        let seen = reader.observe(&at).map_err(files)?;
        if let Some(found) = in_the_way(&at, &target, reader, &removed, &mut folders)? {
            checked.drifts.push(Drift { key, expected: target.expected, seen: as_content(&seen), found });
        } else if holds(&seen, target.expected.as_ref()) {
            // What others brought there may be what is wanted.
            let is_there = target.expected == target.after;
            let done = if is_there { &mut checked.there } else { &mut checked.todo };
            done.insert(key, target);
        } else if has_landed(&seen, &key, targets) {
            checked.there.insert(key, target);
        } else if matches!(seen, Observed::Folder { .. })
            && target.expected.is_none()
            && is_cleared(reader, &at, &removed)?
        {
            checked.todo.insert(key, target);
        } else if let Some(merged) = merged(&target, &seen, &at, reader, contents, &mut checked.unstored)? {
            checked.todo.insert(key, merged);
        } else {
            checked.drifts.push(Drift {
                key,
                expected: target.expected,
                seen: as_content(&seen),
                found: seen.to_string(),
            });
        }
    }
    Ok(checked)
}

/// A file that is where a new path needs a folder, and that the plan does not remove, in words. `folders` are those known to be none.
fn in_the_way(
    at: &TxPath,
    target: &Target,
    reader: &mut dyn RootReader,
    removed: &[TxPath],
    folders: &mut BTreeSet<TxPath>,
) -> Result<Option<String>> {
    if target.expected.is_some() || target.after.is_none() {
        return Ok(None);
    }
    for path in folders_above(&at.path) {
        let above = TxPath { root: at.root, path };
        if folders.contains(&above) {
            break;
        }
        let seen = reader.observe(&above).map_err(files)?;
        if matches!(seen, Observed::File { .. }) && !removed.contains(&above) {
            return Ok(Some(format!("below `{}`, which is {seen}", above.path)));
        }
        folders.insert(above);
    }
    Ok(None)
}

/// Whether a path holds exactly this.
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

/// Whether a path is as it is to be. A file that made way for a folder has gone.
pub(crate) fn has_landed(seen: &Observed, key: &PathKey, targets: &Targets) -> bool {
    let Some(target) = targets.get(key) else { return false };
    let made_way = || {
        let mut folder = key.path.as_bytes().to_vec();
        folder.push(b'/');
        let inside = |other: &PathKey| other.root == key.root && other.path.as_bytes().starts_with(&folder);
        let behind = targets.range(key..).skip(1);
        // In the order of paths `d-x` comes between `d` and `d/x`.
        behind
            .take_while(|(other, _)| {
                other.root == key.root && other.path.as_bytes().starts_with(key.path.as_bytes())
            })
            .any(|(other, target)| inside(other) && target.after.is_some())
    };
    holds(seen, target.after.as_ref())
        || (target.after.is_none() && matches!(seen, Observed::Folder { .. }) && made_way())
}

/// Whether all that is in a folder is removed.
pub(crate) fn is_cleared(reader: &mut dyn RootReader, folder: &TxPath, removed: &[TxPath]) -> Result<bool> {
    for name in reader.list(folder).map_err(files)? {
        let child = TxPath { root: folder.root, path: folder.path.join(name) };
        let is_folder = matches!(reader.observe(&child).map_err(files)?, Observed::Folder { .. });
        let goes = if is_folder { is_cleared(reader, &child, removed)? } else { removed.contains(&child) };
        if !goes {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The target laid over what a person made of the file, if that can be done without asking.
fn merged(
    target: &Target,
    seen: &Observed,
    at: &TxPath,
    reader: &dyn RootReader,
    contents: Option<&dyn BlobSource>,
    unstored: &mut UnstoredBlobs,
) -> Result<Option<Target>> {
    let (Some(contents), Observed::File { mode, len, .. }) = (contents, seen) else { return Ok(None) };
    if *len > TEXT_BYTES_MAX || target.expected.is_none() || target.after.is_none() {
        return Ok(None);
    }
    let Some(bytes) = reader.read(at).map_err(files)? else { return Ok(None) };
    let found = unstored.add(bytes, *mode);
    let mut new = UnstoredBlobs::default();
    let over = OverlaySource { overlay: unstored, base: contents };
    let ended = merge(target.expected.as_ref(), Some(&found), target.after.as_ref(), &over, &mut new)?;
    unstored.extend(new);
    let after = match ended {
        Ok(after) if holds(seen, Some(&found)) => after,
        _ => return Ok(None),
    };
    Ok(Some(Target { expected: Some(found), after, credits: target.credits.clone() }))
}

pub(crate) fn files(source: filetx::Error) -> Error {
    Error::Files { source: Box::new(source) }
}

/// What was seen, as plans record it.
fn as_content(seen: &Observed) -> Option<Content> {
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

/// The folders above a path, the nearest first, without the root.
pub(crate) fn folders_above(path: &RelPath) -> impl Iterator<Item = RelPath> {
    std::iter::successors(path.parent(), RelPath::parent).filter(|folder| !folder.is_root())
}
