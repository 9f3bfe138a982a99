//! A transaction: changes are staged, then committed all-or-nothing.
//!
//! Two policies share it, chosen by where it begins: [`OwnFolder::begin`](crate::OwnFolder::begin) for a folder of files that
//! only this program writes, [`Trees::begin`](crate::Trees::begin) for folders that belong to people. Both record one final
//! state per path, so the order of calls inside a transaction matters only to the calls themselves.

mod putting;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::folder::Turn;
use crate::path::{At, ToAt};
use crate::root::{OUR_FILE_MODE, Root};
use crate::stage::{Stage, StagedFile};
use crate::state::{Base, Change, Content, Final, Print, Seen};
use crate::storage::Kind;
use crate::tree::Trees;
use crate::view::{Body, Look, Overlay, View};
use crate::{Error, Failure, RelPath, Result};

/// The most paths one transaction changes.
pub const CHANGES_MAX: usize = 1 << 20;
/// The largest new content that an own folder's journal carries itself; larger content is a staged file.
pub const INLINE_BYTES_MAX: usize = 64 * 1024;
/// The longest target of a symlink, in bytes: the limit of Linux.
const TARGET_BYTES_MAX: usize = 4095;

/// Staged changes to plain files. [`commit`](Self::commit) makes them all, dropping it makes none.
///
/// Reads see what was staged. It belongs to the thread that began it.
#[must_use = "a transaction that is not committed changes nothing"]
pub struct Transaction<'a> {
    pub(crate) id: u128,
    pub(crate) roots: Vec<Root>,
    /// By root, the mount of its transaction folder, once it is known.
    home_mounts: Vec<Option<u64>>,
    /// What other threads committed and is not in the files yet.
    pub(crate) below: Arc<Overlay>,
    staged: Overlay,
    before: BTreeMap<At, Seen>,
    /// What each change replaced, newest last, for savepoints.
    undo: Vec<(At, Option<Final>)>,
    pub(crate) stage: Stage,
    pub(crate) policy: Policy<'a>,
    /// Folders on the disk that are known to be writable and on their root's mount.
    checked: BTreeSet<At>,
    /// Files that a savepoint restored: their staged content may have got another mode meanwhile.
    restored: BTreeSet<At>,
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

