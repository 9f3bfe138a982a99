//! Removing contexts that nobody changed for long, when asked to. Nothing is ever removed otherwise.

use jiff::Timestamp;
use serde::Serialize;

use crate::files::loaded;
use crate::model::serialize;
use crate::{Contexts, Error, Name, Removed};

/// A context that was not changed for long.
#[derive(Serialize, Debug)]
pub struct Pruned {
    /// Its name.
    pub name: Name,
    /// When it was last changed.
    #[serde(serialize_with = "serialize::text")]
    pub last_updated: Timestamp,
    /// How many messages it has.
    pub message_count: u64,
}

impl Contexts {
    /// The contexts that were last changed before `before`, the oldest first. Those that cannot be read, or that do not say when they were
    /// changed, are not among them. Writes nothing.
    #[track_caller]
    pub fn older_than(&self, before: Timestamp) -> Result<Vec<Pruned>, Error> {
        let listed = self.list()?.into_iter();
        let mut found: Vec<Pruned> = listed
            .filter_map(|one| {
                let metadata = one.metadata.ok()?;
                let last_updated = metadata.last_updated().filter(|time| *time < before)?;
                Some(Pruned { name: one.name, last_updated, message_count: metadata.message_count() })
            })
            .collect();
        found.sort_by(|one, other| (one.last_updated, &one.name).cmp(&(other.last_updated, &other.name)));
        Ok(found)
    }

    /// Removes a context if it still was last changed before `before`: looked at once more under its lock, so that one that
    /// somebody just changed stays. `None` when it does, or is gone.
    ///
    /// Safety among threads and processes, and what a failure leaves: as [`remove`](Self::remove).
    #[track_caller]
    pub fn prune(&self, name: &Name, before: Timestamp) -> Result<Option<Removed>, Error> {
        let removed = self.remove_when(name, |files| {
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
