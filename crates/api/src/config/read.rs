//! Reading configuration: lookups in one snapshot of the files.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use config::{Key, Layer, Layers, Listing, Origin, Resolved, Reveal, Settings};

use crate::agents::check_prefix;
use crate::config::{ConfigEntry, ConfigList, Explanation, LayerView, Lookup};
use crate::{Error, HintFor, Problem, Scope};

/// Snapshot of all layers of configuration.
pub struct ConfigSnapshot {
    layers: Layers,
    no_home: Option<Arc<Error>>,
    hint: Option<HintFor>,
}

/// Settings of the program itself, resolved from the layers.
#[derive(Clone, Debug)]
pub struct Preferences {
    /// Output format: `auto`, `rich`, `plain` or `json`.
    pub format: String,
    /// Use of colours: `auto`, `always` or `never`.
    pub color: String,
    /// Maximum time to wait for a lock.
    pub lock_timeout: Duration,
    /// Log level: `off`, `error`, `warn`, `info`, `debug` or `trace`.
    pub log: String,
    /// File to which the log is appended; standard error if none.
    pub log_file: Option<PathBuf>,
    /// Unusable files and values, replaced by defaults.
    pub problems: Vec<Problem>,
}

/// Selection of the keys to list.
#[derive(Clone, Default, Debug)]
pub struct ListFilter {
    /// Only keys at or below this one.
    pub prefix: Option<Key>,
    /// Values in the file of one scope, instead of effective values.
    pub scope: Option<Scope>,
    /// Only keys that a layer other than the default sets.
    pub changed: bool,
}

impl ConfigSnapshot {
    pub(crate) fn new(layers: Layers, no_home: Option<Arc<Error>>, hint: Option<HintFor>) -> Self {
        Self { layers, no_home, hint }
    }

    /// Returns the settings of the program itself.
    ///
    /// An invalid flag or variable is an error. An invalid value in a file is not, so that the
    /// commands that fix it still work: the default replaces it, and the problem is reported.
    pub fn preferences(&self) -> Result<Preferences, Error> {
        let mut problems: Vec<Problem> =
            self.layers.unusable().map(|(_, error)| self.problem(error)).collect();
        let settings = self.settings();
        let format = self.setting_or_default(settings.core_format(), &mut problems)?;
        let color = self.setting_or_default(settings.core_color(), &mut problems)?;
        let lock_timeout = self.setting_or_default(settings.core_lock_timeout(), &mut problems)?;
        let log = self.setting_or_default(settings.core_log(), &mut problems)?;
        let log_file = self.setting_or_default(settings.core_log_file(), &mut problems)?;
        Ok(Preferences {
            format: format.unwrap_or_else(|| "auto".to_owned()),
            color: color.unwrap_or_else(|| "auto".to_owned()),
            lock_timeout: lock_timeout.unwrap_or(config::Wait::default().timeout),
            log: log.unwrap_or_else(|| "off".to_owned()),
            log_file: log_file.flatten(),
            problems,
        })
    }

    /// Returns the effective value of a key, its position, and its value in every layer.
    pub fn get(&self, key: &Key, reveal: Reveal) -> Result<Lookup, Error> {
        self.check_home()?;
        let resolved = self.layers.resolve(key)?;
        if resolved.value.is_none() {
            return Err(Error::NotSet { key: resolved.key });
        }
        Ok(Lookup {
            entry: ConfigEntry::of(&resolved, reveal),
            layers: layers(&resolved, reveal),
            problems: resolved.skipped().map(|error| self.problem(error)).collect(),
        })
    }

    /// Lists keys with their values. Unusable files and values are among the problems.
    pub fn list(&self, filter: &ListFilter) -> Result<ConfigList, Error> {
        self.check_home()?;
        let Listing { entries, problems } = self.layers.list(filter.prefix.as_ref());
        if let (Some(prefix), true) = (&filter.prefix, entries.is_empty()) {
            check_prefix(self.layers.registry(), prefix)?;
        }
        let mut listed: Vec<ConfigEntry> = match filter.scope {
            Some(scope) => {
                entries.iter().filter_map(|resolved| entry_in_layer(resolved, scope.into())).collect()
            }
            None => entries.iter().map(|resolved| ConfigEntry::of(resolved, Reveal::No)).collect(),
        };
        if filter.changed {
            listed.retain(|entry| entry.origin.as_ref().is_some_and(|origin| *origin != Origin::Default));
        }
        Ok(ConfigList {
            entries: listed,
            problems: problems.iter().map(|error| self.problem(error)).collect(),
        })
    }

    /// Returns the definition of a key with its values.
    pub fn explain(&self, key: &Key) -> Result<Explanation, Error> {
        self.check_home()?;
        let info = self.layers.registry().look_up(key)?;
        let secret = info.is_secret();
        let (entry, problems) = match self.layers.resolve_info(info) {
            Ok(resolved) => {
                let problems = resolved.skipped().map(|error| self.problem(error)).collect();
                (Some(ConfigEntry::of(&resolved, Reveal::No)), problems)
            }
            Err(error) => (None, vec![self.problem(&error)]),
        };
        let (value, origin) = entry.map_or((None, None), |entry| (entry.value, entry.origin));
        let values = self.layers.layer_values(info);
        Ok(Explanation {
            key: key.clone(),
            help: info
                .definition
                .map_or("your own key: the program does not use it", |definition| definition.help),
            value_type: info.value_type().name(),
            allowed: info.value_type().to_string(),
            default: info.default().map(|value| value.redacted(secret, Reveal::No)),
            variable: info.definition.map(config::KeyDefinition::variable),
            scopes: info.scopes(),
            secret,
            value,
            origin,
            layers: values.iter().map(|value| LayerView::of(value, secret, Reveal::No)).collect(),
            problems,
        })
    }

    /// Returns the built-in keys as typed values.
    pub(crate) fn settings(&self) -> Settings {
        Settings::new(self.layers.clone())
    }

    fn problem(&self, error: &config::Error) -> Problem {
        Problem::of_config(error, self.hint)
    }

    /// Returns a setting; none, with a problem, if a value in a file is invalid.
    fn setting_or_default<T>(
        &self,
        setting: Result<T, config::Error>,
        problems: &mut Vec<Problem>,
    ) -> Result<Option<T>, Error> {
        let error = match setting {
            Ok(setting) => return Ok(Some(setting)),
            Err(error) => error,
        };
        let is_variable = matches!(error, config::Error::VariableNotUtf8 { .. });
        if is_variable || matches!(error.origin(), Some(Origin::Flag | Origin::Variable { .. })) {
            return Err(error.into());
        }
        let problem = self.problem(&error);
        if !problems.contains(&problem) {
            problems.push(problem);
        }
        Ok(None)
    }

    fn check_home(&self) -> Result<(), Error> {
        self.no_home.as_ref().map_or(Ok(()), |error| Err(error.again()))
    }
}

/// Returns the value of a key in one layer, if it has one there.
fn entry_in_layer(resolved: &Resolved, layer: Layer) -> Option<ConfigEntry> {
    let found = resolved.layers.iter().find(|value| value.layer == layer)?;
    let LayerView { value, origin, .. } = LayerView::of(found, resolved.is_secret, Reveal::No);
    Some(ConfigEntry { key: resolved.key.clone(), value: Some(value?), secret: resolved.is_secret, origin })
}

fn layers(resolved: &Resolved, reveal: Reveal) -> Vec<LayerView> {
    resolved.layers.iter().map(|value| LayerView::of(value, resolved.is_secret, reveal)).collect()
}
