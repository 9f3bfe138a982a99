//! What an actor changed, and recording it.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use filetx::{FileKind, RelPath};
use plan::{
    Act, Base, Change, Changeset, Content, ContentInput, ContentSource, PathKey, Patterns, path_bytes,
    protected_folder,
};
use store::Store;

use super::inputs::Front;
use super::layout::files;
use crate::sandbox::Survey;
use crate::{Changes, Edit, Manifest, Result, State, What};

/// Changes that are recorded in one step.
const BATCH_MAX: usize = 500;
/// Bytes of small contents that are held in memory for one step.
const BATCH_BYTES_MAX: u64 = 8 << 20;
/// The longest content that counts as small.
const SMALL_BYTES_MAX: u64 = 1 << 20;

/// What an actor changed, before it is recorded.
pub(crate) struct Found {
    edits: Vec<Edit>,
    /// Paths that its `writes` do not allow.
    pub refused: Vec<String>,
    /// What is not as one might expect.
    pub notes: Vec<String>,
}

impl Found {
    /// Looks for the changes in a tree.
    pub(crate) fn in_tree(manifest: &Manifest, tree: &Path, writes: Option<&Patterns>) -> Result<Self> {
        let Changes { edits, special, .. } = manifest.changes(tree)?;
        let mut notes = Vec::new();
        if !special.is_empty() {
            notes.push(format!("{} FIFOs, sockets or devices that it made are not recorded", special.len()));
        }
        let (kept, edits): (Vec<_>, Vec<_>) = edits
            .into_iter()
            .partition(|edit| paths(edit).any(|path| protected_folder(bytes(path)).is_some()));
        if !kept.is_empty() {
            notes.push(format!("{} changes in protected folders are not recorded", kept.len()));
        }
        let is_refused = |path: &&RelPath| writes.is_some_and(|writes| !writes.matches(path.as_path()));
        let refused = edits.iter().flat_map(paths).filter(is_refused).map(ToString::to_string).collect();
        Ok(Self { edits, refused, notes })
    }
}

/// The paths that a change is about.
fn paths(edit: &Edit) -> impl Iterator<Item = &RelPath> {
    let to = match &edit.what {
        What::Rename { to, .. } => Some(to),
        _ => None,
    };
    std::iter::once(&edit.path).chain(to)
}

fn bytes(path: &RelPath) -> &[u8] {
    path.as_path().as_os_str().as_bytes()
}

/// Records what was found, each change with what its actor started from.
pub(crate) struct Recorder<'a> {
    pub store: &'a dyn Store,
    pub changeset: &'a Changeset,
    pub front: &'a Front,
    pub base: &'a Path,
    pub tree: &'a Path,
}

