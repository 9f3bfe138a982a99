//! The view of a transaction or reader: the files on disk, overlaid by changes that are not in them
//! yet.

use std::collections::BTreeMap;
use std::ffi::OsString;

use crate::disk::{FileKind, OpenMode, StoredFile};
use crate::hash::CHUNK_BYTES;
use crate::path::TxPath;
use crate::root::{Root, read_range};
use crate::tx::change::{Change, Content, ContentBase, Fingerprint, Observed, PathState, TargetState};
use crate::txn_dir::STAGE;
use crate::{Error, Hash, RelPath, Result, Step};

/// Changes by path, each relative to the state below this overlay.
#[derive(Clone, Default, Debug)]
pub struct Overlay(BTreeMap<TxPath, TargetState>);

impl Overlay {
    /// Adds a change on top.
    pub(crate) fn apply(&mut self, at: TxPath, after: TargetState) {
        let after = match (after, self.0.get_mut(&at)) {
            (TargetState::File { mode, content }, Some(TargetState::File { content: below, .. })) => {
                // Moved, not copied: every commit to a growing file extends its content.
                let below = std::mem::replace(below, Content::of_path(0));
                TargetState::File { mode, content: content.on_top_of(below) }
            }
            (after, _) => after,
        };
        self.0.insert(at, after);
    }

    pub(crate) fn apply_all(&mut self, changes: &[Change]) {
        for change in changes {
            self.apply(TxPath { root: change.root, path: change.path.clone() }, change.after.clone());
        }
    }

    pub(crate) fn get(&self, at: &TxPath) -> Option<&TargetState> {
        self.0.get(at)
    }

    /// Restores an earlier state, for savepoints.
    pub(crate) fn restore(&mut self, at: TxPath, before: Option<TargetState>) {
        match before {
            Some(after) => self.0.insert(at, after),
            None => self.0.remove(&at),
        };
    }

    /// Replaces the change of a path and returns the earlier one.
    pub(crate) fn set(&mut self, at: TxPath, after: TargetState) -> Option<TargetState> {
        self.0.insert(at, after)
    }

    /// The changes of a folder and of paths in it. Looks at paths that begin like the folder only, which
    /// are next to each other.
    pub(crate) fn within(&self, folder: &TxPath) -> impl Iterator<Item = (&TxPath, &TargetState)> {
        let begins_alike = move |at: &TxPath| {
            at.root == folder.root && at.path.to_bytes().starts_with(folder.path.to_bytes())
        };
        let alike = self.0.range(folder.clone()..).take_while(move |(at, _)| begins_alike(at));
        alike.filter(move |(at, _)| at.path.is_within(&folder.path))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&TxPath, &TargetState)> {
        self.0.iter()
    }

    pub(crate) fn into_iter(self) -> impl Iterator<Item = (TxPath, TargetState)> {
        self.0.into_iter()
    }
}

/// The roots with their overlays, lowest first.
pub(crate) struct View<'a> {
    pub roots: &'a [Root],
    pub overlays: [&'a Overlay; 2],
}

impl View<'_> {
    pub(crate) fn path_state(&self, at: &TxPath) -> Result<PathState> {
        let root = &self.roots[at.root];
        for overlay in self.overlays.iter().rev() {
            return Ok(match overlay.get(at) {
                None => continue,
                Some(TargetState::Absent) => PathState::Absent,
                Some(TargetState::Folder { mode }) => PathState::Folder { mode: *mode },
                Some(TargetState::Symlink { target }) => PathState::Symlink { target: target.clone() },
                Some(TargetState::File { mode, content }) => {
                    PathState::File { mode: *mode, len: content.len(), fingerprint: () }
                }
            });
        }
        let Some(stat) = root.stat(&at.path)? else { return Ok(PathState::Absent) };
        Ok(match stat.kind {
            FileKind::Folder => PathState::Folder { mode: stat.mode },
            FileKind::File => PathState::File { mode: stat.mode, len: stat.len, fingerprint: () },
            FileKind::Other => PathState::Other,
            FileKind::Symlink => {
                let target = root.with_step(Step::Inspect, &at.path, root.storage.read_link(&at.path))?;
                PathState::Symlink { target }
            }
        })
    }

    /// Observes a path, with the hash of a file.
    pub(crate) fn observe(&self, at: &TxPath) -> Result<Observed> {
        self.path_state(at)?.with_file(|mode, _| {
            // Another program may have removed it in between.
            let Some(content) = self.open(at)? else { return Ok(Observed::Absent) };
            let mut hasher = blake3::Hasher::new();
            content.read_chunks(|bytes| {
                hasher.update(bytes);
                Ok(())
            })?;
            let hash = Hash(*hasher.finalize().as_bytes());
            Ok(Observed::File { mode, len: content.len(), fingerprint: Fingerprint::Whole(hash) })
        })
    }

    /// The names in a folder, sorted, without the transaction folder.
    pub(crate) fn list(&self, at: &TxPath) -> Result<Vec<OsString>> {
        let root = &self.roots[at.root];
        let mut names: BTreeMap<OsString, bool> = BTreeMap::new();
        if root.stat(&at.path)?.is_some_and(|stat| stat.kind == FileKind::Folder) {
            names.extend(root.list(&at.path)?.into_iter().map(|name| (name, true)));
        }
        for overlay in self.overlays {
            for (child, after) in overlay.within(at) {
                if child.path.parent().as_ref() == Some(&at.path) {
                    let name = child.path.name().expect("a child has a name").to_owned();
                    names.insert(name, *after != TargetState::Absent);
                }
            }
        }
        names.retain(|name, there| *there && at.path.join(name) != root.txn_dir);
        Ok(names.into_keys().collect())
    }

    /// Opens the content of a file; `None` if the path does not exist.
    pub(crate) fn open(&self, at: &TxPath) -> Result<Option<ContentReader>> {
        let root = &self.roots[at.root];
        let mut content = Content::of_path(u64::MAX);
        for overlay in self.overlays {
            match overlay.get(at) {
                None => {}
                Some(TargetState::File { content: above, .. }) => content = above.clone().on_top_of(content),
                // Never read: an overlay above has its own content, or the path is not a file.
                Some(_) => content = Content::of_bytes(Vec::new()),
            }
        }
        match self.path_state(at)?.kind() {
            None => Ok(None),
            Some(FileKind::File) => ContentReader::open(root, &at.path, content).map(Some),
            Some(found) => {
                Err(Error::WrongFileKind { path: root.full_path(&at.path), found, expected: "a file" })
            }
        }
    }

    /// The content of a file; `None` if the path does not exist.
    pub(crate) fn read(&self, at: &TxPath) -> Result<Option<Vec<u8>>> {
        self.open(at)?.map(|content| content.read_range(0, content.len())).transpose()
    }
}

