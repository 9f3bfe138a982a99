//! From what callers say to entries: bases are found, operations named, contents packed.

pub(crate) mod change;
pub(crate) mod changeset;
pub(crate) mod context;
pub(crate) mod path_cache;
pub(crate) mod scope;

use std::collections::{BTreeSet, HashMap};

use store::limits::CHUNK_BYTES;
use store::{
    BlobHash, ChangesetId, Content, ContentKind, NewEntry, Operation, PackedBlob, PathBytes, Recording,
    RequestId, Store, Tool,
};

use crate::record::path_cache::{Held, Key, Turn};
use crate::roots::{Roots, ancestors, checked_path, path_bytes};
use crate::{Act, Base, Change, Error, Piece, Result, Source};

/// The mode of a new file when none is given.
const FILE_MODE: u32 = 0o644;
/// Bytes of contents that go into the store in one transaction with their entries; what is more is stored first.
const TOGETHER_BYTES_MAX: usize = 8 << 20;
/// The tool of entries that resolve a conflict, which no other entry may name.
pub(crate) const RESOLUTION: &str = "agents plan resolve";
/// The tool of entries that say what an apply does (`intent`), which no other entry may name: they are nobody's work.
pub(crate) const WRITTEN_DOWN: &str = "agents plan apply";

/// A change that was looked at as far as that is possible without its base.
pub(crate) struct Prepared {
    root: PathBytes,
    path: PathBytes,
    done: Done,
    base: Base,
    tool: Option<Tool>,
}

enum Done {
    Written { piece: Piece, mode: Option<u32> },
    Deleted,
    Renamed { to: PathBytes },
    Mode(u32),
}

impl Prepared {
    /// Checks root and path, and packs new content in the caller's thread. A content of more than a chunk goes into the store now.
    pub(crate) fn new(
        changeset: ChangesetId,
        store: &dyn Store,
        roots: &Roots,
        change: Change,
    ) -> Result<Self> {
        let Change { root, path, act, base, tool } = change;
        let is_ours = |tool: &&Tool| [RESOLUTION, WRITTEN_DOWN].contains(&tool.as_str());
        if let Some(tool) = tool.as_ref().filter(is_ours) {
            return Err(Error::ReservedTool { changeset, tool: tool.to_string() });
        }
        Self::unchecked(store, roots, Change { root, path, act, base, tool })
    }

    /// The same for an entry that may name any tool.
    pub(crate) fn unchecked(store: &dyn Store, roots: &Roots, change: Change) -> Result<Self> {
        let root = roots.choose(change.root.as_ref())?.clone();
        checked_path(&change.path)?;
        let done = match change.act {
            Act::Write { content, mode } => Done::Written { piece: new_piece(store, content, mode)?, mode },
            Act::Delete => Done::Deleted,
            Act::Rename { to } => {
                checked_path(&to)?;
                Done::Renamed { to }
            }
            Act::Mode(mode) => Done::Mode(mode & 0o7777),
            Act::Symlink { target } => Done::Written { piece: symlink(&change.path, &target)?, mode: None },
        };
        Ok(Self { root, path: change.path, done, base: change.base, tool: change.tool })
    }

    /// The paths that it changes.
    pub(crate) fn keys(&self) -> impl Iterator<Item = Key> {
        let to = match &self.done {
            Done::Renamed { to } => Some((self.root.clone(), to.clone())),
            _ => None,
        };
        [(self.root.clone(), self.path.clone())].into_iter().chain(to)
    }
}

fn new_piece(store: &dyn Store, content: Source, mode: Option<u32>) -> Result<Piece> {
    let mode = mode.unwrap_or(FILE_MODE) & 0o7777;
    match content {
        Source::Bytes(bytes) if bytes.len() <= CHUNK_BYTES => Piece::file(&bytes, mode),
        Source::Bytes(bytes) => Piece::of_reader(store, mode, &mut bytes.as_slice()),
        Source::Reader(mut reader) => Piece::of_reader(store, mode, &mut reader),
        Source::Stored(content) => Ok(Piece::stored(Content { mode, ..content })),
        Source::Piece(Piece { content, packed }) => {
            Ok(Piece { content: Content { mode, ..content }, packed })
        }
    }
}

fn symlink(path: &PathBytes, target: &[u8]) -> Result<Piece> {
    if target.is_empty() || target.contains(&0) {
        let reason = "a symlink's target is not empty and has no zero byte".to_owned();
        return Err(Error::BadPath { path: path.show().into_owned(), reason });
    }
    Piece::symlink(target)
}

/// What goes to the store, and what the changeset's paths are after it.
pub(crate) struct Drafted {
    pub recording: Recording,
    pub changed: HashMap<Key, Option<Content>>,
}

/// Finds the bases and writes the entries. The paths are taken, so nobody else of this handle changes them meanwhile.
pub(crate) fn draft(
    store: &dyn Store,
    roots: &Roots,
    turn: &Turn<'_>,
    prepared: Vec<Prepared>,
) -> Result<Drafted> {
    let mut draft = Draft {
        store,
        roots,
        turn,
        changed: HashMap::new(),
        blobs: HashMap::new(),
        together_bytes: 0,
        entries: Vec::with_capacity(prepared.len()),
    };
    for change in prepared {
        draft.add(change)?;
    }
    let Draft { changed, blobs, entries, .. } = draft;
    let recording = Recording { request: RequestId::new(), entries, blobs: blobs.into_values().collect() };
    Ok(Drafted { recording, changed })
}

