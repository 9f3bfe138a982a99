//! Several processes on one store: attribution, linearizability, kills.

use std::path::Path;

use plan::{ChangesetId, LeaseOptions, PlanExecutionContext, Plans, Status};
use store::Owner;
use testkit::children::{Process, role, send, start, wait_for_parent};
use testkit::history::{self, CallLog, LoggedCall, Model, Operation, check_operations, overlaps};
use testkit::report::{figure, is_proof};

use super::fixture::{self, Fixture, actor, write};

const PROCESSES: usize = 16;
const THREADS: usize = 2;
const RECORDS: usize = 20;
const HISTORY_PROCESSES: usize = 8;
const HISTORY_OPERATIONS: usize = 30;

#[test]
fn child() {
    match role() {
        None => {}
        Some((role, folder)) if role == "attribute" => attribute(&folder),
        Some((role, folder)) if role == "history" => make_history(&folder),
        Some((role, folder)) if role == "hold" => hold(&folder),
        Some((role, folder)) => record_until_killed(&folder, &role),
    }
}

/// The only plan of the store.
fn context(plans: &Plans) -> PlanExecutionContext {
    plans.context(plans.list(&[], None).unwrap()[0].id).unwrap()
}

fn begin(role: &str, fixture: &Fixture, count: usize) -> Vec<Process> {
    let one = || start("processes::child", role, fixture.folder.path());
    let mut processes: Vec<Process> = (0..count).map(|_| one()).collect();
    processes.iter_mut().for_each(|process| assert_eq!(process.receive(), "ready"));
    processes.iter_mut().for_each(Process::notify);
    processes
}

fn attribute(folder: &Path) {
    let plans = fixture::open(folder);
    let context = context(&plans);
    send("ready");
    wait_for_parent();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let context = &context;
            scope.spawn(move || {
                let name = format!("{} {thread}", std::process::id());
                let changeset = context.start_changeset(&actor(&name)).unwrap();
                for number in 0..RECORDS {
                    changeset.record(write(&format!("{name}/{number}"), "x").with_base(None)).unwrap();
                }
                assert_eq!(changeset.seal().unwrap().entries, RECORDS as u64);
            });
        }
    });
}

#[test]
fn entries_of_sixteen_processes_keep_their_attribution() {
    for fixture in Fixture::of_each_engine("plan-postgres-processes") {
        check_attribution(&fixture);
    }
}

fn check_attribution(fixture: &Fixture) {
    begin("attribute", fixture, PROCESSES).into_iter().for_each(Process::finish);
    let changesets = fixture.plans.changesets(fixture.plan.id).unwrap();
    assert_eq!(changesets.len(), PROCESSES * THREADS);
    for changeset in changesets {
        assert_eq!(changeset.status, Status::Sealed);
        let entries = fixture.plans.entries(changeset.id).unwrap();
        assert_eq!(entries.len(), RECORDS);
        for (number, entry) in entries.iter().enumerate() {
            assert_eq!(entry.path.show(), format!("{}/{number}", changeset.actor));
            assert_eq!((entry.sequence, &entry.actor), (number as u64 + 1, &changeset.actor));
        }
    }
    assert_eq!(store::verify(fixture.store(), &[]).unwrap().findings, []);
}

/// Starts a changeset, reports its id, and holds it for the maximum time.
fn hold(folder: &Path) {
    let options = LeaseOptions { duration: store::limits::LEASE_MAX, ..LeaseOptions::default() };
    let held = context(&fixture::open(folder)).start(&actor("coder"), None, &options).unwrap();
    send(&held.id().to_string());
    wait_for_parent();
}

