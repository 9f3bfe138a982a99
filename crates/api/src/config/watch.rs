//! Watching configuration for changes.

use config::{Key, KeyChange, StopHandle, WatchEvent};
use schemars::JsonSchema;
use serde::Serialize;

use crate::agents::check_prefix;
use crate::{Agents, Error, HintFor, Problem};

/// A stream of changes of configuration. Dropping it ends it.
#[derive(Debug)]
pub struct ConfigWatch(config::Watch, Option<HintFor>);

/// An event of a watch.
#[derive(JsonSchema, Serialize, Debug)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum ConfigEvent {
    /// A key has another value, or its value comes from another layer. Values are redacted.
    Change(KeyChange),
    /// A file or a value is unusable. The last known value counts until it is usable again.
    Problem(Problem),
}

impl Agents {
    /// Watches all keys, or those at or below `prefix`, from now on.
    ///
    /// Safe to call from any thread and process at any time: takes no lock and writes nothing.
    pub fn watch(&self, prefix: Option<&Key>) -> Result<ConfigWatch, Error> {
        if let Some(prefix) = prefix {
            check_prefix(self.registry(), prefix)?;
        }
        Ok(ConfigWatch(self.config()?.watch(prefix)?, self.hint()))
    }
}

impl ConfigWatch {
    /// Waits for events. Returns `None` after the watch was stopped.
    pub fn wait(&mut self) -> Option<Vec<ConfigEvent>> {
        let hint = self.1;
        let event = |noticed| match noticed {
            WatchEvent::Changed(changed) => ConfigEvent::Change(changed.redacted()),
            WatchEvent::Problem(error) => ConfigEvent::Problem(Problem::of_config(&error, hint)),
        };
        Some(self.0.wait()?.into_iter().map(event).collect())
    }

    /// Returns a handle that ends this watch from another thread.
    pub fn stop_handle(&self) -> StopHandle {
        self.0.stop_handle()
    }
}
