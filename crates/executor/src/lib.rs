//! Runs graphs of actors, each in its own sandbox.
//!
//! `docs/design/executor.md` argues how a run continues after any kill.
//!
//! - [`run`]: the service, its options, events and summary.
//! - `rpc`, on Linux: requests of actors to their run, over a Unix socket.
//! - [`PlanFile`]: a graph of actors in TOML, with every mistake named by line and column;
//!   [`plan_file_schema`] for editors.
//! - [`Graph`] and [`Ready`]: the checks before a run, and the nodes that may start.
//! - [`sandbox`]: one private tree per actor, its manifest, and its confinement.
//! - `ActorCommand` and `spawn`, on Linux: an actor as a process; `ActorIdentity` finds it again from
//!   any process.

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
    COMMAND_LINE, FILE_BYTES_MAX, Merge, NAME_BYTES_MAX, NODES_MAX, Need, NodeCommand, NodeSpec, PlanFile,
    RootSpec, SingleCommand, plan_file_for_command, plan_file_schema,
};
pub use problem::{Position, Problem};
#[cfg(target_os = "linux")]
pub use process::{
    ActorCommand, ActorIdentity, ActorProcess, Exit, ExitReport, LINE_BYTES_MAX, Limits, spawn,
};
pub use ready::Ready;
#[cfg(target_os = "linux")]
pub use sandbox::{
    CHANGES_MAX, CopyStrategy, FileError, FileState, Manifest, Sandbox, SandboxOptions, SandboxStrategy,
    TreeChange, TreeChangeKind, TreeChanges, probe_confinement, spawn_confined,
};
pub use sandbox::{Confine, Confinement, Ignored};
