//! Shared code of the project's tests. Never published.
//!
//! - [`sim`]: a disk in memory that loses unsynced data at a power cut.
//! - [`explore`]: crashes a workload and its recovery at every disk call, and checks every possible
//!   disk.
//! - [`strace`], [`folder`]: real programs killed or failed at any system call; real folders as
//!   values.
//! - [`mount`], `power`: real file systems that lose power, also while another process writes, or
//!   are full.
//! - [`children`], [`history`]: child processes of a test, and linearizability of their calls.
//! - [`journals`]: journals that an unfinished transaction leaves in real folders.
//! - [`contended_config`]: a configuration file that many writers change.
//! - [`unlocked_edit`]: the unsafe way to change a configuration file, as a control.
//! - [`postgres`], `small_database`: a real PostgreSQL server for tests, and one whose disk fills
//!   up.
//! - [`store_conformance`]: the conformance suite for engines of the store.
//! - [`wrap_store`]: stores that forward every call, to count calls or to make them fail.
//! - [`mod@bench`]: measurements of two sides that alternate.
//! - [`report`]: figures and skips.
//! - `version_0_1`: data that version 0.1 made.
//! - [`fuzz`]: fuzz targets as ordinary tests.
//! - `trees`: random trees of files for round trips through `git apply`.
//! - [`seed`]: seeds of random tests, and the command that replays one.

#[cfg(unix)]
pub mod bench;
pub mod children;
pub mod contended_config;
pub mod explore;
#[cfg(unix)]
pub mod folder;
pub mod fuzz;
#[cfg(unix)]
pub mod history;
pub mod journals;
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
#[cfg(unix)]
pub mod strace;
#[cfg(unix)]
pub mod trees;
pub mod unlocked_edit;
#[cfg(target_os = "linux")]
pub mod version_0_1;

pub use filetx::error_chain as chain;
pub use store::wrap_store;
