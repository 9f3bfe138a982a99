//! Built-in keys as typed values: one accessor per key, named after it.
//!
//! Tests check that every registered key has an accessor, and that another crate calls every
//! accessor, except for those listed as not used yet.

use std::path::PathBuf;
use std::time::Duration;

use crate::{Error, Key, Layers, Value};

/// Settings of the program, resolved from the layers.
#[derive(Clone, Debug)]
pub struct Settings {
    layers: Layers,
}

impl Settings {
    /// Creates settings from a snapshot of the layers.
    pub fn new(layers: Layers) -> Self {
        Self { layers }
    }

    /// Output format: `auto`, `rich`, `plain` or `json`.
    pub fn core_format(&self) -> Result<String, Error> {
        self.word("core.format")
    }

    /// Use of colours: `auto`, `always` or `never`.
    pub fn core_color(&self) -> Result<String, Error> {
        self.word("core.color")
    }

    /// Variables that project files may use, besides the usual ones.
    pub fn core_interpolate(&self) -> Result<Vec<String>, Error> {
        self.list("core.interpolate")
    }

    /// Maximum time to wait for a lock.
    pub fn core_lock_timeout(&self) -> Result<Duration, Error> {
        self.duration("core.lock-timeout")
    }

    /// Log level: `off`, `error`, `warn`, `info`, `debug` or `trace`.
    pub fn core_log(&self) -> Result<String, Error> {
        self.word("core.log")
    }

    /// File to which the log is appended; standard error if not set.
    pub fn core_log_file(&self) -> Result<Option<PathBuf>, Error> {
        match self.value("core.log-file")? {
            None => Ok(None),
            Some(Value::Path(path)) => Ok(Some(path)),
            other => unreachable!("a path resolves to {other:?}"),
        }
    }

    /// Maximum number of actors of a plan that run at once.
    pub fn plan_concurrency(&self) -> Result<usize, Error> {
        match self.value("plan.concurrency")? {
            Some(Value::Integer(count)) => Ok(usize::try_from(count).expect("the range is positive")),
            other => unreachable!("an integer with a default resolves to {other:?}"),
        }
    }

    /// Merge strategy: `three-way`, `fail-on-conflict` or `last-wins`.
    pub fn plan_merge(&self) -> Result<String, Error> {
        self.word("plan.merge")
    }

    /// Sandbox strategy: `copy`.
    pub fn sandbox_strategy(&self) -> Result<String, Error> {
        self.word("sandbox.strategy")
    }

    /// Removal of sandboxes: `applied` or `manual`.
    pub fn sandbox_cleanup(&self) -> Result<String, Error> {
        self.word("sandbox.cleanup")
    }

    /// Confinement of actors: `auto`, `require` or `off`.
    pub fn sandbox_confine(&self) -> Result<String, Error> {
        self.word("sandbox.confine")
    }

    /// Folders outside of the sandbox to which a confined actor may write.
    pub fn sandbox_allow_write(&self) -> Result<Vec<PathBuf>, Error> {
        Ok(self.list("sandbox.allow-write")?.into_iter().map(PathBuf::from).collect())
    }

    /// Longest file that a run copies or records, in bytes.
    pub fn sandbox_max_file_size(&self) -> Result<u64, Error> {
        match self.value("sandbox.max-file-size")? {
            Some(Value::Size(bytes)) => Ok(bytes),
            other => unreachable!("a size with a default resolves to {other:?}"),
        }
    }

    /// Database that many machines share, if any.
    pub fn store_url(&self) -> Result<Option<String>, Error> {
        self.text("store.url")
    }

    /// Maximum time to wait for a database server that is not reachable.
    pub fn store_wait(&self) -> Result<Duration, Error> {
        self.duration("store.wait")
    }

    /// Server of the commands, if any.
    pub fn server_url(&self) -> Result<Option<String>, Error> {
        self.text("server.url")
    }

    /// Token for the server. Secret: never print it.
    pub fn server_token(&self) -> Result<Option<String>, Error> {
        self.text("server.token")
    }

