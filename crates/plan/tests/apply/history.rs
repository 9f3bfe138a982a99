//! Linearizability: processes start, record, seal and apply in the same roots, and one order of
//! calls explains all answers.
//!
//! Each plan writes its word to two files of one root and one of another. Its entries have the
//! words that it found as bases, so an apply is a compare-and-set over all three files.

use std::path::Path;

use filetx::{RelPath, Snapshot, Wait};
use plan::{ApplyRequest, Plans};
use testkit::children::{Process, role, send, start, wait_for_parent};
use testkit::history::{self, CallLog, LoggedCall, Model, Operation, check_operations, overlaps};
use testkit::report::{figure, is_proof};

use super::fixture::{Fixture, actor, open, write};

const PROCESSES: usize = 8;
const PLANS_EACH: usize = 6;
const FILES: [(&str, &str); 3] = [("a", "x"), ("a", "y"), ("b", "z")];

#[test]
fn child() {
    if let Some((_, folder)) = role() {
        make_history(&folder);
    }
}

/// The model: changesets with their entries, and the word in all files.
#[derive(Clone, Debug)]
struct Folders;

#[derive(Clone, Debug)]
enum Act {
    /// Started this changeset.
    Start(String),
    /// Recorded into it, and got this sequence number.
    Record(String, u64),
    /// Sealed it with this number of entries.
    Seal(String, u64),
    /// Wrote `new` over the words that the plan had found; or was refused.
    Apply { found: Vec<String>, new: String, done: bool },
    /// Read these words.
    Look(Vec<String>),
}

/// Id, entries, whether it is sealed.
type Changeset = (String, u64, bool);

fn find<'a>(changesets: &'a mut [Changeset], id: &str) -> Option<&'a mut Changeset> {
    changesets.iter_mut().find(|found| found.0 == id && !found.2)
}

impl Model for Folders {
    type State = (Vec<Changeset>, String);
    type Op = Act;
    type Metadata = ();

    fn init() -> Self::State {
        (Vec::new(), "first".to_owned())
    }

    fn step((changesets, word): &Self::State, act: &Act) -> (bool, Self::State) {
        let (mut changesets, mut word) = (changesets.clone(), word.clone());
        let holds = match act {
            Act::Start(id) => {
                changesets.push((id.clone(), 0, false));
                true
            }
            Act::Record(id, sequence) => find(&mut changesets, id).is_some_and(|found| {
                found.1 += 1;
                found.1 == *sequence
            }),
            Act::Seal(id, entries) => find(&mut changesets, id).is_some_and(|found| {
                found.2 = true;
                found.1 == *entries
            }),
            Act::Apply { found, new, done } => {
                let is_as_found = found.iter().all(|found| *found == word);
                if *done {
                    word.clone_from(new);
                }
                is_as_found == *done
            }
            Act::Look(seen) => seen.iter().all(|seen| *seen == word),
        };
        (holds, (changesets, word))
    }
}

fn make_history(folder: &Path) {
    let plans = open(folder);
    let mut notebook = CallLog::open(folder);
    send("ready");
    wait_for_parent();
    for number in 0..PLANS_EACH {
        let new = format!("{}-{number}", std::process::id());
        write_word(folder, &plans, &mut notebook, &new);
        notebook.record("look", |_| look(folder).join(" "));
    }
}

fn write_word(folder: &Path, plans: &Plans, notebook: &mut CallLog, new: &str) {
    let (a, b) = (folder.join("a"), folder.join("b"));
    let plan = plans.create(None, &[&a, &b], &actor("ana")).unwrap();
    let context = plans.context(plan.id).unwrap();
    let mut started = None;
    notebook.record("start", |_| started.insert(context.start_changeset(&actor(new)).unwrap()).id());
    let changeset = started.unwrap();
    for (root, name) in FILES {
        notebook.record(format!("record {}", changeset.id()), |_| {
            let root = context.root(&folder.join(root)).unwrap();
            changeset.record(write(name, new).in_root(root)).unwrap()
        });
    }
    notebook.record(format!("seal {}", changeset.id()), |_| changeset.seal().unwrap().entries);
    plans.mark_ready(plan.id, &actor("ana")).unwrap();
    let found = plans.entries(changeset.id()).unwrap().into_iter().map(|entry| {
        let content = store::read_blob(plans.store().as_ref(), entry.before.unwrap().blob, 100).unwrap();
        String::from_utf8(content).unwrap()
    });
    let found = found.collect::<Vec<_>>().join(" ");
    notebook.record(format!("apply {new} {found}"), |_| {
        let fixture = plan::Host::local(Wait::default());
        match plans.apply(&fixture, &plan, &ApplyRequest::by(&actor(new))) {
            Ok(_) => "done",
            Err(error) => {
                assert_eq!(error.code(), "drifted", "{error}");
                "refused"
            }
        }
    });
}

