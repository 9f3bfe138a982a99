//! Staged files: content in the staging folder, written at once and synced before the commit.
//!
//! A few files are synced one by one, through the handles that wrote them. Many are synced with the
//! rest of their file system in one call, if the system reports lost writes
//! ([`Storage::fs_sync`](crate::Storage::fs_sync)).

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use crate::disk::{FsSync, OpenMode, StoredFile};
use crate::hash::CHUNK_BYTES;
use crate::root::{OUR_FILE_MODE, Root};
use crate::tx::change::Staged;
use crate::txn_dir::STAGE;
use crate::{Hash, RelPath, Result, Step};

/// Maximum number of staged files kept open for their sync. Only the handle that wrote a file is
/// certain to report its write error.
const OPEN_FILES_MAX: usize = 256;
/// Set-user-id, set-group-id and sticky bit.
const SPECIAL_BITS: u32 = 0o7000;
/// Maximum number of concurrent syncs: file systems sync many files in little more time than one.
const SYNC_THREADS_MAX: usize = 8;

/// The staged files of one transaction.
pub(crate) struct Stage {
    id: u128,
    next_number: u64,
    /// Number of files from which one `syncfs` replaces their own syncs; `None` means never.
    syncfs_threshold: Option<usize>,
    unsynced: Vec<(usize, RelPath, Box<dyn StoredFile>)>,
    /// The roots with staged files.
    staged_roots: BTreeMap<usize, StagedRoot>,
}

/// The staged files of one root.
struct StagedRoot {
    files: usize,
    /// Opened before the first of them was written.
    fs_sync: Option<Box<dyn FsSync>>,
}

impl Stage {
    pub(crate) fn new(id: u128, syncfs_threshold: Option<usize>) -> Self {
        Self { id, next_number: 0, syncfs_threshold, unsynced: Vec::new(), staged_roots: BTreeMap::new() }
    }

    /// Opens a new staged file in a root.
    pub(crate) fn create(&mut self, root: usize, roots: &[Root], mode: u32) -> Result<StagedFile> {
        let number = self.next_number;
        let staged = Staged { id: self.id, number, len: 0, hash: Hash::of(b"") };
        let folder = roots[root].in_txn_dir(STAGE);
        if !self.staged_roots.contains_key(&root) {
            self.staged_roots.insert(root, self.begin(&roots[root], &folder)?);
        }
        // A change of owner clears these bits, so they are set last.
        let mode = if mode & SPECIAL_BITS == 0 { mode } else { OUR_FILE_MODE };
        let path = folder.join(staged.name());
        let file = roots[root].open(Step::Stage, &path, OpenMode::Create { mode })?;
        self.next_number += 1;
        let root_dir = roots[root].clone();
        Ok(StagedFile { root, path, file, mode, staged, hasher: blake3::Hasher::new(), root_dir })
    }

    fn begin(&self, root: &Root, folder: &RelPath) -> Result<StagedRoot> {
        let fs_sync = match self.syncfs_threshold {
            None => None,
            Some(_) => {
                root.with_step(Step::Stage, folder, root.storage.cache_handle(folder))?;
                root.with_step(Step::Stage, folder, root.storage.fs_sync())?
            }
        };
        Ok(StagedRoot { files: 0, fs_sync })
    }

    /// Adds a complete file. It is synced later, with others.
    pub(crate) fn add(&mut self, file: StagedFile, mode: u32, roots: &[Root]) -> Result<Staged> {
        let StagedFile { root, path, file, mode: made, mut staged, hasher, .. } = file;
        staged.hash = Hash(*hasher.finalize().as_bytes());
        if mode != made {
            roots[root].with_step(Step::Stage, &path, roots[root].storage.set_mode(&path, mode))?;
        }
        self.queue_sync(root, path, file, roots)?;
        Ok(staged)
    }

    /// Changes the mode of an added file.
    pub(crate) fn set_mode(&mut self, root: usize, staged: &Staged, mode: u32, roots: &[Root]) -> Result<()> {
        let path = roots[root].in_txn_dir(STAGE).join(staged.name());
        let file = roots[root].open_to_sync(Step::Stage, &path)?;
        roots[root].with_step(Step::Stage, &path, roots[root].storage.set_mode(&path, mode))?;
        self.queue_sync(root, path, file, roots)
    }

