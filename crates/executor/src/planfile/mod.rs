//! The plan file: a graph of actors in TOML.
//!
//! ```toml
//! name = "rename everywhere"
//! concurrency = 4                  # nodes at once; without it as many as there are processors
//! fail-fast = true                 # the first failure stops the others
//! merge = "three-way"              # or fail-on-conflict, last-wins
//!
//! [roots.app]                      # without roots there is one, the project
//! path = "."                       # from the folder of this file
//!
//! [defaults]                       # for nodes that say nothing else
//! timeout = "10m"
//!
//! [nodes.rename]
//! run = "sed -i s/foo/bar/ src/*.rs"
//! writes = ["src/**"]
//!
//! [nodes.test]
//! run = ["cargo", "test"]
//! needs = ["rename"]
//! ```
//!
//! A file is checked as a whole: every mistake is reported with its line and column. What the fields are stands in one table
//! (`planfile/fields.rs`); the check and the JSON Schema both come from it. How nodes depend on each other is not checked here but in
//! `graph`.

mod check;
mod command;
mod fields;
mod read;
mod spec;

pub use command::{OneCommand, plan_of_command};
pub use fields::{NAME_BYTES_MAX, plan_file_schema};
pub use spec::{FILE_BYTES_MAX, Merge, NODES_MAX, Need, NodeSpec, PlanFile, RootSpec, Run};

#[cfg(test)]
mod tests;
