//! A transaction: changes are staged, then committed all-or-nothing.
//!
//! This file holds what both policies share: staging with savepoints, reading what was staged, the limits. [`Policy`] is what they differ in:
//! `own/policy.rs` for a folder of files that only this program writes, `tree/policy.rs` for folders that belong to people. Both record one
//! final state per path, so the order of calls inside a transaction matters only to the calls themselves.

pub(crate) mod change;
mod put;
mod read;
pub(crate) mod snapshot;
pub(crate) mod stage;
pub(crate) mod view;

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::path::PathBuf;

use crate::disk::Kind;
use crate::path::{At, ToAt};
use crate::root::Root;
use crate::tx::change::{Change, Content, Final, Look, Print, Seen};
use crate::tx::stage::{Stage, StagedFile};
use crate::tx::view::{Overlay, View};
use crate::{Error, Failure, RelPath, Result};

/// The most paths one transaction changes.
pub const CHANGES_MAX: usize = 1 << 20;
/// The largest new content that an own folder's journal carries itself; larger content is a staged file.
pub const INLINE_BYTES_MAX: usize = 64 * 1024;

/// Staged changes to plain files: [`FolderTransaction`](crate::FolderTransaction) or [`TreeTransaction`](crate::TreeTransaction).
/// [`commit`](Self::commit) makes them all, dropping it makes none.
///
/// Reads see what was staged. It belongs to the thread that began it.
#[must_use = "a transaction that is not committed changes nothing"]
pub struct Transaction<P: Policy> {
    pub(crate) id: u128,
    pub(crate) roots: Vec<Root>,
    pub(crate) staged: Overlay,
    pub(crate) before: BTreeMap<At, Seen>,
    /// What each change replaced, newest last, for savepoints.
    undo: Vec<(At, Option<Final>)>,
    pub(crate) stage: Stage,
    pub(crate) policy: P,
    /// Whether staged files are the commit's business by now.
    pub(crate) settled: bool,
    _of_one_thread: PhantomData<*const ()>,
}

/// The rules of one kind of root, and how a transaction on it is made durable.
pub trait Policy: Sized {
    /// From how many files on staged content is synced with everything else on its file system; never when `None`.
    fn together_min(&self) -> Option<usize>;
    /// The changes of others that are committed and not in the files yet.
    fn below(&self) -> &Overlay;
    /// The mode of new files.
    fn new_file_mode(&self) -> u32;
    /// Refuses a path that cannot be changed in the folder `parent`, which is made when it is missing.
    fn prepare(tx: &mut Transaction<Self>, at: &At, parent: RelPath) -> Result<()>;
    /// The state of a path before the transaction, as far as recovery needs it.
    fn state_before(tx: &mut Transaction<Self>, at: &At, touch: Touch) -> Result<Seen>;
    /// Puts new content where it waits for the commit.
    fn hold(tx: &mut Transaction<Self>, at: &At, mode: u32, bytes: &[u8]) -> Result<Content>;
    /// Opens a staged file for content that is to have a mode.
    fn create_staged(tx: &mut Transaction<Self>, root: usize, mode: u32) -> Result<StagedFile>;
    /// Takes in a staged file that was written for a path.
    fn take_staged(tx: &mut Transaction<Self>, at: &At, file: StagedFile, mode: u32) -> Result<Content>;
    /// Makes the changes, of which there is at least one.
    fn commit(tx: Transaction<Self>, changes: Vec<Change>) -> std::result::Result<Committed, Failure>;
}

/// How much of a path a change may disturb until it is published.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Touch {
    /// All of it.
    All,
    /// The bytes behind its present end.
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
    pub path: PathBuf,
    /// The content that was put aside, when there was any.
    pub aside: Option<PathBuf>,
}

impl<P: Policy> Transaction<P> {
    pub(crate) fn new(roots: Vec<Root>, policy: P) -> Self {
        let id = fastrand::u128(..);
        Self {
            id,
            roots,
            staged: Overlay::default(),
            before: BTreeMap::new(),
            undo: Vec::new(),
            stage: Stage::new(id, policy.together_min()),
            policy,
            settled: false,
            _of_one_thread: PhantomData,
        }
    }

