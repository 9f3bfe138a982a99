//! Records into changesets: 32 threads with a changeset each, beside plain SQLite.

use std::fs;
use std::path::Path;
use std::time::Duration;

use cleveragents_store::{
    ChangesetId, Content, ContentKind, EntryStore, Epoch, NewEntry, Operation, PackedBlob, PathBytes,
    Recording, RequestId, SqliteStore, Tool,
};
use testkit::bench::{Outcome, Report, Result, Target, compare_all, sync_file_system, timed};
use testkit::store_conformance::fixtures::{make_plan, start};

use crate::peers::{Bytes, Connections, Group, OneByOne};

const ROUNDS: usize = 9;
const THREADS: usize = 32;
/// Records of one thread in one round.
const EACH: usize = 100;
/// Records of one side in one round.
const OPS: usize = THREADS * EACH;
/// Sides with one commit per record make only this fraction, to limit the duration of a round.
const PART: usize = 8;
/// Bytes of the fields of an entry.
const ENTRY_BYTES: usize = 300;
const CONTENT_BYTES: usize = 4096;

/// Entries that refer to blobs which are already in the store.
pub(crate) fn measure(place: &Path, report: &mut Report) -> Result<()> {
    let ours = Ours::open(&place.join("ours.db"))?;
    let alone = OneByOne::open(&place.join("alone.db"))?;
    let locked = OneByOne::open(&place.join("locked.db"))?;
    let connections = Connections::open(&place.join("connections.db"), THREADS)?;
    let bare = Group::open(&place.join("bare.db"))?;
    sync_file_system(place)?;
    let (mut our_spent, mut bare_spent) = (Spent::default(), Spent::default());
    let outcomes = compare_all(
        ROUNDS,
        OPS,
        &mut [
            &mut || spent(&mut our_spent, || ours.records(THREADS, EACH, None)),
            &mut || timed(|| (0..OPS / PART).try_for_each(|_| alone.record(&entry_bytes()))).map(times_part),
            &mut || part_each(|_| locked.record(&entry_bytes())),
            &mut || part_each(|thread| connections.record(thread, &entry_bytes())),
            &mut || spent(&mut bare_spent, || bare_records(&bare, None)),
        ],
    )?;
    let [beside_alone, beside_locked, beside_connections, beside_bare] = outcomes[..] else {
        unreachable!("four peers")
    };
    let syncs = ours.syncs_each();
    let add = |report: &mut Report, what: &str, outcome, target| {
        report.add(format!("record, 32 threads, beside {what}"), with_syncs(outcome, syncs), target);
    };
    add(report, "a commit each, 1 thread", beside_alone, Target::Shown);
    add(report, "a commit each, 32 threads and a mutex", beside_locked, Target::Shown);
    add(report, "a commit each, 32 connections", beside_connections, Target::Shown);
    add(report, "a bare group commit", beside_bare, Target::SpeedAtLeast(0.6));
    note(report, "A record of 300 bytes", [our_spent, bare_spent], syncs, bare.close()?);
    Ok(())
}

/// Entries with a new blob each: text, which compresses, and noise, which does not.
pub(crate) fn measure_contents(place: &Path, report: &mut Report) -> Result<()> {
    for (what, kind, target) in
        [("text", Kind::Text, Target::SpeedAtLeast(0.5)), ("noise", Kind::Noise, Target::Shown)]
    {
        let ours = Ours::open(&place.join(format!("ours-{what}.db")))?;
        let bare = Group::open(&place.join(format!("bare-{what}.db")))?;
        sync_file_system(place)?;
        let (mut our_spent, mut bare_spent) = (Spent::default(), Spent::default());
        let (mut some, mut others) = (Contents::new(1), Contents::new(2));
        let outcomes = compare_all(
            ROUNDS,
            OPS,
            &mut [
                &mut || {
                    let contents = some.next(kind);
                    spent(&mut our_spent, || ours.records(THREADS, EACH, Some(&contents)))
                },
                &mut || {
                    let contents = others.next(kind);
                    spent(&mut bare_spent, || bare_records(&bare, Some(&contents)))
                },
            ],
        )?;
        let syncs = ours.syncs_each();
        let name = format!("record, 32 threads, 4 KiB of new {what}, beside a bare group commit");
        report.add(name, with_syncs(outcomes[0], syncs), target);
        let what = format!("A record with 4 KiB of new {what}");
        note(report, &what, [our_spent, bare_spent], syncs, bare.close()?);
    }
    Ok(())
}

