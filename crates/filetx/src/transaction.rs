//! A transaction: changes are staged, then committed all-or-nothing.
//!
//! Two policies share it, chosen by where it begins: [`OwnFolder::begin`](crate::OwnFolder::begin) for a folder of files that
//! only this program writes, [`Trees::begin`](crate::Trees::begin) for folders that belong to people. Both record one final
//! state per path, so the order of calls inside a transaction matters only to the calls themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::marker::PhantomData;

use crate::folder::Turn;
use crate::path::{At, ToAt};
use crate::root::Root;
use crate::stage::{Stage, StagedFile};
use crate::state::{Base, Change, Content, Final, Print, Seen};
use crate::storage::Kind;
use crate::tree::Trees;
use crate::view::{Body, Look, Overlay, View};
use crate::{Error, Failure, Hash, RelPath, Result};

/// The most paths one transaction changes.
pub const CHANGES_MAX: usize = 1 << 20;
/// The largest new content that an own folder's journal carries itself; larger content is a staged file.
pub const INLINE_BYTES_MAX: usize = 64 * 1024;

/// Staged changes to plain files. [`commit`](Self::commit) makes them all, dropping it makes none.
///
/// Reads see what was staged. It belongs to the thread that began it.
#[must_use = "a transaction that is not committed changes nothing"]
pub struct Transaction<'a> {
    pub(crate) id: u128,
    pub(crate) roots: Vec<Root>,
    /// What other threads committed and is not in the files yet.
    below: Overlay,
    staged: Overlay,
    before: BTreeMap<At, Seen>,
    /// What each change replaced, newest last, for savepoints.
    undo: Vec<(At, Option<Final>)>,
    pub(crate) stage: Stage,
    pub(crate) policy: Policy<'a>,
    /// Parents known to be writable and on their root's mount.
    checked: BTreeSet<At>,
    /// Whether staged files are the commit's business by now.
    pub(crate) settled: bool,
    _of_one_thread: PhantomData<*const ()>,
}

/// How a transaction is made durable.
pub(crate) enum Policy<'a> {
    /// One folder that is ours: appended to a journal, one sync, published in place.
    OwnFolder(Turn<'a>),
    /// Folders of people: staged, published and synced before the commit returns.
    UserTree(&'a mut Trees),
}

/// What [`Transaction::expect`] compares a path with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expected {
    /// Nothing is there.
    Absent,
    /// A plain file with this content, whatever its mode.
    Content(Hash),
    /// A symlink that points there.
    Symlink(OsString),
}

/// A transaction that reached its commit point.
#[derive(Debug)]
#[must_use = "a commit may be unfinished or may have kept a person's file"]
pub struct Committed {
    /// The transaction's id.
    pub id: u128,
    /// Paths that somebody else changed while the commit was under way. Their content was left, ours is kept aside.
    pub kept: Vec<Kept>,
    /// *Committed, publishing will finish at the next open*: what stopped it. `None` when all is in the files.
    pub pending: Option<Error>,
}

/// A path that was not what the transaction was made for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kept {
    /// The path.
    pub path: std::path::PathBuf,
    /// The content that was put aside, when there was any.
    pub aside: Option<std::path::PathBuf>,
}

impl<'a> Transaction<'a> {
    pub(crate) fn new(roots: Vec<Root>, below: Overlay, policy: Policy<'a>) -> Self {
        let id = fastrand::u128(..);
        Self {
            id,
            roots,
            below,
            staged: Overlay::default(),
            before: BTreeMap::new(),
            undo: Vec::new(),
            stage: Stage::new(id),
            policy,
            checked: BTreeSet::new(),
            settled: false,
            _of_one_thread: PhantomData,
        }
    }

    /// Gives a file new content. A new file gets the policy's mode, an existing one keeps its own.
    pub fn put(&mut self, at: impl ToAt, bytes: &[u8]) -> Result<()> {
        let at = at.to_at()?;
        let mode = self.prepare_file(&at)?;
        let content = match self.policy {
            Policy::OwnFolder(_) if bytes.len() <= INLINE_BYTES_MAX => Content::of_bytes(bytes.to_vec()),
            _ => {
                let mut file = self.stage.create(at.root, &self.roots)?;
                file.add(bytes)?;
                self.take(&at, file, mode)?
            }
        };
        self.change(at, Final::File { mode, content })
    }