/// How much of a path a change may disturb until it is published.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Touch {
    All,
    End,
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
    pub(crate) fn new(roots: Vec<Root>, below: Arc<Overlay>, policy: Policy<'a>) -> Self {
        let id = fastrand::u128(..);
        let together_min = match &policy {
            Policy::OwnFolder(_) => None,
            Policy::UserTree(trees) => Some(trees.options.together_min),
        };
        Self {
            id,
            home_mounts: vec![None; roots.len()],
            roots,
            below,
            staged: Overlay::default(),
            before: BTreeMap::new(),
            undo: Vec::new(),
            stage: Stage::new(id, together_min),
            policy,
            checked: BTreeSet::new(),
            restored: BTreeSet::new(),
            settled: false,
            _of_one_thread: PhantomData,
        }
    }

    /// Adds to the end of a file, or makes it.
    ///
    /// In an own folder a file that somebody else changed since this process last wrote it is [`Error::Drifted`], once: read it
    /// again, then append again.
    pub fn append(&mut self, at: impl ToAt, bytes: &[u8]) -> Result<()> {
        let at = at.to_at()?;
        self.nested(|tx| {
            tx.prepare(&at, Touch::End)?;
            match tx.look(&at)? {
                Look::Absent => tx.put(&at, bytes),
                look => tx.rewrite_end(at, look, None, bytes),
            }
        })
    }

    /// Cuts a file to `len` bytes; longer than it is, is an error.
    pub fn truncate(&mut self, at: impl ToAt, len: u64) -> Result<()> {
        let at = at.to_at()?;
        self.nested(|tx| {
            tx.prepare(&at, Touch::End)?;
            let look = tx.look(&at)?;
            tx.rewrite_end(at, look, Some(len), &[])
        })
    }

    /// Removes a file or symlink.
    pub fn remove(&mut self, at: impl ToAt) -> Result<()> {
        let at = at.to_at()?;
        self.nested(|tx| {
            tx.prepare(&at, Touch::All)?;
            match tx.look_prepared(&at)?.kind() {
                None => Err(Error::Missing { path: tx.show(&at) }),
                Some(Kind::File | Kind::Symlink) => tx.change(at, Final::Absent),
                Some(found) => {
                    Err(Error::WrongKind { path: tx.show(&at), found, expected: "a file or symlink" })
                }
            }
        })
    }

    /// Moves a file, symlink or folder within a root; a file or symlink at the new place is replaced.
    pub fn rename(&mut self, from: impl ToAt, to: impl ToAt) -> Result<()> {
        let (from, to) = (from.to_at()?, to.to_at()?);
        if from == to {
            return Ok(());
        }
        self.nested(|tx| tx.move_to(&from, &to))
    }

    /// Changes the permission bits of a file or folder.
    pub fn set_mode(&mut self, at: impl ToAt, mode: u32) -> Result<()> {
        let at = at.to_at()?;
        self.nested(|tx| {
            tx.prepare(&at, Touch::All)?;
            match tx.look(&at)? {
                Look::Absent => Err(Error::Missing { path: tx.show(&at) }),
                Look::Folder { .. } => {
                    tx.check_folder_mode(&at, mode)?;
                    tx.change(at, Final::Folder { mode })
                }
                Look::File { len, .. } => {
                    let content = match tx.staged.get(&at) {
                        Some(Final::File { content, .. }) => content.clone(),
                        _ => {
                            tx.check_drift(&at, len)?;
                            Content::of_path(len)
                        }
                    };
                    if let (Base::Staged(staged), Policy::UserTree(_)) = (&content.base, &tx.policy) {
                        tx.stage.set_mode(at.root, staged, mode, &tx.roots)?;
                    }
                    tx.change(at, Final::File { mode, content })
                }
                look => {
                    let found = look.kind().expect("something is there");
                    Err(Error::WrongKind { path: tx.show(&at), found, expected: "a file or folder" })
                }
            }
        })
    }

    /// Makes a symlink; a file or symlink at that path is replaced. Where it points is not checked: it is text.
    pub fn symlink(&mut self, at: impl ToAt, target: &OsStr) -> Result<()> {
        let at = at.to_at()?;
        self.check_root(at.root)?;
        // What the system would refuse must not be found out after the commit point.
        if target.is_empty() || target.len() > TARGET_BYTES_MAX || target.as_encoded_bytes().contains(&0) {
            let reason = "its target is empty, longer than 4095 bytes or contains a NUL byte";
            return Err(Error::BadPath { path: self.show(&at), reason });
        }
        self.nested(|tx| {
            tx.prepare_file(&at)?;
            tx.change(at, Final::Symlink { target: target.to_owned() })
        })
    }

    /// Makes a folder, and those above it that are missing.
    pub fn make_folder(&mut self, at: impl ToAt, mode: u32) -> Result<()> {
        let at = at.to_at()?;
        self.nested(|tx| {
            tx.prepare(&at, Touch::All)?;
            if tx.look(&at)? != Look::Absent {
                return Err(Error::Exists { path: tx.show(&at) });
            }
            tx.check_folder_mode(&at, mode)?;
            tx.change(at, Final::Folder { mode })
        })
    }

    /// Removes a folder that is empty by then.
    pub fn remove_folder(&mut self, at: impl ToAt) -> Result<()> {
        let at = at.to_at()?;
        self.nested(|tx| {
            tx.prepare(&at, Touch::All)?;
            match tx.look(&at)?.kind() {
                None => return Err(Error::Missing { path: tx.show(&at) }),
                Some(Kind::Folder) => {}
                Some(found) => {
                    return Err(Error::WrongKind { path: tx.show(&at), found, expected: "a folder" });
                }
            }
            let holds_home = tx.roots[at.root].home.is_within(&at.path);
            if holds_home || !tx.view().list(&at)?.is_empty() {
                return Err(Error::NotEmpty { path: tx.show(&at) });
            }
            tx.change(at, Final::Absent)
        })
    }

    /// Runs calls that stand or fall together inside this transaction: when `work` fails, what it staged is taken back and the
    /// rest stays. What it returns is *joined*: durable only when the whole transaction is.
    pub fn nested<T, E>(
        &mut self,
        work: impl FnOnce(&mut Self) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let savepoint = self.undo.len();
        let result = work(self);
        if result.is_err() {
            while self.undo.len() > savepoint {
                let (at, before) = self.undo.pop().expect("it is longer than the savepoint");
                if matches!((&before, &self.policy), (Some(Final::File { .. }), Policy::UserTree(_))) {
                    self.restored.insert(at.clone());
                }
                self.staged.restore(at, before);
            }
        }
        result
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
        let id = format_args!("{:032x}", self.id);
        let _span = tracing::debug_span!("transaction", %id, changes = changes.len()).entered();
        for at in &self.restored {
            if let Some(Final::File { mode, content: Content { base: Base::Staged(staged), .. } }) =
                self.staged.get(at)
            {
                self.stage.set_mode(at.root, staged, *mode, &self.roots)?;
            }
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

    pub(crate) fn show(&self, at: &At) -> std::path::PathBuf {
        self.roots[at.root].show(&at.path)
    }

    pub(crate) fn check_root(&self, root: usize) -> Result<()> {
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
    fn prepare(&mut self, at: &At, touch: Touch) -> Result<()> {
        self.check_root(at.root)?;
        if at.path.is_within(&self.roots[at.root].home) {
            return Err(Error::Reserved { path: self.show(at) });
        }
        let Some(parent) = at.path.parent() else {
            return Err(Error::BadPath { path: self.show(at), reason: "it is the root itself" });
        };
        self.look_at_home(at.root)?;
        // Each time: what was staged, or taken back, since the last call may have changed what the parent is.
        self.prepare_parent(&At { root: at.root, path: parent })?;
        match self.before.get(at) {
            // Only its end was looked at so far.
            Some(Seen::File { print: Print::End(_), .. }) if touch == Touch::All => {}
            Some(_) => return Ok(()),
            None => {}
        }
        let seen = self.look_before(at, touch)?;
        self.before.insert(at.clone(), seen);
        Ok(())
    }

    /// What is at a path before this transaction, looked at once.
    pub(crate) fn observed(&mut self, at: At) -> Result<&Seen> {
        if !self.before.contains_key(&at) {
            self.look_at_home(at.root)?;
            let seen = self.look_before(&at, Touch::All)?;
            self.before.insert(at.clone(), seen);
        }
        Ok(&self.before[&at])
    }

    fn look_before(&self, at: &At, touch: Touch) -> Result<Seen> {
        let root = &self.roots[at.root];
        match &self.policy {
            Policy::OwnFolder(turn) => turn.before(root, at, &self.below, touch),
            Policy::UserTree(_) => {
                let (seen, mount) = root.see_with_mount(&at.path)?;
                if mount.is_some_and(|mount| self.home_mounts[at.root] != Some(mount)) {
                    return Err(Error::OtherMount { path: self.show(at) });
                }
                Ok(seen)
            }
        }
    }

    /// Notes on which mount the transaction folder is: what is elsewhere cannot be replaced from there.
    fn look_at_home(&mut self, root: usize) -> Result<()> {
        if self.home_mounts[root].is_none() {
            let Root { home, .. } = &self.roots[root];
            let stat = self.roots[root].stat(home)?;
            let stat = stat.ok_or_else(|| Error::Missing { path: self.roots[root].show(home) })?;
            self.home_mounts[root] = Some(stat.mount);
        }
        Ok(())
    }

    /// Sees to it that a folder is there by then and that names in it can change. One that is on the disk is asked once.
    fn prepare_parent(&mut self, parent: &At) -> Result<()> {
        let is_staged = self.staged.get(parent).is_some();
        if !is_staged && self.checked.contains(parent) {
            return Ok(());
        }
        match if parent.path.is_root() { Some(Kind::Folder) } else { self.look(parent)?.kind() } {
            Some(Kind::Folder) => {}
            None => {
                let mode = self.policy.new_folder_mode();
                return self.make_folder(parent, mode);
            }
            Some(found) => {
                return Err(Error::WrongKind { path: self.show(parent), found, expected: "a folder" });
            }
        }
        if let Policy::UserTree(_) = self.policy {
            check_parent(&self.roots[parent.root], &parent.path, self.home_mounts[parent.root])?;
            if !is_staged {
                self.checked.insert(parent.clone());
            }
        }
        Ok(())
    }

    /// What is at a path that was just prepared; a person's file was looked at for that already.
    fn look_prepared(&self, at: &At) -> Result<Look> {
        match (&self.policy, self.before.get(at)) {
            (Policy::UserTree(_), Some(seen)) if self.staged.get(at).is_none() => Ok(Look::of(seen)),
            _ => self.look(at),
        }
    }

    /// As `prepare`, for what puts a file or symlink there; the mode it is to have.
    fn prepare_file(&mut self, at: &At) -> Result<u32> {
        self.prepare(at, Touch::All)?;
        match self.look_prepared(at)? {
            Look::File { mode, .. } => Ok(mode),
            Look::Absent | Look::Symlink { .. } => Ok(self.policy.new_file_mode()),
            look => {
                let found = look.kind().expect("something is there");
                Err(Error::WrongKind { path: self.show(at), found, expected: "a file" })
            }
        }
    }

    /// Opens a staged file for content that is to have a mode. In an own folder only the content goes from here into the file.
    fn create_staged(&mut self, root: usize, mode: u32) -> Result<StagedFile> {
        let mode = if let Policy::OwnFolder(_) = self.policy { OUR_FILE_MODE } else { mode };
        self.stage.create(root, &self.roots, mode)
    }

    /// Takes a written file in, with the owner and attributes of what it replaces.
    fn take(&mut self, at: &At, file: StagedFile, mode: u32) -> Result<Content> {
        let replaced = matches!(self.before.get(at), Some(Seen::File { .. })).then(|| at.path.clone());
        self.take_like(replaced, at.root, file, mode)
    }

    /// Takes a written file in, with the owner and attributes of the file at `like`.
    fn take_like(
        &mut self,
        like: Option<RelPath>,
        root: usize,
        file: StagedFile,
        mode: u32,
    ) -> Result<Content> {
        if let Policy::OwnFolder(_) = self.policy {
            // Only the content goes from here into the file.
            return Ok(Content::of_staged(self.stage.take(file, OUR_FILE_MODE, &self.roots)?));
        }
        if let Some(like) = like {
            let root = &self.roots[root];
            root.name(crate::Step::Stage, &like, root.storage.copy_attributes(&like, &file.path))?;
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
        self.check_drift(&at, len)?;
        match &self.policy {
            Policy::OwnFolder(_) => {
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

    /// In an own folder, what builds on a file's content needs the file to be as it was left.
    fn check_drift(&self, at: &At, len: u64) -> Result<()> {
        match &self.policy {
            Policy::OwnFolder(turn) if self.below.get(at).is_none() && self.staged.get(at).is_none() => {
                turn.check_drift(&self.roots[at.root], at, len)
            }
            _ => Ok(()),
        }
    }

    /// In an own folder, what is published again after a crash must be able to get into every folder.
    fn check_folder_mode(&self, at: &At, mode: u32) -> Result<()> {
        match &self.policy {
            Policy::OwnFolder(_) if mode | 0o700 != mode => {
                let reason = "a folder of an own folder stays open to its owner (mode 700 at least)";
                Err(Error::BadPath { path: self.show(at), reason })
            }
            _ => Ok(()),
        }
    }

    /// Puts the first `keep` bytes of a body and then `bytes`.
    fn put_body(&mut self, at: &At, body: &Body, keep: u64, bytes: &[u8]) -> Result<()> {
        let mode = self.prepare_file(at)?;
        let replaced = matches!(self.before.get(at), Some(Seen::File { .. })).then(|| at.path.clone());
        self.put_body_like(at, body, (keep, bytes), mode, replaced)
    }

    /// As `put_body`, with this mode, and with the owner and attributes of the file at `like`.
    fn put_body_like(
        &mut self,
        at: &At,
        body: &Body,
        (keep, bytes): (u64, &[u8]),
        mode: u32,
        like: Option<RelPath>,
    ) -> Result<()> {
        let inline = keep as usize + bytes.len() <= INLINE_BYTES_MAX;
        let content = match self.policy {
            Policy::OwnFolder(_) if inline => {
                let mut all = body.read_range(0, keep)?;
                all.extend(bytes);
                Content::of_bytes(all)
            }
            _ => {
                let mut file = self.create_staged(at.root, mode)?;
                file.fill_from(body, keep)?;
                file.add(bytes)?;
                self.take_like(like, at.root, file, mode)?
            }
        };
        self.change(at.clone(), Final::File { mode, content })
    }

    fn move_to(&mut self, from: &At, to: &At) -> Result<()> {
        self.prepare(from, Touch::All)?;
        match self.look(from)? {
            Look::Absent => Err(Error::Missing { path: self.show(from) }),
            Look::Other => {
                let (path, expected) = (self.show(from), "a file, symlink or folder");
                Err(Error::WrongKind { path, found: Kind::Other, expected })
            }
            Look::Symlink { target } => {
                self.symlink(to, &target)?;
                self.remove(from)
            }
            Look::File { mode, .. } => {
                let body = self.view().open(from)?.expect("a file was seen there");
                self.prepare_file(to)?;
                // Owner and attributes go along, within a root.
                let like = (from.root == to.root).then(|| self.source_of(from));
                self.put_body_like(to, &body, (body.len(), &[]), mode, like)?;
                self.remove(from)
            }
            Look::Folder { mode } => {
                if to.root == from.root && to.path.is_within(&from.path) {
                    let path = self.show(to);
                    return Err(Error::BadPath { path, reason: "a folder cannot move into itself" });
                }
                self.make_folder(to, mode)?;
                for name in self.view().list(from)? {
                    let child = |at: &At| At { root: at.root, path: at.path.join(&name) };
                    self.move_to(&child(from), &child(to))?;
                }
                self.remove_folder(from)
            }
        }
    }

    /// The file on the disk that has the owner and attributes of the file at a path.
    fn source_of(&self, at: &At) -> RelPath {
        match self.staged.get(at) {
            Some(Final::File { content: Content { base: Base::Staged(staged), .. }, .. }) => {
                self.roots[at.root].in_home(crate::view::STAGE).join(staged.name())
            }
            _ => at.path.clone(),
        }
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
fn check_parent(root: &Root, parent: &RelPath, home_mount: Option<u64>) -> Result<()> {
    // The nearest folder that exists: those below it are made by this transaction, maybe in the place of a file.
    let mut folder = parent.clone();
    let mount = loop {
        match root.stat(&folder)? {
            Some(stat) if stat.kind == Kind::Folder => break stat.mount,
            _ => folder = folder.parent().expect("the root is a folder"),
        }
    };
    if home_mount != Some(mount) {
        return Err(Error::OtherMount { path: root.show(&folder) });
    }
    root.name(crate::Step::Inspect, &folder, root.storage.check_writable(&folder))
}
