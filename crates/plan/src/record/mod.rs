//! Turns changes into entries: finds their bases, names their operations and packs their contents.

pub(crate) mod change;
pub(crate) mod changeset;
pub(crate) mod context;
pub(crate) mod patch;
pub(crate) mod path_cache;
pub(crate) mod scope;

use std::collections::{BTreeSet, HashMap};

use store::limits::CHUNK_BYTES;
use store::{
    BlobHash, ChangesetId, Content, ContentKind, NewEntry, Operation, PackedBlob, PathBytes, Recording,
    RequestId, Store, Tool, read_blob,
};

use crate::record::path_cache::{CachedContent, PathGuard};
use crate::roots::{Roots, ancestors, checked_path, path_bytes};
use crate::{
    Base, Change, ContentInput, ContentSource, Edit, Error, PATCH_BYTES_MAX, Patched, PathKey, Result,
    patched,
};

/// The default permission bits of a new file.
const FILE_MODE: u32 = 0o644;
/// Packed bytes that go into the store in one transaction with their entries. Further contents are
/// stored before that transaction.
const INLINE_BYTES_MAX: usize = 8 << 20;
/// The tool of entries that resolve a conflict. Reserved.
pub(crate) const RESOLUTION: &str = "agents plan resolve";
/// The tool of entries that log the targets of an apply. Reserved: these entries are not the work
/// of an actor.
pub(crate) const TARGET_LOG: &str = "agents plan apply";

/// A change that was checked as far as possible without its base.
pub(crate) struct Prepared {
    key: PathKey,
    edit: Edit<ContentInput>,
    base: Base,
    tool: Option<Tool>,
}

impl Prepared {
    /// Checks root, path and tool, and packs new content in the caller's thread. A content of more
    /// than one chunk goes into the store now.
    pub(crate) fn new(
        changeset: ChangesetId,
        store: &dyn Store,
        roots: &Roots,
        change: Change,
    ) -> Result<Self> {
        let Change { root, path, edit, base, tool } = change;
        let is_reserved = |tool: &&Tool| [RESOLUTION, TARGET_LOG].contains(&tool.as_str());
        if let Some(tool) = tool.as_ref().filter(is_reserved) {
            return Err(Error::ReservedTool { changeset, tool: tool.to_string() });
        }
        let root = roots.choose(root.as_ref())?.clone();
        checked_path(&path)?;
        if let Edit::Rename { to } = &edit {
            checked_path(to)?;
        }
        let edit = edit.map_content(|content, mode| new_content(store, content, mode))?;
        Ok(Self { key: PathKey { root, path }, edit, base, tool })
    }

    /// The paths that the change affects.
    pub(crate) fn keys(&self) -> impl Iterator<Item = PathKey> {
        let to = match &self.edit {
            Edit::Rename { to } => Some(self.key.with_path(to)),
            _ => None,
        };
        [self.key.clone()].into_iter().chain(to)
    }
}

/// Permissions of owner, group and others, without setuid, setgid and the sticky bit.
const PERMISSIONS: u32 = 0o777;

fn new_content(store: &dyn Store, content: ContentSource, mode: Option<u32>) -> Result<ContentInput> {
    let mode = mode.unwrap_or(FILE_MODE) & 0o7777;
    match content {
        ContentSource::Bytes(bytes) if bytes.len() <= CHUNK_BYTES => ContentInput::file(&bytes, mode),
        ContentSource::Bytes(bytes) => ContentInput::from_reader(store, mode, &mut bytes.as_slice()),
        ContentSource::Reader(mut reader) => ContentInput::from_reader(store, mode, &mut reader),
        ContentSource::Stored(content) => Ok(ContentInput::stored(Content { mode, ..content })),
        ContentSource::Input(ContentInput { content, packed }) => {
            Ok(ContentInput { content: Content { mode, ..content }, packed })
        }
    }
}

/// Entries to store, and the contents of the paths after them.
pub(crate) struct Draft {
    pub recording: Recording,
    pub changed: HashMap<PathKey, Option<Content>>,
}

