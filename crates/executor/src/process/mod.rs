//! An actor as a process, in its own process group.
//!
//! # Promises
//!
//! - Output goes to a file up to a limit, and line by line to a callback. Reading continues beyond the
//!   limit and when the file cannot grow, so that a full pipe never blocks an actor.
//! - When the actor ends, is cancelled or exceeds its timeout, [`ActorProcess::wait`] ends all processes
//!   that it started before it returns. No later write counts.
//!
//! An [`ActorIdentity`] finds the processes of an actor, see `tags`.

mod capture;
mod child;
mod tags;
mod terminal;

pub use capture::LINE_BYTES_MAX;
pub use child::{ActorCommand, ActorProcess, Exit, ExitReport, Limits, spawn};
pub use tags::ActorIdentity;
