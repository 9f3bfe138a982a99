//! Fixture: a home and a project in a temporary folder.

use std::fs;
use std::path::{Path, PathBuf};

use config::{ConfigDirs, ConfigService, Environment, Flags, Key, Registry, Scope};
use tempfile::TempDir;

pub(crate) struct Fixture {
    pub(crate) folder: TempDir,
    pub(crate) dirs: ConfigDirs,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::within(tempfile::tempdir().unwrap())
    }

    pub(crate) fn within(folder: TempDir) -> Self {
        let [home, project] = ["home", "project"].map(|name| folder.path().join(name));
        fs::create_dir(&project).unwrap();
        Self { folder, dirs: ConfigDirs { home, project: Some(project) } }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn file(&self, scope: Scope) -> PathBuf {
        self.dirs.file(scope).unwrap()
    }

    /// Writes the file of a scope directly, like an editor.
    pub(crate) fn write(&self, scope: Scope, content: impl AsRef<[u8]>) {
        let file = self.file(scope);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
    }

    pub(crate) fn read(&self, scope: Scope) -> String {
        fs::read_to_string(self.file(scope)).unwrap()
    }

    pub(crate) fn service(&self) -> ConfigService {
        ConfigService::new(Registry::standard(), self.dirs.clone(), Environment::empty())
    }

    pub(crate) fn service_with(&self, variables: &[(&str, &str)], flags: &[&str]) -> ConfigService {
        let registry = Registry::standard();
        let flags = Flags::parse(&registry, flags.iter().copied()).unwrap();
        let environment = variables.iter().copied().collect();
        ConfigService::new(registry, self.dirs.clone(), environment).with_flags(flags)
    }
}

pub(crate) fn key(text: &str) -> Key {
    Key::parse(text).unwrap()
}

/// Names in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
