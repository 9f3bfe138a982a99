//! Scoped configuration in TOML files that people, commands and many processes edit at once.
//!
//! A key has a value in up to six layers, high to low: a flag, the environment, the local, project
//! and global file, the default. A [`ConfigService`] reads the layers and writes the files; a
//! [`Registry`] declares the keys. The caller passes command line, process environment and folders
//! as [`Flags`], [`Environment`] and [`ConfigDirs`].
//!
//! # Promises
//!
//! - **No lost update.** A write locks, reads, changes and replaces; it uses nothing that was read
//!   before the lock.
//! - **All or nothing.** A file is replaced as a whole, durably; one
//!   [`batch`](ConfigService::batch) sets several keys together.
//! - **Byte for byte.** Nothing changes outside of the key that is set; setting a new key and
//!   unsetting it restores the bytes.
//! - **No default over a broken file.** A file that does not parse is reported with line and
//!   column, and never replaced.
//! - **One order of precedence**, in [`Layers::resolve`]; every value has an [`Origin`].
//! - **Project files are not trusted.** They cannot redirect the store or the server, loosen
//!   confinement, read secrets from the environment, or be symlinks out of the project.
//! - **Secrets** appear in no error and in no `Debug` output of settings, services and
//!   transactions; only [`Value`] holds them.
//!
//! # Limits
//!
//! - Programs that write a file without our lock, such as editors, may overwrite our changes, and
//!   we theirs. [`ConfigService::edit`] merges edits instead.
//! - Waiting writers of other processes wake up in order of arrival, but a new writer may overtake
//!   them. Among many writers without a pause, one may wait until it fails with [`Error::Busy`],
//!   after 30 s by default.
//! - Users' own keys, below `x.`, have no environment variable.
//! - A file has at most [`FILE_BYTES_MAX`] bytes.
//!
//! # Example
//!
//! ```
//! use cleveragents_config::{ConfigDirs, ConfigService, Environment, Key, Origin, Registry, Scope, Value};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let folder = tempfile::tempdir()?;
//!     let places = ConfigDirs { home: folder.path().join("home"), project: None };
//!     let service = ConfigService::new(Registry::standard(), places, Environment::empty());
//!     let concurrency = Key::parse("plan.concurrency")?;
//!
//!     service.set_value(Scope::Global, &concurrency, "8")?; // Durable; no concurrent write is lost.
//!     let resolved = service.resolve(&concurrency)?;
//!     assert_eq!(resolved.value, Some(Value::Integer(8)));
//!     assert!(matches!(resolved.origin, Origin::File { scope: Scope::Global, line: 1, .. }));
//!
//!     // Several keys, all or none; calls see earlier staged changes.
//!     service.batch(Scope::Global, |tx| {
//!         tx.set_value(&Key::parse("x.team")?, "blue")?;
//!         assert_eq!(tx.get(&concurrency)?, Some(Value::Integer(8)));
//!         tx.set_value(&concurrency, "4")
//!     })?;
//!
//!     let error = service.set_value(Scope::Global, &Key::parse("plan.concurency")?, "8").unwrap_err();
//!     assert_eq!(error.to_string(), "unknown key `plan.concurency`");
//!     assert!(matches!(error, cleveragents_config::Error::UnknownKey { suggestion: Some(key), .. } if key.to_string() == "plan.concurrency"));
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

pub use edit::{EditOutcome, EditResult};
pub use error::{Error, SyntaxError};
pub use filetx::{Wait, WaitNotice};
pub use json_schema::json_schema;
pub use keys::{
    DURATION_PATTERN, Declaration, KEY_BYTES_MAX, KEY_NAMES_MAX, Key, KeyDefinition, KeyInfo, REDACTED,
    Registry, RegistryError, Reveal, Secrecy, Type, USER_SECTION, Value, parse_duration,
};
pub use layers::{
    Environment, Flags, Layer, LayerValue, Layers, Listing, Origin, Resolved, parse_assignment,
};
pub use scope::{ConfigDirs, PROJECT_FOLDER, Scope};
pub use scope_file::create_project_folder;
pub use service::ConfigService;
pub use settings::Settings;
pub use toml::{Document, FILE_BYTES_MAX};
pub use transaction::{ConfigTransaction, WriteSummary};
pub use watch::{KeyChange, SourcedValue, StopHandle, Watch, WatchEvent};
