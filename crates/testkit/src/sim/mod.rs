//! A simulated disk behind `filetx`'s storage traits.
//!
//! The disk has a *live* state, which running programs see, and a *durable* one, plus the effects that are between the two.
//! At a power cut every pending effect is kept or lost on its own, within these rules:
//!
//! - Content: each 512-byte sector shows its durable bytes or those after any one of the pending writes to it. A sector is
//!   never torn. The length is chosen the same way, apart from the sectors: what it adds without data reads as zeros.
//! - Mode and attributes: the durable ones or any pending ones, until `sync_all` of the file or `sync_folder` of the folder.
//! - Names: any subset of the pending operations, applied in order. Each is a set of entry assignments that happen together,
//!   whatever became of earlier ones. `sync_folder` settles the operations that changed an entry of that folder, wholly.
//! - What no durable name reaches is gone. So a folder whose own name was never synced takes its content along.
//! - After a failed sync of a file its pages count as clean: later syncs do not write them, unless they are written anew.
//!   Length, mode and names are not forgotten, because file systems journal them;
//!   [`SimDisk::set_folder_syncs_forget`] makes names forgettable as well.
//!
//! Not modelled: access times, quotas, search permission of folders, a call that fails and takes effect all the same, and
//! the intermediate lengths of one large write.

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
