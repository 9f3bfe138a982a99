//! Where the home folder and the project are.
//!
//! State never lands in the current folder by accident: a home that comes from a variable must be an absolute path, and a project is a
//! folder that has a `.cleveragents` folder, or one that was named.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use config::{PROJECT_FOLDER, Places};

use crate::{Error, HintFor};

/// The variable that names the home folder.
pub const HOME_VARIABLE: &str = "CLEVERAGENTS_HOME";

/// What a door knows about where it was called. All of it is optional.
#[derive(Clone, Default)]
pub struct Invocation {
    /// The home folder, named by the caller: `--home`.
    pub home: Option<PathBuf>,
    /// The project, named by the caller: `--project`. It must be a folder.
    pub project: Option<PathBuf>,
    /// The folder to look for a project from, upwards. Relative paths above are relative to it.
    pub current: Option<PathBuf>,
    /// The user's home folder, which holds the home folder of this program unless that is named.
    pub user_home: Option<PathBuf>,
    /// Who calls: a person's name on this machine, or what stands for it.
    pub user: Option<String>,
    /// `KEY=VALUE` each; a later one replaces an earlier.
    pub values: Vec<String>,
    /// The environment.
    pub variables: Vec<(OsString, OsString)>,
    /// Hints that go with problems. None by default.
    pub hint: Option<HintFor>,
}

impl Invocation {
    /// Where the files of configuration are.
    pub(crate) fn places(&self) -> Result<Places, Error> {
        let home = self.home()?;
        let project = match &self.project {
            Some(project) => Some(self.named_project(project, &home)?),
            None => self.current.as_deref().and_then(|current| self.find_project(current, &home)),
        };
        Ok(Places { home, project })
    }

    /// Without any home folder or project: for commands that must not use one.
    #[must_use]
    pub fn without_home(mut self) -> Invocation {
        (self.home, self.project, self.user_home) = (None, None, None);
        self.variables.retain(|(name, _)| name != HOME_VARIABLE);
        self
    }

    fn home(&self) -> Result<PathBuf, Error> {
        if let Some(home) = &self.home {
            return self.absolute(home);
        }
        if let Some(home) = self.variable(HOME_VARIABLE) {
            let home = PathBuf::from(home);
            return if home.is_absolute() { Ok(home) } else { Err(Error::BadHome { home }) };
        }
        self.usual_home().ok_or(Error::NoHome)
    }

    /// `~/.cleveragents`.
    fn usual_home(&self) -> Option<PathBuf> {
        let user_home = self.user_home.as_ref().filter(|home| home.is_absolute())?;
        Some(user_home.join(PROJECT_FOLDER))
    }

    fn named_project(&self, project: &Path, home: &Path) -> Result<PathBuf, Error> {
        let project = self.absolute(project)?;
        if !project.is_dir() {
            return Err(Error::NoSuchProject { project });
        }
        if is_same(&project.join(PROJECT_FOLDER), home) {
            return Err(Error::HomeAsProject { project });
        }
        Ok(project)
    }

    /// The nearest folder at or above `current` that has a `.cleveragents` folder. The home folder has that name too and is none; nor
    /// is the one that would be it if no other were named.
    fn find_project(&self, current: &Path, home: &Path) -> Option<PathBuf> {
        let usual_home = self.usual_home();
        let is_project = |folder: &&Path| {
            let marked = folder.join(PROJECT_FOLDER);
            marked.is_dir()
                && !is_same(&marked, home)
                && !usual_home.as_ref().is_some_and(|usual_home| is_same(&marked, usual_home))
        };
        current.ancestors().find(is_project).map(Path::to_owned)
    }

    pub(crate) fn absolute(&self, path: &Path) -> Result<PathBuf, Error> {
        let path = match &self.current {
            _ if path.is_absolute() => path.to_owned(),
            Some(current) => current.join(path),
            None => return Err(Error::NoCurrentFolder { path: path.to_owned() }),
        };
        // Without the `.` that people write, as paths are shown.
        Ok(path.components().collect())
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&OsStr> {
        let found = self.variables.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_os_str())
    }
}

/// Whether two paths name one folder, through symlinks too.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).ok();
    one == other || real(one).is_some_and(|one| real(other) == Some(one))
}

impl std::fmt::Debug for Invocation {
    /// Without variables and values, which may be secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Invocation")
            .field("home", &self.home)
            .field("project", &self.project)
            .field("current", &self.current)
            .finish_non_exhaustive()
    }
}
