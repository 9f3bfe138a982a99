//! The rules of an own folder: plain files directly in it, which grow, are cut and replaced. One record in the journal, one sync, published in place.

use std::sync::Arc;

use super::Turn;
use super::group_commit::CommitOutcome;
use crate::journal::record::Record;
use crate::path::{At, ToAt};
use crate::root::OUR_FILE_MODE;
use crate::tx::change::{Base, Change, Content, Final, Look, Seen};
use crate::tx::stage::StagedFile;
use crate::tx::view::Overlay;
use crate::tx::{Committed, INLINE_BYTES_MAX, Policy, Touch, Transaction};
use crate::{Error, Failure, RelPath, Result};

/// A transaction on an [`OwnFolder`](crate::OwnFolder).
pub type FolderTransaction<'a> = Transaction<Turn<'a>>;

impl Policy for Turn<'_> {
    fn together_min(&self) -> Option<usize> {
        None
    }

    fn below(&self) -> &Overlay {
        &self.below
    }

    fn new_file_mode(&self) -> u32 {
        OUR_FILE_MODE
    }

    fn prepare(tx: &mut Transaction<Self>, at: &At, parent: RelPath) -> Result<()> {
        if parent.is_root() {
            return Ok(());
        }
        Err(Error::BadPath { path: tx.show(at), reason: "an own folder has files only, and no folders" })
    }

    fn state_before(tx: &mut Transaction<Self>, at: &At, touch: Touch) -> Result<Seen> {
        let root = &tx.roots[at.root];
        if tx.policy.below.get(at).is_some() || tx.policy.inner.shelf().left_len(&at.path).is_some() {
            return Ok(Seen::Ours);
        }
        match touch {
            Touch::End => root.see_end(&at.path),
            Touch::All => root.see_bytes(&at.path, INLINE_BYTES_MAX as u64),
        }
    }

    fn hold(tx: &mut Transaction<Self>, at: &At, mode: u32, bytes: &[u8]) -> Result<Content> {
        if bytes.len() <= INLINE_BYTES_MAX {
            return Ok(Content::of_bytes(bytes.to_vec()));
        }
        let mut file = Self::create_staged(tx, at.root, mode)?;
        file.add(bytes)?;
        Self::take_staged(tx, at, file, mode)
    }

    /// Only the content goes from the staged file into the path's own.
    fn create_staged(tx: &mut Transaction<Self>, root: usize, _mode: u32) -> Result<StagedFile> {
        tx.stage.create(root, &tx.roots, OUR_FILE_MODE)
    }

    fn take_staged(tx: &mut Transaction<Self>, _at: &At, file: StagedFile, _mode: u32) -> Result<Content> {
        Ok(Content::of_staged(tx.stage.take(file, OUR_FILE_MODE, &tx.roots)?))
    }

    fn commit(mut tx: Transaction<Self>, changes: Vec<Change>) -> std::result::Result<Committed, Failure> {
        tx.stage.sync(&tx.roots)?;
        let inner = tx.policy.inner;
        let record = Record { id: tx.id, owner: Vec::new(), roots: Vec::new(), changes };
        // Let go of first, so that the shelf's own need not be copied to be laid on.
        tx.policy.below = Arc::default();
        let queued = inner.enqueue(record)?;
        let Some(ticket) = inner.group.submit(queued) else {
            // Since the turn was taken a batch failed that this was staged on. Its place in the journal stays empty; what this process
            // knows of the journal is forgotten before anybody has the turn again.
            return Err(Failure::aborted(Error::Superseded));
        };
        tx.policy.has_it = false;
        tx.settled = true;
        // After a failure journal and memory may differ: the next transaction reads everything again.
        let failed = || inner.shelf().reset();
        let (write, publish) = (|batch| inner.write(batch), |batch| inner.publish(batch));
        let committed = |pending| Committed { id: tx.id, kept: Vec::new(), pending };
        match inner.group.commit(ticket, write, publish, failed, || inner.release()) {
            CommitOutcome::Published => Ok(committed(None)),
            CommitOutcome::Pending(source) => Ok(committed(Some(Error::Group { source }))),
            CommitOutcome::Aborted(source) => Err(Failure::aborted(Error::Group { source })),
            CommitOutcome::Unknown(source) => Err(Failure::unknown(Error::Group { source })),
            CommitOutcome::Superseded => Err(Failure::aborted(Error::Superseded)),
        }
    }
}