    fn list(&self, key: &str) -> Result<Vec<String>, Error> {
        let Some(Value::List(items)) = self.value(key)? else {
            unreachable!("a list with a default resolves to a list")
        };
        Ok(items.iter().map(Value::to_string).collect())
    }

    fn word(&self, key: &str) -> Result<String, Error> {
        Ok(self.text(key)?.expect("a choice has a default"))
    }

    fn duration(&self, key: &str) -> Result<Duration, Error> {
        match self.value(key)? {
            Some(Value::Duration(duration)) => Ok(duration),
            other => unreachable!("a duration with a default resolves to {other:?}"),
        }
    }

    fn text(&self, key: &str) -> Result<Option<String>, Error> {
        Ok(self.value(key)?.map(|value| value.to_string()))
    }

    fn value(&self, key: &str) -> Result<Option<Value>, Error> {
        let key = Key::parse(key).expect("the keys above are registered");
        Ok(self.layers.resolve(&key)?.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Environment, Flags, Registry};

    #[test]
    fn every_registered_key_has_an_accessor() {
        let source = include_str!("settings.rs");
        for definition in Registry::standard().keys() {
            let accessor = definition.key.names().join("_").replace('-', "_");
            assert!(
                source.contains(&format!("pub fn {accessor}(&self)")),
                "no accessor for {}",
                definition.key
            );
            assert!(
                source.contains(&format!("(\"{}\")", definition.key)),
                "{} is read nowhere",
                definition.key
            );
        }
    }

    #[test]
    fn settings_have_defaults_and_types() {
        let layers = Layers::new(Registry::standard(), Flags::default(), Environment::empty());
        let settings = Settings::new(layers);
        assert_eq!(settings.core_format().unwrap(), "auto");
        assert_eq!(settings.core_color().unwrap(), "auto");
        assert_eq!(settings.core_interpolate().unwrap(), Vec::<String>::new());
        assert_eq!(settings.core_lock_timeout().unwrap(), Duration::from_secs(30));
        assert_eq!(
            (settings.core_log().unwrap(), settings.core_log_file().unwrap()),
            ("off".to_owned(), None)
        );
        assert_eq!(settings.plan_concurrency().unwrap(), 4);
        assert_eq!(settings.plan_merge().unwrap(), "three-way");
        assert_eq!(settings.sandbox_strategy().unwrap(), "copy");
        assert_eq!(settings.sandbox_cleanup().unwrap(), "applied");
        assert_eq!(settings.sandbox_confine().unwrap(), "auto");
        assert_eq!(settings.sandbox_allow_write().unwrap(), Vec::<PathBuf>::new());
        assert_eq!(settings.store_url().unwrap(), None);
        assert_eq!(settings.store_wait().unwrap(), Duration::from_secs(30));
        assert_eq!(settings.server_url().unwrap(), None);
        assert_eq!(settings.server_token().unwrap(), None);
    }

    #[test]
    fn settings_come_from_the_layers() {
        let registry = Registry::standard();
        let flags =
            Flags::parse(&registry, ["sandbox.allow-write=/a,/b", "plan.concurrency=8", "core.log-file=/l"])
                .unwrap();
        let environment = Environment::from_iter([
            ("CLEVERAGENTS_CORE_LOCK_TIMEOUT", "2m"),
            ("CLEVERAGENTS_CORE_COLOR", "red"),
        ]);
        let settings = Settings::new(Layers::new(registry, flags, environment));
        assert_eq!(settings.sandbox_allow_write().unwrap(), [PathBuf::from("/a"), "/b".into()]);
        assert_eq!(settings.plan_concurrency().unwrap(), 8);
        assert_eq!(settings.core_log_file().unwrap(), Some("/l".into()));
        assert_eq!(settings.core_lock_timeout().unwrap(), Duration::from_secs(120));
        let error = settings.core_color().unwrap_err().to_string();
        assert_eq!(
            error,
            "`core.color` must be one of `auto`, `always`, `never`; `red` is not allowed ($CLEVERAGENTS_CORE_COLOR)"
        );
    }
}
