//! Keys: their names, types and values, and the registry of those that exist.

mod builtin;
mod key;
mod registry;
mod types;
mod value;

pub(crate) use key::dotted;
pub use key::{KEY_BYTES_MAX, KEY_NAMES_MAX, Key};
pub use registry::{Declaration, Declared, FREE_SECTION, KeyInfo, Mistake, Registry, Secrecy};
pub use types::{DURATION_PATTERN, Type, parse_duration};
pub use value::{REDACTED, Reveal, Value};
