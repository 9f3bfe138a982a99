//! Noticing changes of configuration, whoever makes them.

use config::{Changed, Key, Noticed, Stopper};
use serde::Serialize;

use crate::agents::check_prefix;
use crate::{Agents, Error, HintFor, Problem};

/// Changes of configuration, as they happen. Dropping it ends it.
#[derive(Debug)]
pub struct Watch(config::Watch, Option<HintFor>);

/// Something that was noticed.
#[derive(Serialize, Debug)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    /// A key has another value, or has it from another layer. Values are as people may see them.
    Change(Changed),
    /// A file or a value cannot be used. What was known before it counts until it can be used again.
    Problem(Problem),
}

impl Agents {
    /// Watches all keys, or those at or below `prefix`, from now on.
    ///
    /// Safe to call from any thread and process at any time: it takes no lock and writes nothing.
    pub fn watch(&self, prefix: Option<&Key>) -> Result<Watch, Error> {
        if let Some(prefix) = prefix {
            check_prefix(self.registry(), prefix)?;
        }
        Ok(Watch(self.config()?.watch(prefix)?, self.hint()))
    }
}

impl Watch {
    /// Waits for something to happen. `None` when the watch was stopped.
    pub fn wait(&mut self) -> Option<Vec<Event>> {
        let hint = self.1;
        let event = |noticed| match noticed {
            Noticed::Changed(changed) => Event::Change(changed.for_people()),
            Noticed::Problem(error) => Event::Problem(Problem::of_config(&error, hint)),
        };
        Some(self.0.wait()?.into_iter().map(event).collect())
    }

    /// Ends this watch, from another thread.
    pub fn stopper(&self) -> Stopper {
        self.0.stopper()
    }
}
