//! Running graphs of actors, each in a sandbox of its own.
//!
//! So far: what lies below the service that runs them. `docs/design/executor.md` says how that is meant.
//!
//! - [`PlanFile`]: a graph of actors in TOML, with every mistake named by line and column; [`plan_file_schema`] for editors.
//! - [`Graph`] and [`Ready`]: what is checked before anything runs, and which nodes may start.
//! - [`Patterns`]: the paths an actor may change.

mod error;
mod glob;
mod graph;
mod planfile;
mod problem;
mod ready;

pub use error::{Error, Result};
pub use glob::{Patterns, may_overlap};
pub use graph::{Graph, NodeIndex, root_problems};
pub use planfile::{
    FILE_BYTES_MAX, Merge, NAME_BYTES_MAX, NODES_MAX, Need, NodeSpec, PlanFile, RootSpec, Run,
    plan_file_schema,
};
pub use problem::{Place, Problem};
pub use ready::Ready;
