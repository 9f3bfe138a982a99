//! Noticing changes of configuration, whoever makes them.

use config::{Changed, Held, Noticed, Reveal, Stopper};
use serde::Serialize;

use crate::agents::{check_prefix, parse};
use crate::answer::{Place, Problem, Shown};
use crate::{Agents, Error, HintFor};

/// Changes of configuration, as they happen. Dropping it ends it.
#[derive(Debug)]
pub struct Watch(config::Watch, Option<HintFor>);

/// Something that was noticed.
#[derive(Clone, PartialEq, Serialize, Debug)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    /// A key has another value, or has it from another layer.
    Change {
        /// The key.
        key: String,
        /// What it was, if it had a value.
        old: Option<Standing>,
        /// What it is, if it has a value.
        new: Option<Standing>,
        /// Whether the values are hidden.
        secret: bool,
    },
    /// A file or a value cannot be used. What was known before it counts until it can be used again.
    Problem(Problem),
}

/// A value, and where it stands.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct Standing {
    /// The value.
    pub value: Shown,
    /// Where it stands.
    pub origin: Place,
}

impl Agents {
    /// Watches all keys, or those at or below `prefix`, from now on.
    ///
    /// Safe to call from any thread and process at any time: it takes no lock and writes nothing.
    pub fn watch(&self, prefix: Option<&str>) -> Result<Watch, Error> {
        let prefix = prefix.map(parse).transpose()?;
        if let Some(prefix) = &prefix {
            check_prefix(self.registry(), prefix)?;
        }
        Ok(Watch(self.service()?.watch(prefix.as_ref())?, self.hint()))
    }
}

impl Watch {
    /// Waits for something to happen. `None` when the watch was stopped.
    pub fn wait(&mut self) -> Option<Vec<Event>> {
        let noticed = self.0.wait()?.into_iter();
        Some(noticed.map(|noticed| event(noticed, self.1)).collect())
    }

    /// Ends this watch, from another thread.
    pub fn stopper(&self) -> Stopper {
        self.0.stopper()
    }
}

fn event(noticed: Noticed, hint: Option<HintFor>) -> Event {
    match noticed {
        Noticed::Changed(Changed { key, old, new, is_secret }) => {
            let standing = |held: Held| Standing {
                value: Shown::of(&held.value, is_secret, Reveal::No),
                origin: Place::of(&held.origin),
            };
            Event::Change {
                key: key.to_string(),
                old: old.map(standing),
                new: new.map(standing),
                secret: is_secret,
            }
        }
        Noticed::Problem(error) => Event::Problem(Problem::of_config(&error, hint)),
    }
}
