//! Journals in real folders: whom tests trust, and transactions that stop after their commit point.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use filetx::{
    Claim, Disk, OpenMode, RelPath, RenameMode, Stat, Storage, StorageResolver, StoredFile, TreeOptions,
    TreeTransaction, Trees, Verdict,
};

/// Vouches for every journal, as the owner of all of them.
pub fn trust(_: &Claim<'_>) -> Verdict {
    Verdict::Trusted
}

/// Vouches for no journal.
pub fn distrust(_: &Claim<'_>) -> Verdict {
    Verdict::Untrusted { reason: "nobody vouches for it".to_owned() }
}

/// Commits a transaction in real folders and stops after `published` calls that publish it: the
/// journal stays, as after a kill. Returns the id of the transaction.
pub fn leave_journal(
    roots: &[PathBuf],
    txn_dir: &RelPath,
    owner: &[u8],
    published: i64,
    stage: impl FnOnce(&mut TreeTransaction<'_>) -> filetx::Result<()>,
) -> u128 {
    let roots: Vec<PathBuf> = roots.iter().map(|root| root.canonicalize().expect("a root exists")).collect();
    let paths: Vec<&Path> = roots.iter().map(PathBuf::as_path).collect();
    let options = TreeOptions { txn_dir: txn_dir.clone(), ..TreeOptions::default() };
    let mut trees =
        Trees::on_storage(&paths, stopping(published), options, &trust).expect("the roots can be opened");
    let mut tx = trees.begin();
    let id = tx.id();
    stage(&mut tx).expect("it can be staged");
    let report = tx.commit_for(owner).expect("it is committed");
    assert!(report.pending.is_some(), "it is published");
    id
}

/// Opens real folders that refuse every change after a journal was placed and `published` calls
/// changed something.
pub fn stopping(published: i64) -> StorageResolver {
    let calls_left = Arc::new(AtomicI64::new(i64::MAX));
    Arc::new(move |path: &Path| {
        let (disk, calls_left) = (Disk::open(path)?, Arc::clone(&calls_left));
        Ok(Arc::new(Stopping { disk, calls_left, published }) as Arc<dyn Storage>)
    })
}

#[derive(Debug)]
struct Stopping {
    disk: Disk,
    /// Changes that are still allowed.
    calls_left: Arc<AtomicI64>,
    published: i64,
}

impl Stopping {
    fn change(&self) -> io::Result<&Disk> {
        match self.calls_left.fetch_sub(1, Ordering::SeqCst) {
            left if left > 0 => Ok(&self.disk),
            _ => Err(io::Error::other("stopped")),
        }
    }
}

impl Storage for Stopping {
    fn stat(&self, path: &RelPath) -> io::Result<Option<Stat>> {
        self.disk.stat(path)
    }
    fn open(&self, path: &RelPath, mode: OpenMode) -> io::Result<Box<dyn StoredFile>> {
        self.disk.open(path, mode)
    }
    fn list(&self, folder: &RelPath) -> io::Result<Vec<OsString>> {
        self.disk.list(folder)
    }
    fn read_link(&self, path: &RelPath) -> io::Result<OsString> {
        self.disk.read_link(path)
    }
    fn make_folder(&self, path: &RelPath, mode: u32) -> io::Result<()> {
        self.change()?.make_folder(path, mode)
    }
    fn make_symlink(&self, target: &OsStr, path: &RelPath) -> io::Result<()> {
        self.change()?.make_symlink(target, path)
    }
    fn link(&self, from: &RelPath, to: &RelPath) -> io::Result<()> {
        self.change()?.link(from, to)
    }
    fn rename(&self, from: &RelPath, to: &RelPath, mode: RenameMode) -> io::Result<()> {
        self.change()?.rename(from, to, mode)?;
        if to.name() == Some(OsStr::new("journal")) {
            self.calls_left.store(self.published, Ordering::SeqCst);
        }
        Ok(())
    }
    fn remove_file(&self, path: &RelPath) -> io::Result<()> {
        self.change()?.remove_file(path)
    }
    fn remove_folder(&self, path: &RelPath) -> io::Result<()> {
        self.change()?.remove_folder(path)
    }
    fn set_mode(&self, path: &RelPath, mode: u32) -> io::Result<()> {
        self.change()?.set_mode(path, mode)
    }
    fn copy_attributes(&self, from: &RelPath, to: &RelPath) -> io::Result<()> {
        self.disk.copy_attributes(from, to)
    }
    fn sync_folder(&self, folder: &RelPath) -> io::Result<()> {
        self.disk.sync_folder(folder)
    }
    fn check_writable(&self, folder: &RelPath) -> io::Result<()> {
        self.disk.check_writable(folder)
    }
    fn boot_id(&self) -> Option<u128> {
        self.disk.boot_id()
    }
}