#[test]
#[cfg(target_os = "linux")]
fn the_lease_of_a_killed_holder_is_taken_at_once() {
    let fixture = Fixture::new();
    let mut holder = start("processes::child", "hold", fixture.folder.path());
    let id: ChangesetId = holder.receive().parse().unwrap();
    let refused = fixture.plans.reopen(id, &LeaseOptions::default()).unwrap_err();
    assert_eq!(refused.code(), "lease-held", "its holder is alive: {refused}");
    holder.kill();
    // One of many concurrent calls gets the lease; the others find a live holder.
    let taken: Vec<_> = std::thread::scope(|scope| {
        let ask = || fixture::open(fixture.folder.path()).reopen(id, &LeaseOptions::default());
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let (mine, others): (Vec<_>, Vec<_>) = taken.into_iter().partition(Result::is_ok);
    assert_eq!((mine.len(), others.len()), (1, 7));
    assert!(others.into_iter().all(|other| other.unwrap_err().code() == "lease-held"));
    let mine = mine.into_iter().next().unwrap().unwrap();
    assert_eq!(mine.epoch(), store::Epoch(2), "what the dead one might still write is refused");
    assert_eq!(mine.record(write("a", "1").with_base(None)).unwrap(), 1);
    let events = fixture.plans.timeline(fixture.plan.id).unwrap();
    assert!(events.iter().any(|event| event.kind == "lease.taken-over"), "{events:?}");
}

/// The model: changesets of a plan, each with its number of entries and whether it is sealed.
#[derive(Clone, Debug)]
struct Changesets;

#[derive(Clone, Debug)]
enum Act {
    /// Started this changeset.
    Start(String),
    /// Counted the changesets.
    Count(usize),
    /// Recorded into this changeset, and got this sequence number; none if it was sealed.
    Record(String, Option<u64>),
    /// Sealed this changeset with this number of entries.
    Seal(String, u64),
}

fn find<'a>(state: &'a mut [(String, u64, bool)], id: &str) -> Option<(&'a mut u64, &'a mut bool)> {
    state.iter_mut().find(|found| found.0 == id).map(|found| (&mut found.1, &mut found.2))
}

impl Model for Changesets {
    type State = Vec<(String, u64, bool)>;
    type Op = Act;
    type Metadata = ();

    fn init() -> Self::State {
        Vec::new()
    }

    fn step(state: &Self::State, act: &Act) -> (bool, Self::State) {
        let mut next = state.clone();
        let holds = match act {
            Act::Start(id) => {
                next.push((id.clone(), 0, false));
                true
            }
            Act::Count(count) => next.len() == *count,
            Act::Record(id, answer) => match (find(&mut next, id), answer) {
                (Some((entries, sealed)), Some(sequence)) if !*sealed => {
                    *entries += 1;
                    entries == sequence
                }
                (Some((_, sealed)), None) => *sealed,
                _ => false,
            },
            Act::Seal(id, count) => match find(&mut next, id) {
                Some((entries, sealed)) => {
                    *sealed = true;
                    entries == count
                }
                None => false,
            },
        };
        (holds, next)
    }
}

/// All processes have the same lease owner, so that they may record into the same changesets.
fn make_history(folder: &Path) {
    let plans = fixture::open(folder).with_owner(Owner::parse("all of us").unwrap());
    let context = context(&plans);
    let mut notebook = CallLog::open(folder);
    let mut random = fastrand::Rng::with_seed(u64::from(std::process::id()));
    let (mut opened, mut last): (Vec<plan::Changeset>, Option<ChangesetId>) = (Vec::new(), None);
    send("ready");
    wait_for_parent();
    for _ in 0..HISTORY_OPERATIONS {
        let known = last.and_then(|id| {
            if !opened.iter().any(|changeset| changeset.id() == id) {
                opened.extend(plans.reopen(id, &LeaseOptions::default()));
            }
            opened.iter().find(|changeset| changeset.id() == id)
        });
        match (known, random.u8(..10)) {
            (None, _) | (_, 0) => {
                let mut started = None;
                notebook.record("start", |_| {
                    let changeset = context.start_changeset(&actor("one of us")).unwrap();
                    started.insert(changeset).id()
                });
                opened.extend(started);
            }
            (Some(changeset), 1) => {
                let count = |_: &str| changeset.seal().unwrap().entries;
                notebook.record(format!("seal {}", changeset.id()), count);
            }
            (Some(changeset), 2..8) => {
                notebook.record(format!("record {}", changeset.id()), |name| {
                    match changeset.record(write(name, "x").with_base(None)) {
                        Ok(sequence) => sequence.to_string(),
                        Err(error) => {
                            assert_eq!(error.code(), "changeset-closed");
                            "closed".to_owned()
                        }
                    }
                });
            }
            _ => {}
        }
        notebook.record("count", |_| {
            let found = plans.changesets(context.plan()).unwrap();
            last = found.last().map(|last| last.id);
            found.len()
        });
    }
}

fn act(noted: &LoggedCall) -> Act {
    let (_, answer) = noted.answer.clone().unwrap();
    match noted.what.split_once(' ') {
        None if noted.what == "start" => Act::Start(answer),
        None => Act::Count(answer.parse().unwrap()),
        Some(("seal", id)) => Act::Seal(id.to_owned(), answer.parse().unwrap()),
        Some((_, id)) => Act::Record(id.to_owned(), answer.parse().ok()),
    }
}

#[test]
fn the_checker_rejects_impossible_histories() {
    let check = |acts: &[Act]| {
        let history: Vec<Operation<Changesets>> = acts
            .iter()
            .zip(0..)
            .map(|(act, at)| history::operation(at * 2, at * 2 + 1, act.clone()))
            .collect();
        check_operations(&history)
    };
    let (one, two) = (|| "1".to_owned(), || "2".to_owned());
    let recorded = |sequence| Act::Record(one(), sequence);
    assert!(check(&[Act::Start(one()), recorded(Some(1)), Act::Seal(one(), 1), recorded(None)]));
    assert!(!check(&[Act::Start(one()), recorded(Some(2))]), "a gap");
    assert!(!check(&[Act::Start(one()), Act::Seal(one(), 0), recorded(Some(1))]), "a late entry");
    assert!(!check(&[Act::Start(one()), recorded(None)]), "refused while open");
    assert!(!check(&[Act::Start(one()), recorded(Some(1)), Act::Seal(one(), 0)]), "an entry lost");
    assert!(!check(&[Act::Start(one()), Act::Start(two()), Act::Count(1)]), "a start that is not seen");
    assert!(!check(&[Act::Record(two(), Some(1))]) && !check(&[Act::Seal(two(), 0)]), "never started");
}

#[test]
fn a_history_of_eight_processes_is_linearizable() {
    let rounds = 0..if is_proof() { 20 } else { 1 };
    for fixture in rounds.flat_map(|_| Fixture::of_each_engine("plan-postgres-history")) {
        begin("history", &fixture, HISTORY_PROCESSES).into_iter().for_each(Process::finish);
        let noted = history::read(fixture.folder.path());
        let history: Vec<Operation<Changesets>> =
            noted.iter().map(|noted| noted.operation(i64::MAX, act(noted))).collect();
        assert!(overlaps(&history), "the processes ran one after another, which shows nothing");
        assert!(check_operations(&history));
    }
}

/// Three threads record into a changeset each, and report acknowledged entries.
fn record_until_killed(folder: &Path, round: &str) {
    let plans = fixture::open(folder);
    let context = context(&plans);
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let context = &context;
            scope.spawn(move || {
                let name = format!("{round}.{thread}");
                let changeset = context.start_changeset(&actor(&name)).unwrap();
                for number in 0.. {
                    let sequence =
                        changeset.record(write(&format!("{name}/{number}"), &name).with_base(None)).unwrap();
                    send(&format!("{} {sequence}", changeset.id()));
                }
            });
        }
    });
}