    /// Gives a file what a reader gives, in bounded memory.
    pub fn put_reader(&mut self, at: impl ToAt, reader: &mut dyn Read) -> Result<()> {
        let at = at.to_at()?;
        let mode = self.prepare_file(&at)?;
        let mut file = self.stage.create(at.root, &self.roots)?;
        file.fill(reader)?;
        let content = self.take(&at, file, mode)?;
        self.change(at, Final::File { mode, content })
    }

    /// Opens a file to write content into that [`put_staged`](Self::put_staged) then gives a path of the same root.
    pub fn stage(&mut self, root: usize) -> Result<StagedFile> {
        self.check_root(root)?;
        self.stage.create(root, &self.roots)
    }

    /// Gives a file the content staged before.
    pub fn put_staged(&mut self, at: impl ToAt, file: StagedFile) -> Result<()> {
        let at = at.to_at()?;
        if file.root != at.root {
            let path = self.roots[file.root].show(&file.path);
            return Err(Error::BadPath { path, reason: "it was staged in another root" });
        }
        let mode = self.prepare_file(&at)?;
        let content = self.take(&at, file, mode)?;
        self.change(at, Final::File { mode, content })
    }

    /// Adds to the end of a file, or makes it.
    ///
    /// In an own folder a file that somebody else changed since this process last wrote it is [`Error::Drifted`], once: read it
    /// again, then append again.
    pub fn append(&mut self, at: impl ToAt, bytes: &[u8]) -> Result<()> {
        let at = at.to_at()?;
        match self.look(&at)? {
            Look::Absent => self.put(&at, bytes),
            look => {
                self.prepare(&at)?;
                self.rewrite_end(at, look, None, bytes)
            }
        }
    }

    /// Cuts a file to `len` bytes; longer than it is, is an error.
    pub fn truncate(&mut self, at: impl ToAt, len: u64) -> Result<()> {
        let at = at.to_at()?;
        self.prepare(&at)?;
        let look = self.look(&at)?;
        self.rewrite_end(at, look, Some(len), &[])
    }

    /// Removes a file or symlink.
    pub fn remove(&mut self, at: impl ToAt) -> Result<()> {
        let at = at.to_at()?;
        self.prepare(&at)?;
        match self.look(&at)?.kind() {
            None => Err(Error::Missing { path: self.show(&at) }),
            Some(Kind::File | Kind::Symlink) => self.change(at, Final::Absent),
            Some(found) => Err(Error::WrongKind { path: self.show(&at), found, expected: "a file or symlink" }),
        }
    }

    /// Moves a file, symlink or folder within a root; a file or symlink at the new place is replaced.
    pub fn rename(&mut self, from: impl ToAt, to: impl ToAt) -> Result<()> {
        let (from, to) = (from.to_at()?, to.to_at()?);
        if from == to {
            return Ok(());
        }
        match self.look(&from)? {
            Look::Absent => Err(Error::Missing { path: self.show(&from) }),
            Look::Other => {
                let (path, expected) = (self.show(&from), "a file, symlink or folder");
                Err(Error::WrongKind { path, found: Kind::Other, expected })
            }
            Look::Symlink { target } => {
                self.symlink(&to, &target)?;
                self.remove(&from)
            }
            Look::File { mode, .. } => {
                let body = self.view().open(&from)?.expect("a file was seen there");
                self.put_body(&to, &body, body.len(), &[])?;
                self.set_mode(&to, mode)?;
                self.remove(&from)
            }
            Look::Folder { mode } => {
                if to.root == from.root && to.path.is_within(&from.path) {
                    let path = self.show(&to);
                    return Err(Error::BadPath { path, reason: "a folder cannot move into itself" });
                }
                self.make_folder(&to, mode)?;
                for name in self.view().list(&from)? {
                    let child = |at: &At| At { root: at.root, path: at.path.join(&name) };
                    self.rename(&child(&from), &child(&to))?;
                }
                self.remove_folder(&from)
            }
        }
    }