    /// Queues a file for its sync.
    fn queue_sync(
        &mut self,
        root: usize,
        path: RelPath,
        file: Box<dyn StoredFile>,
        roots: &[Root],
    ) -> Result<()> {
        self.staged_roots.get_mut(&root).expect("it was staged here").files += 1;
        if self.uses_syncfs(root) {
            // `syncfs` reports lost writes, so no handle has to stay open.
            self.unsynced.retain(|(other, ..)| *other != root);
            return Ok(());
        }
        self.unsynced.push((root, path, file));
        if self.unsynced.len() >= OPEN_FILES_MAX {
            self.sync_files(roots)?;
        }
        Ok(())
    }

    fn uses_syncfs(&self, root: usize) -> bool {
        let StagedRoot { files, fs_sync } = &self.staged_roots[&root];
        fs_sync.is_some() && self.syncfs_threshold.is_some_and(|min| *files >= min)
    }

    /// Makes all staged files and their names durable.
    pub(crate) fn sync(&mut self, roots: &[Root]) -> Result<()> {
        self.sync_files(roots)?;
        for (&root, staged) in &self.staged_roots {
            match &staged.fs_sync {
                Some(fs_sync) if self.uses_syncfs(root) => {
                    roots[root].sync_fs(Step::SyncFsStaged, &**fs_sync)?;
                }
                _ => roots[root].sync_folder(Step::SyncStage, &roots[root].in_txn_dir(STAGE))?,
            }
        }
        Ok(())
    }

    fn sync_files(&mut self, roots: &[Root]) -> Result<()> {
        let files = std::mem::take(&mut self.unsynced);
        in_parallel(&files, |(root, path, file)| roots[*root].sync_all(Step::SyncStaged, path, &**file))
    }

    /// Removes the staged files of this transaction. The next open removes those that cannot be
    /// removed now.
    pub(crate) fn discard(&self, roots: &[Root]) {
        for &root in self.staged_roots.keys() {
            for number in 0..self.next_number {
                let staged = Staged { id: self.id, number, len: 0, hash: Hash([0; 32]) };
                let path = roots[root].in_txn_dir(STAGE).join(staged.name());
                let _ = roots[root].remove_if_exists(Step::CleanUp, &path);
            }
        }
    }
}

/// A staged file that is being written. Pass it to
/// [`Transaction::put_staged`](crate::Transaction::put_staged).
#[must_use = "a staged file that is not passed to `put_staged` is discarded"]
pub struct StagedFile {
    pub(crate) root: usize,
    pub(crate) path: RelPath,
    file: Box<dyn StoredFile>,
    /// Mode at creation.
    mode: u32,
    staged: Staged,
    hasher: blake3::Hasher,
    root_dir: Root,
}

impl StagedFile {
    /// Id of its transaction.
    pub(crate) fn transaction(&self) -> u128 {
        self.staged.id
    }

    /// Appends everything that a reader returns, in bounded memory.
    pub(crate) fn append_reader(&mut self, reader: &mut dyn Read) -> Result<()> {
        let mut buffer = vec![0; CHUNK_BYTES];
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(got) => self.append(&buffer[..got])?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return self.root_dir.with_step(Step::Stage, &self.path, Err(error)),
            }
        }
    }

    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.root_dir.with_step(Step::Stage, &self.path, self.file.write_at(bytes, self.staged.len))?;
        self.hasher.update(bytes);
        self.staged.len += bytes.len() as u64;
        Ok(())
    }
}

impl Write for StagedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.append(bytes).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs `work` on every item, on several threads if there are many items. The first error stops it.
pub(crate) fn in_parallel<T: Sync>(items: &[T], work: impl Fn(&T) -> Result<()> + Sync) -> Result<()> {
    // Schedules and simulated disks need one thread; a few items do not pay for more.
    if items.len() < 2 * SYNC_THREADS_MAX || cfg!(feature = "shuttle") {
        return items.iter().try_for_each(work);
    }
    let next = std::sync::atomic::AtomicUsize::new(0);
    let run = || {
        loop {
            let index = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let Some(item) = items.get(index) else { return Ok(()) };
            work(item)?;
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..SYNC_THREADS_MAX).map(|_| scope.spawn(run)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("the work does not panic"))
    })
}
