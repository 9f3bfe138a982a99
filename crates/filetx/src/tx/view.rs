//! What a path holds as a transaction or a reader sees it: the disk, with the changes laid over it that are not there yet.

use std::collections::BTreeMap;
use std::ffi::OsString;

use crate::disk::{Kind, Open, StoredFile};
use crate::hash::CHUNK_BYTES;
use crate::path::At;
use crate::root::{Root, read_range};
use crate::tx::change::{Base, Change, Content, Final, Look, Print, Seen};
use crate::txn_dir::STAGE;
use crate::{Error, Hash, RelPath, Result, Step};

/// Changes by path, each relative to what is below this overlay.
#[derive(Clone, Default, Debug)]
pub struct Overlay(BTreeMap<At, Final>);

impl Overlay {
    /// Lays one more change on top.
    pub(crate) fn lay(&mut self, at: At, after: Final) {
        let after = match (after, self.0.get_mut(&at)) {
            (Final::File { mode, content }, Some(Final::File { content: below, .. })) => {
                // Moved, not copied: a file that grows is laid over itself at every commit.
                let below = std::mem::replace(below, Content::of_path(0));
                Final::File { mode, content: content.over(below) }
            }
            (after, _) => after,
        };
        self.0.insert(at, after);
    }

    pub(crate) fn lay_all(&mut self, changes: &[Change]) {
        for change in changes {
            self.lay(At { root: change.root, path: change.path.clone() }, change.after.clone());
        }
    }

    pub(crate) fn get(&self, at: &At) -> Option<&Final> {
        self.0.get(at)
    }

    /// Puts back what was there before; for savepoints.
    pub(crate) fn restore(&mut self, at: At, before: Option<Final>) {
        match before {
            Some(after) => self.0.insert(at, after),
            None => self.0.remove(&at),
        };
    }

    /// Sets a change whatever was there.
    pub(crate) fn set(&mut self, at: At, after: Final) -> Option<Final> {
        self.0.insert(at, after)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&At, &Final)> {
        self.0.iter()
    }

    pub(crate) fn into_iter(self) -> impl Iterator<Item = (At, Final)> {
        self.0.into_iter()
    }
}

/// The roots with overlays, the lowest first.
pub(crate) struct View<'a> {
    pub roots: &'a [Root],
    pub overlays: [&'a Overlay; 2],
}

impl View<'_> {
    pub(crate) fn look(&self, at: &At) -> Result<Look> {
        let root = &self.roots[at.root];
        for overlay in self.overlays.iter().rev() {
            return Ok(match overlay.get(at) {
                None => continue,
                Some(Final::Absent) => Look::Absent,
                Some(Final::Folder { mode }) => Look::Folder { mode: *mode },
                Some(Final::Symlink { target }) => Look::Symlink { target: target.clone() },
                Some(Final::File { mode, content }) => {
                    Look::File { mode: *mode, len: content.len(), print: () }
                }
            });
        }
        let Some(stat) = root.stat(&at.path)? else { return Ok(Look::Absent) };
        Ok(match stat.kind {
            Kind::Folder => Look::Folder { mode: stat.mode },
            Kind::File => Look::File { mode: stat.mode, len: stat.len, print: () },
            Kind::Other => Look::Other,
            Kind::Symlink => {
                let target = root.name(Step::Inspect, &at.path, root.storage.read_link(&at.path))?;
                Look::Symlink { target }
            }
        })
    }

    /// What is at a path, with the hash of a file.
    pub(crate) fn see(&self, at: &At) -> Result<Seen> {
        self.look(at)?.with_file(|mode, _| {
            // Somebody may have taken it away since.
            let Some(body) = self.open(at)? else { return Ok(Seen::Absent) };
            let mut hasher = blake3::Hasher::new();
            body.read_chunks(|bytes| {
                hasher.update(bytes);
                Ok(())
            })?;
            let hash = Hash(*hasher.finalize().as_bytes());
            Ok(Seen::File { mode, len: body.len(), print: Print::Whole(hash) })
        })
    }

    /// The names in a folder, sorted. The transaction folder is not shown.
    pub(crate) fn list(&self, at: &At) -> Result<Vec<OsString>> {
        let root = &self.roots[at.root];
        let mut names: BTreeMap<OsString, bool> = BTreeMap::new();
        if root.stat(&at.path)?.is_some_and(|stat| stat.kind == Kind::Folder) {
            names.extend(root.list(&at.path)?.into_iter().map(|name| (name, true)));
        }
        for overlay in self.overlays {
            for (child, after) in overlay.iter() {
                if child.root == at.root && child.path.parent().as_ref() == Some(&at.path) {
                    let name = child.path.name().expect("a child has a name").to_owned();
                    names.insert(name, *after != Final::Absent);
                }
            }
        }
        names.retain(|name, there| *there && at.path.join(name) != root.home);
        Ok(names.into_keys().collect())
    }

    /// Opens a file's content to be read; `None` when nothing is there.
    pub(crate) fn open(&self, at: &At) -> Result<Option<Body>> {
        let root = &self.roots[at.root];
        let mut content = Content::of_path(u64::MAX);
        for overlay in self.overlays {
            match overlay.get(at) {
                None => {}
                Some(Final::File { content: above, .. }) => content = above.clone().over(content),
                // Nothing of it is read: what is laid above brings its own content, or it is no file.
                Some(_) => content = Content::of_bytes(Vec::new()),
            }
        }
        match self.look(at)?.kind() {
            None => Ok(None),
            Some(Kind::File) => Body::open(root, &at.path, content).map(Some),
            Some(found) => Err(Error::WrongKind { path: root.show(&at.path), found, expected: "a file" }),
        }
    }

    /// All the bytes of a file; `None` when nothing is there.
    pub(crate) fn read(&self, at: &At) -> Result<Option<Vec<u8>>> {
        self.open(at)?.map(|body| body.read_range(0, body.len())).transpose()
    }
}

