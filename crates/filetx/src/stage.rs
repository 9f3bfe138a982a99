//! Content on its way into a transaction: files in the staging folder, written now and synced together before the commit.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};

use crate::hash::CHUNK_BYTES;
use crate::root::{OUR_FILE_MODE, Root};
use crate::state::Staged;
use crate::storage::{Open, StoredFile};
use crate::view::{Body, STAGE};
use crate::{Hash, RelPath, Result, Step};

/// How many staged files are kept open, waiting to be synced. A file is synced through the handle that wrote it, because a
/// write error is only sure to be reported there.
const OPEN_FILES_MAX: usize = 256;
/// How many syncs are in flight at once: file systems sync many files in little more time than one.
const SYNC_THREADS_MAX: usize = 8;

/// The staged files of one transaction.
pub(crate) struct Stage {
    id: u128,
    next_number: u64,
    unsynced: Vec<(usize, RelPath, Box<dyn StoredFile>)>,
    /// Roots whose staging folder got new names.
    used: BTreeSet<usize>,
}

impl Stage {
    pub(crate) fn new(id: u128) -> Self {
        Self { id, next_number: 0, unsynced: Vec::new(), used: BTreeSet::new() }
    }

    /// Opens a new staged file in a root.
    pub(crate) fn create(&mut self, root: usize, roots: &[Root]) -> Result<StagedFile> {
        let number = self.next_number;
        let staged = Staged { id: self.id, number, len: 0, hash: Hash::of(b"") };
        let folder = roots[root].in_home(STAGE);
        self.used.insert(root);
        let path = folder.join(staged.name());
        let file = roots[root].open(Step::Stage, &path, Open::Create { mode: OUR_FILE_MODE })?;
        self.next_number += 1;
        Ok(StagedFile { root, path, file, staged, hasher: blake3::Hasher::new(), place: roots[root].clone() })
    }

    /// Takes a written file in; it is synced later, with others.
    pub(crate) fn take(&mut self, file: StagedFile, mode: u32, roots: &[Root]) -> Result<Staged> {
        let StagedFile { root, path, file, mut staged, hasher, .. } = file;
        staged.hash = Hash(*hasher.finalize().as_bytes());
        if mode != OUR_FILE_MODE {
            roots[root].name(Step::Stage, &path, roots[root].storage.set_mode(&path, mode))?;
        }
        self.unsynced.push((root, path, file));
        if self.unsynced.len() >= OPEN_FILES_MAX {
            self.sync_files(roots)?;
        }
        Ok(staged)
    }

    /// Changes the mode of a file taken in before.
    pub(crate) fn set_mode(&mut self, root: usize, staged: &Staged, mode: u32, roots: &[Root]) -> Result<()> {
        let path = roots[root].in_home(STAGE).join(staged.name());
        let file = roots[root].open_to_sync(Step::Stage, &path)?;
        roots[root].name(Step::Stage, &path, roots[root].storage.set_mode(&path, mode))?;
        self.unsynced.push((root, path, file));
        Ok(())
    }

    /// Makes all staged files and their names durable.
    pub(crate) fn sync(&mut self, roots: &[Root]) -> Result<()> {
        self.sync_files(roots)?;
        for &root in &self.used {
            roots[root].sync_folder(Step::SyncStage, &roots[root].in_home(STAGE))?;
        }
        Ok(())
    }

    fn sync_files(&mut self, roots: &[Root]) -> Result<()> {
        let files = std::mem::take(&mut self.unsynced);
        in_parallel(&files, |(root, path, file)| roots[*root].sync_all(Step::SyncStaged, path, &**file))
    }

    /// Removes what this transaction staged; what cannot be removed is removed at the next open.
    pub(crate) fn discard(&self, roots: &[Root]) {
        for &root in &self.used {
            for number in 0..self.next_number {
                let staged = Staged { id: self.id, number, len: 0, hash: Hash([0; 32]) };
                let path = roots[root].in_home(STAGE).join(staged.name());
                let _ = roots[root].remove_if_there(Step::CleanUp, &path);
            }
        }
    }
}

/// A staged file that is being written. Give it to [`Transaction::put_staged`](crate::Transaction::put_staged).
#[must_use = "a staged file that is not put into its transaction is thrown away with it"]
pub struct StagedFile {
    pub(crate) root: usize,
    pub(crate) path: RelPath,
    file: Box<dyn StoredFile>,
    staged: Staged,
    hasher: blake3::Hasher,
    place: Root,
}

impl StagedFile {
    /// The transaction that it belongs to.
    pub(crate) fn transaction(&self) -> u128 {
        self.staged.id
    }

    /// Takes all that a reader gives, in bounded memory.
    pub(crate) fn fill(&mut self, reader: &mut dyn Read) -> Result<()> {
        let mut buffer = vec![0; CHUNK_BYTES];
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(got) => self.add(&buffer[..got])?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return self.place.name(Step::Stage, &self.path, Err(error)),
            }
        }
    }

    /// Takes the first `len` bytes of another file's content.
    pub(crate) fn fill_from(&mut self, body: &Body, len: u64) -> Result<()> {
        let mut offset = 0;
        while offset < len {
            let bytes = body.read_range(offset, (len - offset).min(CHUNK_BYTES as u64))?;
            self.add(&bytes)?;
            offset += bytes.len() as u64;
        }
        Ok(())
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) -> Result<()> {
        self.place.name(Step::Stage, &self.path, self.file.write_at(bytes, self.staged.len))?;
        self.hasher.update(bytes);
        self.staged.len += bytes.len() as u64;
        Ok(())
    }
}

impl Write for StagedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.add(bytes).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs `work` on every item, on a few threads when there are several; the first error ends it.
pub(crate) fn in_parallel<T: Sync>(items: &[T], work: impl Fn(&T) -> Result<()> + Sync) -> Result<()> {
    // Schedules and simulated disks need one thread; a few items are not worth more.
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
