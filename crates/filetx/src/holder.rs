//! Who holds a lock: written into the lock file by its holder, shown to those who wait.

use std::fmt;

/// The process that holds a lock, as it described itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Holder {
    /// Its process id.
    pub pid: u32,
    /// The program it runs.
    pub command: String,
    /// When it took the lock, in seconds since 1970.
    pub since_unix_s: u64,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} ({})", self.pid, self.command)
    }
}
