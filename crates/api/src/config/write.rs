//! Changing configuration. Each call locks, reads, changes and replaces one file, like
//! [`config::ConfigService`].

use std::fs;
use std::path::PathBuf;
use std::str::FromStr;

use config::{ConfigService, EditResult, Key, KeyInfo, Layer, Layers, Scope, WriteSummary};

use crate::agents::has_password;
use crate::config::{ConfigChange, ConfigFile, ConfigPaths, EditReport, ShadowedKey, ValueChange};
use crate::problem::text;
use crate::{Agents, Error, Problem};

/// A value to set.
#[derive(Clone)]
pub struct Assignment {
    /// The dotted key.
    pub key: Key,
    /// The value as text, parsed by the key's type.
    pub text: String,
    /// Visibility of the value on its way to this program.
    pub exposure: Exposure,
}

/// An edit of a file by a person.
pub struct ConfigEdit {
    /// Scope of the file.
    pub scope: Scope,
    /// Path of the file.
    pub file: PathBuf,
    /// Content; empty if there is no file. It need not parse: an edit can fix it.
    pub original: Vec<u8>,
}

/// Visibility of a value on its way to this program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exposure {
    /// An argument of a command, visible to every user of the machine. Not valid for a secret.
    Public,
    /// Standard input or another private channel.
    Private,
}

impl Assignment {
    /// Creates an assignment from two arguments.
    pub fn argument(key: Key, text: impl Into<String>) -> Assignment {
        Assignment { key, text: text.into(), exposure: Exposure::Public }
    }
}

/// Parses one argument, `KEY=VALUE`.
impl FromStr for Assignment {
    type Err = Error;

    fn from_str(argument: &str) -> Result<Assignment, Error> {
        let (key, text) = config::parse_assignment(argument)?;
        Ok(Assignment::argument(key, text))
    }
}

impl Agents {
    /// Sets keys of one scope, all or none. The default scope is the project if it has a file, else
    /// global.
    ///
    /// Safe among threads and processes: writers of one file take turns, and no update is lost. A
    /// failure of any key leaves the file unchanged, unless the kind of the error is
    /// [`Kind::OutcomeUnknown`](crate::Kind::OutcomeUnknown).
    pub fn set(&self, scope: Option<Scope>, assignments: &[Assignment]) -> Result<ConfigChange, Error> {
        let service = self.config()?;
        let mut values = Vec::with_capacity(assignments.len());
        for Assignment { key, text, exposure } in assignments {
            let info = service.registry().look_up(key)?;
            if *exposure == Exposure::Public && (info.is_secret() || has_password(text)) {
                return Err(Error::SecretArgument { key: key.clone() });
            }
            values.push((info, text.as_str()));
        }
        let scope = scope.unwrap_or_else(|| default_scope(service, values.iter().map(|(info, _)| *info)));
        let before = service.layers();
        Ok(self.change(service, &before, service.set(scope, &values)?))
    }

    /// Removes a key from one scope, by default the one that [`set`](Self::set) would choose.
    /// `changed` of [`ConfigChange::written`](crate::ConfigChange::written) is true if the key was
    /// there.
    ///
    /// Safe among threads and processes, like [`set`](Self::set).
    pub fn unset(&self, scope: Option<Scope>, key: &Key) -> Result<ConfigChange, Error> {
        let service = self.config()?;
        let scope = scope.unwrap_or_else(|| default_scope(service, service.registry().look_up(key)));
        let before = service.layers();
        let written = service.unset(scope, key)?;
        Ok(self.change(service, &before, WriteSummary { keys: vec![key.clone()], ..written }))
    }

    /// Begins an edit of one scope's file, by default the one that [`set`](Self::set) would choose.
    /// Holds no lock.
    pub fn begin_edit(&self, scope: Option<Scope>) -> Result<ConfigEdit, Error> {
        let service = self.config()?;
        let scope = scope.unwrap_or_else(|| default_scope(service, []));
        Ok(ConfigEdit { scope, file: service.file(scope)?, original: service.original(scope)? })
    }

    /// Checks, as of now, that [`edit`](Self::edit) would accept an edit.
    pub fn check_edit(&self, edit: &ConfigEdit, edited: &[u8]) -> Result<(), Error> {
        Ok(self.config()?.check_edit(edit.scope, &edit.original, edited)?)
    }

    /// Writes an edit. Merges it by lines with changes that others made to the file since it began.
    ///
    /// Safe among threads and processes, like [`set`](Self::set). An invalid edit, or one that
    /// overlaps a concurrent change, is saved in a new file beside, which the error names. After
    /// any other error only the caller has the edit: see [`Error::edit_is_saved`].
    pub fn edit(&self, edit: &ConfigEdit, edited: &[u8]) -> Result<EditReport, Error> {
        let service = self.config()?;
        let before = service.layers();
        let EditResult { written, outcome } = service.edit(edit.scope, &edit.original, edited)?;
        Ok(EditReport { outcome, change: self.change(service, &before, written) })
    }

    /// Returns the paths of the files, strongest first.
    pub fn paths(&self) -> Result<ConfigPaths, Error> {
        let dirs = self.config()?.dirs();
        let files = Scope::ALL.iter().rev().filter_map(|scope| Some((*scope, dirs.file(*scope).ok()?)));
        let files = files.map(|(scope, file)| ConfigFile {
            scope,
            exists: fs::symlink_metadata(&file).is_ok(),
            file: text(&file),
        });
        Ok(ConfigPaths {
            home: text(&dirs.home),
            project: dirs.project.as_deref().map(text),
            files: files.collect(),
        })
    }

    /// Returns the path of a scope's file, existing or not.
    pub fn path(&self, scope: Scope) -> Result<PathBuf, Error> {
        Ok(self.config()?.file(scope)?)
    }

    /// Returns the result of a write, with the effective values after it.
    fn change(&self, service: &ConfigService, before: &Layers, written: WriteSummary) -> ConfigChange {
        let layer = Layer::from(written.scope);
        let (mut changes, mut shadowed, mut problems) = (Vec::new(), Vec::new(), Vec::new());
        let problem = |error: &config::Error| Problem::of_config(error, self.hint());
        let layers = service.layers();
        for key in &written.keys {
            match layers.resolve(key) {
                Ok(resolved) => {
                    changes.push(ValueChange::of(before, &resolved, layer));
                    shadowed.extend(ShadowedKey::of(&resolved, layer));
                    problems.extend(resolved.skipped().map(problem));
                }
                Err(error) => problems.push(problem(&error)),
            }
        }
        ConfigChange { written, changes, shadowed, problems }
    }
}

/// Returns the project scope if the project has a file, else global. Keys that only the global
/// scope can set go there.
fn default_scope<'a>(service: &ConfigService, keys: impl IntoIterator<Item = KeyInfo<'a>>) -> Scope {
    let mut keys = keys.into_iter().peekable();
    let global_only = keys.peek().is_some() && keys.all(|info| info.scopes() == [Scope::Global]);
    let file = service.file(Scope::Project).ok().filter(|_| !global_only);
    match file.is_some_and(|file| fs::symlink_metadata(file).is_ok()) {
        true => Scope::Project,
        false => Scope::Global,
    }
}
