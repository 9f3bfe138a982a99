//! Change N plain files all-or-nothing.

#[cfg(unix)]
mod disk;
#[cfg(windows)]
#[path = "disk_windows.rs"]
mod disk;
mod error;
mod holder;
mod path;
mod replace;
mod step;
mod storage;
mod sync_count;

pub use disk::Disk;
pub use error::{Error, Failure, Left, Result};
pub use holder::Holder;
pub use path::{At, NAME_BYTES_MAX, PATH_BYTES_MAX, RelPath, ToAt};
pub use replace::{ReplaceOptions, Replaced, Sweep, SymlinkRule, replace_file, replace_in};
pub use step::Step;
pub use storage::{FileId, Kind, Open, Rename, Stat, Storage, StoredFile};
pub use sync_count::sync_count;
