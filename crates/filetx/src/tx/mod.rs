//! The transaction: stages changes, then commits them all-or-nothing.
//!
//! This module holds the part that both policies share: staging with savepoints, reading staged
//! changes, the limits. [`Policy`] is the part in which they differ: `own/policy.rs` for a folder
//! that only this program writes, `tree/policy.rs` for folders that belong to people. Both record
//! one target state per path, so the order of calls inside a transaction matters only to the calls
//! themselves.

pub(crate) mod change;
mod put;
mod read;
pub(crate) mod snapshot;
pub(crate) mod stage;
pub(crate) mod view;

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::path::PathBuf;

use crate::disk::FileKind;
use crate::path::{ToTxPath, TxPath};
use crate::root::Root;
use crate::tx::change::{Change, Content, Fingerprint, Observed, PathState, TargetState};
use crate::tx::stage::{Stage, StagedFile};
use crate::tx::view::{Overlay, View};
use crate::{Error, Failure, RelPath, Result};

/// Maximum number of paths that one transaction changes.
pub const CHANGES_MAX: usize = 1 << 20;
/// Largest new content, in bytes, that the journal of an own folder holds. Larger content is a
/// staged file.
pub const INLINE_BYTES_MAX: usize = 64 * 1024;

/// Staged changes to plain files: [`FolderTransaction`](crate::FolderTransaction) or
/// [`TreeTransaction`](crate::TreeTransaction). [`commit`](Self::commit) makes all of them,
/// dropping the transaction makes none.
///
/// Reads see the staged changes. A transaction stays on the thread that began it.
#[must_use = "a transaction that is not committed changes nothing"]
pub struct Transaction<P: Policy> {
    pub(crate) id: u128,
    pub(crate) roots: Vec<Root>,
    pub(crate) staged: Overlay,
    pub(crate) before: BTreeMap<TxPath, Observed>,
    /// The state that each staged change replaced, newest last, for savepoints.
    replaced: Vec<(TxPath, Option<TargetState>)>,
    pub(crate) stage: Stage,
    pub(crate) policy: P,
    /// The commit owns the staged files: dropping the transaction keeps them.
    pub(crate) keep_staged: bool,
    _not_send: PhantomData<*const ()>,
}

/// The rules of one kind of root, and the way to make a transaction on it durable.
pub trait Policy: Sized {
    /// Number of staged files from which one `syncfs` replaces their own syncs; `None` means never.
    fn syncfs_threshold(&self) -> Option<usize>;
    /// Committed changes that are not in the files yet.
    fn committed_overlay(&self) -> &Overlay;
    /// Mode of new files.
    fn default_file_mode(&self) -> u32;
    /// Checks that the path can change. Stages the folder `parent` if it is missing.
    fn prepare(tx: &mut Transaction<Self>, at: &TxPath, parent: RelPath) -> Result<()>;
    /// Observes a path before the transaction, in the detail that recovery needs.
    fn observe_path(tx: &mut Transaction<Self>, at: &TxPath, extent: Extent) -> Result<Observed>;
    /// Stores new content for the commit.
    fn stage_bytes(tx: &mut Transaction<Self>, at: &TxPath, mode: u32, bytes: &[u8]) -> Result<Content>;
    /// Opens a staged file for content with the given mode.
    fn create_staged(tx: &mut Transaction<Self>, root: usize, mode: u32) -> Result<StagedFile>;
    /// Adds a complete staged file to the transaction.
    fn add_staged(tx: &mut Transaction<Self>, at: &TxPath, file: StagedFile, mode: u32) -> Result<Content>;
    /// Commits the changes. The list is not empty.
    fn commit(tx: Transaction<Self>, changes: Vec<Change>) -> std::result::Result<CommitReport, Failure>;
}

/// Part of a file that a change may overwrite before it is published.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// The whole file.
    Whole,
    /// The bytes after the present end.
    Tail,
}

/// Result of a transaction that reached its commit point.
#[derive(Debug)]
#[must_use = "the commit may be pending or may have preserved content"]
pub struct CommitReport {
    /// Id of the transaction.
    pub id: u128,
    /// Paths that another program changed during the commit. They keep that content; the content of
    /// the commit is preserved elsewhere.
    pub preserved: Vec<Preserved>,
    /// The error that stopped publishing; the next open finishes it. `None` if the change is in the
    /// files.
    pub pending: Option<Error>,
}

/// A path with an edit that the transaction did not expect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Preserved {
    /// The path that was edited.
    pub path: PathBuf,
    /// The file that holds the preserved content, if there was any.
    pub preserved_at: Option<PathBuf>,
}

impl<P: Policy> Transaction<P> {
    pub(crate) fn new(roots: Vec<Root>, policy: P) -> Self {
        let id = fastrand::u128(..);
        Self {
            id,
            roots,
            staged: Overlay::default(),
            before: BTreeMap::new(),
            replaced: Vec::new(),
            stage: Stage::new(id, policy.syncfs_threshold()),
            policy,
            keep_staged: false,
            _not_send: PhantomData,
        }
    }

