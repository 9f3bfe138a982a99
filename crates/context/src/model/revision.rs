//! The number of a context's last commit.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Counts the commits of a context; 0 where an older tool wrote it. A writer that names the revision it has read is refused when
/// somebody else wrote since.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, Debug)]
pub struct Revision(pub u64);

impl Revision {
    /// The greatest: what every reader of JSON takes for the number it is.
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