/// One thread, which shares no sync.
pub(crate) fn measure_alone(place: &Path, report: &mut Report) -> Result<()> {
    const RECORDS: usize = 400;
    let ours = Ours::open(&place.join("ours.db"))?;
    let alone = OneByOne::open(&place.join("alone.db"))?;
    sync_file_system(place)?;
    let outcomes = compare_all(
        ROUNDS,
        RECORDS,
        &mut [&mut || timed(|| ours.records(1, RECORDS, None)), &mut || {
            timed(|| many(RECORDS, || alone.record(&entry_bytes())))
        }],
    )?;
    let outcome = with_syncs(outcomes[0], ours.syncs_each());
    report.add("record, 1 thread, beside a commit each", outcome, Target::RatioAtMost(1.3));
    Ok(())
}

/// A store with a changeset per thread.
struct Ours {
    store: SqliteStore,
    changesets: Vec<(ChangesetId, Epoch)>,
    /// Two stored blobs that entries refer to.
    contents: [Content; 2],
}

impl Ours {
    fn open(path: &Path) -> Result<Self> {
        let store = SqliteStore::open(path)?;
        let plan = make_plan(&store);
        let changesets =
            (0..THREADS).map(|number| start(&store, plan.id, &format!("actor {number}"))).collect();
        let contents = [b"one", b"two"].map(|bytes| cleveragents_store::put_blob(&store, &mut &bytes[..]));
        let [one, two] = contents;
        let content = |blob: cleveragents_store::Blob| content(blob.hash, blob.bytes);
        Ok(Self { store, changesets, contents: [content(one?), content(two?)] })
    }

    /// Each entry brings one of the new blobs, if there are any. Packing is measured, too.
    fn records(&self, threads: usize, each: usize, new: Option<&[Vec<u8>]>) -> Result<()> {
        self::threads(threads, |thread| {
            let (id, epoch) = self.changesets[thread];
            for number in 0..each {
                let packed =
                    new.map(|contents| PackedBlob::new(&contents[thread * each + number])).transpose()?;
                let recording = self.recording(number, packed)?;
                self.store.record(id, epoch, &recording)?;
            }
            Ok(())
        })
    }

    fn recording(&self, number: usize, packed: Option<PackedBlob>) -> Result<Recording> {
        let [before, after] = &self.contents;
        let new = packed.as_ref().map(|packed| content(packed.hash(), u64::from(packed.chunk().bytes())));
        // With ids, two hashes and some numbers, this makes up the bytes of an entry.
        const OTHER_BYTES: usize = 2 * 16 + 2 * 32 + 4 * 8 + 2 * 4 + ROOT.len() + TOOL.len();
        const ROOT: &str = "/srv/somebody/projects/alpha";
        const TOOL: &str = "editor";
        const DIGITS: usize = 8;
        let filling = "0".repeat(ENTRY_BYTES - OTHER_BYTES - "src/".len() - DIGITS);
        let path = format!("src/{filling}{number:0DIGITS$}");
        let entry = NewEntry {
            root: PathBytes::parse(ROOT)?,
            path: PathBytes::parse(path)?,
            operation: Operation::Modify,
            before: Some(before.clone()),
            after: Some(new.unwrap_or_else(|| after.clone())),
            tool: Some(Tool::parse(TOOL)?),
        };
        Ok(Recording { request: RequestId::new(), entries: vec![entry], blobs: packed.into_iter().collect() })
    }

    /// Commits per record, each with one sync; checkpoints are not counted.
    fn syncs_each(&self) -> f64 {
        let counts = self.store.writer_counts();
        counts.groups as f64 / counts.writes as f64
    }
}

fn content(blob: cleveragents_store::BlobHash, bytes: u64) -> Content {
    Content { kind: ContentKind::File, blob, bytes, mode: 0o644 }
}

fn bare_records(bare: &Group, new: Option<&[Vec<u8>]>) -> Result<()> {
    threads(THREADS, |thread| {
        let caller = bare.caller();
        let mut numbers = thread * EACH..;
        many(EACH, || {
            let number = numbers.next().expect("numbers do not end");
            caller.record((entry_bytes().0, new.map(|contents| contents[number].clone())))
        })
    })
}