    /// Changes the permission bits of a file or folder.
    pub fn set_mode(&mut self, at: impl ToAt, mode: u32) -> Result<()> {
        let at = at.to_at()?;
        self.prepare(&at)?;
        match self.look(&at)? {
            Look::Absent => Err(Error::Missing { path: self.show(&at) }),
            Look::Folder { .. } => self.change(at, Final::Folder { mode }),
            Look::File { len, .. } => {
                let content = match self.staged.get(&at) {
                    Some(Final::File { content, .. }) => content.clone(),
                    _ => Content::of_path(len),
                };
                if let Base::Staged(staged) = &content.base {
                    self.stage.set_mode(at.root, staged, mode, &self.roots)?;
                }
                self.change(at, Final::File { mode, content })
            }
            look => {
                let found = look.kind().expect("something is there");
                Err(Error::WrongKind { path: self.show(&at), found, expected: "a file or folder" })
            }
        }
    }

    /// Makes a symlink; a file or symlink at that path is replaced. Where it points is not checked: it is text.
    pub fn symlink(&mut self, at: impl ToAt, target: &OsStr) -> Result<()> {
        let at = at.to_at()?;
        self.prepare_file(&at)?;
        self.change(at, Final::Symlink { target: target.to_owned() })
    }

    /// Makes a folder, and those above it that are missing.
    pub fn make_folder(&mut self, at: impl ToAt, mode: u32) -> Result<()> {
        let at = at.to_at()?;
        self.prepare(&at)?;
        if self.look(&at)? != Look::Absent {
            return Err(Error::Exists { path: self.show(&at) });
        }
        self.change(at, Final::Folder { mode })
    }

    /// Removes a folder that is empty by then.
    pub fn remove_folder(&mut self, at: impl ToAt) -> Result<()> {
        let at = at.to_at()?;
        self.prepare(&at)?;
        match self.look(&at)?.kind() {
            None => return Err(Error::Missing { path: self.show(&at) }),
            Some(Kind::Folder) => {}
            Some(found) => {
                return Err(Error::WrongKind { path: self.show(&at), found, expected: "a folder" });
            }
        }
        let holds_home = self.roots[at.root].home.is_within(&at.path);
        if holds_home || !self.view().list(&at)?.is_empty() {
            return Err(Error::NotEmpty { path: self.show(&at) });
        }
        self.change(at, Final::Absent)
    }

    /// Fails with [`Error::Conflict`] when a path is not what the caller thinks it is.
    pub fn expect(&self, at: impl ToAt, expected: &Expected) -> Result<()> {
        let at = at.to_at()?;
        self.check_root(at.root)?;
        let (found, holds) = match self.look(&at)? {
            Look::Absent => (Seen::Absent, *expected == Expected::Absent),
            Look::Folder { mode } => (Seen::Folder { mode }, false),
            Look::Other => (Seen::Other, false),
            Look::Symlink { target } => {
                let holds = *expected == Expected::Symlink(target.clone());
                (Seen::Symlink { target }, holds)
            }
            Look::File { mode, .. } => {
                let body = self.view().open(&at)?.expect("a file was seen there");
                let mut hasher = blake3::Hasher::new();
                let mut offset = 0;
                while offset < body.len() {
                    let bytes = body.read_range(offset, crate::hash::CHUNK_BYTES as u64)?;
                    hasher.update(&bytes);
                    offset += bytes.len() as u64;
                }
                let hash = Hash(*hasher.finalize().as_bytes());
                let found = Seen::File { mode, len: body.len(), print: Print::Whole(hash) };
                (found, *expected == Expected::Content(hash))
            }
        };
        if holds {
            return Ok(());
        }
        let expected = match expected {
            Expected::Absent => "nothing".to_owned(),
            Expected::Content(hash) => format!("a file with hash {hash:?}"),
            Expected::Symlink(target) => format!("a symlink to `{}`", target.display()),
        };
        Err(Error::Conflict { path: self.show(&at), expected, found: found.to_string() })
    }

    /// Runs calls that stand or fall together inside this transaction: when `work` fails, what it staged is taken back and the
    /// rest stays. What it returns is *joined*: durable only when the whole transaction is.
    pub fn nested<T, E>(&mut self, work: impl FnOnce(&mut Self) -> std::result::Result<T, E>) -> std::result::Result<T, E> {
        let savepoint = self.undo.len();
        let result = work(self);
        if result.is_err() {
            while self.undo.len() > savepoint {
                let (at, before) = self.undo.pop().expect("it is longer than the savepoint");
                self.staged.restore(at, before);
            }
        }
        result
    }

    /// What is at a path, with what was staged.
    pub fn look(&self, at: impl ToAt) -> Result<Look> {
        let at = at.to_at()?;
        self.check_root(at.root)?;
        self.view().look(&at)
    }

