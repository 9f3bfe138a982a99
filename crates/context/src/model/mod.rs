//! Values of a conversation: messages, JSON kept as text, metadata, names.

mod id;
pub(crate) mod json;
mod message;
mod metadata;
mod name;
mod revision;
pub(crate) mod serialize;

pub use id::{InvalidId, MessageId};
pub use json::{DEPTH_MAX, Json, JsonError};
pub(crate) use message::LINE_BYTES_MAX;
pub use message::{Content, Draft, MESSAGE_BYTES_MAX, Message, MessageError, ROLES, Role};
pub(crate) use metadata::FORMAT;
pub use metadata::Metadata;
pub use name::{NAME_BYTES_MAX, Name};
pub use revision::Revision;
