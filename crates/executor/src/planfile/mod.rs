//! The plan file: a graph of actors in TOML.
//!
//! ```toml
//! name = "rename everywhere"
//! concurrency = 4                  # most concurrent nodes; default: the key plan.concurrency
//! fail-fast = true                 # stop all nodes after the first failure
//! merge = "three-way"              # or fail-on-conflict, last-wins
//!
//! [roots.app]                      # default: one root, the project
//! path = "."                       # relative to the folder of this file
//!
//! [defaults]                       # defaults of node fields
//! timeout = "10m"
//!
//! [nodes.rename]
//! run = "sed -i s/foo/bar/ src/*.rs"
//! paths = ["src/**"]
//!
//! [nodes.test]
//! run = ["cargo", "test"]
//! needs = ["rename"]
//! ```
//!
//! The check reports every mistake of a file, with line and column. The table of fields in `fields` is
//! the source of both the check and the JSON Schema. `graph` checks the dependencies of nodes.
//!
//! The store keeps the texts of plan files, so fields keep their names of version 0.1 as aliases.

mod check;
mod command;
mod fields;
mod read;
mod spec;

pub use command::{COMMAND_LINE, SingleCommand, plan_file_for_command};
pub use fields::{NAME_BYTES_MAX, plan_file_schema};
pub use spec::{FILE_BYTES_MAX, Merge, NODES_MAX, Need, NodeCommand, NodeSpec, PlanFile, RootSpec};

#[cfg(test)]
mod tests;
