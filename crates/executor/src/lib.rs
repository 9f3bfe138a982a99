//! Runs graphs of actors, each in its own sandbox.
//!
//! `docs/design/executor.md` argues how a run goes on after any kill.
//!
//! - [`run`]: the service, its options, events and summary.
//! - `rpc`, on Linux: requests of actors to their run, over a Unix socket.
//! - [`PlanFile`]: a graph of actors in TOML, with every mistake named by line and column;
//!   [`plan_file_schema`] for editors.
//! - [`Graph`] and [`Ready`]: the checks before a run, and the nodes that may start.
//! - [`sandbox`]: one private tree per actor, its manifest, and its confinement.
//! - `process`, on Linux: an actor as a process.

mod error;
mod graph;
mod planfile;
mod problem;
#[cfg(target_os = "linux")]
mod process;
mod ready;
#[cfg(target_os = "linux")]
pub mod rpc;
pub mod run;
pub mod sandbox;

pub use error::{Error, Result};
pub use graph::{Graph, NodeIndex, root_problems};
pub use planfile::{
    FILE_BYTES_MAX, Merge, NAME_BYTES_MAX, NODES_MAX, Need, NodeSpec, OneCommand, PlanFile, RootSpec, Run,
    plan_file_schema, plan_of_command,
};
pub use problem::{Place, Problem};
#[cfg(target_os = "linux")]
pub use process::{Ended, Identity, LINE_BYTES_MAX, Limits, Outcome, Running, Start, start};
pub use ready::Ready;
#[cfg(target_os = "linux")]
pub use sandbox::{
    CHANGES_MAX, Changes, CopyTree, Edit, Enforced, FileError, Manifest, Sandbox, State, Strategy, Wanted,
    What, enforceable, spawn_confined,
};
pub use sandbox::{Confine, Ignored};
