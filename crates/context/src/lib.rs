//! Conversations that are never torn.
//!
//! A context is a conversation in four plain files: messages (one a line), metadata, state and global context. They change together or not at all,
//! whatever is killed, full or unplugged meanwhile, and any number of threads and processes may have one open. [`Contexts`] is the folder of all,
//! [`ContextManager`] is one of them.
//!
//! # Promises
//!
//! - **No mixed set.** A [save](ContextManager::save) writes all that is staged, with count, time and revision, in one commit.
//! - **No lost message.** Writers take turns, each adds to what the one before it left. Who asks to be, is
//!   [refused](ContextManager::save_if) when somebody else wrote since.
//! - **A failure changes nothing**, in the files or in the object, and [says](Error::left) when the outcome is known at the next open only.
//! - **The cost of a save follows the change**, not the length of the conversation; opening reads no messages.
//! - **Readers see one commit**, write nothing, and stop no writer while they take their time.
//! - **Nothing is wrong in silence, and nothing is thrown away.** What somebody else changed in the files is an error or a [`Notice`]; a
//!   [repair](Contexts::repair) takes over what is there. Only `remove` and `prune` delete.
//! - **What is not known here stays**, field by field in its own spelling: `1.10` stays `1.10`.
//!
//! # Limits
//!
//! - Other programs that read the files during a save may see them half-written; this library does not.
//! - A change by hand that leaves `messages.jsonl` at its length is found by [`Contexts::verify`], or when that line is read; not at open.
//! - A message has at most [`MESSAGE_BYTES_MAX`] bytes, one save at most [`BATCH_BYTES_MAX`] of messages.
//!
//! # Example
//!
//! ```
//! use cleveragents_context::{Contexts, Draft, Json, Name, Options, Role};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let home = tempfile::tempdir()?;
//!     let contexts = Contexts::at(&home.path().join("contexts"), Options::default());
//!     let mut chat = contexts.create(&Name::new("chat")?)?;
//!
//!     chat.append(Draft::text(Role::User, "hello"))?;
//!     chat.patch_state(Json::parse(r#"{"step": 1}"#)?)?;
//!     let saved = chat.save()?; // Both or none; from here on they survive a power cut.
//!     assert_eq!(saved.message_count, 1);
//!
//!     // Somewhere else, at any time: one commit, without reading all messages.
//!     let other = contexts.open(chat.name())?;
//!     let last = other.last(20).next().ok_or("no message")??;
//!     assert_eq!(last.message.content().text(), "hello");
//!     assert_eq!(other.state().as_str(), r#"{"step":1}"#);
//!     Ok(())
//! }
//! ```
//!
//! `docs/design/contexts.md` argues layout, cost and crash points.

mod contexts;
mod dir;
mod edit;
mod error;
mod files;
mod manager;
mod messages;
mod model;
mod notice;
mod prune;
mod search;
mod transfer;
mod verify;

pub use contexts::{Contexts, IfThere, Listed, Removed};
pub use dir::{Clock, Options};
pub use edit::BATCH_BYTES_MAX;
pub use error::{Damage, Error, ImportProblem, Left};
pub use manager::{ContextManager, Saved};
pub use messages::{Messages, Numbered};
pub use model::{
    Content, DEPTH_MAX, Draft, Json, MESSAGE_BYTES_MAX, Message, MessageId, Metadata, NAME_BYTES_MAX, Name,
    NotAMessage, NotAnId, NotJson, ROLES, Revision, Role,
};
pub use notice::Notice;
pub use prune::Pruned;
pub use search::{Hit, Line, Query, Search};
pub use transfer::Format;
pub use verify::{PROBLEMS_MAX, Problem, Report};
