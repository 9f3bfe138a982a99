//! Running graphs of actors, each in a sandbox of its own.
//!
//! `docs/design/executor.md` argues how a run goes on after any kill.
//!
//! - [`run`]: the service, its options, events and summary.
//! - [`PlanFile`]: a graph of actors in TOML, with every mistake named by line and column; [`plan_file_schema`] for editors.
//! - [`Graph`] and [`Ready`]: what is checked before anything runs, and which nodes may start.
//! - On Linux, `Strategy` with `CopyTree`: a sandbox per actor, from the tree as it is now; `Manifest`: what was changed in it;
//!   `spawn_confined`: writing in listed folders only; `start`: an actor as a process, and `Identity`, by which any process finds it again.

#[cfg(target_os = "linux")]
mod changes;
#[cfg(target_os = "linux")]
mod confine;
mod error;
mod graph;
#[cfg(target_os = "linux")]
mod identity;
mod planfile;
mod problem;
#[cfg(target_os = "linux")]
mod process;
mod ready;
pub mod run;
#[cfg(target_os = "linux")]
pub mod sandbox;
#[cfg(target_os = "linux")]
mod terminal;
mod terms;

#[cfg(target_os = "linux")]
pub use changes::{CHANGES_MAX, Changes, Edit, Manifest, State, What};
#[cfg(target_os = "linux")]
pub use confine::{Enforced, enforceable, spawn_confined};
pub use error::{Error, Result};
pub use graph::{Graph, NodeIndex, root_problems};
#[cfg(target_os = "linux")]
pub use identity::Identity;
pub use planfile::{
    FILE_BYTES_MAX, Merge, NAME_BYTES_MAX, NODES_MAX, Need, NodeSpec, OneCommand, PlanFile, RootSpec, Run,
    plan_file_schema, plan_of_command,
};
pub use problem::{Place, Problem};
#[cfg(target_os = "linux")]
pub use process::{Ended, LINE_BYTES_MAX, Limits, Outcome, Running, Start, start};
pub use ready::Ready;
#[cfg(target_os = "linux")]
pub use sandbox::{CopyTree, FileError, Sandbox, Strategy, Wanted};
pub use terms::{Confine, Ignored};