impl Recorder<'_> {
    /// Records all of it, and gives how many paths the changeset changes.
    ///
    /// What the actor has recorded itself, by the socket of the run, is not recorded again: what was found builds on it, and where both are the
    /// same nothing is added. A path that was recorded and not touched in the tree stays as it was recorded.
    pub(crate) fn record(&self, found: &Found) -> Result<usize> {
        let base = files("look through", self.base, Survey::open(self.base))?;
        let tree = files("look through", self.tree, Survey::open(self.tree))?;
        let told = self.changeset.last_contents()?;
        let (mut batch, mut batch_bytes) = (Vec::new(), 0);
        for edit in &found.edits {
            let mut is_told = false;
            for path in paths(edit) {
                is_told |= told.contains_key(&self.key(path)?);
            }
            let bytes = match is_told {
                true => self.differences(&base, &tree, &told, edit, &mut batch)?,
                false => self.change(&base, &tree, edit, &mut batch)?,
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
        let mut only_told = told;
        for path in found.edits.iter().flat_map(paths) {
            only_told.remove(&self.key(path)?);
        }
        Ok(found.edits.len() + only_told.len())
    }

    /// What the actor started from at a path.
    pub(crate) fn started(&self, manifest: &Manifest, path: &RelPath) -> Result<Option<ContentInput>> {
        let Some(state) = manifest.get(path) else { return Ok(None) };
        let base = files("look through", self.base, Survey::open(self.base))?;
        self.before(&base, path, state).map(Some)
    }

    fn key(&self, path: &RelPath) -> Result<PathKey> {
        Ok(PathKey { root: self.front.root().clone(), path: path_bytes(path.as_path())? })
    }

    /// The change of a path of which nothing was recorded; how many bytes it is about.
    fn change(&self, base: &Survey, tree: &Survey, edit: &Edit, batch: &mut Vec<Change>) -> Result<u64> {
        let before = |state: &State| self.before(base, &edit.path, state).map(Some);
        let (act, given, bytes) = match &edit.what {
            What::Create(after) => (self.after(tree, &edit.path, after)?, None, after.bytes),
            What::Modify { before: was, after } => {
                (self.after(tree, &edit.path, after)?, before(was)?, was.bytes + after.bytes)
            }
            What::Mode { before: was, after } => (Act::Mode(after.mode), before(was)?, was.bytes),
            What::Delete(was) => (Act::Delete, before(was)?, was.bytes),
            What::Rename { to, state } => {
                (Act::Rename { to: path_bytes(to.as_path())? }, before(state)?, state.bytes)
            }
        };
        batch.push(self.on(&edit.path, act, given)?);
        Ok(bytes)
    }

    /// What a change adds to what was recorded of its paths, path by path.
    fn differences(
        &self,
        base: &Survey,
        tree: &Survey,
        told: &BTreeMap<PathKey, Option<Content>>,
        edit: &Edit,
        batch: &mut Vec<Change>,
    ) -> Result<u64> {
        let (was, now) = match &edit.what {
            What::Create(after) => (None, Some(after)),
            What::Modify { before, after } | What::Mode { before, after } => (Some(before), Some(after)),
            What::Delete(before) => (Some(before), None),
            What::Rename { state, .. } => (Some(state), None),
        };
        let mut paths = vec![(&edit.path, was, now)];
        if let What::Rename { to, state } = &edit.what {
            paths.push((to, None, Some(state)));
        }
        for (path, was, now) in paths {
            let left = match (told.get(&self.key(path)?), was) {
                (Some(left), _) => left.clone().map(ContentInput::stored),
                (None, Some(was)) => Some(self.before(base, path, was)?),
                (None, None) => None,
            };
            let act = match (now, &left) {
                (None, None) => continue,
                (None, Some(_)) => Act::Delete,
                (Some(now), left) => match self.added(tree, path, now, left.as_ref())? {
                    Some(act) => act,
                    None => continue,
                },
            };
            batch.push(self.on(path, act, left)?);
        }
        Ok(was.map_or(0, |was| was.bytes) + now.map_or(0, |now| now.bytes))
    }

    /// What makes a path what it is in the tree, from what was recorded of it; nothing when it is that already.
    fn added(
        &self,
        tree: &Survey,
        path: &RelPath,
        now: &State,
        left: Option<&ContentInput>,
    ) -> Result<Option<Act>> {
        let act = self.after(tree, path, now)?;
        let content = match &act {
            Act::Symlink { target } => ContentInput::symlink(target)?.content,
            Act::Write { content: ContentSource::Input(piece), .. } => piece.content.clone(),
            _ => return Ok(Some(act)),
        };
        Ok(match left.map(|piece| &piece.content) {
            Some(left) if *left == content => None,
            Some(left) if Content { mode: content.mode, ..left.clone() } == content => {
                Some(Act::Mode(content.mode))
            }
            _ => Some(act),
        })
    }

    fn on(&self, path: &RelPath, act: Act, given: Option<ContentInput>) -> Result<Change> {
        let (root, path) = (Some(self.front.root().clone()), path_bytes(path.as_path())?);
        Ok(Change { root, path, act, base: Base::Explicit(given), tool: None })
    }

    /// What the actor made of a path. It is read here, not later: the number of open files is limited.
    fn after(&self, tree: &Survey, path: &RelPath, state: &State) -> Result<Act> {
        if state.kind == FileKind::Symlink {
            let target = files("look through", self.tree, tree.read_link(path))?;
            return Ok(Act::Symlink { target: target.into_vec() });
        }
        let content = ContentSource::Input(self.piece(self.tree, tree, path, state)?);
        Ok(Act::Write { content, mode: Some(state.mode) })
    }

    /// What the actor started from at a path: what a needed node left there, or the base.
    fn before(&self, base: &Survey, path: &RelPath, state: &State) -> Result<ContentInput> {
        match self.front.laid.get(&path_bytes(path.as_path())?) {
            Some(content) => self.front.piece(content),
            None if state.kind == FileKind::Symlink => {
                let target = files("look through", self.base, base.read_link(path))?;
                Ok(ContentInput::symlink(target.as_bytes())?)
            }
            None => self.piece(self.base, base, path, state),
        }
    }

    /// A file's content; a long one goes into the store at once.
    fn piece(&self, folder: &Path, survey: &Survey, path: &RelPath, state: &State) -> Result<ContentInput> {
        let mut reader = files("look through", folder, survey.read(path))?;
        Ok(ContentInput::from_reader(self.store, state.mode, &mut reader as &mut dyn Read)?)
    }
}