impl FolderTransaction<'_> {
    /// Adds to the end of a file, or makes it.
    ///
    /// A file that somebody else changed since this process last wrote it is [`Error::Drifted`], once: read it again, then append
    /// again.
    pub fn append(&mut self, at: impl ToAt, bytes: &[u8]) -> Result<()> {
        let at = at.to_at()?;
        self.whole(|tx| {
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
        self.whole(|tx| {
            tx.prepare(&at, Touch::End)?;
            let look = tx.look(&at)?;
            tx.rewrite_end(at, look, Some(len), &[])
        })
    }

    /// Gives a file another name, with its mode; a file or symlink of that name is replaced.
    pub fn rename(&mut self, from: impl ToAt, to: impl ToAt) -> Result<()> {
        let (from, to) = (from.to_at()?, to.to_at()?);
        if from == to {
            return Ok(());
        }
        self.whole(|tx| {
            tx.prepare(&from, Touch::All)?;
            let mode = match tx.look(&from)? {
                Look::File { mode, .. } => mode,
                Look::Absent => return Err(Error::Missing { path: tx.show(&from) }),
                look => return Err(tx.wrong_kind(&from, look.kind().expect("something is there"), "a file")),
            };
            let body = tx.view().open(&from)?.expect("a file was seen there");
            tx.prepare_file(&to)?;
            let content = if body.len() <= INLINE_BYTES_MAX as u64 {
                Content::of_bytes(body.read_range(0, body.len())?)
            } else {
                let mut file = Policy::create_staged(tx, to.root, mode)?;
                body.read_chunks(|bytes| file.add(bytes))?;
                Policy::take_staged(tx, &to, file, mode)?
            };
            tx.change(to, Final::File { mode, content });
            tx.change(from, Final::Absent);
            Ok(())
        })
    }

    /// Keeps the first bytes of a file (all, unless `keep` says how many) and puts `bytes` behind them. `look` is what was seen there.
    fn rewrite_end(&mut self, at: At, look: Look, keep: Option<u64>, bytes: &[u8]) -> Result<()> {
        let (mode, len) = match look {
            Look::File { mode, len, .. } => (mode, len),
            Look::Absent => return Err(Error::Missing { path: self.show(&at) }),
            look => return Err(self.wrong_kind(&at, look.kind().expect("something is there"), "a file")),
        };
        let keep = keep.unwrap_or(len);
        if keep > len {
            return Err(Error::TooLarge { what: "what is kept of a file", limit: len });
        }
        self.check_drift(&at, len)?;
        let content = Content { base: Base::Path, keep, bytes: bytes.to_vec() };
        let content = match self.staged.get(&at) {
            Some(Final::File { content: below, .. }) => content.over(below.clone()),
            _ => content,
        };
        self.change(at, Final::File { mode, content });
        Ok(())
    }

    /// What builds on a file's content needs the file to be as it was left. Fails, once, when it has another length.
    fn check_drift(&self, at: &At, len: u64) -> Result<()> {
        if self.policy.below.get(at).is_some() || self.staged.get(at).is_some() {
            return Ok(());
        }
        let mut shelf = self.policy.inner.shelf();
        match shelf.left_len(&at.path) {
            Some(left) if left != len => {
                shelf.drift(&at.path);
                let reason = format!("it was left with {left} bytes and has {len} now");
                Err(Error::Drifted { path: self.show(at), reason })
            }
            _ => Ok(()),
        }
    }
}
