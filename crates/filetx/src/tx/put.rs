//! New content for files: bytes, or a staged file.

use super::{Policy, Transaction};
use crate::path::ToTxPath;
use crate::root::OUR_FILE_MODE;
use crate::tx::change::TargetState;
use crate::tx::stage::StagedFile;
use crate::{Error, Result};

impl<P: Policy> Transaction<P> {
    /// Replaces the content of a file, or creates it. A new file gets the default mode of its root;
    /// an existing one keeps its mode.
    pub fn put(&mut self, at: impl ToTxPath, bytes: &[u8]) -> Result<()> {
        let at = at.to_tx_path()?;
        self.with_savepoint(|tx| {
            let mode = tx.prepare_file(&at)?;
            let content = P::stage_bytes(tx, &at, mode, bytes)?;
            tx.change(at, TargetState::File { mode, content });
            Ok(())
        })
    }

    /// Opens a staged file in a root. Write the content to it, then pass it to
    /// [`put_staged`](Self::put_staged).
    pub fn stage(&mut self, root: usize) -> Result<StagedFile> {
        self.check_root(root)?;
        P::create_staged(self, root, OUR_FILE_MODE)
    }

    /// Replaces the content of a file by a staged file, or creates the file from it.
    pub fn put_staged(&mut self, at: impl ToTxPath, file: StagedFile) -> Result<()> {
        let at = at.to_tx_path()?;
        self.check_root(at.root)?;
        let reason = match &file {
            file if file.transaction() != self.id => Some("it was staged in another transaction"),
            file if file.root != at.root => Some("it was staged in another root"),
            _ => None,
        };
        if let Some(reason) = reason {
            return Err(Error::BadPath { path: file.path.as_path().to_owned(), reason });
        }
        self.with_savepoint(|tx| {
            let mode = tx.prepare_file(&at)?;
            let content = P::add_staged(tx, &at, file, mode)?;
            tx.change(at, TargetState::File { mode, content });
            Ok(())
        })
    }
}
