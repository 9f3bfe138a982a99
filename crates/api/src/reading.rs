//! Questions to configuration as it was when the files were read.

use std::time::Duration;

use config::{Known, Layer, Layers, Listing, Origin, Registry, Resolved, Reveal, Says, Settings};

use crate::agents::{check_prefix, parse};
use crate::answer::{Entry, Explanation, Got, LayerSays, Listed, Place, Problem, Shown};
use crate::{Error, HintFor, Scope};

/// All layers of configuration, as they were at one moment.
pub struct Reading<'a> {
    registry: &'a Registry,
    layers: Layers<'a>,
    no_home: Option<&'a Error>,
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
    /// Files and values that cannot be used, so that a default stands in for what they may say.
    pub problems: Vec<Problem>,
}

/// Which keys are listed.
#[derive(Clone, Default, Debug)]
pub struct Select {
    /// Those at or below this key.
    pub prefix: Option<String>,
    /// What the file of one scope says, instead of what holds.
    pub scope: Option<Scope>,
    /// Those that are set somewhere.
    pub changed: bool,
}

impl<'a> Reading<'a> {
    pub(crate) fn new(
        registry: &'a Registry,
        layers: Layers<'a>,
        no_home: Option<&'a Error>,
        hint: Option<HintFor>,
    ) -> Self {
        Self { registry, layers, no_home, hint }
    }

    /// What the program itself goes by.
    ///
    /// A wrong flag or variable is an error. What is wrong in a file is not, so that a person can still use the commands that correct it:
    /// the default stands in, and the problem is told.
    pub fn preferences(&self) -> Result<Preferences, Error> {
        let mut problems: Vec<Problem> =
            self.layers.unusable().map(|(_, error)| self.problem(error)).collect();
        let settings = Settings::new(self.layers.clone());
        let format = self.or_default(settings.core_format(), &mut problems)?;
        let color = self.or_default(settings.core_color(), &mut problems)?;
        let lock_timeout = self.or_default(settings.core_lock_timeout(), &mut problems)?;
        Ok(Preferences {
            format: format.unwrap_or_else(|| "auto".to_owned()),
            color: color.unwrap_or_else(|| "auto".to_owned()),
            lock_timeout: lock_timeout.unwrap_or(config::Wait::default().timeout),
            problems,
        })
    }

    /// The value of a key, where it comes from, and what every layer says.
    pub fn get(&self, key: &str, reveal: Reveal) -> Result<Got, Error> {
        self.check_home()?;
        let resolved = self.layers.resolve(&parse(key)?)?;
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
        let prefix = select.prefix.as_deref().map(parse).transpose()?;
        let Listing { entries, problems } = self.layers.list(prefix.as_ref());
        if let (Some(prefix), true) = (&prefix, entries.is_empty()) {
            check_prefix(self.registry, prefix)?;
        }
        let mut listed: Vec<Entry> = match select.scope {
            Some(scope) => entries.iter().filter_map(|resolved| in_layer(resolved, scope.into())).collect(),
            None => entries.iter().map(|resolved| Entry::of(resolved, Reveal::No)).collect(),
        };
        if select.changed {
            let default = Layer::Default.name();
            listed.retain(|entry| entry.origin.as_ref().is_some_and(|origin| origin.layer != default));
        }
        Ok(Listed { entries: listed, problems: problems.iter().map(|error| self.problem(error)).collect() })
    }

    /// Everything about a key.
    pub fn explain(&self, key: &str) -> Result<Explanation, Error> {
        self.check_home()?;
        let key = parse(key)?;
        let known = self.registry.look_up(&key)?;
        let (mut problems, secret) = (Vec::new(), known.is_secret());
        let shown = |value: &config::Value| Shown::of(value, secret, Reveal::No);
        let Entry { value, origin, .. } = match self.layers.resolve(&key) {
            Ok(resolved) => {
                problems.extend(resolved.skipped().map(|error| self.problem(error)));
                Entry::of(&resolved, Reveal::No)
            }
            Err(error) => {
                problems.push(self.problem(&error));
                Entry { key: key.to_string(), value: None, secret, origin: None }
            }
        };
        let consulted = self.layers.consult(&key)?;
        let declared = match known {
            Known::Declared(declared) => Some(declared),
            Known::Free => None,
        };
        Ok(Explanation {
            key: key.to_string(),
            help: declared.map_or("your own key: the program does not use it", |declared| declared.help),
            kind: known.kind().name(),
            allowed: known.kind().to_string(),
            default: declared.and_then(|declared| declared.default.as_ref()).map(shown),
            variable: declared.map(config::Declared::variable),
            scopes: known.scopes().iter().map(|scope| scope.name()).collect(),
            secret,
            value,
            origin,
            layers: consulted.iter().map(|says| LayerSays::of(says, secret, Reveal::No)).collect(),
            problems,
        })
    }

    /// The program's own keys as typed values.
    pub(crate) fn settings(&self) -> Settings<'a> {
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
        self.no_home.map_or(Ok(()), |error| Err(error.again()))
    }
}

/// What one layer says of a key, if anything.
fn in_layer(resolved: &Resolved, layer: Layer) -> Option<Entry> {
    let consulted = resolved.consulted.iter().find(|consulted| consulted.layer == layer)?;
    let Says::Value(value) = &consulted.says else { return None };
    Some(Entry {
        key: resolved.key.to_string(),
        value: Some(Shown::of(value, resolved.is_secret, Reveal::No)),
        secret: resolved.is_secret,
        origin: consulted.origin.as_ref().map(Place::of),
    })
}

fn layers(resolved: &Resolved, reveal: Reveal) -> Vec<LayerSays> {
    resolved.consulted.iter().map(|consulted| LayerSays::of(consulted, resolved.is_secret, reveal)).collect()
}