    /// Removes a file or symlink.
    pub fn remove(&mut self, at: impl ToAt) -> Result<()> {
        let at = at.to_at()?;
        self.whole(|tx| {
            tx.prepare(&at, Touch::All)?;
            match tx.look_prepared(&at)?.kind() {
                None => return Err(Error::Missing { path: tx.show(&at) }),
                Some(Kind::File | Kind::Symlink) => tx.change(at, Final::Absent),
                Some(found) => return Err(tx.wrong_kind(&at, found, "a file or symlink")),
            }
            Ok(())
        })
    }

    /// The transaction's id: what recovery and journals call it.
    pub fn id(&self) -> u128 {
        self.id
    }

    /// Makes all changes. When this returns `Ok` they survive power loss; when it fails, [`Failure::left`] says what is there.
    pub fn commit(self) -> std::result::Result<Committed, Failure> {
        let changes = self.changes();
        if changes.is_empty() {
            return Ok(Committed { id: self.id, kept: Vec::new(), pending: None });
        }
        let id = format_args!("{:032x}", self.id);
        let _span = tracing::debug_span!("transaction", %id, changes = changes.len()).entered();
        P::commit(self, changes)
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

    /// Runs one call: when it fails, what it staged is taken back.
    pub(crate) fn whole<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
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

    pub(crate) fn view(&self) -> View<'_> {
        View { roots: &self.roots, overlays: [self.policy.below(), &self.staged] }
    }

    pub(crate) fn show(&self, at: &At) -> PathBuf {
        self.roots[at.root].show(&at.path)
    }

    pub(crate) fn wrong_kind(&self, at: &At, found: Kind, expected: &'static str) -> Error {
        Error::WrongKind { path: self.show(at), found, expected }
    }

    pub(crate) fn check_root(&self, root: usize) -> Result<()> {
        if root < self.roots.len() {
            return Ok(());
        }
        Err(Error::BadPath { path: format!("root {root}").into(), reason: "the transaction has fewer roots" })
    }

    /// Stages the final state of a path that was prepared.
    pub(crate) fn change(&mut self, at: At, after: Final) {
        let replaced = self.staged.set(at.clone(), after);
        self.undo.push((at, replaced));
    }

    /// Gets a path ready to be changed: it is ours to change, its parents exist, and what is there is remembered.
    pub(crate) fn prepare(&mut self, at: &At, touch: Touch) -> Result<()> {
        self.check_root(at.root)?;
        if at.path.is_within(&self.roots[at.root].home) {
            return Err(Error::Reserved { path: self.show(at) });
        }
        let Some(parent) = at.path.parent() else {
            return Err(Error::BadPath { path: self.show(at), reason: "it is the root itself" });
        };
        // Each time: what was staged, or taken back, since the last call may have changed what the parent is.
        P::prepare(self, at, parent)?;
        self.look_before(at, touch)
    }

    /// Remembers what is at a path before this transaction, looked at once.
    pub(crate) fn look_before(&mut self, at: &At, touch: Touch) -> Result<()> {
        match self.before.get(at) {
            // Only its end was looked at so far.
            Some(Seen::File { print: Print::End(_), .. }) if touch == Touch::All => {}
            Some(_) => return Ok(()),
            None if self.before.len() >= CHANGES_MAX => {
                return Err(Error::TooLarge {
                    what: "changes in one transaction",
                    limit: CHANGES_MAX as u64,
                });
            }
            None => {}
        }
        let seen = P::state_before(self, at, touch)?;
        self.before.insert(at.clone(), seen);
        Ok(())
    }

    /// What is at a path that was just prepared, from the look that was taken for that.
    pub(crate) fn look_prepared(&self, at: &At) -> Result<Look> {
        match self.before.get(at) {
            Some(seen) if *seen != Seen::Ours && self.staged.get(at).is_none() => {
                seen.with_file(|mode, len| Ok(Look::File { mode, len, print: () }))
            }
            _ => self.look(at),
        }
    }

    /// As `prepare`, for what puts a file or symlink there; the mode it is to have.
    pub(crate) fn prepare_file(&mut self, at: &At) -> Result<u32> {
        self.prepare(at, Touch::All)?;
        match self.look_prepared(at)? {
            Look::File { mode, .. } => Ok(mode),
            Look::Absent | Look::Symlink { .. } => Ok(self.policy.new_file_mode()),
            look => Err(self.wrong_kind(at, look.kind().expect("something is there"), "a file")),
        }
    }
}

impl<P: Policy> Drop for Transaction<P> {
    fn drop(&mut self) {
        if !self.settled {
            self.stage.discard(&self.roots);
        }
    }
}
