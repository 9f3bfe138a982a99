//! Changes of configuration. Each locks, reads, changes and replaces one file, as [`config::ConfigService`] says.

use std::fs;
use std::path::PathBuf;
use std::str::FromStr;

use config::{ConfigService, Edited, Key, KeyInfo, Layer, Scope, Written};

use crate::config::{Change, EditOutcome, FileState, Paths, StillSet};
use crate::problem::text;
use crate::{Agents, Error, Problem};

/// A value to be set.
#[derive(Clone)]
pub struct Assignment {
    /// The key.
    pub key: Key,
    /// The value, as text that is read by the key's type.
    pub text: String,
    /// How it came.
    pub given: Given,
}

/// A file that a person edits.
pub struct ConfigEdit {
    /// Its scope.
    pub scope: Scope,
    /// The file.
    pub file: PathBuf,
    /// What it holds; empty if there is none. It need not parse: editing is how it is corrected.
    pub original: Vec<u8>,
}

/// How a value came to us.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Given {
    /// In the arguments of a command, which everybody on the machine can see. No secret may come so.
    Openly,
    /// By a way that others cannot see.
    Privately,
}

impl Assignment {
    /// From two arguments.
    pub fn argument(key: Key, text: impl Into<String>) -> Assignment {
        Assignment { key, text: text.into(), given: Given::Openly }
    }
}

/// From one argument, `KEY=VALUE`.
impl FromStr for Assignment {
    type Err = Error;

    fn from_str(argument: &str) -> Result<Assignment, Error> {
        let (key, text) = config::assignment(argument)?;
        Ok(Assignment::argument(key, text))
    }
}

impl Agents {
    /// Sets keys of one scope, all or none. Without a scope it is the project when one is in a project that has a file, else global.
    ///
    /// Safe among threads and processes: writers of one file take turns and none is lost. A failure, of whichever key, leaves the
    /// file as it was, except where the error's kind is [`Kind::OutcomeUnknown`](crate::Kind::OutcomeUnknown).
    pub fn set(&self, scope: Option<Scope>, assignments: &[Assignment]) -> Result<Change, Error> {
        let service = self.config()?;
        let mut values = Vec::with_capacity(assignments.len());
        for Assignment { key, text, given } in assignments {
            let info = service.registry().look_up(key)?;
            if *given == Given::Openly && info.is_secret() {
                return Err(Error::SecretArgument { key: key.clone() });
            }
            values.push((info, text.as_str()));
        }
        let scope = scope.unwrap_or_else(|| usual_scope(service, values.iter().map(|(info, _)| *info)));
        Ok(self.change(service, service.set(scope, &values)?))
    }

    /// Removes a key from one scope, by default the one that [`set`](Self::set) would choose. `changed` of [`Change::written`](crate::Change::written) says whether it was there.
    ///
    /// Safe among threads and processes, like [`set`](Self::set).
    pub fn unset(&self, scope: Option<Scope>, key: &Key) -> Result<Change, Error> {
        let service = self.config()?;
        let scope = scope.unwrap_or_else(|| usual_scope(service, service.registry().look_up(key)));
        let written = service.unset(scope, key)?;
        Ok(self.change(service, Written { keys: vec![key.clone()], ..written }))
    }

    /// Begins an edit of one scope's file, by default the one that [`set`](Self::set) would choose. No lock is held until it is taken over.
    pub fn begin_edit(&self, scope: Option<Scope>) -> Result<ConfigEdit, Error> {
        let service = self.config()?;
        let scope = scope.unwrap_or_else(|| usual_scope(service, []));
        Ok(ConfigEdit { scope, file: service.file(scope)?, original: service.original(scope)? })
    }

    /// Whether [`edit`](Self::edit) would take over what a person made of it, as things are now; the error says why not.
    pub fn check_edit(&self, edit: &ConfigEdit, edited: &[u8]) -> Result<(), Error> {
        Ok(self.config()?.check_edit(edit.scope, &edit.original, edited)?)
    }

    /// Takes over what a person made of it. If the file was changed meanwhile, both changes are merged by lines.
    ///
    /// Safe among threads and processes, like [`set`](Self::set). An edit that is wrong, or whose lines others changed too, is kept in a new
    /// file beside, and the error says where. With any other error the edit is with the caller only: [`Error::is_kept`] tells which.
    pub fn edit(&self, edit: &ConfigEdit, edited: &[u8]) -> Result<EditOutcome, Error> {
        let service = self.config()?;
        let Edited { written, outcome } = service.edit(edit.scope, &edit.original, edited)?;
        Ok(EditOutcome { outcome, change: self.change(service, written) })
    }

    /// Where the files are, the strongest first.
    pub fn paths(&self) -> Result<Paths, Error> {
        let places = self.config()?.places();
        let files = Scope::ALL.iter().rev().filter_map(|scope| Some((*scope, places.file(*scope).ok()?)));
        let files = files.map(|(scope, file)| FileState {
            scope,
            exists: fs::symlink_metadata(&file).is_ok(),
            file: text(&file),
        });
        Ok(Paths {
            home: text(&places.home),
            project: places.project.as_deref().map(text),
            files: files.collect(),
        })
    }

    /// The file of a scope, whether it exists or not.
    pub fn path(&self, scope: Scope) -> Result<PathBuf, Error> {
        Ok(self.config()?.file(scope)?)
    }

    /// What was done, and what holds now.
    fn change(&self, service: &ConfigService, written: Written) -> Change {
        let (mut still, mut problems) = (Vec::new(), Vec::new());
        let problem = |error: &config::Error| Problem::of_config(error, self.hint());
        let layers = service.layers();
        for key in &written.keys {
            match layers.resolve(key) {
                Ok(resolved) => {
                    still.extend(StillSet::of(&resolved, Layer::from(written.scope)));
                    problems.extend(resolved.skipped().map(problem));
                }
                Err(error) => problems.push(problem(&error)),
            }
        }
        Change { written, still, problems }
    }
}

/// Project when one is in a project that has a file, else global. Keys that belong to the global scope only go there.
fn usual_scope<'a>(service: &ConfigService, keys: impl IntoIterator<Item = KeyInfo<'a>>) -> Scope {
    let mut keys = keys.into_iter().peekable();
    let global_only = keys.peek().is_some() && keys.all(|info| info.scopes() == [Scope::Global]);
    let file = service.file(Scope::Project).ok().filter(|_| !global_only);
    match file.is_some_and(|file| fs::symlink_metadata(file).is_ok()) {
        true => Scope::Project,
        false => Scope::Global,
    }
}