fn entry_bytes() -> Bytes {
    (vec![b'e'; ENTRY_BYTES], None)
}

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Noise,
}

/// Makes blobs of which no two are equal.
struct Contents(fastrand::Rng);

impl Contents {
    fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    /// Makes the blobs of a round.
    fn next(&mut self, kind: Kind) -> Vec<Vec<u8>> {
        let content = |_| match kind {
            Kind::Noise => std::iter::repeat_with(|| self.0.u8(..)).take(CONTENT_BYTES).collect(),
            Kind::Text => self.text(),
        };
        (0..OPS).map(content).collect()
    }

    /// Makes lines of words, like source text.
    fn text(&mut self) -> Vec<u8> {
        const WORDS: &[&str] = &[
            "let", "fn", "self", "return", "match", "value", "result", "path", "error", "store", "entry",
            "record", "for", "in", "if", "else", "mut", "impl", "struct", "pub", "count", "name", "plan",
            "None", "Some", "Ok", "Err", "await", "while", "index", "bytes", "length",
        ];
        const ENDS: &[&str] = &[" ", " ", " ", ".", "(", ") ", ", ", " = ", ";\n    ", " {\n        ", "}\n"];
        let mut text = String::new();
        while text.len() < CONTENT_BYTES {
            text += WORDS[self.0.usize(..WORDS.len())];
            if self.0.usize(..4) == 0 {
                text += &format!("_{}", self.0.u16(..));
            }
            text += ENDS[self.0.usize(..ENDS.len())];
        }
        text.truncate(CONTENT_BYTES);
        text.into_bytes()
    }
}

/// Runs threads and waits for all of them.
fn threads(count: usize, work: impl Fn(usize) -> Result<()> + Sync) -> Result<()> {
    let work = &work;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|number| scope.spawn(move || work(number))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)
    })
}

fn many(count: usize, mut work: impl FnMut() -> Result<()>) -> Result<()> {
    (0..count).try_for_each(|_| work())
}

/// Runs a fraction of the records on all threads, and extrapolates the duration.
fn part_each(record: impl Fn(usize) -> Result<()> + Sync) -> Result<Duration> {
    const SOME: usize = EACH / PART;
    let took = timed(|| threads(THREADS, |thread| many(SOME, || record(thread))))?;
    Ok(took.mul_f64(EACH as f64 / SOME as f64))
}

fn times_part(took: Duration) -> Duration {
    took * PART as u32
}

/// Resources that this process has used.
#[derive(Clone, Copy, Default)]
struct Spent {
    /// Bytes written, as the system reports them; 0 where it does not.
    bytes: u64,
    /// Processor time in hundredths of a second; 0 where the system does not report it.
    ticks: u64,
}

impl Spent {
    fn now() -> Self {
        let io = fs::read_to_string("/proc/self/io").unwrap_or_default();
        let bytes = io.lines().find_map(|line| line.strip_prefix("wchar: ")).unwrap_or("0");
        let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
        // Fields 14 and 15. The second field, the name, ends with a parenthesis.
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
        let ticks = fields.filter_map(|field| field.parse::<u64>().ok()).sum();
        Self { bytes: bytes.parse().unwrap_or(0), ticks }
    }
}

/// Measures duration and resources.
fn spent(sum: &mut Spent, work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let before = Spent::now();
    let took = timed(work)?;
    let after = Spent::now();
    sum.bytes += after.bytes - before.bytes;
    sum.ticks += after.ticks - before.ticks;
    Ok(took)
}

fn with_syncs(outcome: Outcome, syncs: f64) -> Outcome {
    Outcome { syncs_per_op: Some(syncs), ..outcome }
}

/// Prints the resources of both sides, including the warm-up round.
fn note(report: &mut Report, what: &str, [ours, bare]: [Spent; 2], syncs: f64, bare_commits: u64) {
    let records = ((ROUNDS + 1) * OPS) as u64;
    let each = |spent: Spent, commits: f64| {
        let (bytes, micros) = (spent.bytes / records, spent.ticks * 10_000 / records);
        format!("{bytes} bytes, {micros} µs of processor time and {commits:.3} commits")
    };
    let bare = each(bare, bare_commits as f64 / records as f64);
    report.note(format!("{what} took {}; in the bare loop {bare}.", each(ours, syncs)));
}
