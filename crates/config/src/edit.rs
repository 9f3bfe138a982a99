//! Editing of a whole file by a person.
//!
//! The caller runs the editor: it passes the bytes of [`ConfigService::original`] to the person and
//! returns the edited bytes, perhaps an hour later. No lock is held in between.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::layers::{Content, FileLayer, UNSET};
use crate::scope_file::ScopeFile;
use crate::{ConfigService, Document, Error, FILE_BYTES_MAX, Key, Origin, Scope, WriteSummary};

/// Result of an edit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EditResult {
    /// Keys that the edit changed, and their file.
    pub written: WriteSummary,
    /// Origin of the new content.
    pub outcome: EditOutcome,
}

/// Origin of the content of an edited file.
#[derive(Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Debug)]
#[serde(rename_all = "lowercase")]
pub enum EditOutcome {
    /// The person changed nothing.
    Unchanged,
    /// The file holds the edited text.
    Applied,
    /// The file holds the edit merged with concurrent changes.
    Merged,
}

impl ConfigService {
    /// Returns the bytes of a scope's file for an editor; empty if there is no file. The file need
    /// not parse: an edit can fix it.
    ///
    /// Safe to call from any thread and process at any time: takes no lock and writes nothing.
    pub fn original(&self, scope: Scope) -> Result<Vec<u8>, Error> {
        let scope_file = ScopeFile::find(self.dirs(), scope)?;
        Ok(scope_file.read()?.unwrap_or_default())
    }

    /// Checks, as of now, that [`edit`](Self::edit) would accept this edit of `original`.
    ///
    /// Safe to call from any thread and process at any time: takes no lock and writes nothing.
    pub fn check_edit(&self, scope: Scope, original: &[u8], edited: &[u8]) -> Result<(), Error> {
        let scope_file = ScopeFile::find(self.dirs(), scope)?;
        let now = scope_file.read()?.unwrap_or_default();
        self.merge_edit(scope, &scope_file.path, original, &now, edited).map(drop)
    }

    /// Writes an edit of `original`. Merges it by lines with changes that others made to the file
    /// since then.
    ///
    /// Safe among threads and processes: locks, reads the current file, merges, checks and
    /// replaces, like [`set_value`](Self::set_value). The person may only change known keys, to
    /// values of their types. An invalid edit, or one that overlaps a concurrent change, fails with
    /// [`Error::EditRejected`]: the file is unchanged, and the edit is saved in a new file beside
    /// it. After any other error only the caller has the edit.
    #[track_caller]
    pub fn edit(&self, scope: Scope, original: &[u8], edited: &[u8]) -> Result<EditResult, Error> {
        let locked = self.lock(scope)?;
        let now = locked.file.read()?.unwrap_or_default();
        let file = locked.file.path.clone();
        let (content, outcome) = match self.merge_edit(scope, &file, original, &now, edited) {
            Ok(merged) => merged,
            Err(error) => {
                let saved_at = locked.file.save_beside(edited)?;
                // Report a problem of the edit at its line in the saved file.
                let error = self.validate_edit(scope, &saved_at, original, edited).err().unwrap_or(error);
                return Err(Error::EditRejected { file, saved_at, source: Box::new(error) });
            }
        };
        let keys = self.changed_keys(&file, &now, &content);
        let changed = content != now;
        if changed {
            locked.replace(&content)?;
        }
        Ok(EditResult { written: WriteSummary { scope, file, keys, changed }, outcome })
    }

    /// Returns the new content of the file.
    fn merge_edit(
        &self,
        scope: Scope,
        file: &Path,
        original: &[u8],
        now: &[u8],
        edited: &[u8],
    ) -> Result<(Vec<u8>, EditOutcome), Error> {
        if edited == original {
            return Ok((now.to_owned(), EditOutcome::Unchanged));
        }
        let too_large = |bytes: &[u8]| match bytes.len() as u64 > FILE_BYTES_MAX {
            true => Err(Error::TooLarge { file: file.to_owned(), limit: FILE_BYTES_MAX }),
            false => Ok(()),
        };
        too_large(edited)?;
        self.validate_edit(scope, file, original, edited)?;
        if now == original || now == edited {
            return Ok((edited.to_owned(), EditOutcome::Applied));
        }
        let merged = diffy::merge_bytes(original, now, edited)
            .map_err(|_| Error::Conflict { file: file.to_owned() })?;
        too_large(&merged)?;
        // Lines that merge may still set one key twice.
        Document::parse(file, &merged, self.registry())?;
        Ok((merged, EditOutcome::Merged))
    }

    /// Checks the keys that the person changed.
    fn validate_edit(&self, scope: Scope, file: &Path, original: &[u8], edited: &[u8]) -> Result<(), Error> {
        let before = Document::parse(file, original, self.registry());
        let before = before.map(|before| before.values()).unwrap_or_default();
        let document = Arc::new(Document::parse(file, edited, self.registry())?);
        let content = Content::Document(Arc::clone(&document));
        let layer = FileLayer { scope, file: file.to_owned(), content };
        let values = document.values();
        let layers = self.reference_layers(scope);
        let changed = document.keys().into_iter().filter(|(key, _)| before.get(key) != values.get(key));
        for (key, line) in changed {
            let info = self.registry().look_up(&key).map_err(|error| match error {
                Error::UnknownKey { key, suggestion, .. } => {
                    let origin = Origin::File { scope, file: file.to_owned(), line };
                    Error::UnknownKey { key, suggestion, origin: Some(Box::new(origin)) }
                }
                error => error,
            })?;
            match layers.file(&layer, info).value {
                // The variable may be set where the value is read.
                Ok(_) | Err(Error::Interpolation { reason: UNSET, .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Returns the keys whose values differ; none if either text does not parse.
    fn changed_keys(&self, file: &Path, before: &[u8], after: &[u8]) -> Vec<Key> {
        let parse = |bytes: &[u8]| Document::parse(file, bytes, self.registry());
        let (Ok(before), Ok(after)) = (parse(before), parse(after)) else { return Vec::new() };
        let (before, after) = (before.values(), after.values());
        let mut keys: BTreeSet<&Key> = before.keys().chain(after.keys()).collect();
        keys.retain(|key| before.get(key) != after.get(key));
        keys.into_iter().cloned().collect()
    }
}
