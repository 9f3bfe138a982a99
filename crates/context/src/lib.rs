//! Conversations, saved atomically; the cost of a save is proportional to the change.
//!
//! A context is a conversation in four plain files: messages (one a line), metadata, state and
//! global context. They change together or not at all, despite kills, full disks and power cuts,
//! and any number of threads and processes may have one open. [`Contexts`] is the folder of all
//! contexts, [`ContextManager`] is one of them.
//!
//! # Promises
//!
//! - **No mixed state.** A [save](ContextManager::save) writes all staged changes, with count, time
//!   and revision, in one commit.
//! - **No lost message.** Writers take turns, and each adds to the result of the one before it. A
//!   [conditional save](ContextManager::save_if) fails if the context changed.
//! - **A failure changes nothing**, in the files or in the object; [`Error::outcome`] tells if the
//!   outcome is unknown until the next open.
//! - **The cost of a save is proportional to the change**, not to the length of the conversation;
//!   opening reads no messages.
//! - **Readers see one commit**, write nothing, and block no writer, however slow they are.
//! - **No silent damage, no lost content.** A change by another program is an error or a
//!   [`Notice`]; [`Contexts::repair`] accepts it. Only `remove` and `prune` delete.
//! - **Unknown fields stay**, with the spelling of their values: `1.10` stays `1.10`.
//!
//! # Limits
//!
//! - Other programs that read the files during a save may see a part of it; this library does not.
//! - A manual change that keeps the length of `messages.jsonl` is found by [`Contexts::verify`], or
//!   when that line is read; not at open.
//! - A message has at most [`MESSAGE_BYTES_MAX`] bytes, one save at most [`BATCH_BYTES_MAX`] of
//!   messages.
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
//!     let saved = chat.save()?; // Both or none; now they survive a power cut.
//!     assert_eq!(saved.message_count, 1);
//!
//!     // Elsewhere, at any time: one commit, without reading all messages.
//!     let other = contexts.open(chat.name())?;
//!     let last = other.last(20).next().ok_or("no message")??;
//!     assert_eq!(last.message.content().text(), "hello");
//!     assert_eq!(other.state().as_str(), r#"{"step":1}"#);
//!     Ok(())
//! }
//! ```
//!
//! `docs/design/contexts.md` explains layout, cost and crash points.

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

pub use contexts::{ContextEntry, Contexts, OnExisting, Removal};
pub use dir::{Clock, Options};
pub use edit::BATCH_BYTES_MAX;
pub use error::{Damage, Error, ImportError, Outcome};
pub use manager::{ContextManager, SaveSummary};
pub use messages::{Messages, NumberedMessage};
pub use model::{
    Content, DEPTH_MAX, Draft, InvalidId, Json, JsonError, MESSAGE_BYTES_MAX, Message, MessageError,
    MessageId, Metadata, NAME_BYTES_MAX, Name, ROLES, Revision, Role,
};
pub use notice::Notice;
pub use prune::StaleContext;
pub use search::{MatchLine, Search, SearchHit, SearchQuery};
pub use transfer::Format;
pub use verify::{PROBLEMS_MAX, VerifyFinding, VerifyReport};
