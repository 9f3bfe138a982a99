//! Identifies a machine. An apply runs on the machine that has the roots, and can be finished only
//! there.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A machine, identified by host name and system id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The host name.
    pub host: String,
    /// The id of the installed system (`/etc/machine-id`); empty if the system has none.
    pub id: String,
}

impl Machine {
    /// The machine that this program runs on.
    pub fn local() -> Self {
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
