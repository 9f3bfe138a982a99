//! The socket of a run: by it, commands in a sandbox speak to the run that started them, with the rights of their node and no others.
//!
//! # Promises
//!
//! - **Whose request it is** is told by a token, which each attempt of a node gets anew. A token is worth nothing once the attempt's actor
//!   has ended.
//! - **Nothing under way at the end.** When an actor has ended, its requests are answered or refused before its changes are looked for: what was
//!   acknowledged is in its changeset, and nothing comes later.
//! - **Bounded.** Connections, lines, what follows them and waits for either have limits; an actor that does not go on holds up nobody else.
//!
//! What is said is in `protocol`; what a node may do in `session`. What requests mean is for whoever implements [`Answers`].
//!
//! Locks: `seats`, `connections` and a seat's own are never held together, and none while a request is answered.

mod client;
mod protocol;
mod server;
mod session;

pub use client::{CallError, Content, call};
pub use protocol::{
    Append, Bodies, Body, Call, Deed, Get, Given, Outcome, REQUEST_BYTES_MAX, Record, SOCKET_VARIABLE,
    TOKEN_VARIABLE,
};
pub use server::Answers;
pub(crate) use server::{Socket, Taken};
pub(crate) use session::Place;
pub use session::{Seat, Turn};

#[cfg(test)]
mod tests;
