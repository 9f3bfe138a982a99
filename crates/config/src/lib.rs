//! Scoped configuration in TOML files that people, commands and many processes edit at once.
//!
//! A key has a value in up to six layers, high to low: a flag, the environment, the local, project and global file, the default. A
//! [`ConfigService`] reads them and writes the files; a [`Registry`] says which keys there are. Terminal, process environment and home
//! folder are the caller's: they come in as [`Flags`], [`Environment`] and [`Places`].
//!
//! # Promises
//!
//! - **No lost update.** A write locks, reads, changes and replaces; nothing is computed from what was read before the lock.
//! - **All or nothing.** A file is replaced whole and durably; several keys in one [`batch`](ConfigService::batch) land together.
//! - **Byte for byte.** Outside of the touched key nothing changes; setting a new key and unsetting it gives the same bytes again.
//! - **No default over a broken file.** What cannot be parsed is reported with line and column and never replaced.
//! - **One rule of precedence**, in [`Layers::resolve`], and every value knows where it comes from.
//! - **A project is not trusted**: it sets nothing that redirects store or server or loosens confinement, reads no secrets from the
//!   environment, and its files do not lead out of it.
//! - **Secrets** are in no error and in no `Debug` of settings, services and transactions; [`Value`] alone holds them.
//!
//! # Limits
//!
//! - Other programs that write a file without taking our lock (an editor, say) may overwrite what we wrote, or we theirs. An edit by
//!   [`ConfigService::edit`] is merged instead.
//! - Processes that write are woken in the order they came, but one that comes at the right moment may be faster than the first of them.
//!   Beside many that never pause, one may wait for long, and fail with [`Error::Busy`] after its 30 s.
//! - Free keys below `x.` have no environment variable.
//! - Each file has [`FILE_BYTES_MAX`] bytes at most.
//!
//! # Example
//!
//! ```
//! use cleveragents_config::{ConfigService, Environment, Key, Origin, Places, Registry, Scope, Value};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let folder = tempfile::tempdir()?;
//!     let places = Places { home: folder.path().join("home"), project: None };
//!     let service = ConfigService::new(Registry::standard(), places, Environment::empty());
//!     let concurrency = Key::parse("plan.concurrency")?;
//!
//!     service.set_value(Scope::Global, &concurrency, "8")?; // Durable, and nobody else's write is lost.
//!     let resolved = service.resolve(&concurrency)?;
//!     assert_eq!(resolved.value, Some(Value::Integer(8)));
//!     assert!(matches!(resolved.origin, Origin::File { scope: Scope::Global, line: 1, .. }));
//!
//!     // Several keys, all or none; calls see what was staged before them.
//!     service.batch(Scope::Global, |tx| {
//!         tx.set_value(&Key::parse("x.team")?, "blue")?;
//!         assert_eq!(tx.get(&concurrency)?, Some(Value::Integer(8)));
//!         tx.set_value(&concurrency, "4")
//!     })?;
//!
//!     let error = service.set_value(Scope::Global, &Key::parse("plan.concurency")?, "8").unwrap_err();
//!     assert_eq!(error.to_string(), "unknown key `plan.concurency`");
//!     assert!(matches!(error, cleveragents_config::Error::UnknownKey { nearest: Some(key), .. } if key.to_string() == "plan.concurrency"));
//!     Ok(())
//! }
//! ```

mod edit;
mod error;
mod json_schema;
mod keys;
mod layers;
mod scope;
mod scope_file;
mod service;
mod settings;
mod toml;
mod transaction;
mod watch;

pub use edit::{Edited, Outcome};
pub use error::{Error, Unparsable};
pub use filetx::{Wait, Waiting};
pub use json_schema::schema;
pub use keys::{
    DURATION_PATTERN, Declaration, Declared, FREE_SECTION, KEY_BYTES_MAX, KEY_NAMES_MAX, Key, KeyInfo,
    Mistake, REDACTED, Registry, Reveal, Secrecy, Type, Value, parse_duration,
};
pub use layers::{Consulted, Environment, Flags, Layer, Layers, Listing, Origin, Resolved, assignment};
pub use scope::{PROJECT_FOLDER, Places, Scope};
pub use scope_file::make_project_folder;
pub use service::ConfigService;
pub use settings::Settings;
pub use toml::{Document, FILE_BYTES_MAX};
pub use transaction::{ConfigTransaction, Written};
pub use watch::{Changed, Held, Noticed, Stopper, Watch};
