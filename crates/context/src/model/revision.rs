//! Revision: the number of a context's last commit.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Number of commits of a context; 0 if an older tool wrote it. A writer may name the revision that
/// it read, and fails if the context changed since.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, JsonSchema, Serialize, Deserialize, Debug,
)]
pub struct Revision(pub u64);

impl Revision {
    /// Greatest revision: the greatest integer that every JSON parser represents exactly.
    pub const MAX: Revision = Revision((1 << 53) - 1);
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Revision {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Revision, Self::Err> {
        text.parse().map(Revision)
    }
}
