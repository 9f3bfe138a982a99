//! Content on its way into a transaction: files in the staging folder, written now and synced together before the commit.
//!
//! A few files are synced one by one, through the handles that wrote them. Many are synced with everything else on their file system,
//! in one call, where the system has one that says when something was lost ([`Storage::watch`](crate::Storage::watch)).

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use crate::disk::{Open, StoredFile, Watch};
use crate::hash::CHUNK_BYTES;
use crate::root::{OUR_FILE_MODE, Root};
use crate::tx::change::Staged;
use crate::txn_dir::STAGE;
use crate::{Hash, RelPath, Result, Step};

/// How many staged files are kept open, waiting to be synced. A file is synced through the handle that wrote it, because a
/// write error is only sure to be reported there.
const OPEN_FILES_MAX: usize = 256;
/// Set-user-id and the like.
const SPECIAL_BITS: u32 = 0o7000;
/// How many syncs are in flight at once: file systems sync many files in little more time than one.
const SYNC_THREADS_MAX: usize = 8;

/// The staged files of one transaction.
pub(crate) struct Stage {
    id: u128,
    next_number: u64,
    /// From how many files on they are synced together; never when `None`.
    together_min: Option<usize>,
    unsynced: Vec<(usize, RelPath, Box<dyn StoredFile>)>,
    /// By root, what its staging folder got.
    used: BTreeMap<usize, Used>,
}

/// What was staged in one root.
struct Used {
    files: usize,
    /// Began before the first of them was written.
    watch: Option<Box<dyn Watch>>,
}

impl Stage {
    pub(crate) fn new(id: u128, together_min: Option<usize>) -> Self {
        Self { id, next_number: 0, together_min, unsynced: Vec::new(), used: BTreeMap::new() }
    }

    /// Opens a new staged file in a root.
    pub(crate) fn create(&mut self, root: usize, roots: &[Root], mode: u32) -> Result<StagedFile> {
        let number = self.next_number;
        let staged = Staged { id: self.id, number, len: 0, hash: Hash::of(b"") };
        let folder = roots[root].in_home(STAGE);
        if !self.used.contains_key(&root) {
            self.used.insert(root, self.begin(&roots[root], &folder)?);
        }
        // Who gives a file away takes these bits from it: they are set last.
        let mode = if mode & SPECIAL_BITS == 0 { mode } else { OUR_FILE_MODE };
        let path = folder.join(staged.name());
        let file = roots[root].open(Step::Stage, &path, Open::Create { mode })?;
        self.next_number += 1;
        let place = roots[root].clone();
        Ok(StagedFile { root, path, file, mode, staged, hasher: blake3::Hasher::new(), place })
    }

    fn begin(&self, root: &Root, folder: &RelPath) -> Result<Used> {
        let watch = match self.together_min {
            None => None,
            Some(_) => {
                root.name(Step::Stage, folder, root.storage.remember(folder))?;
                root.name(Step::Stage, folder, root.storage.watch())?
            }
        };
        Ok(Used { files: 0, watch })
    }

    /// Takes a written file in; it is synced later, with others.
    pub(crate) fn take(&mut self, file: StagedFile, mode: u32, roots: &[Root]) -> Result<Staged> {
        let StagedFile { root, path, file, mode: made, mut staged, hasher, .. } = file;
        staged.hash = Hash(*hasher.finalize().as_bytes());
        if mode != made {
            roots[root].name(Step::Stage, &path, roots[root].storage.set_mode(&path, mode))?;
        }
        self.note(root, path, file, roots)?;
        Ok(staged)
    }

    /// Changes the mode of a file taken in before.
    pub(crate) fn set_mode(&mut self, root: usize, staged: &Staged, mode: u32, roots: &[Root]) -> Result<()> {
        let path = roots[root].in_home(STAGE).join(staged.name());
        let file = roots[root].open_to_sync(Step::Stage, &path)?;
        roots[root].name(Step::Stage, &path, roots[root].storage.set_mode(&path, mode))?;
        self.note(root, path, file, roots)
    }

    /// Remembers that a file has to be synced.
    fn note(&mut self, root: usize, path: RelPath, file: Box<dyn StoredFile>, roots: &[Root]) -> Result<()> {
        self.used.get_mut(&root).expect("it was staged here").files += 1;
        if self.is_together(root) {
            // From here on nothing has to be kept open: what is lost is told to the watch.
            self.unsynced.retain(|(other, ..)| *other != root);
            return Ok(());
        }
        self.unsynced.push((root, path, file));
        if self.unsynced.len() >= OPEN_FILES_MAX {
            self.sync_files(roots)?;
        }
        Ok(())
    }

    fn is_together(&self, root: usize) -> bool {
        let Used { files, watch } = &self.used[&root];
        watch.is_some() && self.together_min.is_some_and(|min| *files >= min)
    }

    /// Makes all staged files and their names durable.
    pub(crate) fn sync(&mut self, roots: &[Root]) -> Result<()> {
        self.sync_files(roots)?;
        for (&root, used) in &self.used {
            match &used.watch {
                Some(watch) if self.is_together(root) => {
                    roots[root].sync_watched(Step::SyncStagedTogether, &**watch)?;
                }
                _ => roots[root].sync_folder(Step::SyncStage, &roots[root].in_home(STAGE))?,
            }
        }
        Ok(())
    }

    fn sync_files(&mut self, roots: &[Root]) -> Result<()> {
        let files = std::mem::take(&mut self.unsynced);
        in_parallel(&files, |(root, path, file)| roots[*root].sync_all(Step::SyncStaged, path, &**file))
    }

    /// Removes what this transaction staged; what cannot be removed is removed at the next open.
    pub(crate) fn discard(&self, roots: &[Root]) {
        for &root in self.used.keys() {
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
    /// The mode it was made with.
    mode: u32,
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
