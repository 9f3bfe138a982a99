//! Questions to configuration as it was when the files were read.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use config::{Key, Layer, Layers, Listing, Origin, Resolved, Reveal, Settings};

use crate::agents::check_prefix;
use crate::config::{Entry, Explanation, Got, LayerSays, Listed};
use crate::{Error, HintFor, Problem, Scope};

/// All layers of configuration, as they were at one moment.
pub struct Reading {
    layers: Layers,
    no_home: Option<Arc<Error>>,
    hint: Option<HintFor>,
}

/// What the program itself goes by, as the layers decide it.
#[derive(Clone, Debug)]
pub struct Preferences {
    /// `auto`, `rich`, `plain` or `json`.
    pub format: String,
    /// `auto`, `always` or `never`.
    pub color: String,
    /// How long to wait for a lock.
    pub lock_timeout: Duration,
    /// `off`, `error`, `warn`, `info`, `debug` or `trace`.
    pub log: String,
    /// The file to append the log to; standard error without it.
    pub log_file: Option<PathBuf>,
    /// Files and values that cannot be used, so that a default stands in for what they may say.
    pub problems: Vec<Problem>,
}

/// Which keys are listed.
#[derive(Clone, Default, Debug)]
pub struct Select {
    /// Those at or below this key.
    pub prefix: Option<Key>,
    /// What the file of one scope says, instead of what holds.
    pub scope: Option<Scope>,
    /// Those that are set somewhere.
    pub changed: bool,
}

impl Reading {
    pub(crate) fn new(layers: Layers, no_home: Option<Arc<Error>>, hint: Option<HintFor>) -> Self {
        Self { layers, no_home, hint }
    }

    /// What the program itself goes by.
    ///
    /// A wrong flag or variable is an error. What is wrong in a file is not, so that a person can still use the commands that correct it:
    /// the default stands in, and the problem is told.
    pub fn preferences(&self) -> Result<Preferences, Error> {
        let mut problems: Vec<Problem> =
            self.layers.unusable().map(|(_, error)| self.problem(error)).collect();
        let settings = self.settings();
        let format = self.or_default(settings.core_format(), &mut problems)?;
        let color = self.or_default(settings.core_color(), &mut problems)?;
        let lock_timeout = self.or_default(settings.core_lock_timeout(), &mut problems)?;
        let log = self.or_default(settings.core_log(), &mut problems)?;
        let log_file = self.or_default(settings.core_log_file(), &mut problems)?;
        Ok(Preferences {
            format: format.unwrap_or_else(|| "auto".to_owned()),
            color: color.unwrap_or_else(|| "auto".to_owned()),
            lock_timeout: lock_timeout.unwrap_or(config::Wait::default().timeout),
            log: log.unwrap_or_else(|| "off".to_owned()),
            log_file: log_file.flatten(),
            problems,
        })
    }

    /// The value of a key, where it comes from, and what every layer says.
    pub fn get(&self, key: &Key, reveal: Reveal) -> Result<Got, Error> {
        self.check_home()?;
        let resolved = self.layers.resolve(key)?;
        if resolved.value.is_none() {
            return Err(Error::NotSet { key: resolved.key });
        }
        Ok(Got {
            entry: Entry::of(&resolved, reveal),
            layers: layers(&resolved, reveal),
            problems: resolved.skipped().map(|error| self.problem(error)).collect(),
        })
    }

    /// Keys with their values. What cannot be used is among the problems; the rest is there.
    pub fn list(&self, select: &Select) -> Result<Listed, Error> {
        self.check_home()?;
        let Listing { entries, problems } = self.layers.list(select.prefix.as_ref());
        if let (Some(prefix), true) = (&select.prefix, entries.is_empty()) {
            check_prefix(self.layers.registry(), prefix)?;
        }
        let mut listed: Vec<Entry> = match select.scope {
            Some(scope) => entries.iter().filter_map(|resolved| in_layer(resolved, scope.into())).collect(),
            None => entries.iter().map(|resolved| Entry::of(resolved, Reveal::No)).collect(),
        };
        if select.changed {
            listed.retain(|entry| entry.origin.as_ref().is_some_and(|origin| *origin != Origin::Default));
        }
        Ok(Listed { entries: listed, problems: problems.iter().map(|error| self.problem(error)).collect() })
    }

    /// Everything about a key.
    pub fn explain(&self, key: &Key) -> Result<Explanation, Error> {
        self.check_home()?;
        let info = self.layers.registry().look_up(key)?;
        let secret = info.is_secret();
        let (entry, problems) = match self.layers.decide(info) {
            Ok(resolved) => {
                let problems = resolved.skipped().map(|error| self.problem(error)).collect();
                (Some(Entry::of(&resolved, Reveal::No)), problems)
            }
            Err(error) => (None, vec![self.problem(&error)]),
        };
        let (value, origin) = entry.map_or((None, None), |entry| (entry.value, entry.origin));
        let consulted = self.layers.consult(info);
        Ok(Explanation {
            key: key.clone(),
            help: info.declared.map_or("your own key: the program does not use it", |declared| declared.help),
            kind: info.kind().name(),
            allowed: info.kind().to_string(),
            default: info.default().map(|value| value.for_people(secret, Reveal::No)),
            variable: info.declared.map(config::Declared::variable),
            scopes: info.scopes(),
            secret,
            value,
            origin,
            layers: consulted.iter().map(|says| LayerSays::of(says, secret, Reveal::No)).collect(),
            problems,
        })
    }

    /// The program's own keys as typed values.
    pub(crate) fn settings(&self) -> Settings {
        Settings::new(self.layers.clone())
    }

    fn problem(&self, error: &config::Error) -> Problem {
        Problem::of_config(error, self.hint)
    }

    /// A setting, or nothing and a problem when a file is to blame.
    fn or_default<T>(
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

/// What one layer says of a key, if anything.
fn in_layer(resolved: &Resolved, layer: Layer) -> Option<Entry> {
    let consulted = resolved.consulted.iter().find(|consulted| consulted.layer == layer)?;
    let LayerSays { value, origin, .. } = LayerSays::of(consulted, resolved.is_secret, Reveal::No);
    Some(Entry { key: resolved.key.clone(), value: Some(value?), secret: resolved.is_secret, origin })
}

fn layers(resolved: &Resolved, reveal: Reveal) -> Vec<LayerSays> {
    resolved.consulted.iter().map(|consulted| LayerSays::of(consulted, resolved.is_secret, reveal)).collect()
}