    /// All the bytes of a file, with what was staged; `None` when nothing is there.
    pub fn read(&self, at: impl ToAt) -> Result<Option<Vec<u8>>> {
        let at = at.to_at()?;
        self.check_root(at.root)?;
        self.view().read(&at)
    }

    /// A file's content to be read in pieces, with what was staged so far; `None` when nothing is there.
    pub fn open(&self, at: impl ToAt) -> Result<Option<Body>> {
        let at = at.to_at()?;
        self.check_root(at.root)?;
        self.view().open(&at)
    }

    /// The names in a folder, with what was staged, sorted.
    pub fn list(&self, at: impl ToAt) -> Result<Vec<OsString>> {
        let at = at.to_at()?;
        self.check_root(at.root)?;
        self.view().list(&at)
    }

    /// The transaction's id: what recovery and journals call it.
    pub fn id(&self) -> u128 {
        self.id
    }

    /// Makes all changes. When this returns `Ok` they survive power loss; when it fails, [`Failure::left`] says what is there.
    pub fn commit(self) -> std::result::Result<Committed, Failure> {
        self.commit_for(&[])
    }

    /// As [`commit`](Self::commit), for an owner that records the outcome elsewhere: over user trees the transaction is
    /// remembered, with `owner`, until [`Trees::acknowledge`](crate::Trees::acknowledge).
    pub fn commit_for(mut self, owner: &[u8]) -> std::result::Result<Committed, Failure> {
        let changes = self.changes();
        if changes.is_empty() {
            return Ok(Committed { id: self.id, kept: Vec::new(), pending: None });
        }
        match &mut self.policy {
            Policy::OwnFolder(_) => crate::folder::commit(self, changes),
            Policy::UserTree(_) => crate::tree::commit(self, changes, owner),
        }
    }

    /// What is to change, without what is that way already.
    fn changes(&self) -> Vec<Change> {
        let changed = self.staged.iter().filter(|(at, after)| !after.is(&self.before[at]));
        changed
            .map(|(at, after)| Change {
                root: at.root,
                path: at.path.clone(),
                before: self.before[at].clone(),
                after: after.clone(),
            })
            .collect()
    }

