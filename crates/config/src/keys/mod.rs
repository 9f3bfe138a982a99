//! Keys: names, types, values, and the registry that declares them.

mod builtin;
mod key;
mod registry;
mod types;
mod value;

pub(crate) use key::dotted;
pub use key::{KEY_BYTES_MAX, KEY_NAMES_MAX, Key};
pub use registry::{Declaration, KeyDefinition, KeyInfo, Registry, RegistryError, Secrecy, USER_SECTION};
pub use types::{DURATION_PATTERN, Type, parse_duration};
pub(crate) use value::without_passwords;
pub use value::{REDACTED, Reveal, Value};
