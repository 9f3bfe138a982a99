//! Choices about sandboxes in configuration, options and records, on every system.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Requested confinement of actors: `sandbox.confine`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confine {
    /// As far as the kernel can.
    #[default]
    Auto,
    /// Fully, or start no actor.
    Require,
    /// Not at all.
    Off,
}

impl Confine {
    /// All values, in the order of help texts.
    pub const ALL: [Confine; 3] = [Confine::Auto, Confine::Require, Confine::Off];

    /// Its word in configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Require => "require",
            Self::Off => "off",
        }
    }
}

/// Confinement that the kernel enforces. Aliases are the words of version 0.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confinement {
    /// All rules.
    #[serde(alias = "fully")]
    Full,
    /// Some rules: an older kernel does not see truncation, or moves between folders.
    #[serde(alias = "partly")]
    Partial,
    /// No rules.
    #[serde(alias = "not")]
    None,
}

impl Confinement {
    /// Its word in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Partial => "partial",
            Self::None => "none",
        }
    }
}

/// Treatment of files that git ignores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ignored {
    /// Copy them like other files.
    #[default]
    Copy,
    /// Replace them by symlinks to the originals. Only confinement prevents writes through these.
    Link,
    /// Exclude them. The alias is the word of version 0.1.
    #[serde(alias = "leave-out")]
    Exclude,
}

impl Ignored {
    /// All values, in the order of help texts.
    pub const ALL: [Ignored; 3] = [Ignored::Copy, Ignored::Link, Ignored::Exclude];

    /// Its word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Link => "link",
            Self::Exclude => "exclude",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_version_0_1_are_read() {
        let confinement = |word: &str| serde_json::from_value::<Confinement>(word.into()).unwrap();
        for (old, value) in
            [("fully", Confinement::Full), ("partly", Confinement::Partial), ("not", Confinement::None)]
        {
            assert_eq!((confinement(old), confinement(value.name())), (value, value));
        }
        let ignored = |word: &str| serde_json::from_value::<Ignored>(word.into()).unwrap();
        assert_eq!((ignored("leave-out"), ignored("exclude")), (Ignored::Exclude, Ignored::Exclude));
    }
}
