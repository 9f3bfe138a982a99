//! Giving files new content: bytes, or what was staged before.

use super::{Policy, Transaction};
use crate::path::ToAt;
use crate::root::OUR_FILE_MODE;
use crate::tx::change::Final;
use crate::tx::stage::StagedFile;
use crate::{Error, Result};

impl<P: Policy> Transaction<P> {
    /// Gives a file new content. A new file gets the policy's mode, an existing one keeps its own.
    pub fn put(&mut self, at: impl ToAt, bytes: &[u8]) -> Result<()> {
        let at = at.to_at()?;
        self.whole(|tx| {
            let mode = tx.prepare_file(&at)?;
            let content = P::hold(tx, &at, mode, bytes)?;
            tx.change(at, Final::File { mode, content });
            Ok(())
        })
    }

    /// Opens a file to write content into that [`put_staged`](Self::put_staged) then gives a path of the same root.
    pub fn stage(&mut self, root: usize) -> Result<StagedFile> {
        self.check_root(root)?;
        P::create_staged(self, root, OUR_FILE_MODE)
    }

    /// Gives a file the content staged before.
    pub fn put_staged(&mut self, at: impl ToAt, file: StagedFile) -> Result<()> {
        let at = at.to_at()?;
        self.check_root(at.root)?;
        let reason = match &file {
            file if file.transaction() != self.id => Some("it was staged in another transaction"),
            file if file.root != at.root => Some("it was staged in another root"),
            _ => None,
        };
        if let Some(reason) = reason {
            return Err(Error::BadPath { path: file.path.as_path().to_owned(), reason });
        }
        self.whole(|tx| {
            let mode = tx.prepare_file(&at)?;
            let content = P::take_staged(tx, &at, file, mode)?;
            tx.change(at, Final::File { mode, content });
            Ok(())
        })
    }
}
