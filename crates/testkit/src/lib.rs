//! What the project's tests share. Never published.
//!
//! - [`sim`]: a disk in memory that loses at a power cut what was not synced.
//! - [`explore`]: crashes a workload at every disk call, and its recovery too, and checks every disk that may be left.
//! - [`strace`], [`folder`]: a real program killed, or failed, at any system call; real folders as values.
//! - [`mount`], `power`: real file systems that lose power, also while another process writes, or are full.
//! - [`children`], [`history`]: a test's own executable as other processes, and whether one order explains what they did.
//! - [`contended_config`]: a configuration file that many writers add to, and what must be in it.
//! - [`unlocked_edit`]: the usual way to change a configuration file, which must fail where ours holds.
//! - [`postgres`], `small_database`: a real PostgreSQL of a test's own, and one whose disk becomes full.
//! - [`store_conformance`]: what every engine of the store does, as tests that any engine runs.
//! - [`wrap_store`]: stores that pass every call on, to count calls or to make them fail.
//! - [`mod@bench`]: how benches measure, side by side.
//! - `version_0_1`: data that version 0.1 made.
//! - [`seed`]: one seed per test run, and the command that replays it.

#[cfg(unix)]
pub mod bench;
pub mod children;
pub mod contended_config;
pub mod explore;
#[cfg(unix)]
pub mod folder;
#[cfg(unix)]
pub mod history;
#[cfg(target_os = "linux")]
pub mod mount;
#[cfg(unix)]
pub mod postgres;
#[cfg(target_os = "linux")]
pub mod power;
pub mod report;
pub mod seed;
pub mod sim;
#[cfg(target_os = "linux")]
pub mod small_database;
#[expect(clippy::unwrap_used, reason = "these are tests, for engines to call")]
pub mod store_conformance;
mod store_wrapper;
#[cfg(unix)]
pub mod strace;
pub mod unlocked_edit;
#[cfg(target_os = "linux")]
pub mod version_0_1;

pub use filetx::error_chain as chain;
