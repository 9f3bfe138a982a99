//! Change N plain files all-or-nothing.

mod classify;
#[cfg(unix)]
mod disk;
#[cfg(windows)]
#[path = "disk_windows.rs"]
mod disk;
mod error;
mod folder;
#[cfg(not(feature = "shuttle"))]
mod group;
#[cfg(feature = "shuttle")]
#[doc(hidden)]
pub mod group;
mod hash;
mod holder;
mod home;
mod in_place;
mod journal;
mod lock;
mod marker;
mod path;
mod platform;
mod pointer;
mod publish;
mod record;
#[cfg(not(feature = "shuttle"))]
mod registry;
#[cfg(feature = "shuttle")]
#[doc(hidden)]
pub mod registry;
mod replace;
mod root;
mod shelf;
mod snapshot;
mod stage;
mod state;
mod step;
mod storage;
mod sync;
mod sync_count;
mod transaction;
mod tree;
mod view;

pub use disk::Disk;
pub use error::{Error, Failure, Left, Result};
pub use folder::{FOLDER_HOME, FolderOptions, OwnFolder};
pub use hash::Hash;
pub use holder::Holder;
pub use lock::{Guard, Held, Lock, Mode, NetworkRule, OnWait, Wait, Waiting, acquire_all};
pub use path::{At, NAME_BYTES_MAX, PATH_BYTES_MAX, RelPath, ToAt};
pub use replace::{ReplaceOptions, Replaced, Sweep, SymlinkRule, replace_file, replace_in};
pub use snapshot::Snapshot;
pub use stage::StagedFile;
pub use state::{Print, Seen};
pub use step::Step;
pub use storage::{FileId, Kind, Open, Rename, Stat, Storage, StoredFile};
pub use sync_count::sync_count;
pub use transaction::{CHANGES_MAX, Committed, Expected, INLINE_BYTES_MAX, Kept, Transaction};
pub use tree::{Finder, ROOTS_MAX, Recovered, TreeOptions, Trees};
pub use view::{Body, Look};