/// A file's content to be read in pieces, as one transaction or reader sees it.
pub struct Body {
    base: Option<Box<dyn StoredFile>>,
    keep: u64,
    bytes: Vec<u8>,
    path: RelPath,
    root: Root,
}

impl Body {
    fn open(root: &Root, path: &RelPath, content: Content) -> Result<Self> {
        let source = match &content.base {
            Base::Nothing => None,
            Base::Path => Some(path.clone()),
            Base::Staged(staged) => Some(root.in_home(STAGE).join(staged.name())),
        };
        let mut keep = content.keep;
        let base = match source {
            None => None,
            Some(source) => {
                let file = root.open(Step::Inspect, &source, Open::Read)?;
                keep = keep.min(root.name(Step::Inspect, &source, file.stat())?.len);
                Some(file)
            }
        };
        Ok(Self { base, keep, bytes: content.bytes, path: path.clone(), root: root.clone() })
    }

    /// Length in bytes.
    #[expect(
        clippy::len_without_is_empty,
        reason = "a body is read by ranges; nobody asks whether it is empty"
    )]
    pub fn len(&self) -> u64 {
        self.keep + self.bytes.len() as u64
    }

    /// Gives `take` all the bytes, a chunk at a time.
    pub(crate) fn read_chunks(&self, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        (0..self.len())
            .step_by(CHUNK_BYTES)
            .try_for_each(|offset| take(&self.read_range(offset, CHUNK_BYTES as u64)?))
    }

    /// The bytes from `offset`, `len` of them or up to the end.
    pub fn read_range(&self, offset: u64, len: u64) -> Result<Vec<u8>> {
        let offset = offset.min(self.len());
        let end = offset.saturating_add(len).min(self.len());
        let mut out = Vec::new();
        if let Some(base) = self.base.as_deref().filter(|_| offset < self.keep.min(end)) {
            let wanted = self.keep.min(end) - offset;
            out = self.root.name(Step::Inspect, &self.path, read_range(base, offset, wanted))?;
            if (out.len() as u64) < wanted {
                let source = std::io::ErrorKind::UnexpectedEof.into();
                return self.root.name(Step::Inspect, &self.path, Err(source));
            }
        }
        let inline = |at: u64| at.saturating_sub(self.keep) as usize;
        out.extend(&self.bytes[inline(offset)..inline(end)]);
        Ok(out)
    }
}
