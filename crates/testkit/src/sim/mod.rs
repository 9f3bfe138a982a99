//! A simulated disk that implements the storage traits of `filetx`.
//!
//! The disk has a *live* state, which running programs see, a *durable* state, and pending effects
//! between the two. A power cut keeps or loses every pending effect independently, within these
//! rules:
//!
//! - Content: each 512-byte sector has its durable bytes or those after any one of the pending
//!   writes to it. A sector is never torn. The length is chosen in the same way, independently of
//!   the sectors: extended bytes without data are zeros.
//! - Mode and attributes: the durable ones or any pending ones, until `sync_all` of the file or
//!   `sync_folder` of the folder.
//! - Names: any subset of the pending operations, applied in order. Each is an atomic set of entry
//!   assignments, whatever happened to earlier ones. `sync_folder` makes all operations durable
//!   that changed an entry of that folder.
//! - Objects that no durable name reaches are lost. So a folder whose own name was never synced
//!   loses its content.
//! - After a failed sync of a file, its pages count as clean: later syncs do not write them, unless
//!   they are written again. Length, mode and names are not dropped, because file systems journal
//!   them; [`SimDisk::set_folder_syncs_forget`] drops names as well.
//!
//! Not modelled: access times, quotas, search permission of folders, calls that fail and take
//! effect, and intermediate lengths of one large write.

mod content;
mod crash;
mod disk;
mod external;
mod fault;
mod hash;
mod object;
mod pending;
mod space;
mod storage;

pub use content::SECTOR_BYTES;
pub use crash::{CrashState, CrashStates};
pub use disk::{Node, SimDisk};
pub use fault::{Fault, FaultDuration, is_simulated_crash};
pub use hash::Fingerprint;
pub(crate) use hash::{FingerprintSet, mix};
