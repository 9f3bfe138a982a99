//! Policy of own folders: plain files directly in the folder, which can be replaced, appended to,
//! truncated and renamed. A commit is one record and one sync; it is published in place.

use std::sync::Arc;

use super::StagingPermit;
use super::group_commit::CommitOutcome;
use crate::journal::record::Record;
use crate::path::{ToTxPath, TxPath};
use crate::root::OUR_FILE_MODE;
use crate::tx::change::{Change, Content, ContentBase, Observed, PathState, TargetState};
use crate::tx::stage::StagedFile;
use crate::tx::view::Overlay;
use crate::tx::{CommitReport, Extent, INLINE_BYTES_MAX, Policy, Transaction};
use crate::{Error, Failure, RelPath, Result};

/// A transaction on an [`OwnFolder`](crate::OwnFolder).
pub type FolderTransaction<'a> = Transaction<StagingPermit<'a>>;

impl Policy for StagingPermit<'_> {
    fn syncfs_threshold(&self) -> Option<usize> {
        None
    }

    fn committed_overlay(&self) -> &Overlay {
        &self.committed
    }

    fn default_file_mode(&self) -> u32 {
        OUR_FILE_MODE
    }

    fn prepare(tx: &mut Transaction<Self>, at: &TxPath, parent: RelPath) -> Result<()> {
        if parent.is_root() {
            return Ok(());
        }
        Err(Error::BadPath { path: tx.full_path(at), reason: "an own folder has no subfolders" })
    }

    fn observe_path(tx: &mut Transaction<Self>, at: &TxPath, extent: Extent) -> Result<Observed> {
        let root = &tx.roots[at.root];
        if tx.policy.committed.get(at).is_some() || tx.policy.inner.state().recorded_len(&at.path).is_some() {
            return Ok(Observed::PreviousRecord);
        }
        match extent {
            Extent::Tail => root.observe_tail(&at.path),
            Extent::Whole => root.observe_content(&at.path, INLINE_BYTES_MAX as u64),
        }
    }

    fn stage_bytes(tx: &mut Transaction<Self>, at: &TxPath, mode: u32, bytes: &[u8]) -> Result<Content> {
        if bytes.len() <= INLINE_BYTES_MAX {
            return Ok(Content::of_bytes(bytes.to_vec()));
        }
        let mut file = Self::create_staged(tx, at.root, mode)?;
        file.append(bytes)?;
        Self::add_staged(tx, at, file, mode)
    }

    /// Publishing copies only the content of a staged file, so its mode does not matter.
    fn create_staged(tx: &mut Transaction<Self>, root: usize, _mode: u32) -> Result<StagedFile> {
        tx.stage.create(root, &tx.roots, OUR_FILE_MODE)
    }

    fn add_staged(tx: &mut Transaction<Self>, _at: &TxPath, file: StagedFile, _mode: u32) -> Result<Content> {
        Ok(Content::of_staged(tx.stage.add(file, OUR_FILE_MODE, &tx.roots)?))
    }

    fn commit(mut tx: Transaction<Self>, changes: Vec<Change>) -> std::result::Result<CommitReport, Failure> {
        tx.stage.sync(&tx.roots)?;
        let inner = tx.policy.inner;
        let record = Record { id: tx.id, owner: Vec::new(), roots: Vec::new(), changes };
        // Dropped first, so that the overlay of the folder state can change in place.
        tx.policy.committed = Arc::default();
        let queued = inner.enqueue(record)?;
        let Some(ticket) = inner.group.submit(queued) else {
            // A batch that this was staged on failed. The failure reset the folder state, so the
            // offset of this record is free again.
            return Err(Failure::aborted(Error::Superseded));
        };
        tx.policy.is_held = false;
        tx.keep_staged = true;
        // After a failure, journal and memory may differ: the next transaction reads the folder
        // again.
        let on_failure = || inner.state().reset();
        let (write, publish) = (|batch| inner.write(batch), |batch| inner.publish(batch));
        let report = |pending| CommitReport { id: tx.id, preserved: Vec::new(), pending };
        match inner.group.commit(ticket, write, publish, on_failure, || inner.release()) {
            CommitOutcome::Published => Ok(report(None)),
            CommitOutcome::Pending(source) => Ok(report(Some(Error::GroupCommit { source }))),
            CommitOutcome::Aborted(source) => Err(Failure::aborted(Error::GroupCommit { source })),
            CommitOutcome::Unknown(source) => Err(Failure::unknown(Error::GroupCommit { source })),
            CommitOutcome::Superseded => Err(Failure::aborted(Error::Superseded)),
        }
    }
}

