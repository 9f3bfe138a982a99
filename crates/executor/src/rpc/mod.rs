//! Requests of actors to the run that started them, over a Unix socket, with the permissions of their
//! node and no others.
//!
//! # Promises
//!
//! - **Authenticated.** Each attempt of a node has its own token, which is invalid once its actor has
//!   ended.
//! - **Complete at the end.** When an actor has ended, the run answers or refuses its requests before it
//!   scans the sandbox: an acknowledged change is in the changeset, and no change arrives later.
//! - **Bounded.** Connections, request lines, bodies and waits have limits. A stalled actor delays no
//!   other.
//!
//! `protocol` has the messages, `server` and `client` the two ends of the socket, `session` the
//! permissions of one attempt. A [`RequestHandler`] implements the methods.
//!
//! Locks: those of `sessions`, of `connections` and of a session are never held together, and none is
//! held while a request is handled.

mod client;
#[doc(hidden)]
pub mod fuzzing;
mod protocol;
mod server;
mod session;

pub use client::{CallError, RequestBody, call};
pub use protocol::{
    AppendParams, BaseParam, Bodies, Body, EditParam, GetParams, Method, Outcome, REQUEST_BYTES_MAX,
    RecordParams, SOCKET_VARIABLE, TOKEN_VARIABLE, VERSION,
};
pub use server::RequestHandler;
pub(crate) use server::{Server, SessionGuard};
pub(crate) use session::AttemptContext;
pub use session::{NodeSession, RecordGuard};

#[cfg(test)]
mod tests;
