//! Finds the home folder and the project of a call.
//!
//! State never lands in the current folder by accident: a home folder from a variable must be an absolute path, and a
//! project is a folder with a `.cleveragents` folder, or one that the caller names.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use config::{ConfigDirs, PROJECT_FOLDER};

use crate::{Error, HintFor};

/// Environment variable that names the home folder.
pub const HOME_VARIABLE: &str = "CLEVERAGENTS_HOME";

/// Folders, flags and environment of a call. Every field is optional.
#[derive(Clone, Default)]
pub struct Invocation {
    /// Home folder that the caller names: `--home`.
    pub home: Option<PathBuf>,
    /// Project that the caller names: `--project`. Must be a folder.
    pub project: Option<PathBuf>,
    /// Current folder. The search for a project starts here, and relative paths are relative to it.
    pub current: Option<PathBuf>,
    /// Home folder of the user. Holds `.cleveragents`, the default home folder.
    pub user_home: Option<PathBuf>,
    /// Name of the calling user.
    pub user: Option<String>,
    /// Flags `KEY=VALUE`; the last one for a key wins.
    pub values: Vec<String>,
    /// Environment variables.
    pub variables: Vec<(OsString, OsString)>,
    /// Gives the hints of problems. Default: none.
    pub hint: Option<HintFor>,
}

impl Invocation {
    /// Folders of the configuration files.
    pub(crate) fn dirs(&self) -> Result<ConfigDirs, Error> {
        let home = self.home()?;
        let project = match &self.project {
            Some(project) => Some(self.named_project(project, &home)?),
            None => self.current.as_deref().and_then(|current| self.find_project(current, &home)),
        };
        Ok(ConfigDirs { home, project })
    }

    /// Removes home folder and project, for commands that must not use them.
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

    /// Finds the nearest folder at or above `current` with a `.cleveragents` folder. The home folder, and the default
    /// home folder, have that name but make no project.
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
        // Drops the `.` components, as paths are shown without them.
        Ok(path.components().collect())
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&OsStr> {
        let found = self.variables.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_os_str())
    }
}

/// True if two paths lead to the same folder, through symlinks too.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).ok();
    one == other || real(one).is_some_and(|one| real(other) == Some(one))
}

impl std::fmt::Debug for Invocation {
    /// Leaves out variables and flags, which may hold secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Invocation")
            .field("home", &self.home)
            .field("project", &self.project)
            .field("current", &self.current)
            .finish_non_exhaustive()
    }
}
