//! Change N plain files all-or-nothing.

#[cfg(unix)]
mod disk;
#[cfg(windows)]
#[path = "disk_windows.rs"]
mod disk;
mod error;
mod holder;
mod lock;
mod path;
mod platform;
mod replace;
#[cfg(not(feature = "shuttle"))]
mod registry;
#[cfg(feature = "shuttle")]
#[doc(hidden)]
pub mod registry;
mod step;
mod storage;
mod sync;
mod sync_count;

pub use disk::Disk;
pub use error::{Error, Failure, Left, Result};
pub use holder::Holder;
pub use lock::{Guard, Held, Lock, Mode, NetworkRule, OnWait, Wait, Waiting, acquire_all};
pub use path::{At, NAME_BYTES_MAX, PATH_BYTES_MAX, RelPath, ToAt};
pub use replace::{ReplaceOptions, Replaced, Sweep, SymlinkRule, replace_file, replace_in};
pub use step::Step;
pub use storage::{FileId, Kind, Open, Rename, Stat, Storage, StoredFile};
pub use sync_count::sync_count;