/// Reads the content of a file in pieces, as one transaction or reader sees it.
pub struct ContentReader {
    base: Option<Box<dyn StoredFile>>,
    prefix_len: u64,
    bytes: Vec<u8>,
    path: RelPath,
    root: Root,
}

impl ContentReader {
    fn open(root: &Root, path: &RelPath, content: Content) -> Result<Self> {
        let source = match &content.base {
            ContentBase::Empty => None,
            ContentBase::Path => Some(path.clone()),
            ContentBase::Staged(staged) => Some(root.in_txn_dir(STAGE).join(staged.name())),
        };
        let mut prefix_len = content.prefix_len;
        let base = match source {
            None => None,
            Some(source) => {
                let file = root.open(Step::Inspect, &source, OpenMode::Read)?;
                prefix_len = prefix_len.min(root.with_step(Step::Inspect, &source, file.stat())?.len);
                Some(file)
            }
        };
        Ok(Self { base, prefix_len, bytes: content.bytes, path: path.clone(), root: root.clone() })
    }

    /// Length in bytes.
    #[expect(clippy::len_without_is_empty, reason = "content is read by ranges; no caller needs `is_empty`")]
    pub fn len(&self) -> u64 {
        self.prefix_len + self.bytes.len() as u64
    }

    /// Calls `consume` with all bytes, one chunk at a time.
    pub(crate) fn read_chunks(&self, mut consume: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        (0..self.len())
            .step_by(CHUNK_BYTES)
            .try_for_each(|offset| consume(&self.read_range(offset, CHUNK_BYTES as u64)?))
    }

    /// Reads `len` bytes from `offset`, or up to the end.
    pub fn read_range(&self, offset: u64, len: u64) -> Result<Vec<u8>> {
        let offset = offset.min(self.len());
        let end = offset.saturating_add(len).min(self.len());
        let mut out = Vec::new();
        if let Some(base) = self.base.as_deref().filter(|_| offset < self.prefix_len.min(end)) {
            let wanted = self.prefix_len.min(end) - offset;
            out = self.root.with_step(Step::Inspect, &self.path, read_range(base, offset, wanted))?;
            if (out.len() as u64) < wanted {
                let source = std::io::ErrorKind::UnexpectedEof.into();
                return self.root.with_step(Step::Inspect, &self.path, Err(source));
            }
        }
        let inline = |at: u64| at.saturating_sub(self.prefix_len) as usize;
        out.extend(&self.bytes[inline(offset)..inline(end)]);
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_its_own_changes_only() {
        let at = |root, path: &str| TxPath { root, path: RelPath::new(path).unwrap() };
        let mut overlay = Overlay::default();
        for root in [0, 1] {
            for path in ["a", "a-b", "a/b", "a/b/c", "a.d", "aa/b", "b"] {
                overlay.apply(at(root, path), TargetState::Absent);
            }
        }
        let shown = |folder: &TxPath| {
            overlay.within(folder).map(|(at, _)| at.path.to_string()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown(&at(0, "a")), "a a/b a/b/c");
        assert_eq!(shown(&at(1, "a/b")), "a/b a/b/c");
        assert_eq!(shown(&at(1, "c")), "");
        let root = TxPath { root: 1, path: RelPath::root() };
        assert_eq!(overlay.within(&root).count(), 7);
    }
}
