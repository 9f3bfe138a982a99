//! Forks: copies of a conversation that continue on their own.

use crate::contexts::OnExisting;
use crate::{ContextManager, Contexts, Error, Name};

impl ContextManager {
    /// Creates a context with the first `count` messages of this one (all if `None`), its state and
    /// its global context, as of the last read or save. The two share nothing, so later changes of
    /// one do not affect the other. Staged changes are not copied.
    ///
    /// The new context is created in one commit: after a failure or a kill there is none, and the
    /// name is free. If several threads or processes create one name, one succeeds and the others
    /// get [`Error::Exists`]. Writers of this context do not wait; if messages are removed or
    /// replaced during the fork, it fails with [`Error::Rewritten`].
    #[track_caller]
    pub fn fork(&self, new: &Name, count: Option<u64>) -> Result<ContextManager, Error> {
        let have = self.loaded.metadata.message_count();
        let count = count.unwrap_or(have);
        if count > have {
            return Err(Error::OutOfRange { name: self.name.clone(), requested: count, count: have });
        }
        if *new == self.name {
            return Err(Error::Exists { name: new.clone() });
        }
        let contexts = Contexts { dir: self.dir.clone() };
        contexts.create_with("fork", new, OnExisting::Fail, |edit| {
            edit.replace_messages(self.messages(..count).map(|one| one.map(|one| one.message)))?;
            edit.set_state(self.loaded.state.clone())?;
            edit.set_global(self.loaded.global.clone())?;
            edit.loaded.metadata.inherit(&self.loaded.metadata);
            Ok(())
        })
    }
}
