//! Commits to an own folder: a 1 KiB append and three small replaces, in four files.
//!
//! The baseline writes the same records as such commits, one `pwrite` and one `fdatasync` each, in
//! sequence, into a zero-filled file of the size of the journal, and starts again at its beginning
//! when it is full. It publishes nothing.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use cleveragents_filetx::{FolderOptions, OwnFolder, TXN_DIR};
use testkit::bench::{Report, Result, Target, compare, sync_file_system, timed};

const ROUNDS: usize = 12;
/// Enough for two checkpoints per round: a median over shorter rounds would miss them.
const OPS: usize = 1600;
/// Commits whose records the baseline repeats.
const SAMPLE: usize = 50;
/// Offset of the first record of a journal.
const RECORDS_OFFSET: usize = 8192;
const SECTOR_BYTES: usize = 512;

pub(crate) fn measure(place: &Path, report: &mut Report) -> Result<()> {
    let folder = open(place)?;
    let mut work = Work::new(0);
    work.commits(&folder, SAMPLE)?;
    let records = records_of(&fs::read(place.join("own").join(TXN_DIR).join("journal"))?);
    let bytes = records.iter().map(Vec::len).sum::<usize>() / records.len();
    let mut bare = Bare::new(place, records)?;
    sync_file_system(place)?;
    let outcome =
        compare(ROUNDS, OPS, || timed(|| work.commits(&folder, OPS)), || timed(|| bare.writes(OPS)))?;
    report.add("own-folder commit, 4 files", outcome, Target::RatioAtMost(1.5));
    report.add("the same, syncs", outcome, Target::SyncsAtMost(1.1));
    let journal = FolderOptions::default().journal_bytes_max;
    report.note(format!(
        "An own-folder commit writes {bytes} bytes on average into a journal of {journal} bytes once it has grown."
    ));
    Ok(())
}

const THREADS: usize = 8;
const THREAD_ROUNDS: usize = 12;
const THREAD_OPS: usize = 1600;

/// The baseline is one thread that makes as many commits.
pub(crate) fn measure_threads(place: &Path, report: &mut Report) -> Result<()> {
    let folder = open(place)?;
    let mut alone = Work::new(0);
    let mut together: Vec<Work> = (0..THREADS).map(Work::new).collect();
    let outcome = compare(
        THREAD_ROUNDS,
        THREAD_OPS,
        || at_once(&folder, &mut together),
        || timed(|| alone.commits(&folder, THREAD_OPS)),
    )?;
    report.add("own-folder commits, 8 threads beside 1", outcome, Target::SpeedAtLeast(3.5));
    Ok(())
}

fn at_once(folder: &OwnFolder, works: &mut [Work]) -> Result<Duration> {
    let each = THREAD_OPS / works.len();
    timed(|| {
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                works.iter_mut().map(|work| scope.spawn(move || work.commits(folder, each))).collect();
            threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)
        })
    })
}

fn open(place: &Path) -> Result<OwnFolder> {
    let own = place.join("own");
    fs::create_dir(&own)?;
    Ok(OwnFolder::open(&own, &place.join("own.lock"), FolderOptions::default())?)
}

/// A committing thread.
struct Work {
    number: usize,
    line: Vec<u8>,
    state: Vec<u8>,
}

impl Work {
    fn new(number: usize) -> Self {
        Self { number, line: vec![b'm'; 1024], state: vec![b's'; 500] }
    }

    fn commits(&mut self, folder: &OwnFolder, count: usize) -> Result<()> {
        for _ in 0..count {
            self.commit(folder)?;
        }
        Ok(())
    }

    fn commit(&mut self, folder: &OwnFolder) -> Result<()> {
        self.number += 1;
        // 300 to 500 bytes, different each time.
        let digits = format!("{:08}", self.number);
        self.state[..8].copy_from_slice(digits.as_bytes());
        let len = |step: usize| 300 + (self.number * step) % 201;
        let mut transaction = folder.begin()?;
        transaction.append("messages.jsonl", &self.line)?;
        transaction.put("metadata.json", &self.state[..len(7)])?;
        transaction.put("state.json", &self.state[..len(31)])?;
        transaction.put("global_context.json", &self.state[..len(89)])?;
        let committed = transaction.commit()?;
        committed.pending.map_or(Ok(()), |error| Err(error.into()))
    }
}

/// The records of a journal on the disk: magic, length of the body, padded to a sector.
fn records_of(journal: &[u8]) -> Vec<Vec<u8>> {
    let mut records = Vec::new();
    let mut rest = &journal[RECORDS_OFFSET..];
    while rest.len() > 56 && rest.starts_with(b"FTXR") {
        let body = u32::from_le_bytes([rest[4], rest[5], rest[6], rest[7]]) as usize;
        let (record, behind) = rest.split_at((56 + body).next_multiple_of(SECTOR_BYTES));
        records.push(record.to_vec());
        rest = behind;
    }
    records
}

/// Records written by hand.
struct Bare {
    file: File,
    records: Vec<Vec<u8>>,
    next: usize,
    offset: usize,
    capacity: usize,
}

impl Bare {
    fn new(place: &Path, records: Vec<Vec<u8>>) -> Result<Self> {
        let capacity = FolderOptions::default().journal_bytes_max as usize;
        let file = File::create_new(place.join("bare"))?;
        file.write_all_at(&vec![0; capacity], 0)?;
        file.sync_all()?;
        Ok(Self { file, records, next: 0, offset: RECORDS_OFFSET, capacity })
    }

    fn writes(&mut self, count: usize) -> Result<()> {
        for _ in 0..count {
            let record = &self.records[self.next];
            self.next = (self.next + 1) % self.records.len();
            if self.offset + record.len() > self.capacity {
                self.offset = RECORDS_OFFSET;
            }
            self.file.write_all_at(record, self.offset as u64)?;
            self.file.sync_data()?;
            self.offset += record.len();
        }
        Ok(())
    }
}
