//! Giving files new content: bytes, what a reader gives, what was staged before.

use std::io::Read;

use super::{INLINE_BYTES_MAX, Policy, Transaction};
use crate::path::{At, ToAt};
use crate::root::OUR_FILE_MODE;
use crate::stage::StagedFile;
use crate::state::{Content, Final};
use crate::{Error, Result};

impl Transaction<'_> {
    /// Gives a file new content. A new file gets the policy's mode, an existing one keeps its own.
    pub fn put(&mut self, at: impl ToAt, bytes: &[u8]) -> Result<()> {
        let at = at.to_at()?;
        self.nested(|tx| {
            let mode = tx.prepare_file(&at)?;
            let content = match tx.policy {
                Policy::OwnFolder(_) if bytes.len() <= INLINE_BYTES_MAX => Content::of_bytes(bytes.to_vec()),
                _ => {
                    let mut file = tx.create_staged(at.root, mode)?;
                    file.add(bytes)?;
                    tx.take(&at, file, mode)?
                }
            };
            tx.change(at, Final::File { mode, content })
        })
    }

    /// Gives a file what a reader gives, in bounded memory.
    pub fn put_reader(&mut self, at: impl ToAt, reader: &mut dyn Read) -> Result<()> {
        let at = at.to_at()?;
        self.put_filled(at, None, |file| file.fill(reader))
    }

    /// Gives a file new content and permission bits.
    pub fn put_with_mode(&mut self, at: impl ToAt, mode: u32, bytes: &[u8]) -> Result<()> {
        let at = at.to_at()?;
        self.put_filled(at, Some(mode), |file| file.add(bytes))
    }

    /// Gives a file permission bits and what a reader gives, in bounded memory.
    pub fn put_reader_with_mode(&mut self, at: impl ToAt, mode: u32, reader: &mut dyn Read) -> Result<()> {
        let at = at.to_at()?;
        self.put_filled(at, Some(mode), |file| file.fill(reader))
    }

    fn put_filled(
        &mut self,
        at: At,
        mode: Option<u32>,
        fill: impl FnOnce(&mut StagedFile) -> Result<()>,
    ) -> Result<()> {
        self.nested(|tx| {
            let found = tx.prepare_file(&at)?;
            let mode = mode.unwrap_or(found);
            let mut file = tx.create_staged(at.root, mode)?;
            fill(&mut file)?;
            let content = tx.take(&at, file, mode)?;
            tx.change(at, Final::File { mode, content })
        })
    }

    /// Opens a file to write content into that [`put_staged`](Self::put_staged) then gives a path of the same root.
    pub fn stage(&mut self, root: usize) -> Result<StagedFile> {
        self.check_root(root)?;
        self.create_staged(root, OUR_FILE_MODE)
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
        self.nested(|tx| {
            let mode = tx.prepare_file(&at)?;
            let content = tx.take(&at, file, mode)?;
            tx.change(at, Final::File { mode, content })
        })
    }
}