    /// Removes a file or symlink.
    pub fn remove(&mut self, at: impl ToTxPath) -> Result<()> {
        let at = at.to_tx_path()?;
        self.with_savepoint(|tx| {
            tx.prepare(&at, Extent::Whole)?;
            match tx.prepared_state(&at)?.kind() {
                None => return Err(Error::NotFound { path: tx.full_path(&at) }),
                Some(FileKind::File | FileKind::Symlink) => tx.change(at, TargetState::Absent),
                Some(found) => return Err(tx.wrong_kind(&at, found, "a file or symlink")),
            }
            Ok(())
        })
    }

    /// Id of the transaction, as recovery reports it.
    pub fn id(&self) -> u128 {
        self.id
    }

    /// Commits all changes. They survive power loss once this returns `Ok`. After an error,
    /// [`Failure::outcome`] tells the state of the disk.
    pub fn commit(self) -> std::result::Result<CommitReport, Failure> {
        let changes = self.changes();
        if changes.is_empty() {
            return Ok(CommitReport { id: self.id, preserved: Vec::new(), pending: None });
        }
        let id = format_args!("{:032x}", self.id);
        let _span = tracing::debug_span!("transaction", %id, changes = changes.len()).entered();
        P::commit(self, changes)
    }

    /// The staged changes, without those that change nothing.
    fn changes(&self) -> Vec<Change> {
        let changed = self.staged.iter().filter(|(at, after)| !after.matches(&self.before[at]));
        changed
            .map(|(at, after)| Change {
                root: at.root,
                path: at.path.clone(),
                before: self.before[at].clone(),
                after: after.clone(),
            })
            .collect()
    }

    /// Runs one call. If it fails, removes the changes that it staged.
    pub(crate) fn with_savepoint<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let savepoint = self.replaced.len();
        let result = work(self);
        if result.is_err() {
            while self.replaced.len() > savepoint {
                let (at, before) = self.replaced.pop().expect("it is longer than the savepoint");
                self.staged.restore(at, before);
            }
        }
        result
    }

    pub(crate) fn view(&self) -> View<'_> {
        View { roots: &self.roots, overlays: [self.policy.committed_overlay(), &self.staged] }
    }

    pub(crate) fn full_path(&self, at: &TxPath) -> PathBuf {
        self.roots[at.root].full_path(&at.path)
    }

    pub(crate) fn wrong_kind(&self, at: &TxPath, found: FileKind, expected: &'static str) -> Error {
        Error::WrongFileKind { path: self.full_path(at), found, expected }
    }

    pub(crate) fn check_root(&self, root: usize) -> Result<()> {
        if root < self.roots.len() {
            return Ok(());
        }
        Err(Error::BadPath { path: format!("root {root}").into(), reason: "the transaction has fewer roots" })
    }

    /// Stages the target state of a prepared path.
    pub(crate) fn change(&mut self, at: TxPath, after: TargetState) {
        let replaced = self.staged.set(at.clone(), after);
        self.replaced.push((at, replaced));
    }

    /// Prepares a path for a change: checks that it may change, stages its missing parents, and
    /// observes it.
    pub(crate) fn prepare(&mut self, at: &TxPath, extent: Extent) -> Result<()> {
        self.check_root(at.root)?;
        if at.path.is_within(&self.roots[at.root].txn_dir) {
            return Err(Error::ReservedPath { path: self.full_path(at) });
        }
        let Some(parent) = at.path.parent() else {
            return Err(Error::BadPath { path: self.full_path(at), reason: "it is the root itself" });
        };
        // Each time: changes staged or removed since the last call may have changed the parent.
        P::prepare(self, at, parent)?;
        self.observe_before(at, extent)
    }

    /// Observes a path before this transaction, once.
    pub(crate) fn observe_before(&mut self, at: &TxPath, extent: Extent) -> Result<()> {
        match self.before.get(at) {
            // Only the tail was observed.
            Some(Observed::File { fingerprint: Fingerprint::Tail(_), .. }) if extent == Extent::Whole => {}
            Some(_) => return Ok(()),
            None if self.before.len() >= CHANGES_MAX => {
                return Err(Error::LimitExceeded {
                    what: "changes in one transaction",
                    limit: CHANGES_MAX as u64,
                });
            }
            None => {}
        }
        let observed = P::observe_path(self, at, extent)?;
        self.before.insert(at.clone(), observed);
        Ok(())
    }

    /// The state of a prepared path, taken from its observation if possible.
    pub(crate) fn prepared_state(&self, at: &TxPath) -> Result<PathState> {
        match self.before.get(at) {
            Some(observed) if *observed != Observed::PreviousRecord && self.staged.get(at).is_none() => {
                observed.with_file(|mode, len| Ok(PathState::File { mode, len, fingerprint: () }))
            }
            _ => self.path_state(at),
        }
    }

    /// Prepares a path for a file or symlink, and returns the mode for it.
    pub(crate) fn prepare_file(&mut self, at: &TxPath) -> Result<u32> {
        self.prepare(at, Extent::Whole)?;
        match self.prepared_state(at)? {
            PathState::File { mode, .. } => Ok(mode),
            PathState::Absent | PathState::Symlink { .. } => Ok(self.policy.default_file_mode()),
            state => Err(self.wrong_kind(at, state.kind().expect("something is there"), "a file")),
        }
    }
}

impl<P: Policy> Drop for Transaction<P> {
    fn drop(&mut self) {
        if !self.keep_staged {
            self.stage.discard(&self.roots);
        }
    }
}
