//! A conversation that goes on in two directions.

use crate::contexts::IfThere;
use crate::{ContextManager, Contexts, Error, Name};

impl ContextManager {
    /// Makes a context with the first `count` messages of this one (all, when `None`) and with its state and global context, as of when this
    /// object last read or saved it. Nothing is shared with this one, so no later write to either changes the other. What is staged here is not
    /// in it.
    ///
    /// The new one comes to be in one commit: when this fails, or is killed, there is none and the name is free. Of several threads or processes
    /// that make one name, one wins and the others get [`Error::Exists`]. This one is only read, without holding its writers back; if
    /// messages are cut or replaced meanwhile it is [`Error::Rewritten`].
    #[track_caller]
    pub fn fork(&self, new: &Name, count: Option<u64>) -> Result<ContextManager, Error> {
        let have = self.loaded.metadata.message_count();
        let count = count.unwrap_or(have);
        if count > have {
            return Err(Error::OutOfRange { name: self.name.clone(), asked: count, count: have });
        }
        if *new == self.name {
            return Err(Error::Exists { name: new.clone() });
        }
        let contexts = Contexts { ground: self.ground.clone() };
        contexts.establish("fork", new, IfThere::Refuse, |edit| {
            edit.replace_messages(self.messages(..count).map(|one| one.map(|one| one.message)))?;
            edit.set_state(self.loaded.state.clone())?;
            edit.set_global(self.loaded.global.clone())?;
            edit.loaded.metadata.inherit(&self.loaded.metadata);
            Ok(())
        })
    }
}