impl FolderTransaction<'_> {
    /// Appends to a file, or creates it.
    ///
    /// Fails once with [`Error::ModifiedExternally`] if another program changed the file: read it
    /// again, then append again.
    pub fn append(&mut self, at: impl ToTxPath, bytes: &[u8]) -> Result<()> {
        let at = at.to_tx_path()?;
        self.with_savepoint(|tx| {
            tx.prepare(&at, Extent::Tail)?;
            match tx.path_state(&at)? {
                PathState::Absent => tx.put(&at, bytes),
                state => tx.rewrite_tail(at, state, None, bytes),
            }
        })
    }

    /// Truncates a file to `len` bytes. A `len` beyond its end is an error.
    pub fn truncate(&mut self, at: impl ToTxPath, len: u64) -> Result<()> {
        let at = at.to_tx_path()?;
        self.with_savepoint(|tx| {
            tx.prepare(&at, Extent::Tail)?;
            let state = tx.path_state(&at)?;
            tx.rewrite_tail(at, state, Some(len), &[])
        })
    }

    /// Renames a file, with its mode. Replaces a file or symlink at the new name.
    pub fn rename(&mut self, from: impl ToTxPath, to: impl ToTxPath) -> Result<()> {
        let (from, to) = (from.to_tx_path()?, to.to_tx_path()?);
        if from == to {
            return Ok(());
        }
        self.with_savepoint(|tx| {
            tx.prepare(&from, Extent::Whole)?;
            let mode = match tx.path_state(&from)? {
                PathState::File { mode, .. } => mode,
                PathState::Absent => return Err(Error::NotFound { path: tx.full_path(&from) }),
                state => {
                    return Err(tx.wrong_kind(&from, state.kind().expect("something is there"), "a file"));
                }
            };
            let content = tx.view().open(&from)?.expect("a file was seen there");
            tx.prepare_file(&to)?;
            let content = if content.len() <= INLINE_BYTES_MAX as u64 {
                Content::of_bytes(content.read_range(0, content.len())?)
            } else {
                let mut file = Policy::create_staged(tx, to.root, mode)?;
                content.read_chunks(|bytes| file.append(bytes))?;
                Policy::add_staged(tx, &to, file, mode)?
            };
            tx.change(to, TargetState::File { mode, content });
            tx.change(from, TargetState::Absent);
            Ok(())
        })
    }

    /// Keeps the first `prefix_len` bytes of a file (default: all) and appends `bytes`.
    fn rewrite_tail(
        &mut self,
        at: TxPath,
        state: PathState,
        prefix_len: Option<u64>,
        bytes: &[u8],
    ) -> Result<()> {
        let (mode, len) = match state {
            PathState::File { mode, len, .. } => (mode, len),
            PathState::Absent => return Err(Error::NotFound { path: self.full_path(&at) }),
            state => return Err(self.wrong_kind(&at, state.kind().expect("something is there"), "a file")),
        };
        let prefix_len = prefix_len.unwrap_or(len);
        if prefix_len > len {
            return Err(Error::LimitExceeded { what: "the new length of a file", limit: len });
        }
        self.check_len(&at, len)?;
        let content = Content { base: ContentBase::Path, prefix_len, bytes: bytes.to_vec() };
        let content = match self.staged.get(&at) {
            Some(TargetState::File { content: below, .. }) => content.on_top_of(below.clone()),
            _ => content,
        };
        self.change(at, TargetState::File { mode, content });
        Ok(())
    }

    /// Checks the length of a file before a change that builds on its content. Fails once if
    /// another program changed it.
    fn check_len(&self, at: &TxPath, len: u64) -> Result<()> {
        if self.policy.committed.get(at).is_some() || self.staged.get(at).is_some() {
            return Ok(());
        }
        let mut state = self.policy.inner.state();
        match state.recorded_len(&at.path) {
            Some(recorded) if recorded != len => {
                state.forget_len(&at.path);
                let reason = format!("its length is {len} bytes, not {recorded}");
                Err(Error::ModifiedExternally { path: self.full_path(at), reason })
            }
            _ => Ok(()),
        }
    }
}