    pub(crate) fn view(&self) -> View<'_> {
        View { roots: &self.roots, overlays: [&self.below, &self.staged] }
    }

    fn show(&self, at: &At) -> std::path::PathBuf {
        self.roots[at.root].show(&at.path)
    }

    fn check_root(&self, root: usize) -> Result<()> {
        if root < self.roots.len() {
            return Ok(());
        }
        Err(Error::BadPath { path: format!("root {root}").into(), reason: "the transaction has fewer roots" })
    }

    fn change(&mut self, at: At, after: Final) -> Result<()> {
        if self.before.len() > CHANGES_MAX {
            return Err(Error::TooLarge { what: "changes in one transaction", limit: CHANGES_MAX as u64 });
        }
        let replaced = self.staged.set(at.clone(), after);
        self.undo.push((at, replaced));
        Ok(())
    }

    /// Gets a path ready to be changed: it is ours to change, its parents exist, and what is there is remembered.
    fn prepare(&mut self, at: &At) -> Result<()> {
        self.check_root(at.root)?;
        if at.path.is_within(&self.roots[at.root].home) {
            return Err(Error::Reserved { path: self.show(at) });
        }
        if self.before.contains_key(at) {
            return Ok(());
        }
        let parent = At { root: at.root, path: at.path.parent().expect("a checked path is not the root") };
        if !parent.path.is_root() && !self.checked.contains(&parent) {
            match self.look(&parent)?.kind() {
                Some(Kind::Folder) => {}
                None => {
                    let mode = self.policy.new_folder_mode();
                    self.make_folder(&parent, mode)?;
                }
                Some(found) => {
                    return Err(Error::WrongKind { path: self.show(&parent), found, expected: "a folder" });
                }
            }
        }
        let root = &self.roots[at.root];
        let seen = match &self.policy {
            Policy::OwnFolder(turn) => turn.before(root, at, &self.below)?,
            Policy::UserTree(_) => {
                if self.checked.insert(parent.clone()) {
                    check_parent(root, &parent.path)?;
                }
                root.see(&at.path)?
            }
        };
        self.before.insert(at.clone(), seen);
        Ok(())
    }

    /// As `prepare`, for what puts a file or symlink there; the mode it is to have.
    fn prepare_file(&mut self, at: &At) -> Result<u32> {
        self.prepare(at)?;
        match self.look(at)? {
            Look::File { mode, .. } => Ok(mode),
            Look::Absent | Look::Symlink { .. } => Ok(self.policy.new_file_mode()),
            look => {
                let found = look.kind().expect("something is there");
                Err(Error::WrongKind { path: self.show(at), found, expected: "a file" })
            }
        }
    }

    /// Takes a written file in, with the owner and attributes of what it replaces.
    fn take(&mut self, at: &At, file: StagedFile, mode: u32) -> Result<Content> {
        if matches!(self.before.get(at), Some(Seen::File { .. })) {
            let root = &self.roots[at.root];
            let copied = root.storage.copy_attributes(&at.path, &file.path);
            root.name(crate::Step::Stage, &at.path, copied)?;
        }
        Ok(Content::of_staged(self.stage.take(file, mode, &self.roots)?))
    }

    /// Keeps the first bytes of a file (all, unless `keep` says how many) and puts `bytes` behind them. `look` is what was seen there.
    fn rewrite_end(&mut self, at: At, look: Look, keep: Option<u64>, bytes: &[u8]) -> Result<()> {
        let (mode, len) = match look {
            Look::File { mode, len } => (mode, len),
            Look::Absent => return Err(Error::Missing { path: self.show(&at) }),
            look => {
                let found = look.kind().expect("something is there");
                return Err(Error::WrongKind { path: self.show(&at), found, expected: "a file" });
            }
        };
        let keep = keep.unwrap_or(len);
        if keep > len {
            return Err(Error::TooLarge { what: "what is kept of a file", limit: len });
        }
        match &self.policy {
            Policy::OwnFolder(turn) => {
                if self.below.get(&at).is_none() && self.staged.get(&at).is_none() {
                    turn.check_drift(&self.roots[at.root], &at, len)?;
                }
                let content = Content { base: Base::Path, keep, bytes: bytes.to_vec() };
                let content = match self.staged.get(&at) {
                    Some(Final::File { content: below, .. }) => content.over(below.clone()),
                    _ => content,
                };
                self.change(at, Final::File { mode, content })
            }
            Policy::UserTree(_) => {
                let body = self.view().open(&at)?.expect("a file was seen there");
                self.put_body(&at, &body, keep, bytes)
            }
        }
    }

    /// Puts the first `keep` bytes of a body and then `bytes`.
    fn put_body(&mut self, at: &At, body: &Body, keep: u64, bytes: &[u8]) -> Result<()> {
        let mode = self.prepare_file(at)?;
        let inline = keep as usize + bytes.len() <= INLINE_BYTES_MAX;
        let content = match self.policy {
            Policy::OwnFolder(_) if inline => {
                let mut all = body.read_range(0, keep)?;
                all.extend(bytes);
                Content::of_bytes(all)
            }
            _ => {
                let mut file = self.stage.create(at.root, &self.roots)?;
                file.fill_from(body, keep)?;
                file.add(bytes)?;
                self.take(at, file, mode)?
            }
        };
        self.change(at.clone(), Final::File { mode, content })
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.settled {
            self.stage.discard(&self.roots);
        }
    }
}

impl Policy<'_> {
    fn new_file_mode(&self) -> u32 {
        match self {
            Policy::OwnFolder(_) => 0o600,
            Policy::UserTree(trees) => trees.options.file_mode,
        }
    }

    fn new_folder_mode(&self) -> u32 {
        match self {
            Policy::OwnFolder(_) => 0o700,
            Policy::UserTree(trees) => trees.options.folder_mode,
        }
    }
}

/// A file can be moved from the transaction folder to this one: a failure after the commit point would be too late.
fn check_parent(root: &Root, parent: &RelPath) -> Result<()> {
    // The nearest folder that exists: those below it are made by this transaction.
    let mut folder = parent.clone();
    let stat = loop {
        match root.stat(&folder)? {
            Some(stat) => break stat,
            None => folder = folder.parent().expect("the root exists"),
        }
    };
    let home = root.stat(&root.home)?.ok_or_else(|| Error::Missing { path: root.show(&root.home) })?;
    if stat.mount != home.mount {
        return Err(Error::OtherMount { path: root.show(&folder) });
    }
    root.name(crate::Step::Inspect, &folder, root.storage.check_writable(&folder))
}
