//! The façade: what is open.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use config::{ConfigService, Environment, Flags, Key, Layers, Registry, Scope, Settings};

use crate::admin::stores::Passwords;
use crate::{Error, HintFor, Invocation, Problem, Reading, Wait};

/// Everything that a door can ask for, for one user in one project.
///
/// Opening it reads no file and takes no lock. It may be shared among threads and cloned; it holds no lock between calls.
#[derive(Clone, Debug)]
pub struct Agents {
    home: Home,
    /// What was read already, if the caller goes by that.
    settings: Option<Settings>,
    wait: Wait,
    /// Who calls.
    user: Option<String>,
    /// What relative paths are relative to.
    current: Option<PathBuf>,
    /// What `~` stands for.
    user_home: Option<PathBuf>,
    passwords: Passwords,
    hint: Option<HintFor>,
}

/// What can be used depends on whether there is a place for it.
#[derive(Clone, Debug)]
enum Home {
    Known(ConfigService),
    /// Flags and variables still count, and everything that needs no file works.
    Unknown {
        given: Layers,
        why: Arc<Error>,
    },
}

impl Agents {
    /// Opens what is around. Fails when a value or a project that was named is wrong. Without a home folder, calls that need one fail
    /// later, each with [`Error::NoHome`].
    pub fn open(invocation: &Invocation) -> Result<Agents, Error> {
        let registry = Registry::standard();
        let flags = flags(&registry, &invocation.values)?;
        let environment: Environment = invocation.variables.iter().cloned().collect();
        let home = match invocation.places() {
            Ok(places) => Home::Known(ConfigService::new(registry, places, environment).with_flags(flags)),
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

    /// With another way to wait for locks than 30 s in silence.
    pub fn with_wait(self, wait: Wait) -> Agents {
        let home = match self.home {
            Home::Known(service) => Home::Known(service.with_wait(wait.clone())),
            unknown => unknown,
        };
        Agents { home, wait, ..self }
    }

    /// Reads the files of configuration, for questions to what they say now.
    ///
    /// Safe to call from any thread and process at any time: it takes no lock and writes nothing.
    pub fn read(&self) -> Reading {
        match &self.home {
            Home::Known(service) => Reading::new(service.layers(), None, self.hint),
            Home::Unknown { given, why } => Reading::new(given.clone(), Some(Arc::clone(why)), self.hint),
        }
    }

    /// With settings as they were read, for all calls. Without this, each call that needs settings reads the files.
    pub fn with_settings(self, reading: &Reading) -> Agents {
        Agents { settings: Some(reading.settings()), ..self }
    }

    /// The program's own keys as typed values.
    pub(crate) fn settings(&self) -> Settings {
        self.settings.clone().unwrap_or_else(|| self.read().settings())
    }

    /// The home folder.
    pub fn home(&self) -> Result<&Path, Error> {
        Ok(&self.service()?.places().home)
    }

    /// The folder of the project, if there is one.
    pub fn project(&self) -> Option<&Path> {
        self.service().ok().and_then(|service| service.places().project.as_deref())
    }

    /// A JSON Schema of the file of one scope, or with every key.
    pub fn schema(&self, scope: Option<Scope>) -> serde_json::Value {
        config::schema(self.registry(), scope)
    }

    /// Who calls, if the door knows.
    pub(crate) fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// A path that the caller gave, as it is from anywhere.
    pub(crate) fn absolute(&self, path: &Path) -> PathBuf {
        self.current.as_ref().map_or_else(|| path.to_owned(), |current| current.join(path))
    }

    /// A path as people write it in configuration, where `~` is their own folder.
    pub(crate) fn spelled_out(&self, path: PathBuf) -> PathBuf {
        match (&self.user_home, path.strip_prefix("~")) {
            (Some(home), Ok(rest)) => home.join(rest),
            _ => path,
        }
    }

    /// The folder that is worked on when none is named: the project's, or else that of the git repository around. Any other would be a
    /// guess, and a wrong one could be a whole disk.
    pub(crate) fn default_root(&self) -> Result<PathBuf, Error> {
        let repository = || self.current.as_deref()?.ancestors().find(|folder| folder.join(".git").exists());
        self.project().or_else(repository).map(Path::to_owned).ok_or(Error::NoRoot)
    }

    /// Describes an error, with the hint of the frontend.
    pub(crate) fn problem(&self, error: &Error) -> Problem {
        Problem::hinted(error, self.hint)
    }

    pub(crate) fn hint(&self) -> Option<HintFor> {
        self.hint
    }

    /// What the environment has for servers.
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

    pub(crate) fn service(&self) -> Result<&ConfigService, Error> {
        match &self.home {
            Home::Known(service) => Ok(service),
            Home::Unknown { why, .. } => Err(why.again()),
        }
    }
}

/// The registered keys, sorted: for completions.
pub fn keys() -> Vec<String> {
    Registry::standard().keys().map(|declared| declared.key.to_string()).collect()
}

/// Values that the caller gave, none of them secret: arguments can be seen by everybody on the machine.
fn flags(registry: &Registry, values: &[String]) -> Result<Flags, Error> {
    let flags = Flags::parse(registry, values.iter().map(String::as_str))?;
    let is_secret = |key: &&Key| registry.look_up(key).is_ok_and(|info| info.is_secret());
    if let Some(key) = flags.keys().find(is_secret) {
        return Err(Error::SecretFlag { variable: key.variable(), key: key.to_string() });
    }
    Ok(flags)
}

/// Fails when there can be nothing at or below a key.
pub(crate) fn check_prefix(registry: &Registry, prefix: &Key) -> Result<(), Error> {
    match registry.look_up(prefix) {
        Ok(_) | Err(config::Error::IsTable { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