struct Draft<'a> {
    store: &'a dyn Store,
    roots: &'a Roots,
    turn: &'a Turn<'a>,
    changed: HashMap<Key, Option<Content>>,
    blobs: HashMap<BlobHash, PackedBlob>,
    together_bytes: usize,
    entries: Vec<NewEntry>,
}

impl Draft<'_> {
    fn add(&mut self, change: Prepared) -> Result<()> {
        let Prepared { root, path, done, base, tool } = change;
        let key = (root.clone(), path.clone());
        // Who says what was at the old name says as well that nothing was at the new one.
        let new_base = if matches!(base, Base::Given(_)) { Base::Given(None) } else { Base::Found };
        let before = self.before(&key, base)?;
        let there =
            |act| before.clone().ok_or_else(|| Error::NotThere { path: path.show().into_owned(), act });
        let (operation, after) = match done {
            Done::Written { piece, mode } => {
                let operation = if before.is_some() { Operation::Modify } else { Operation::Create };
                (operation, Some(self.written(piece, mode, before.as_ref())?))
            }
            Done::Deleted => {
                there("delete")?;
                (Operation::Delete, None)
            }
            Done::Mode(mode) => {
                let content = there("give another mode")?;
                if content.kind == ContentKind::Symlink {
                    return Err(Error::WrongKind {
                        path: path.show().into_owned(),
                        found: "a symlink, which has no mode",
                    });
                }
                (Operation::Mode, Some(Content { mode, ..content }))
            }
            Done::Renamed { to } => {
                let content = there("rename")?;
                let new_key = (root.clone(), to.clone());
                if self.before(&new_key, new_base)?.is_some() {
                    return Err(Error::AlreadyThere { path: to.show().into_owned() });
                }
                self.changed.insert(new_key, Some(content.clone()));
                (Operation::Rename { to }, Some(content))
            }
        };
        let left = if matches!(operation, Operation::Rename { .. }) { None } else { after.clone() };
        self.changed.insert(key, left);
        self.entries.push(NewEntry { root, path, operation, before, after, tool });
        Ok(())
    }

    /// A new content: a file keeps the mode that it had unless another is given.
    fn written(&mut self, piece: Piece, mode: Option<u32>, before: Option<&Content>) -> Result<Content> {
        let mut content = self.bring(piece)?;
        if let Some(before) = before
            && mode.is_none()
            && (before.kind, content.kind) == (ContentKind::File, ContentKind::File)
        {
            content.mode = before.mode;
        }
        Ok(content)
    }

    /// What was at a path: what this changeset left there, or what is given, or what is in the root now.
    fn before(&mut self, key: &Key, base: Base) -> Result<Option<Content>> {
        let show = || key.1.show().into_owned();
        let held = match self.changed.get(key) {
            Some(content) => Some(content.clone()),
            None => match self.turn.held(key) {
                Some(Held::As(content)) => Some(content),
                Some(Held::Doubtful) => return Err(Error::Doubtful { path: show() }),
                None => None,
            },
        };
        match (held, base) {
            (Some(held), Base::Found) => Ok(held),
            (Some(held), Base::Given(given)) => {
                if given.map(|piece| piece.content) != held {
                    return Err(Error::OtherBase { path: show() });
                }
                Ok(held)
            }
            (None, Base::Given(given)) => given.map(|piece| self.bring(piece)).transpose(),
            // Where this changeset removed a file or symlink there was no folder, so nothing is below it.
            (None, Base::Found) if self.is_below_removed(key)? => Ok(None),
            (None, Base::Found) => {
                let found = self.roots.read(self.store, &key.0, &key.1)?;
                found.map(|piece| self.bring(piece)).transpose()
            }
        }
    }

    fn is_below_removed(&self, key: &Key) -> Result<bool> {
        for folder in ancestors(&checked_path(&key.1)?) {
            let above = (key.0.clone(), path_bytes(folder.as_path())?);
            let is_gone = match self.changed.get(&above) {
                Some(content) => content.is_none(),
                None => self.turn.held(&above) == Some(Held::As(None)),
            };
            if is_gone {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Sees to it that a content's bytes are in the store when its entry is.
    fn bring(&mut self, piece: Piece) -> Result<Content> {
        if let Some(packed) = piece.packed
            && !self.blobs.contains_key(&packed.hash())
        {
            let bytes = packed.chunk().stored().len();
            if self.together_bytes + bytes > TOGETHER_BYTES_MAX {
                self.store.put_blob(&packed)?;
            } else {
                self.together_bytes += bytes;
                self.blobs.insert(packed.hash(), packed);
            }
        }
        Ok(piece.content)
    }
}

/// Paths, and the folders above them: a change below a file that was removed has nothing as its base.
pub(crate) fn with_folders(keys: BTreeSet<Key>) -> Result<BTreeSet<Key>> {
    let mut all = BTreeSet::new();
    for (root, path) in keys {
        for folder in ancestors(&checked_path(&path)?) {
            all.insert((root.clone(), path_bytes(folder.as_path())?));
        }
        all.insert((root, path));
    }
    Ok(all)
}

/// All the paths of these changes.
pub(crate) fn keys(prepared: &[Prepared]) -> BTreeSet<Key> {
    prepared.iter().flat_map(Prepared::keys).collect()
}
