//! Layers, and positions of values in them.

use std::fmt;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Scope;

/// Layer of a value, strongest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize, Debug)]
#[serde(rename_all = "lowercase")]
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
    /// Built into the program.
    Default,
}

/// Position of a value. Serialised, it names the layer, and the file and line or the variable.
#[derive(Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize, Debug)]
#[serde(into = "Fields", from = "Fields")]
pub enum Origin {
    /// `--config KEY=VALUE`.
    Flag,
    /// An environment variable.
    Variable {
        /// Name of the variable.
        name: String,
    },
    /// A position in a file.
    File {
        /// Scope of the file.
        scope: Scope,
        /// Path of the file.
        file: PathBuf,
        /// Counted from 1.
        line: usize,
    },
    /// Built into the program.
    Default,
}

impl Layer {
    /// Name in commands and JSON.
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
        f.pad(self.name())
    }
}

impl Origin {
    /// Layer of the position.
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

/// Serialised form of an origin.
#[derive(JsonSchema, Serialize, Deserialize)]
struct Fields {
    layer: Layer,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variable: Option<String>,
}

impl From<Origin> for Fields {
    fn from(origin: Origin) -> Fields {
        let fields = Fields { layer: origin.layer(), file: None, line: None, variable: None };
        match origin {
            Origin::File { file, line, .. } => {
                Fields { file: Some(file.display().to_string()), line: Some(line), ..fields }
            }
            Origin::Variable { name } => Fields { variable: Some(name), ..fields },
            Origin::Flag | Origin::Default => fields,
        }
    }
}

impl From<Fields> for Origin {
    fn from(Fields { layer, file, line, variable }: Fields) -> Origin {
        let in_file = |scope| Origin::File {
            scope,
            file: file.unwrap_or_default().into(),
            line: line.unwrap_or_default(),
        };
        match layer {
            Layer::Flag => Origin::Flag,
            Layer::Environment => Origin::Variable { name: variable.unwrap_or_default() },
            Layer::Local => in_file(Scope::Local),
            Layer::Project => in_file(Scope::Project),
            Layer::Global => in_file(Scope::Global),
            Layer::Default => Origin::Default,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(origin: Origin, layer: &str, shown: &str) {
        let json = serde_json::to_value(&origin).unwrap();
        assert_eq!(json["layer"], layer);
        assert_eq!(serde_json::from_value::<Origin>(json).unwrap(), origin);
        assert_eq!(origin.layer().to_string(), layer);
        assert_eq!(origin.to_string(), shown);
    }

    #[test]
    fn origins_name_layer_and_position() {
        let file = |scope| Origin::File { scope, file: "f.toml".into(), line: 3 };
        check(Origin::Flag, "flag", "--config");
        check(Origin::Variable { name: "A".into() }, "environment", "$A");
        check(file(Scope::Local), "local", "f.toml:3");
        check(file(Scope::Project), "project", "f.toml:3");
        check(file(Scope::Global), "global", "f.toml:3");
        check(Origin::Default, "default", "default");
    }
}
