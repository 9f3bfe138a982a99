//! Change several plain files all-or-nothing.
//!
//! A [`Transaction`] stages changes and commits them together. After a kill at any instruction, a
//! full disk, an I/O error at any call or a power cut, the next open finds all of the old files or
//! all of the new ones. No file needs manual repair.
//!
//! The call that begins a transaction selects one of two policies:
//!
//! | | [`OwnFolder::begin`] | [`Trees::begin`] |
//! |---|---|---|
//! | for | files that only this program writes | folders that belong to people |
//! | roots | one, with files only | one or several, on one or several file systems |
//! | cost of a commit | one sync, shared by the threads that commit at once | some syncs per file and folder |
//! | files are | written in place, after the commit point | replaced whole, before the commit returns |
//! | a person's edit during the commit | preserved in a separate file | stays in place; the commit's content is preserved |
//!
//! [`replace_file`] replaces one file without a journal. [`Snapshot`] reads.
//!
//! # Promises
//!
//! - **No torn state.** All of a commit or nothing of it, in every file and every root.
//! - **Durable when acknowledged.** When [`Transaction::commit`] returns `Ok`, the change survives
//!   a power cut. When it fails, [`Failure::outcome`] tells what is on the disk.
//!   [`CommitReport::pending`] means that the next open finishes publishing.
//! - **No lost update.** A transaction that reads and writes excludes all other threads and
//!   processes.
//! - **No edit of a person is overwritten** in [`Trees`]: a path that is not as it was before
//!   stays, see [`CommitReport::preserved`].
//! - **Readers see one commit**, also after a crash and before recovery, and write nothing.
//! - **No path leaves its root**, by `..`, by symlinks or by folders that are swapped during a
//!   call.
//! - **Every wait ends**, by the timeout of its [`Wait`], with an error that names the lock and its
//!   holder.
//! - **No fallback to a weaker guarantee.** A step that fails fails the call.
//!
//! # Limits
//!
//! - Other programs that read the files of an own folder during a commit may see them half-written;
//!   a [`Snapshot`] does not.
//! - On file systems without an atomic exchange, an edit saved between the last check and the
//!   rename is lost.
//! - Recovery is impossible if the transaction folder is deleted during an interrupted commit.
//! - Network file systems are refused: their locks are unreliable.
//! - Windows has no modes, owners, attributes or exchange. The code for macOS is not tested.
//!
//! # Example
//!
//! ```
//! use cleveragents_filetx::{Claim, FolderOptions, OwnFolder, Snapshot, TreeOptions, Trees, Verdict, Wait};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let home = tempfile::tempdir()?;
//!     let [conversation, app, site] = ["conversation", "app", "site"].map(|name| home.path().join(name));
//!     for folder in [&conversation, &app, &site] {
//!         std::fs::create_dir(folder)?;
//!     }
//!
//!     // A folder that only this program writes. Opening it recovers it. The lock file is outside of it.
//!     let lock = home.path().join("conversation.lock");
//!     let folder = OwnFolder::open(&conversation, &lock, FolderOptions::default())?;
//!     let mut tx = folder.begin()?;
//!     tx.append("messages.jsonl", b"{\"role\":\"user\",\"content\":\"hello\"}\n")?;
//!     tx.put("metadata.json", b"{\"message_count\":1}\n")?;
//!     let report = tx.commit()?; // Both files or none; from here on they survive a power cut.
//!     assert!(report.pending.is_none(), "the change is in the files already");
//!
//!     // A reader sees one commit, never half of one, and writes nothing.
//!     let snapshot = Snapshot::of_folder(&conversation, &lock, &Wait::default())?;
//!     assert_eq!(snapshot.read("metadata.json")?.as_deref(), Some(&b"{\"message_count\":1}\n"[..]));
//!
//!     // Two folders that belong to people, one commit. A program that keeps no list of its
//!     // transactions trusts no journal that it finds there: anyone may have written it.
//!     let vouch = |_: &Claim<'_>| Verdict::Untrusted { reason: "it is not ours".to_owned() };
//!     let mut trees = Trees::open(&[app.as_path(), site.as_path()], TreeOptions::default(), &vouch)?;
//!     let mut tx = trees.begin();
//!     tx.put("src/name.rs", b"pub const NAME: &str = \"new\";\n")?;
//!     tx.put((1, "index.html"), b"<h1>new</h1>\n")?;
//!     let report = tx.commit()?;
//!     assert!(report.preserved.is_empty(), "no other program changed these files");
//!     Ok(())
//! }
//! ```
//!
//! # Map of the modules
//!
//! From the callers down to the disk; `docs/design/file-transaction.md` numbers the steps.
//!
//! - `tx`: staging, savepoints, commit; the view of a transaction and of a [`Snapshot`]
//! - `own` and `tree`: the two kinds of folders, each with its policy, publishing and recovery
//! - `replace`: one file without a journal
//! - `journal`: the bytes of records, of the journal that holds them, and of the files beside it
//! - `lock`: lock files among processes and threads
//! - `txn_dir`, `root`, `path`, `hash`, `step`, `error`, `sync`: what all of these share
//! - `bounded`: reading with a limit, for all crates
//! - `disk`: the traits that everything goes through, and the real disk

mod bounded;
mod disk;
mod error;
mod hash;
mod journal;
mod lock;
mod own;
mod path;
mod replace;
mod root;
mod step;
mod sync;
mod tree;
mod tx;
mod txn_dir;

pub use bounded::{Bounded, read_bounded};
pub use disk::{
    Disk, FileId, FileKind, FsSync, OpenMode, RenameMode, Restrictions, SequentialWriter, Stat, Storage,
    StoredFile, sync_count,
};
pub use error::{Error, ErrorKind, Failure, FailureOutcome, Obstacle, Result, causes, error_chain, io_code};
pub use hash::{Hash, hex};
pub use lock::{Guard, Holder, Lock, LockMode, OnWait, SendGuard, Wait, WaitNotice, acquire_all};
pub use own::{FolderOptions, FolderTransaction, OwnFolder, PRESERVED_DIR, TXN_DIR};
pub use path::{RelPath, ToTxPath, TxPath};
pub use replace::{ReplaceOptions, Replacement, Sweep, replace_file, replace_in};
pub use step::Step;
pub use tree::{
    Claim, ClaimedChange, Decided, Decision, ROOTS_MAX, RecoveredTransaction, StorageResolver, TreeOptions,
    TreeTransaction, Trees, Verdict, Vouch,
};
pub use tx::change::{Fingerprint, Observed, PathState};
pub use tx::snapshot::Snapshot;
pub use tx::stage::StagedFile;
pub use tx::view::ContentReader;
pub use tx::{CHANGES_MAX, CommitReport, INLINE_BYTES_MAX, Preserved, Transaction};

/// For the tests that explore thread schedules.
#[cfg(feature = "shuttle")]
#[doc(hidden)]
pub use {lock::registry, own::group_commit};

/// Keeps the example in the README compiling and running.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
