//! Scopes, and the folders of their files.

use std::fmt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::Error;

/// Folder of a project's configuration.
pub const PROJECT_FOLDER: &str = ".cleveragents";

/// Scope of a value; each is one file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// One user, all projects: `config.toml` in the home folder.
    Global,
    /// One project, all users: `.cleveragents/config.toml`, committed with the project.
    Project,
    /// One user's copy of one project: `.cleveragents/config.local.toml`.
    Local,
}

impl Scope {
    /// All scopes, weakest first.
    pub const ALL: &'static [Scope] = &[Scope::Global, Scope::Project, Scope::Local];

    /// Returns the scope of this name.
    pub fn parse(name: &str) -> Option<Scope> {
        Self::ALL.iter().copied().find(|scope| scope.name() == name)
    }

    /// Name in commands and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Project => "project",
            Self::Local => "local",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Folders of the files. No other folder is searched, not even the current one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigDirs {
    /// Home folder of this program, such as `~/.cleveragents`.
    pub home: PathBuf,
    /// Folder of the current project.
    pub project: Option<PathBuf>,
}

impl ConfigDirs {
    /// Returns the path of a scope's file, existing or not.
    pub fn file(&self, scope: Scope) -> Result<PathBuf, Error> {
        let in_project = |name: &str| match &self.project {
            Some(project) => Ok(project.join(PROJECT_FOLDER).join(name)),
            None => Err(Error::NoProject { scope }),
        };
        match scope {
            Scope::Global => Ok(self.home.join("config.toml")),
            Scope::Project => in_project("config.toml"),
            Scope::Local => in_project("config.local.toml"),
        }
    }
}

/// Serialises a path as text, as JSON has no paths; replaces bytes that are not UTF-8.
pub(crate) fn display<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scope_has_a_file_and_a_name() {
        let dirs = ConfigDirs { home: "/h".into(), project: Some("/p".into()) };
        let files: Vec<_> = Scope::ALL.iter().map(|scope| dirs.file(*scope).unwrap()).collect();
        let expected: [PathBuf; 3] = [
            "/h/config.toml".into(),
            "/p/.cleveragents/config.toml".into(),
            "/p/.cleveragents/config.local.toml".into(),
        ];
        assert_eq!(files, expected);
        for scope in Scope::ALL {
            assert_eq!(Scope::parse(scope.name()), Some(*scope));
        }
        assert_eq!(Scope::parse("system"), None);
    }

    #[test]
    fn only_the_global_scope_exists_outside_a_project() {
        let dirs = ConfigDirs { home: "/h".into(), project: None };
        assert!(dirs.file(Scope::Global).is_ok());
        assert!(matches!(dirs.file(Scope::Local), Err(Error::NoProject { scope: Scope::Local })));
    }
}
