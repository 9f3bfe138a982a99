//! The cost of a save is proportional to the change: its reads, writes and disk calls do not depend
//! on the length of the conversation.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate cleveragents_context as context;

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use context::{Contexts, Draft, Name, Options, Role};
use filetx::{Disk, OpenMode, RelPath, RenameMode, Stat, Storage, StorageResolver, StoredFile};

/// Disk calls.
#[derive(Default, Debug)]
struct Counts {
    calls: AtomicU64,
    read: AtomicU64,
    written: AtomicU64,
    synced: AtomicU64,
}

/// Cost of one operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Cost {
    calls: u64,
    read: u64,
    written: u64,
    synced: u64,
}

impl Counts {
    fn take(&self) -> Cost {
        let take = |count: &AtomicU64| count.swap(0, Ordering::Relaxed);
        Cost {
            calls: take(&self.calls),
            read: take(&self.read),
            written: take(&self.written),
            synced: take(&self.synced),
        }
    }

    fn call(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }
}

/// The real disk, with counters.
#[derive(Debug)]
struct Counted {
    disk: Disk,
    counts: Arc<Counts>,
}

struct CountedFile {
    file: Box<dyn StoredFile>,
    counts: Arc<Counts>,
}

impl Counted {
    fn at(&self) -> &Disk {
        self.counts.call();
        &self.disk
    }
}

impl Storage for Counted {
    fn stat(&self, path: &RelPath) -> io::Result<Option<Stat>> {
        self.at().stat(path)
    }
    fn open(&self, path: &RelPath, how: OpenMode) -> io::Result<Box<dyn StoredFile>> {
        let counts = Arc::clone(&self.counts);
        self.at().open(path, how).map(|file| Box::new(CountedFile { file, counts }) as _)
    }
    fn list(&self, folder: &RelPath) -> io::Result<Vec<OsString>> {
        self.at().list(folder)
    }
    fn read_link(&self, path: &RelPath) -> io::Result<OsString> {
        self.at().read_link(path)
    }
    fn make_folder(&self, path: &RelPath, mode: u32) -> io::Result<()> {
        self.at().make_folder(path, mode)
    }
    fn make_symlink(&self, target: &OsStr, path: &RelPath) -> io::Result<()> {
        self.at().make_symlink(target, path)
    }
    fn link(&self, from: &RelPath, to: &RelPath) -> io::Result<()> {
        self.at().link(from, to)
    }
    fn rename(&self, from: &RelPath, to: &RelPath, how: RenameMode) -> io::Result<()> {
        self.at().rename(from, to, how)
    }
    fn remove_file(&self, path: &RelPath) -> io::Result<()> {
        self.at().remove_file(path)
    }
    fn remove_folder(&self, path: &RelPath) -> io::Result<()> {
        self.at().remove_folder(path)
    }
    fn set_mode(&self, path: &RelPath, mode: u32) -> io::Result<()> {
        self.at().set_mode(path, mode)
    }
    fn copy_attributes(&self, from: &RelPath, to: &RelPath) -> io::Result<()> {
        self.at().copy_attributes(from, to)
    }
    fn sync_folder(&self, folder: &RelPath) -> io::Result<()> {
        self.counts.synced.fetch_add(1, Ordering::Relaxed);
        self.at().sync_folder(folder)
    }
    fn check_writable(&self, folder: &RelPath) -> io::Result<()> {
        self.at().check_writable(folder)
    }
    fn boot_id(&self) -> Option<u128> {
        self.disk.boot_id()
    }
}

impl StoredFile for CountedFile {
    fn stat(&self) -> io::Result<Stat> {
        self.counts.call();
        self.file.stat()
    }
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let got = self.file.read_at(buffer, offset)?;
        self.counts.call();
        self.counts.read.fetch_add(got as u64, Ordering::Relaxed);
        Ok(got)
    }
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.counts.call();
        self.counts.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.file.write_at(bytes, offset)
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.counts.call();
        self.file.set_len(len)
    }
    fn sync_data(&self) -> io::Result<()> {
        self.counts.synced.fetch_add(1, Ordering::Relaxed);
        self.file.sync_data()
    }
    fn sync_all(&self) -> io::Result<()> {
        self.counts.synced.fetch_add(1, Ordering::Relaxed);
        self.file.sync_all()
    }
}

fn contexts(folder: &Path, counts: &Arc<Counts>) -> Contexts {
    let counts = Arc::clone(counts);
    let find: StorageResolver = Arc::new(move |path: &Path| -> io::Result<Arc<dyn Storage>> {
        Ok(Arc::new(Counted { disk: Disk::open(path)?, counts: Arc::clone(&counts) }))
    });
    // A fixed time: its number of digits would change the cost.
    let clock = Arc::new(|| "2026-11-15T12:00:00.123Z".parse().unwrap());
    Contexts::on_storage(folder, find, Options { clock, ..Options::default() })
}

fn message() -> Draft {
    Draft::text(Role::User, &"x".repeat(1024))
}

/// Returns the costs of a save in a running process, and of opening with the last 20 messages.
fn costs(length: u64) -> (Cost, Cost) {
    let folder = testkit::folder::scratch();
    let counts = Arc::new(Counts::default());
    let name = Name::new("chat").unwrap();
    let mut chat = contexts(folder.path(), &counts).create(&name).unwrap();
    while chat.metadata().message_count() < length {
        let left = length - chat.metadata().message_count();
        chat.append_all((0..left.min(1000)).map(|_| message())).unwrap();
        let _ = chat.save().unwrap();
    }
    // The first save after a checkpoint also checks the end of the file; measure a later one.
    chat.append(message()).unwrap();
    let _ = chat.save().unwrap();
    let _ = counts.take();
    chat.append(message()).unwrap();
    let _ = chat.save().unwrap();
    let save = counts.take();
    let chat = contexts(folder.path(), &counts).open(&name).unwrap();
    assert_eq!(chat.last(20).map(Result::unwrap).count(), 20);
    (save, counts.take())
}

#[test]
fn a_save_and_an_open_cost_the_same_at_any_length() {
    // Lengths at the same distance from an index entry.
    let (short, opened) = costs(64 + 40);
    let (long, opened_long) = costs(64 * 300 + 40);
    // A longer conversation only has larger numbers in its metadata.
    let is_close = |one: u64, other: u64| one.abs_diff(other) < 64;
    assert_eq!((short.calls, short.synced), (long.calls, long.synced), "{short:?} {long:?}");
    assert!(is_close(short.read, long.read) && is_close(short.written, long.written), "{short:?} {long:?}");
    assert_eq!(long.synced, 1, "one sync");
    assert!(long.written < 3 * 1024 + 2 * 1024, "three times the message and the small files: {long:?}");
    assert!(long.read < 2 * 1024, "nothing of the conversation is read: {long:?}");
    assert!(opened_long.read <= opened.read + 600 * 1024, "{opened:?} {opened_long:?}");
    assert_eq!(opened_long.written, 0);
    testkit::report::figure("bytes written by a save of a message of 1 KiB at 19240 messages", long.written);
    testkit::report::figure("bytes read by it", long.read);
    testkit::report::figure("bytes read to open it and give the last 20 messages", opened_long.read);
}
