//! Which machine this is. Whoever begins an apply is on the machine that has the roots, and only there it can be finished.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A machine, told apart from others by its name and the id that its system was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The name of the host.
    pub host: String,
    /// The id of the installed system; empty where it has none.
    pub id: String,
}

impl Machine {
    /// The one that this program runs on.
    pub fn here() -> Self {
        let id = std::fs::read_to_string("/etc/machine-id").unwrap_or_default();
        Self { host: host(), id: id.trim().to_owned() }
    }
}

#[cfg(unix)]
fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn host() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.host)
    }
}
