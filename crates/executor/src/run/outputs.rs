//! The output of an actor: the changes found in its tree, and their recording.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use filetx::{FileKind, RelPath};
use plan::{
    Base, Change, Changeset, Content, ContentInput, ContentSource, PathKey, Patterns, path_bytes,
    protected_folder,
};
use store::Store;

use super::inputs::UpstreamChanges;
use super::layout::in_sandbox;
use crate::sandbox::{PERMISSIONS, ReadLimits, TreeReader};
use crate::{FileState, Manifest, Result, TreeChange, TreeChangeKind, TreeChanges};

/// Changes recorded in one step.
const BATCH_MAX: usize = 500;
/// Bytes of small contents held in memory for one step.
const BATCH_BYTES_MAX: u64 = 8 << 20;
/// The longest content that counts as small.
const SMALL_BYTES_MAX: u64 = 1 << 20;

/// The changes found in an actor's tree, before they are recorded.
pub(crate) struct FoundChanges {
    changes: Vec<TreeChange>,
    /// Paths outside the node's `paths`.
    pub refused: Vec<String>,
    /// Remarks, such as files that are not recorded.
    pub notes: Vec<String>,
}

impl FoundChanges {
    /// Compares a tree with its manifest.
    pub(crate) fn in_tree(
        manifest: &Manifest,
        tree: &Path,
        allowed: Option<&Patterns>,
        limits: ReadLimits<'_>,
    ) -> Result<Self> {
        let TreeChanges { changes, special_files, .. } = manifest.changes_within(tree, limits)?;
        let mut notes = Vec::new();
        if !special_files.is_empty() {
            let count = special_files.len();
            notes.push(format!("{count} new FIFOs, sockets or devices are not recorded"));
        }
        let is_protected =
            |change: &TreeChange| paths(change).any(|path| protected_folder(bytes(path)).is_some());
        let (dropped, changes): (Vec<_>, Vec<_>) = changes.into_iter().partition(is_protected);
        if !dropped.is_empty() {
            notes.push(format!("{} changes in protected folders are not recorded", dropped.len()));
        }
        let is_refused = |path: &&RelPath| allowed.is_some_and(|allowed| !allowed.matches(path.as_path()));
        let refused = changes.iter().flat_map(paths).filter(is_refused).map(ToString::to_string).collect();
        Ok(Self { changes, refused, notes })
    }
}

/// The paths of a change: one, or two of a rename.
fn paths(change: &TreeChange) -> impl Iterator<Item = &RelPath> {
    let to = match &change.kind {
        TreeChangeKind::Rename { to, .. } => Some(to),
        _ => None,
    };
    std::iter::once(&change.path).chain(to)
}

fn bytes(path: &RelPath) -> &[u8] {
    path.as_path().as_os_str().as_bytes()
}

/// Records found changes, each with the content that its actor started from.
pub(crate) struct Recorder<'a> {
    pub store: &'a dyn Store,
    pub changeset: &'a Changeset,
    pub upstream: &'a UpstreamChanges,
    pub base: &'a Path,
    pub tree: &'a Path,
    pub limits: ReadLimits<'a>,
}

