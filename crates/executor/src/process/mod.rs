//! One actor as a process: in a group of its own, with its output captured, ended whole.
//!
//! Promises: output goes to a file up to a bound and line by line to a callback, and reading goes on behind the bound, or when the file
//! takes no more, so that an actor is never stuck on a full pipe; when the actor ends, is cancelled or takes too long, everything it started is ended with it before
//! [`Running::wait`] returns, so nothing it writes later counts.
//!
//! What belongs to an actor is told by its [`Identity`], see `tags`.

mod capture;
mod child;
mod tags;
mod terminal;

pub use capture::LINE_BYTES_MAX;
pub use child::{Ended, Limits, Outcome, Running, Start, start};
pub use tags::Identity;
