//! Choices about sandboxes that configuration and command lines name, on every system.

use serde::{Deserialize, Serialize};

/// Whether actors are confined: `sandbox.confine`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confine {
    /// As far as the kernel can.
    #[default]
    Auto,
    /// Fully, or the actor is not started.
    Require,
    /// Not at all.
    Off,
}

impl Confine {
    /// All, in the order they are listed to people.
    pub const ALL: [Confine; 3] = [Confine::Auto, Confine::Require, Confine::Off];

    /// As it is written in configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Require => "require",
            Self::Off => "off",
        }
    }
}

/// What becomes of files that git ignores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ignored {
    /// They are copied like the others.
    #[default]
    Copy,
    /// Symlinks to the originals stand for them. Only confinement keeps an actor from writing through these.
    Link,
    /// They are not there.
    LeaveOut,
}

impl Ignored {
    /// All, in the order they are listed to people.
    pub const ALL: [Ignored; 3] = [Ignored::Copy, Ignored::Link, Ignored::LeaveOut];

    /// As it is written on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Link => "link",
            Self::LeaveOut => "leave-out",
        }
    }
}
