//! Taking over a file that a person has edited meanwhile.
//!
//! The editor is somebody else's business: it gets [`ConfigService::original`] and comes back with bytes, perhaps an hour later. No
//! lock is held in between.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use crate::layers::{Content, FileLayer, UNSET};
use crate::scope_file::Target;
use crate::{ConfigService, Document, Error, FILE_BYTES_MAX, Key, Origin, Scope, Written};

/// What became of an edit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edited {
    /// What was written.
    pub written: Written,
    /// How.
    pub outcome: Outcome,
}

/// What became of an edit.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The person changed nothing.
    Unchanged,
    /// The file is what the person wrote.
    Taken,
    /// The file has what the person wrote and what others wrote meanwhile.
    Merged,
}

impl ConfigService {
    /// The bytes of a scope's file, to be edited; empty if there is none. The file need not parse: editing is how it is corrected.
    ///
    /// Safe to call from any thread and process at any time: it takes no lock and writes nothing.
    pub fn original(&self, scope: Scope) -> Result<Vec<u8>, Error> {
        let target = Target::find(self.places(), scope)?;
        Ok(target.read()?.unwrap_or_default())
    }

    /// Whether [`edit`](Self::edit) would take over what a person made of `original`, as things are now; the error says why not.
    ///
    /// Safe to call from any thread and process at any time: it takes no lock and writes nothing.
    pub fn check_edit(&self, scope: Scope, original: &[u8], edited: &[u8]) -> Result<(), Error> {
        let target = Target::find(self.places(), scope)?;
        let now = target.read()?.unwrap_or_default();
        self.combine(scope, &target.file, original, &now, edited).map(drop)
    }

    /// Takes over what a person made of `original`. If the file was changed meanwhile, both changes are merged by lines.
    ///
    /// Safe among threads and processes: it locks, reads what is there now, merges, checks and replaces, like
    /// [`set_value`](Self::set_value). What the person changed must be of known keys and right types. When it is not, or when both changed
    /// the same lines, it fails with [`Error::NotTaken`]: the file is as it was, and the edit is in a new file beside it. With any other
    /// error the edit is with the caller only.
    #[track_caller]
    pub fn edit(&self, scope: Scope, original: &[u8], edited: &[u8]) -> Result<Edited, Error> {
        let locked = self.lock(scope)?;
        let now = locked.target.read()?.unwrap_or_default();
        let file = locked.target.file.clone();
        let (content, outcome) = match self.combine(scope, &file, original, &now, edited) {
            Ok(combined) => combined,
            Err(why) => {
                let kept = locked.target.keep_beside(edited)?;
                // What is wrong in the edit is to be found where the edit is.
                let why = self.check_edited(scope, &kept, original, edited).err().unwrap_or(why);
                return Err(Error::NotTaken { file, kept, source: Box::new(why) });
            }
        };
        let keys = self.changed_keys(&file, &now, &content);
        let changed = content != now;
        if changed {
            locked.replace(&content)?;
        }
        Ok(Edited { written: Written { scope, file, keys, changed }, outcome })
    }

    /// What the file is to become.
    fn combine(
        &self,
        scope: Scope,
        file: &Path,
        original: &[u8],
        now: &[u8],
        edited: &[u8],
    ) -> Result<(Vec<u8>, Outcome), Error> {
        if edited == original {
            return Ok((now.to_owned(), Outcome::Unchanged));
        }
        let too_large = |bytes: &[u8]| match bytes.len() as u64 > FILE_BYTES_MAX {
            true => Err(Error::TooLarge { file: file.to_owned(), limit: FILE_BYTES_MAX }),
            false => Ok(()),
        };
        too_large(edited)?;
        self.check_edited(scope, file, original, edited)?;
        if now == original || now == edited {
            return Ok((edited.to_owned(), Outcome::Taken));
        }
        let merged = diffy::merge_bytes(original, now, edited)
            .map_err(|_| Error::Conflict { file: file.to_owned() })?;
        too_large(&merged)?;
        // Lines that fit together may still say a key twice.
        Document::parse(file, &merged, self.registry())?;
        Ok((merged, Outcome::Merged))
    }

    /// Checks what the person wrote, apart from what others did.
    fn check_edited(&self, scope: Scope, file: &Path, original: &[u8], edited: &[u8]) -> Result<(), Error> {
        let before = Document::parse(file, original, self.registry());
        let before = before.map(|before| before.values()).unwrap_or_default();
        let document = Arc::new(Document::parse(file, edited, self.registry())?);
        let content = Content::Document(Arc::clone(&document));
        let layer = FileLayer { scope, file: file.to_owned(), content };
        let values = document.values();
        let changed = document.keys().into_iter().filter(|(key, _)| before.get(key) != values.get(key));
        for (key, line) in changed {
            let info = self.registry().look_up(&key).map_err(|error| match error {
                Error::UnknownKey { key, nearest, .. } => {
                    let origin = Origin::File { scope, file: file.to_owned(), line };
                    Error::UnknownKey { key, nearest, origin: Some(Box::new(origin)) }
                }
                error => error,
            })?;
            match self.given().file(&layer, info).says {
                // The variable may be set where the value is read.
                Ok(_) | Err(Error::Interpolation { reason: UNSET, .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The keys whose values differ; none where one of the two does not parse.
    fn changed_keys(&self, file: &Path, before: &[u8], after: &[u8]) -> Vec<Key> {
        let parse = |bytes: &[u8]| Document::parse(file, bytes, self.registry());
        let (Ok(before), Ok(after)) = (parse(before), parse(after)) else { return Vec::new() };
        let (before, after) = (before.values(), after.values());
        let mut keys: BTreeSet<&Key> = before.keys().chain(after.keys()).collect();
        keys.retain(|key| before.get(key) != after.get(key));
        keys.into_iter().cloned().collect()
    }
}
