//! Change N plain files all-or-nothing.
//!
//! A [`Transaction`] stages changes and commits them together. After a kill at any instruction, a full disk, an I/O error at any
//! call or a power cut, the next open finds all of the old files or all of the new ones, and nobody has to repair anything.
//!
//! Two policies, chosen by where a transaction begins:
//!
//! | | [`OwnFolder::begin`] | [`Trees::begin`] |
//! |---|---|---|
//! | for | files that only this program writes | folders that belong to people |
//! | roots | one, with files only | one or several, on one or several file systems |
//! | a commit costs | one sync, shared by the threads that commit at once | some syncs per file and folder |
//! | files are | written in place, after the commit point | replaced whole, before the commit returns |
//! | a person's save in between | kept aside | left where it is; ours is kept aside |
//!
//! [`replace_file`] is the case of one file, without a journal. [`Snapshot`] reads.
//!
//! # Promises
//!
//! - **No torn state.** All of a commit or nothing of it, in every file and every root.
//! - **Durable when acknowledged.** When [`Transaction::commit`] returns `Ok`, the change survives a power cut. When it fails,
//!   [`Failure::left`] says what is there; [`Committed::pending`] tells that publishing will finish at the next open.
//! - **No lost update.** Whoever reads and writes in one transaction is alone meanwhile, among threads and processes.
//! - **Nothing of a person is overwritten** in [`Trees`]: what is not as it was before stays, see [`Committed::kept`].
//! - **Readers see one commit**, also after a crash and before recovery, and write nothing.
//! - **Nothing leaves the root**, by `..`, symlinks or folders that are swapped meanwhile.
//! - **Every wait ends**, by the timeout of its [`Wait`], with an error that names the lock and who holds it.
//! - **No fallback to something less safe.** What fails, fails.
//!
//! # Limits
//!
//! - Other programs that read an own folder's files during a save may see them half-written; a [`Snapshot`] does not.
//! - Where the file system has no atomic exchange, a person who saves in the moment between our look and our rename loses that save.
//! - Deleting the transaction folder in the middle of an interrupted commit is beyond recovery.
//! - Network file systems are refused: locks are not sure there.
//! - On Windows there are no modes, owners or attributes, and no exchange; macOS is written for, not run.
//!
//! # Example
//!
//! ```
//! use cleveragents_filetx::{FolderOptions, OwnFolder, Snapshot, TreeOptions, Trees, Wait};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let home = tempfile::tempdir()?;
//!     let [conversation, app, site] = ["conversation", "app", "site"].map(|name| home.path().join(name));
//!     for folder in [&conversation, &app, &site] {
//!         std::fs::create_dir(folder)?;
//!     }
//!
//!     // A folder of our own. Opening it finishes what a killed process left. The lock file is not inside it.
//!     let lock = home.path().join("conversation.lock");
//!     let folder = OwnFolder::open(&conversation, &lock, FolderOptions::default())?;
//!     let mut tx = folder.begin()?;
//!     tx.append("messages.jsonl", b"{\"role\":\"user\",\"content\":\"hello\"}\n")?;
//!     tx.put("metadata.json", b"{\"message_count\":1}\n")?;
//!     let committed = tx.commit()?; // Both files or none; from here on they survive a power cut.
//!     assert!(committed.pending.is_none(), "all of it is in the files already");
//!
//!     // A reader sees one commit, never half of one, and writes nothing.
//!     let snapshot = Snapshot::of_folder(&conversation, &lock, &Wait::default())?;
//!     assert_eq!(snapshot.read("metadata.json")?.as_deref(), Some(&b"{\"message_count\":1}\n"[..]));
//!
//!     // Two folders of people, one commit.
//!     let mut trees = Trees::open(&[app.as_path(), site.as_path()], TreeOptions::default())?;
//!     let mut tx = trees.begin();
//!     tx.put("src/name.rs", b"pub const NAME: &str = \"new\";\n")?;
//!     tx.put((1, "index.html"), b"<h1>new</h1>\n")?;
//!     let committed = tx.commit()?;
//!     assert!(committed.kept.is_empty(), "nobody else saved one of these files meanwhile");
//!     Ok(())
//! }
//! ```
//!
//! # Map of the modules
//!
//! From the callers down to the disk; `docs/design/file-transaction.md` numbers the steps.
//!
//! - `tx`: staging, savepoints, commit; what a transaction and a [`Snapshot`] see
//! - `own` and `tree`: the two kinds of folders, each with its policy, publishing and recovery
//! - `replace`: one file without a journal
//! - `journal`: the bytes of records, of the journal that holds them, and of the files beside it
//! - `lock`: lock files among processes and threads
//! - `txn_dir`, `root`, `path`, `hash`, `step`, `error`, `sync`: what all of these share
//! - `disk`: the traits that everything goes through, and the real disk

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

pub use disk::{Disk, FileId, Kind, Open, Rename, Stat, Storage, StoredFile, Watch, sync_count};
pub use error::{Error, ErrorKind, Failure, Left, Result, causes, error_chain, io_code};
pub use hash::{Hash, hex};
pub use lock::{Guard, Held, Holder, Lock, Mode, OnWait, Wait, Waiting, acquire_all};
pub use own::{FOLDER_HOME, FOLDER_KEPT, FolderOptions, FolderTransaction, OwnFolder};
pub use path::{At, RelPath, ToAt};
pub use replace::{ReplaceOptions, Replaced, Sweep, replace_file, replace_in};
pub use step::Step;
pub use tree::{Finder, ROOTS_MAX, Recovered, TreeOptions, TreeTransaction, Trees};
pub use tx::change::{Look, Print, Seen};
pub use tx::snapshot::Snapshot;
pub use tx::stage::StagedFile;
pub use tx::view::Body;
pub use tx::{CHANGES_MAX, Committed, INLINE_BYTES_MAX, Kept, Transaction};

/// For the tests that explore thread schedules.
#[cfg(feature = "shuttle")]
#[doc(hidden)]
pub use {lock::registry, own::group_commit};

/// Keeps the example in the README compiling and running.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
