//! The layers, and where in them a value stands.

use std::fmt;
use std::path::PathBuf;

use crate::Scope;

/// Where values come from, the strongest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Layer {
    /// `--config KEY=VALUE`.
    Flag,
    /// An environment variable.
    Environment,
    /// The file of the local scope.
    Local,
    /// The file of the project scope.
    Project,
    /// The file of the global scope.
    Global,
    /// The program itself.
    Default,
}

/// Where a value comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// `--config KEY=VALUE`.
    Flag,
    /// An environment variable.
    Variable {
        /// Its name.
        name: String,
    },
    /// A file.
    File {
        /// Its scope.
        scope: Scope,
        /// The file.
        file: PathBuf,
        /// Counted from 1.
        line: usize,
    },
    /// The program itself.
    Default,
}

impl Layer {
    /// One word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flag => "flag",
            Self::Environment => "environment",
            Self::Local => "local",
            Self::Project => "project",
            Self::Global => "global",
            Self::Default => "default",
        }
    }
}

impl From<Scope> for Layer {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::Global => Self::Global,
            Scope::Project => Self::Project,
            Scope::Local => Self::Local,
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Origin {
    /// The layer.
    pub fn layer(&self) -> Layer {
        match self {
            Self::Flag => Layer::Flag,
            Self::Variable { .. } => Layer::Environment,
            Self::File { scope, .. } => Layer::from(*scope),
            Self::Default => Layer::Default,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("--config"),
            Self::Variable { name } => write!(f, "${name}"),
            Self::File { file, line, .. } => write!(f, "{}:{line}", file.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(origin: Origin, layer: &str, shown: &str) {
        assert_eq!(origin.layer().to_string(), layer);
        assert_eq!(origin.to_string(), shown);
    }

    #[test]
    fn origins_name_their_layer_and_place() {
        let file = |scope| Origin::File { scope, file: "f.toml".into(), line: 3 };
        check(Origin::Flag, "flag", "--config");
        check(Origin::Variable { name: "A".into() }, "environment", "$A");
        check(file(Scope::Local), "local", "f.toml:3");
        check(file(Scope::Project), "project", "f.toml:3");
        check(file(Scope::Global), "global", "f.toml:3");
        check(Origin::Default, "default", "default");
    }
}
