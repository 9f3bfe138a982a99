//! The façade.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use config::{ConfigService, Environment, Flags, Key, Layers, Registry, Scope, Settings};

use crate::admin::stores::Passwords;
use crate::{ConfigSnapshot, Error, HintFor, Invocation, Problem, Wait, home};

/// Entry point to all services, for one user in one project.
///
/// Opening reads no file and takes no lock. Threads may share or clone it; it holds no lock between calls.
#[derive(Clone, Debug)]
pub struct Agents {
    home: Home,
    /// Settings that were read before, if calls use them.
    settings: Option<Settings>,
    wait: Wait,
    /// Name of the calling user.
    user: Option<String>,
    /// Folder that relative paths start from.
    current: Option<PathBuf>,
    /// Value of `~`.
    user_home: Option<PathBuf>,
    passwords: Passwords,
    hint: Option<HintFor>,
}

/// The home folder, which may be unknown.
#[derive(Clone, Debug)]
enum Home {
    Known(ConfigService),
    /// Flags and variables still apply, and calls that need no file work.
    Unknown {
        given: Layers,
        why: Arc<Error>,
    },
}

impl Agents {
    /// Opens the services for one invocation. Fails if a flag or the named project is invalid, and if the home folder
    /// belongs to another user or others may write to it. Without a home folder, calls that need one fail with [`Error::NoHome`].
    pub fn open(invocation: &Invocation) -> Result<Agents, Error> {
        let registry = Registry::standard();
        let flags = flags(&registry, &invocation.values)?;
        let environment: Environment = invocation.variables.iter().cloned().collect();
        let home = match invocation.dirs() {
            Ok(dirs) => {
                home::check_private(&dirs.home)?;
                Home::Known(ConfigService::new(registry, dirs, environment).with_flags(flags))
            }
            Err(why @ (Error::NoHome | Error::BadHome { .. })) => {
                Home::Unknown { given: Layers::new(registry, flags, environment), why: Arc::new(why) }
            }
            Err(error) => return Err(error),
        };
        let (user, current) = (invocation.user.clone(), invocation.current.clone());
        let passwords = Passwords::of(&invocation.variables);
        let user_home = invocation.user_home.clone();
        let (settings, wait, hint) = (None, Wait::default(), invocation.hint);
        Ok(Agents { home, settings, wait, user, current, user_home, passwords, hint })
    }

    /// Sets how to wait for locks. Default: 30 s, without notice.
    pub fn with_wait(self, wait: Wait) -> Agents {
        let home = match self.home {
            Home::Known(service) => Home::Known(service.with_wait(wait.clone())),
            unknown => unknown,
        };
        Agents { home, wait, ..self }
    }

    /// Reads the configuration files. The result answers from this state.
    ///
    /// Takes no lock and writes nothing, so any thread and process may call it at any time.
    pub fn config_snapshot(&self) -> ConfigSnapshot {
        match &self.home {
            Home::Known(service) => ConfigSnapshot::new(service.layers(), None, self.hint),
            Home::Unknown { given, why } => {
                ConfigSnapshot::new(given.clone(), Some(Arc::clone(why)), self.hint)
            }
        }
    }

    /// Uses these settings in all calls. By default, each call that needs settings reads the files.
    pub fn with_settings(self, config: &ConfigSnapshot) -> Agents {
        Agents { settings: Some(config.settings()), ..self }
    }

    /// The program's own keys as typed values.
    pub(crate) fn settings(&self) -> Settings {
        self.settings.clone().unwrap_or_else(|| self.config_snapshot().settings())
    }

    /// Path of the home folder.
    pub fn home(&self) -> Result<&Path, Error> {
        Ok(&self.config()?.dirs().home)
    }

    /// Path of the project, if there is one.
    pub fn project(&self) -> Option<&Path> {
        self.config().ok().and_then(|service| service.dirs().project.as_deref())
    }

    /// JSON Schema of the configuration file of a scope; without one, of all keys.
    pub fn schema(&self, scope: Option<Scope>) -> serde_json::Value {
        config::json_schema(self.registry(), scope)
    }

    /// Name of the calling user, if the frontend knows it.
    pub(crate) fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// Makes a path of the caller absolute.
    pub(crate) fn absolute(&self, path: &Path) -> PathBuf {
        self.current.as_ref().map_or_else(|| path.to_owned(), |current| current.join(path))
    }

    /// Expands `~` in a path from configuration.
    pub(crate) fn spelled_out(&self, path: PathBuf) -> PathBuf {
        match (&self.user_home, path.strip_prefix("~")) {
            (Some(home), Ok(rest)) => home.join(rest),
            _ => path,
        }
    }

    /// Default root: the project, else the git repository that holds the current folder. Guesses nothing beyond
    /// that, as a wrong guess could be a whole disk.
    pub(crate) fn default_root(&self) -> Result<PathBuf, Error> {
        let repository = || self.current.as_deref()?.ancestors().find(|folder| folder.join(".git").exists());
        self.project().or_else(repository).map(Path::to_owned).ok_or(Error::NoRoot)
    }

    /// Describes an error, with the hints of the frontend.
    pub(crate) fn problem(&self, error: &Error) -> Problem {
        Problem::hinted(error, self.hint)
    }

    pub(crate) fn hint(&self) -> Option<HintFor> {
        self.hint
    }

    /// Passwords for servers, from the environment.
    pub(crate) fn passwords(&self) -> &Passwords {
        &self.passwords
    }

    pub(crate) fn wait(&self) -> Wait {
        self.wait.clone()
    }

    pub(crate) fn registry(&self) -> &Registry {
        match &self.home {
            Home::Known(service) => service.registry(),
            Home::Unknown { given, .. } => given.registry(),
        }
    }

    /// The configuration service, for programs that use it directly.
    pub fn config(&self) -> Result<&ConfigService, Error> {
        match &self.home {
            Home::Known(service) => Ok(service),
            Home::Unknown { why, .. } => Err(why.again()),
        }
    }
}

/// Registered keys, sorted, for completions.
pub fn keys() -> Vec<String> {
    Registry::standard().keys().map(|definition| definition.key.to_string()).collect()
}

/// Returns true if the value of a key is redacted, or if the key is unknown.
pub fn may_be_secret(key: &Key) -> bool {
    Registry::standard().look_up(key).map_or(true, |info| info.is_secret())
}

/// Parses `KEY=VALUE` flags. Refuses secrets, as other users of the machine can see arguments.
fn flags(registry: &Registry, values: &[String]) -> Result<Flags, Error> {
    let flags = Flags::parse(registry, values.iter().map(String::as_str))?;
    let is_secret = |key: &&Key| registry.look_up(key).is_ok_and(|info| info.is_secret());
    let with_password = values.iter().filter(|value| has_password(value));
    let key_of = |value: &String| value.split_once('=').and_then(|(key, _)| key.parse().ok());
    let found: Option<Key> = flags.keys().find(is_secret).cloned();
    if let Some(key) = found.or_else(|| with_password.filter_map(key_of).next()) {
        return Err(Error::SecretFlag { variable: key.variable(), key: key.to_string() });
    }
    Ok(flags)
}

/// Returns true if a text has a URL with a password.
pub(crate) fn has_password(text: &str) -> bool {
    let value = config::Value::String(text.to_owned());
    value.redacted(false, config::Reveal::No) != value
}

/// Fails if no key can exist at or below this one.
pub(crate) fn check_prefix(registry: &Registry, prefix: &Key) -> Result<(), Error> {
    match registry.look_up(prefix) {
        Ok(_) | Err(config::Error::IsTable { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