impl Recorder<'_> {
    /// Records all changes. Returns the number of paths that the changeset changes.
    ///
    /// Changes that the actor recorded itself, through the socket of the run, are not recorded again: a
    /// found change builds on them, and an identical one adds nothing. A recorded path that is unchanged
    /// in the tree stays as recorded.
    pub(crate) fn record(&self, found: &FoundChanges) -> Result<usize> {
        let base = in_sandbox("read", self.base, TreeReader::open_within(self.base, self.limits))?;
        let tree = in_sandbox("read", self.tree, TreeReader::open_within(self.tree, self.limits))?;
        let recorded = self.changeset.last_contents()?;
        let (mut batch, mut batch_bytes) = (Vec::new(), 0);
        for change in &found.changes {
            let mut is_recorded = false;
            for path in paths(change) {
                is_recorded |= recorded.contains_key(&self.key(path)?);
            }
            let bytes = match is_recorded {
                true => self.differences(&base, &tree, &recorded, change, &mut batch)?,
                false => self.change(&base, &tree, change, &mut batch)?,
            };
            batch_bytes += bytes.min(2 * SMALL_BYTES_MAX);
            if batch.len() >= BATCH_MAX || batch_bytes > BATCH_BYTES_MAX {
                self.changeset.record_many(std::mem::take(&mut batch))?;
                batch_bytes = 0;
            }
        }
        if !batch.is_empty() {
            self.changeset.record_many(batch)?;
        }
        let mut recorded_only = recorded;
        for path in found.changes.iter().flat_map(paths) {
            recorded_only.remove(&self.key(path)?);
        }
        Ok(found.changes.len() + recorded_only.len())
    }

    /// The content of a path when the actor started.
    pub(crate) fn initial_content(
        &self,
        manifest: &Manifest,
        path: &RelPath,
    ) -> Result<Option<ContentInput>> {
        let Some(state) = manifest.get(path) else { return Ok(None) };
        let base = in_sandbox("read", self.base, TreeReader::open(self.base))?;
        self.before(&base, path, state).map(Some)
    }

    fn key(&self, path: &RelPath) -> Result<PathKey> {
        Ok(PathKey { root: self.upstream.root().clone(), path: path_bytes(path.as_path())? })
    }

    /// Adds the change of a path that was not recorded yet. Returns the bytes of its contents.
    fn change(
        &self,
        base: &TreeReader<'_>,
        tree: &TreeReader<'_>,
        change: &TreeChange,
        batch: &mut Vec<Change>,
    ) -> Result<u64> {
        let before = |state: &FileState| self.before(base, &change.path, state).map(Some);
        let (act, base, bytes) = match &change.kind {
            TreeChangeKind::Create(after) => (self.after(tree, &change.path, after)?, None, after.bytes),
            TreeChangeKind::Modify { before: was, after } => {
                (self.after(tree, &change.path, after)?, before(was)?, was.bytes + after.bytes)
            }
            TreeChangeKind::Mode { before: was, after } => {
                (plan::Edit::Mode(recorded_mode(was.mode, after.mode)), before(was)?, was.bytes)
            }
            TreeChangeKind::Delete(was) => (plan::Edit::Delete, before(was)?, was.bytes),
            TreeChangeKind::Rename { to, state } => {
                (plan::Edit::Rename { to: path_bytes(to.as_path())? }, before(state)?, state.bytes)
            }
        };
        batch.push(self.entry(&change.path, act, base)?);
        Ok(bytes)
    }

    /// Adds the differences between a change and what was recorded of its paths, path by path. Returns
    /// the bytes of its contents.
    fn differences(
        &self,
        base: &TreeReader<'_>,
        tree: &TreeReader<'_>,
        recorded: &BTreeMap<PathKey, Option<Content>>,
        change: &TreeChange,
        batch: &mut Vec<Change>,
    ) -> Result<u64> {
        let (before, after) = match &change.kind {
            TreeChangeKind::Create(after) => (None, Some(after)),
            TreeChangeKind::Modify { before, after } | TreeChangeKind::Mode { before, after } => {
                (Some(before), Some(after))
            }
            TreeChangeKind::Delete(before) => (Some(before), None),
            TreeChangeKind::Rename { state, .. } => (Some(state), None),
        };
        let mut paths = vec![(&change.path, before, after)];
        if let TreeChangeKind::Rename { to, state } = &change.kind {
            paths.push((to, None, Some(state)));
        }
        for (path, before, after) in paths {
            let current = match (recorded.get(&self.key(path)?), before) {
                (Some(recorded), _) => recorded.clone().map(ContentInput::stored),
                (None, Some(before)) => Some(self.before(base, path, before)?),
                (None, None) => None,
            };
            let act = match (after, &current) {
                (None, None) => continue,
                (None, Some(_)) => plan::Edit::Delete,
                (Some(after), current) => match self.difference(tree, path, after, current.as_ref())? {
                    Some(act) => act,
                    None => continue,
                },
            };
            batch.push(self.entry(path, act, current)?);
        }
        Ok(before.map_or(0, |before| before.bytes) + after.map_or(0, |after| after.bytes))
    }

    /// The change from the recorded content of a path to that in the tree; none if they are equal.
    fn difference(
        &self,
        tree: &TreeReader<'_>,
        path: &RelPath,
        after: &FileState,
        current: Option<&ContentInput>,
    ) -> Result<Option<plan::Edit>> {
        let act = self.after(tree, path, after)?;
        let content = match &act {
            plan::Edit::Symlink { target } => ContentInput::symlink(target)?.content,
            plan::Edit::Write { content: ContentSource::Input(piece), .. } => piece.content.clone(),
            _ => return Ok(Some(act)),
        };
        Ok(match current.map(|piece| &piece.content) {
            Some(current) if *current == content => None,
            Some(current) if Content { mode: content.mode, ..current.clone() } == content => {
                let mode = recorded_mode(current.mode, content.mode);
                (mode != current.mode).then_some(plan::Edit::Mode(mode))
            }
            _ => Some(act),
        })
    }

    fn entry(&self, path: &RelPath, act: plan::Edit, base: Option<ContentInput>) -> Result<Change> {
        let (root, path) = (Some(self.upstream.root().clone()), path_bytes(path.as_path())?);
        Ok(Change { root, path, edit: act, base: Base::Explicit(base), tool: None })
    }

    /// The write of a path's content in the tree. Reads it now: open files are limited.
    fn after(&self, tree: &TreeReader<'_>, path: &RelPath, state: &FileState) -> Result<plan::Edit> {
        if state.kind == FileKind::Symlink {
            let target = in_sandbox("read", self.tree, tree.read_link(path))?;
            return Ok(plan::Edit::Symlink { target: path_bytes(Path::new(&target))? });
        }
        let content = ContentSource::Input(self.piece(self.tree, tree, path, state)?);
        Ok(plan::Edit::Write { content, mode: Some(state.mode & PERMISSIONS) })
    }

    /// The content of a path when the actor started: that of a needed node, or of the base.
    fn before(&self, base: &TreeReader<'_>, path: &RelPath, state: &FileState) -> Result<ContentInput> {
        match self.upstream.contents.get(&path_bytes(path.as_path())?) {
            Some(content) => self.upstream.piece(content),
            None if state.kind == FileKind::Symlink => {
                let target = in_sandbox("read", self.base, base.read_link(path))?;
                Ok(ContentInput::symlink(&path_bytes(Path::new(&target))?)?)
            }
            None => self.piece(self.base, base, path, state),
        }
    }

    /// The content of a file. A long one goes to the store at once.
    fn piece(
        &self,
        folder: &Path,
        reader: &TreeReader<'_>,
        path: &RelPath,
        state: &FileState,
    ) -> Result<ContentInput> {
        let mut file = in_sandbox("read", folder, reader.read(path))?;
        let content = ContentInput::from_reader(self.store, state.mode, &mut file as &mut dyn Read);
        content.or_else(|error| {
            // The reason to end reading, if there is one, is the cause of the error.
            in_sandbox("read", folder, reader.check(path))?;
            Err(error.into())
        })
    }
}

/// The mode to record for a file with the same content, with the other bits that it had.
fn recorded_mode(before: u32, after: u32) -> u32 {
    (before & !PERMISSIONS) | (after & PERMISSIONS)
}
