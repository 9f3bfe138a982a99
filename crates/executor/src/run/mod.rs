//! Runs: graphs of actors, each in its own sandbox, resumable across any number of processes.
//!
//! # Promises
//!
//! - **Durable.** The store holds every step before the run acts on it. [`Runs::resume`] continues a
//!   run that was killed: it does not repeat nodes that succeeded, it ends and restarts nodes that were
//!   running, and it records no change twice.
//! - **One at a time.** A run holds a lease on its plan. A second run of the plan fails and names the
//!   owner of the lease.
//! - **Exact.** The changes of a node are the differences in its sandbox, attributed to it and to no
//!   other node. A change outside its `paths` fails the node.
//! - **Bounded.** Concurrent nodes, output, retries and waits have limits.
//!
//! [`Runs`] is the service, [`Options`] its input, [`Event`] its progress, [`Summary`] its result.

mod check;
#[cfg(target_os = "linux")]
mod conclusion;
#[cfg(target_os = "linux")]
mod context;
#[cfg(target_os = "linux")]
mod environment;
mod event;
#[cfg(target_os = "linux")]
mod inputs;
#[cfg(target_os = "linux")]
mod layout;
#[cfg(target_os = "linux")]
mod lease;
#[cfg(target_os = "linux")]
mod node;
mod options;
#[cfg(target_os = "linux")]
mod outputs;
#[cfg(target_os = "linux")]
mod overlap;
#[cfg(target_os = "linux")]
mod patient_store;
mod record;
#[cfg(target_os = "linux")]
mod resume;
#[cfg(target_os = "linux")]
mod schedule;
mod service;
#[cfg(target_os = "linux")]
mod start;
mod state;
mod summary;

pub use check::{CheckedPlanFile, check};
pub use event::{Event, NodeInGraph, RecoveryAction};
#[cfg(target_os = "linux")]
pub(crate) use inputs::UpstreamChanges;
pub use options::{Cancel, Options};
#[cfg(target_os = "linux")]
pub(crate) use outputs::Recorder;
pub use record::{RunRecord, RunSettings};
pub use service::{OnEvent, Runs};
pub use state::{NodeState, Outcome, node_table_in_markdown};
pub use summary::{NodeOutput, NodeReport, Summary, UnfinishedRun};
