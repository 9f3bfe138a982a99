//! Runs: graphs of actors, each in a sandbox of its own, over any number of lives of this program.
//!
//! # Promises
//!
//! - **Durable.** Every step is in the store before it is acted on. A run that was killed goes on with [`Runs::resume`]: what is done is
//!   not run again, what was under way is ended and started anew, and no change is recorded twice.
//! - **One at a time.** A run holds a lease on its plan. Whoever else wants to run the plan is told who does.
//! - **Exact.** A node's changes are what is different in its sandbox, credited to it and to nobody else; what its `writes` do not allow
//!   fails it.
//! - **Bounded.** Nodes at once, output, retries and waits have limits.
//!
//! [`Runs`] is the service; [`Options`] is what it is asked, [`Event`] what happens meanwhile, [`Summary`] what comes of it.

mod check;
#[cfg(target_os = "linux")]
mod context;
mod event;
#[cfg(target_os = "linux")]
mod inputs;
#[cfg(target_os = "linux")]
mod layout;
#[cfg(target_os = "linux")]
mod lease;
#[cfg(target_os = "linux")]
mod life;
#[cfg(target_os = "linux")]
mod node;
mod options;
#[cfg(target_os = "linux")]
mod outputs;
#[cfg(target_os = "linux")]
mod overlap;
mod record;
#[cfg(target_os = "linux")]
mod resume;
#[cfg(target_os = "linux")]
mod schedule;
mod service;
mod state;
mod summary;

pub use check::{Checked, check};
pub use event::{Event, NodeInGraph};
#[cfg(target_os = "linux")]
pub(crate) use inputs::Front;
pub use options::{Cancel, Options};
#[cfg(target_os = "linux")]
pub(crate) use outputs::Recorder;
pub use record::{RunRecord, RunTerms};
pub use service::{OnEvent, Runs};
pub use state::{NodeState, Outcome, node_table_in_markdown};
pub use summary::{NodeReport, Output, Summary, Unfinished};
