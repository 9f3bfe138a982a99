//! Pruning: removing contexts without recent changes. Nothing is removed unless the caller asks for
//! it.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::files::loaded;
use crate::model::serialize;
use crate::{Contexts, Error, Name, Removal};

/// A context without recent changes.
#[derive(JsonSchema, Serialize, Debug)]
pub struct StaleContext {
    /// Name of the context.
    pub name: Name,
    /// Time of the last change.
    #[serde(serialize_with = "serialize::text")]
    #[schemars(with = "String")]
    pub last_updated: Timestamp,
    /// Number of messages.
    pub message_count: u64,
}

impl Contexts {
    /// Returns the contexts that were last changed before `before`, oldest first. Skips contexts
    /// that cannot be read, or that have no time of change. Writes nothing.
    #[track_caller]
    pub fn stale(&self, before: Timestamp) -> Result<Vec<StaleContext>, Error> {
        let listed = self.list()?.into_iter();
        let mut found: Vec<StaleContext> = listed
            .filter_map(|one| {
                let metadata = one.metadata.ok()?;
                let last_updated = metadata.last_updated().filter(|time| *time < before)?;
                Some(StaleContext { name: one.name, last_updated, message_count: metadata.message_count() })
            })
            .collect();
        found.sort_by(|one, other| (one.last_updated, &one.name).cmp(&(other.last_updated, &other.name)));
        Ok(found)
    }

    /// Removes a context if it is still unchanged since `before`, checked again under its lock.
    /// Returns `None` if it changed or is gone.
    ///
    /// Safety among threads and processes, and the state after a failure: as
    /// [`remove`](Self::remove).
    #[track_caller]
    pub fn prune(&self, name: &Name, before: Timestamp) -> Result<Option<Removal>, Error> {
        let removed = self.remove_if(name, |files| {
            let (metadata, _) = loaded::metadata(files)?;
            let is_old = metadata.last_updated().is_some_and(|time| time < before);
            if is_old { Ok(()) } else { Err(Error::NotFound { name: name.clone() }) }
        });
        match removed {
            Err(Error::NotFound { .. }) => Ok(None),
            removed => removed.map(Some),
        }
    }
}
