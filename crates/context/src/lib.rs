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
//! # Map of the modules
//!
//! - callers: `contexts` (all of a folder), `manager` (one), `messages` (reading a piece at a time), `fork`, `export`, `import`, `search`, `verify`,
//!   `prune`, `error`, `notice`
//! - values: `message`, `json` (kept as text), `metadata`, `id`, `revision`, `name`; `serial` (in JSON)
//! - files: `edit` (what a change does to them, in one transaction), `loaded` (all but the messages as of one commit), `lines` and `index` (finding
//!   message n), `files` (their names, and reading them), `old` (the layout of older tools), `archive` (ours for exports), `ground` (where
//!   everything is, and the locks)
//!
//! `docs/design/contexts.md` argues layout, cost and crash points.

mod archive;
mod contexts;
mod edit;
mod error;
mod export;
mod files;
mod fork;
mod ground;
mod id;
mod import;
mod index;
mod json;
mod lines;
mod loaded;
mod manager;
mod message;
mod messages;
mod metadata;
mod name;
mod notice;
mod old;
mod prune;
mod revision;
mod search;
mod serial;
mod verify;

pub use contexts::{Contexts, IfThere, Listed, Removed};
pub use edit::BATCH_BYTES_MAX;
pub use error::{Damage, Error, ImportProblem, Left};
pub use export::Format;
pub use ground::{Clock, Options};
pub use id::{MessageId, NotAnId};
pub use json::{DEPTH_MAX, Json, NotJson};
pub use manager::{ContextManager, Saved};
pub use message::{Content, Draft, MESSAGE_BYTES_MAX, Message, NotAMessage, ROLES, Role};
pub use messages::{Messages, Numbered};
pub use metadata::Metadata;
pub use name::{NAME_BYTES_MAX, Name};
pub use notice::Notice;
pub use prune::Pruned;
pub use revision::Revision;
pub use search::{Hit, Line, Query, Search};
pub use verify::{PROBLEMS_MAX, Problem, Report};