#[test]
fn acknowledged_entries_of_killed_processes_survive() {
    let wanted = if is_proof() { 10_000 } else { 400 };
    let fixture = Fixture::new();
    let mut random = fastrand::Rng::with_seed(testkit::seed::from_env_or(7120));
    let mut acknowledged: Vec<(ChangesetId, u64)> = Vec::new();
    let mut kills = 0;
    while acknowledged.len() < wanted {
        let mut processes: Vec<Process> = (0..2)
            .map(|number| start("processes::child", &format!("{kills}-{number}"), fixture.folder.path()))
            .collect();
        for process in &mut processes {
            for _ in 0..random.usize(1..80) {
                let word = process.receive();
                let (id, sequence) = word.split_once(' ').unwrap();
                acknowledged.push((id.parse().unwrap(), sequence.parse().unwrap()));
            }
            process.kill();
        }
        kills += 2;
        for (id, sequence) in &acknowledged {
            assert!(fixture.plans.changeset(*id).unwrap().entries >= *sequence);
        }
        assert_eq!(store::verify(fixture.store(), &[]).unwrap().findings, []);
    }
    for changeset in fixture.plans.changesets(fixture.plan.id).unwrap() {
        let entries = fixture.plans.entries(changeset.id).unwrap();
        assert_eq!(entries.len() as u64, changeset.entries);
        assert!(entries.iter().all(|entry| entry.path.show().starts_with(changeset.actor.as_str())));
    }
    figure("records acknowledged to killed processes of plans, all there", acknowledged.len());
    figure("processes killed while recording into plans", kills);
}