/// Reads two files of one root atomically.
fn look(folder: &Path) -> Vec<String> {
    let home = plan::txn_dir();
    let snapshot =
        Snapshot::of_tree(&folder.join("a"), &home, &Wait::default(), &testkit::journals::trust).unwrap();
    let read =
        |name| String::from_utf8(snapshot.read(&RelPath::new(name).unwrap()).unwrap().unwrap()).unwrap();
    vec![read("x"), read("y")]
}

fn act(noted: &LoggedCall) -> Act {
    let (_, answer) = noted.answer.clone().unwrap();
    let mut words = noted.what.split(' ').map(str::to_owned);
    let (kind, mut next) = (words.next().unwrap(), || words.next().unwrap());
    match kind.as_str() {
        "start" => Act::Start(answer),
        "record" => Act::Record(next(), answer.parse().unwrap()),
        "seal" => Act::Seal(next(), answer.parse().unwrap()),
        "look" => Act::Look(answer.split(' ').map(str::to_owned).collect()),
        _ => Act::Apply { new: next(), found: words.collect(), done: answer == "done" },
    }
}

#[test]
fn the_checker_rejects_impossible_histories() {
    let check = |acts: &[Act]| {
        let history: Vec<Operation<Folders>> = acts
            .iter()
            .zip(0..)
            .map(|(act, at)| history::operation(at * 2, at * 2 + 1, act.clone()))
            .collect();
        check_operations(&history)
    };
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let apply =
        |found: &[&str], new: &str, done| Act::Apply { found: words(found), new: new.to_owned(), done };
    let first = ["first", "first"];
    assert!(check(&[apply(&first, "1", true), Act::Look(words(&["1", "1"])), apply(&first, "2", false)]));
    assert!(!check(&[apply(&first, "1", true), apply(&first, "2", true)]), "over another's");
    assert!(!check(&[apply(&first, "1", false)]), "refused without a reason");
    assert!(!check(&[apply(&first, "1", true), Act::Look(words(&["1", "first"]))]), "half of it");
    assert!(!check(&[apply(&first, "1", true), Act::Look(words(&first))]), "an apply that is not seen");
    assert!(!check(&[apply(&["first", "1"], "2", true)]), "found in no one state");
}

#[test]
fn a_history_with_applies_of_eight_processes_is_linearizable() {
    let rounds = 0..if is_proof() { 10 } else { 1 };
    let (mut done, mut refused) = (0, 0);
    for fixture in rounds.flat_map(|_| Fixture::of_each_engine("apply-postgres-history")) {
        FILES.iter().for_each(|(root, name)| fixture.write(&format!("{root}/{name}"), "first"));
        let one = || start("history::child", "history", fixture.folder.path());
        let mut processes: Vec<Process> = (0..PROCESSES).map(|_| one()).collect();
        processes.iter_mut().for_each(|process| assert_eq!(process.receive(), "ready"));
        processes.iter_mut().for_each(Process::notify);
        processes.into_iter().for_each(Process::finish);
        let noted = history::read(fixture.folder.path());
        let history: Vec<Operation<Folders>> =
            noted.iter().map(|noted| noted.operation(i64::MAX, act(noted))).collect();
        assert!(overlaps(&history), "the processes ran one after another, which shows nothing");
        assert!(check_operations(&history));
        let ends = |end: &str| {
            let ended = |noted: &&LoggedCall| noted.answer.as_ref().is_some_and(|(_, answer)| answer == end);
            noted.iter().filter(ended).count()
        };
        done += ends("done");
        refused += ends("refused");
        assert_eq!(store::verify(fixture.plans.store().as_ref(), &[]).unwrap().findings, []);
    }
    figure("applies of eight processes to the same files, done", done);
    figure("applies of eight processes to the same files, refused", refused);
}
