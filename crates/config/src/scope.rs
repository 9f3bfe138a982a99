//! Scopes, and the folders they live in.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use crate::Error;

/// The folder of a project that holds its configuration.
pub const PROJECT_FOLDER: &str = ".cleveragents";

/// A place where values can be set: a file each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// For all projects of a user: `config.toml` in the home folder.
    Global,
    /// For all users of a project: `.cleveragents/config.toml`, meant to be shared.
    Project,
    /// For one user's copy of a project: `.cleveragents/config.local.toml`.
    Local,
}

impl Scope {
    /// All scopes.
    pub const ALL: &'static [Scope] = &[Scope::Global, Scope::Project, Scope::Local];

    /// The scope of this name.
    pub fn parse(name: &str) -> Option<Scope> {
        Self::ALL.iter().copied().find(|scope| scope.name() == name)
    }

    /// One word.
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

/// Where the files are. Nothing else is looked for, and never in the current folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Places {
    /// The home folder of this program, such as `~/.cleveragents`.
    pub home: PathBuf,
    /// The folder of the project that one is in.
    pub project: Option<PathBuf>,
}

impl Places {
    /// The file of a scope, whether it exists or not.
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

/// A path as text, with a replacement character for what is not UTF-8: JSON has no other paths.
pub(crate) fn display<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scope_has_a_file_and_a_name() {
        let places = Places { home: "/h".into(), project: Some("/p".into()) };
        let files: Vec<_> = Scope::ALL.iter().map(|scope| places.file(*scope).unwrap()).collect();
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
    fn outside_a_project_there_is_the_global_scope_only() {
        let places = Places { home: "/h".into(), project: None };
        assert!(places.file(Scope::Global).is_ok());
        assert!(matches!(places.file(Scope::Local), Err(Error::NoProject { scope: Scope::Local })));
    }
}