/// Finds the bases and drafts the entries. `guard` locks the paths, so no other thread of this
/// handle changes them.
pub(crate) fn draft(
    store: &dyn Store,
    roots: &Roots,
    guard: &PathGuard<'_>,
    prepared: Vec<Prepared>,
) -> Result<Draft> {
    let mut builder = DraftBuilder {
        store,
        roots,
        guard,
        changed: HashMap::new(),
        blobs: HashMap::new(),
        inline_bytes: 0,
        entries: Vec::with_capacity(prepared.len()),
    };
    for change in prepared {
        builder.add(change)?;
    }
    let DraftBuilder { changed, blobs, entries, .. } = builder;
    let recording = Recording { request: RequestId::new(), entries, blobs: blobs.into_values().collect() };
    Ok(Draft { recording, changed })
}

struct DraftBuilder<'a> {
    store: &'a dyn Store,
    roots: &'a Roots,
    guard: &'a PathGuard<'a>,
    changed: HashMap<PathKey, Option<Content>>,
    blobs: HashMap<BlobHash, PackedBlob>,
    inline_bytes: usize,
    entries: Vec<NewEntry>,
}

impl DraftBuilder<'_> {
    fn add(&mut self, change: Prepared) -> Result<()> {
        let Prepared { key, edit, base, tool } = change;
        let path = &key.path;
        // A given base of a rename also states that the new path does not exist.
        let new_base = if matches!(base, Base::Explicit(_)) { Base::Explicit(None) } else { Base::Current };
        let before = match &edit {
            Edit::Patch { .. } => {
                self.before(&key, base, PATCH_BYTES_MAX).map_err(|error| too_long_to_patch(path, error))?
            }
            _ => self.before(&key, base, u64::MAX)?,
        };
        let edit = match edit {
            Edit::Patch { patch } => self.patched(path, before.as_ref(), &patch)?,
            edit => edit,
        };
        let existing = |action| {
            before.clone().ok_or_else(|| Error::PathNotFound { path: path.show().into_owned(), action })
        };
        let written = if before.is_some() { Operation::Modify } else { Operation::Create };
        let (operation, after) = match edit {
            Edit::Write { content, mode } => (written, Some(self.written(content, mode, before.as_ref())?)),
            Edit::Patch { .. } => unreachable!("it was replaced by its result"),
            Edit::Symlink { target } => {
                (written, Some(self.store_with_entry(ContentInput::symlink(&target)?)?))
            }
            Edit::Delete => {
                existing("delete")?;
                (Operation::Delete, None)
            }
            Edit::Mode(mode) => {
                let content = existing("set the mode of")?;
                if content.kind == ContentKind::Symlink {
                    return Err(Error::WrongKind {
                        path: path.show().into_owned(),
                        found: "a symlink, which has no mode",
                    });
                }
                (Operation::Mode, Some(Content { mode: mode & 0o7777, ..content }))
            }
            Edit::Rename { to } => {
                let content = existing("rename")?;
                let new_key = key.with_path(&to);
                if self.before(&new_key, new_base, u64::MAX)?.is_some() {
                    return Err(Error::PathExists { path: to.show().into_owned() });
                }
                self.changed.insert(new_key, Some(content.clone()));
                (Operation::Rename { to }, Some(content))
            }
        };
        let content = if matches!(operation, Operation::Rename { .. }) { None } else { after.clone() };
        self.changed.insert(key.clone(), content);
        let PathKey { root, path } = key;
        self.entries.push(NewEntry { root, path, operation, before, after, tool });
        Ok(())
    }

    /// Returns the new content of a written path. A file keeps its permissions unless `mode` is given. New content
    /// drops setuid, setgid and the sticky bit, as the kernel does.
    fn written(
        &mut self,
        input: ContentInput,
        mode: Option<u32>,
        before: Option<&Content>,
    ) -> Result<Content> {
        let mut content = self.store_with_entry(input)?;
        if let Some(before) = before
            && mode.is_none()
            && (before.kind, content.kind) == (ContentKind::File, ContentKind::File)
        {
            let is_same = content.blob == before.blob;
            content.mode = if is_same { before.mode } else { before.mode & PERMISSIONS };
        }
        Ok(content)
    }

    /// Applies a patch to the content of a path. Returns the edit that results.
    fn patched(
        &self,
        path: &PathBytes,
        before: Option<&Content>,
        patch: &[u8],
    ) -> Result<Edit<ContentInput>> {
        let text = match before.filter(|content| content.kind == ContentKind::File) {
            None => Vec::new(),
            Some(content) => self.bytes(content).map_err(|error| too_long_to_patch(path, error))?,
        };
        Ok(match patched(path, before, &text, patch)? {
            Patched::Write { bytes, mode } => {
                let bits = mode.unwrap_or(FILE_MODE);
                Edit::Write {
                    content: ContentInput::from_reader(self.store, bits, &mut bytes.as_slice())?,
                    mode,
                }
            }
            Patched::Delete => Edit::Delete,
            Patched::Mode(mode) => Edit::Mode(mode),
        })
    }

    /// Reads a content that is stored, or will be stored with these entries.
    fn bytes(&self, content: &Content) -> Result<Vec<u8>> {
        if content.bytes > PATCH_BYTES_MAX {
            return Err(Error::ContentTooLarge { bytes: content.bytes, limit: PATCH_BYTES_MAX });
        }
        let Some(packed) = self.blobs.get(&content.blob) else {
            return Ok(read_blob(self.store, content.blob, PATCH_BYTES_MAX as usize)?);
        };
        let bytes = packed.chunk().unpack();
        Ok(bytes.map_err(|reason| store::Error::DamagedBlob { hash: packed.hash(), reason })?)
    }

    /// Returns the content of a path before the change: the content that this changeset recorded
    /// last, or the given base, or the content in the root now. Refuses a file in the root of more
    /// than `bytes_max`.
    fn before(&mut self, key: &PathKey, base: Base, bytes_max: u64) -> Result<Option<Content>> {
        let show = || key.path.show().into_owned();
        let recorded = match self.changed.get(key) {
            Some(content) => Some(content.clone()),
            None => match self.guard.get(key) {
                Some(CachedContent::Known(content)) => Some(content),
                Some(CachedContent::Unknown) => return Err(Error::OutcomeUnknown { path: show() }),
                None => None,
            },
        };
        match (recorded, base) {
            (Some(recorded), Base::Current) => Ok(recorded),
            (Some(recorded), Base::Explicit(given)) => {
                if given.map(|input| input.content) != recorded {
                    return Err(Error::BaseMismatch { path: show() });
                }
                Ok(recorded)
            }
            (None, Base::Explicit(given)) => given.map(|input| self.store_with_entry(input)).transpose(),
            // The changeset deleted a file or symlink above this path, so the path does not exist.
            (None, Base::Current) if self.is_below_deleted(key)? => Ok(None),
            (None, Base::Current) => {
                let found = self.roots.read(self.store, key, bytes_max)?;
                found.map(|input| self.store_with_entry(input)).transpose()
            }
        }
    }

    fn is_below_deleted(&self, key: &PathKey) -> Result<bool> {
        for folder in ancestors(&checked_path(&key.path)?) {
            let above = PathKey { root: key.root.clone(), path: path_bytes(folder.as_path())? };
            let is_deleted = match self.changed.get(&above) {
                Some(content) => content.is_none(),
                None => self.guard.get(&above) == Some(CachedContent::Known(None)),
            };
            if is_deleted {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Stores the bytes of a content before its entry or together with it.
    fn store_with_entry(&mut self, input: ContentInput) -> Result<Content> {
        if let Some(packed) = input.packed
            && !self.blobs.contains_key(&packed.hash())
        {
            let bytes = packed.chunk().stored().len();
            if self.inline_bytes + bytes > INLINE_BYTES_MAX {
                self.store.put_blob(&packed)?;
            } else {
                self.inline_bytes += bytes;
                self.blobs.insert(packed.hash(), packed);
            }
        }
        Ok(input.content)
    }
}

fn cannot_patch(path: &PathBytes, reason: impl ToString) -> Error {
    Error::Patch { path: path.show().into_owned(), reason: reason.to_string() }
}

fn too_long_to_patch(path: &PathBytes, error: Error) -> Error {
    match error {
        Error::ContentTooLarge { limit, .. } => cannot_patch(path, format!("it has more than {limit} bytes")),
        error => error,
    }
}

/// Adds the folders above paths: a path below a deleted file does not exist.
pub(crate) fn with_folders(keys: BTreeSet<PathKey>) -> Result<BTreeSet<PathKey>> {
    let mut all = BTreeSet::new();
    for key in keys {
        for folder in ancestors(&checked_path(&key.path)?) {
            all.insert(PathKey { root: key.root.clone(), path: path_bytes(folder.as_path())? });
        }
        all.insert(key);
    }
    Ok(all)
}

/// The paths of all changes.
pub(crate) fn keys(prepared: &[Prepared]) -> BTreeSet<PathKey> {
    prepared.iter().flat_map(Prepared::keys).collect()
}
