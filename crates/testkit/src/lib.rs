//! What the project's tests share. Never published.
//!
//! - [`sim`]: a disk in memory that loses at a power cut what was not synced.
//! - [`explore`]: crashes a workload at every disk call, and its recovery too, and checks every disk that may be left.
//! - [`strace`], [`folder`]: a real program killed, or failed, at any system call; real folders as values.
//! - [`children`]: other processes that a test starts and talks with.
//! - [`mount`]: real file systems that lose power, or are full.
//! - [`seed`]: one seed per test run, and the command that replays it.

pub mod children;
pub mod explore;
#[cfg(unix)]
pub mod folder;
#[cfg(target_os = "linux")]
pub mod mount;
pub mod notes;
pub mod seed;
pub mod sim;
#[cfg(unix)]
pub mod strace;
