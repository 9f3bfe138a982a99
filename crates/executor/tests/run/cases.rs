//! The reported cases of parallel actors, by name.

use std::fs;
use std::sync::Mutex;

use executor::Merge;
use executor::run::{Cancel, Event, Outcome};
use plan::{Selection, State, Strategy};

use crate::fixture::{Fixture, node, outcome, outcomes};

const LINES: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";

/// [par-seq] Edits of different lines merge, whichever actor ends first.
#[test]
fn edits_of_different_lines_merge() {
    for (first, second) in [("", "sleep 0.3; "), ("sleep 0.3; ", "")] {
        let fixture = Fixture::new(&[("file", LINES)]);
        let summary = fixture.run(&format!(
            "[nodes.a]\nrun = \"{first}sed -i s/one/ONE/ file\"\n[nodes.b]\nrun = \"{second}sed -i s/seven/SEVEN/ file\"\n"
        ));
        assert_eq!((summary.state, summary.files_changed), (State::Ready, 1), "{summary:?}");
        assert_eq!((summary.added, summary.removed), (2, 2));
        assert_eq!(fixture.file("file"), LINES, "nothing is touched before it is applied");
        let report = fixture.apply(summary.plan).unwrap();
        let authors: Vec<_> =
            report.files[0].authors.iter().map(|author| author.actor.as_str().to_owned()).collect();
        assert_eq!(authors.len(), 2);
        assert_eq!(fixture.file("file"), LINES.replace("one", "ONE").replace("seven", "SEVEN"));
    }
}

/// [par-base] The base is the content when the actor started, not empty, and not what people edited since.
#[test]
fn the_base_is_what_the_actor_started_from() {
    let fixture = Fixture::new(&[("file", LINES)]);
    let (go, root) = (fixture.folder.path().join("go"), fixture.root());
    let edited = Mutex::new(false);
    let options = fixture.options(&format!(
        "defaults = {{ timeout = '300s' }}\n[nodes.a]\nrun = \"sed -i s/one/ONE/ file; until [ -e {0} ]; do sleep 0.01; done\"\n\
         [nodes.b]\nneeds = ['a']\nrun = \"sed -i s/two/TWO/ file\"\n",
        go.display()
    ));
    let summary = fixture.runs().start(&options, &Cancel::default(), &|event| {
        if matches!(event, Event::NodeChanged { .. })
            && !std::mem::replace(&mut *edited.lock().unwrap(), true)
        {
            // Somebody edits the file while the actor runs, and before the other one starts.
            fs::write(root.join("file"), LINES.replace("seven", "SEVEN")).unwrap();
            fs::write(&go, "").unwrap();
        }
    });
    let summary = summary.unwrap();
    assert_eq!(summary.state, State::Ready, "{summary:?}");
    let entries = |name: &str| {
        let id = node(&summary, name).changeset.as_ref().unwrap().parse().unwrap();
        fixture.plans.entries(id).unwrap()
    };
    let bytes = |content: &plan::Content| {
        String::from_utf8(store::read_blob(fixture.plans.store().as_ref(), content.blob, 1 << 20).unwrap())
            .unwrap()
    };
    let (a, b) = (entries("a"), entries("b"));
    assert_eq!((a.len(), b.len()), (1, 1));
    assert_eq!(bytes(a[0].before.as_ref().unwrap()), LINES);
    assert_eq!(bytes(b[0].before.as_ref().unwrap()), LINES.replace("one", "ONE"));
    // The person's edit is noticed, and can be merged as one of other lines.
    assert_eq!(fixture.apply(summary.plan).unwrap_err().code(), "drifted");
    let mut order = plan::ApplyRequest::by(&crate::fixture::who());
    order.merge_drift = true;
    let plan = fixture.plans.get(summary.plan).unwrap();
    let _ = fixture.plans.apply(&plan::Host::local(Default::default()), &plan, &order).unwrap();
    assert_eq!(fixture.file("file"), "ONE\nTWO\nthree\nfour\nfive\nsix\nSEVEN\n");
}

/// [par-conflict] Overlapping edits are a conflict that names both.
#[test]
fn overlapping_edits_are_a_conflict() {
    let fixture = Fixture::new(&[("file", LINES)]);
    let text = "[nodes.a]\nrun = \"sed -i s/one/A/ file\"\n[nodes.b]\nrun = \"sed -i s/one/B/ file\"\n";
    let summary = fixture.run(text);
    assert_eq!(summary.state, State::Conflict);
    let [conflict] = summary.conflicts.as_slice() else { panic!("{summary:?}") };
    let sides: Vec<_> = conflict.sides.iter().map(|side| side.attribution.actor.to_string()).collect();
    assert_eq!(sides, ["a", "b"], "in the order of the file, whoever was faster");
    assert_eq!(conflict.hunks.len(), 1);
    assert!(fixture.apply(summary.plan).is_err());
    // The last one wins where that is asked for.
    let mut options = fixture.options(text);
    options.merge = Some(Merge::LastWins);
    let (summary, _) = fixture.run_with(&options);
    assert_eq!(summary.state, State::Ready, "{summary:?}");
    assert_eq!(
        fixture
            .plans
            .combine(summary.plan, &Selection::default(), Strategy::LastWins)
            .unwrap()
            .conflicts()
            .count(),
        0
    );
}

/// A node whose needs clash is not run, and says so.
#[test]
fn conflicting_needs_end_the_node_as_conflict() {
    let fixture = Fixture::new(&[("file", LINES)]);
    let summary = fixture.run(
        "[nodes.a]\nrun = \"sed -i s/one/A/ file\"\n[nodes.b]\nrun = \"sed -i s/one/B/ file\"\n\
         [nodes.c]\nneeds = ['a', 'b']\nrun = \"touch c\"\n[nodes.d]\nneeds = ['c']\nrun = \"touch d\"\n",
    );
    assert_eq!(summary.state, State::Conflict);
    assert_eq!((outcome(&summary, "c"), outcome(&summary, "d")), (Outcome::Conflict, Outcome::Skipped));
    assert!(node(&summary, "c").reason.as_ref().unwrap().contains("`file`"));
    // Resolved, the rest can run.
    let plan = fixture.plans.get(summary.plan).unwrap();
    let key = summary.conflicts[0].key.clone();
    let choice = plan::Choice::Take(plan::Actor::parse("b").unwrap());
    fixture.plans.resolve(&plan, &key, &choice, Strategy::ThreeWay, &crate::fixture::who()).unwrap();
    let (summary, _) = fixture.resume(summary.plan).unwrap();
    assert_eq!((summary.state, outcome(&summary, "d")), (State::Ready, Outcome::Succeeded), "{summary:?}");
    assert_eq!((node(&summary, "a").attempts, node(&summary, "c").attempts), (1, 2));
    let _ = fixture.apply(summary.plan).unwrap();
    assert!(fixture.file("file").starts_with("B\n") && fixture.root().join("d").exists());
}

/// [par-queue] More nodes than may run at once wait in line, and none is refused.
#[test]
fn concurrency_limits_running_nodes() {
    let fixture = Fixture::new(&[]);
    let meter = fixture.folder.path().join("meter");
    fs::create_dir(&meter).unwrap();
    let mut text = "concurrency = 2\n".to_owned();
    for number in 0..7 {
        text += &format!(
            "[nodes.n{number}]\nrun = \"touch {0}/{number}; ls {0} | wc -l; sleep 0.05; rm {0}/{number}; touch {number}\"\n",
            meter.display()
        );
    }
    let mut options = fixture.options(&text);
    options.allow_write = vec![meter];
    let (summary, events) = fixture.run_with(&options);
    assert_eq!((summary.state, summary.files_changed), (State::Ready, 7), "{summary:?}");
    let counts: Vec<usize> = events
        .iter()
        .filter_map(|event| match event {
            Event::NodeOutput { line, .. } => str::from_utf8(line).ok()?.trim().parse().ok(),
            _ => None,
        })
        .collect();
    assert_eq!(counts.len(), 7);
    assert!(counts.iter().all(|count| *count <= 2), "{counts:?}");
}

/// [par-retry] No more retries than allowed, each from a clean sandbox, and only the last one counts.
#[test]
fn a_retry_starts_from_a_clean_sandbox() {
    let fixture = Fixture::new(&[("file", "0\n")]);
    let tries = fixture.folder.path().join("tries");
    fs::create_dir(&tries).unwrap();
    let line = |succeed: usize| {
        format!(
            "[ -e dirty ] && exit 9; echo x >> file; touch dirty; touch {0}/$$; [ $(ls {0} | wc -l) -ge {succeed} ]",
            tries.display()
        )
    };
    let mut options = fixture.options(&format!("[nodes.a]\nretries = 2\nrun = \"{}\"\n", line(3)));
    options.allow_write = vec![tries.clone()];
    let (summary, events) = fixture.run_with(&options);
    assert_eq!((summary.state, node(&summary, "a").attempts), (State::Ready, 3), "{summary:?}");
    assert_eq!(events.iter().filter(|event| matches!(event, Event::NodeRetried { .. })).count(), 2);
    let changesets = fixture.plans.changesets(summary.plan).unwrap();
    let statuses: Vec<_> = changesets.iter().map(|changeset| changeset.status.as_str()).collect();
    assert_eq!(statuses, ["abandoned", "abandoned", "sealed"]);
    let _ = fixture.apply(summary.plan).unwrap();
    assert_eq!(fixture.file("file"), "0\nx\n");

    let fixture = Fixture::new(&[("file", "0\n")]);
    let mut options = fixture.options(&format!("[nodes.a]\nretries = 2\nrun = \"{}\"\n", line(100)));
    options.allow_write = vec![tries];
    let (summary, _) = fixture.run_with(&options);
    let failed = node(&summary, "a");
    assert_eq!((summary.state, failed.attempts, failed.code), (State::Failed, 3, Some(1)));
    assert_eq!(summary.first_failure().unwrap().name, "a");
}

/// [par-timeout] All of a timed-out actor is ended, what left its group too, and what it wrote does not count.
#[test]
fn a_timeout_ends_all_processes_of_an_actor() {
    let fixture = Fixture::new(&[]);
    let summary = fixture.run(
        "[nodes.a]\ntimeout = '300ms'\nrun = \"touch early; setsid sh -c 'sleep 1; touch late; sleep 600' & sleep 600\"\n\
         [nodes.b]\nneeds = ['a']\nrun = 'true'\n",
    );
    assert_eq!(summary.state, State::Failed);
    assert_eq!((outcome(&summary, "a"), outcome(&summary, "b")), (Outcome::TimedOut, Outcome::Skipped));
    assert_eq!(
        summary.files_changed, 0,
        "what it changed is there for people to look at, and does not count"
    );
    let id = node(&summary, "a").changeset.clone().unwrap();
    assert!(!crate::fixture::is_tagged(&id), "nothing of it runs");
    assert_eq!(fixture.plans.changeset(id.parse().unwrap()).unwrap().status.as_str(), "sealed");
}

/// [par-failfast] The siblings are stopped and recorded as stopped; or they finish.
#[test]
fn fail_fast_stops_the_other_nodes() {
    let text = "[nodes.a]\nrun = 'exit 3'\n[nodes.b]\nrun = 'sleep 2; touch b'\n[nodes.c]\nneeds = ['b']\nrun = 'touch c'\n";
    let fixture = Fixture::new(&[]);
    let mut options = fixture.options(&text.replace("sleep 2", "sleep 600"));
    options.fail_fast = Some(true);
    let (summary, _) = fixture.run_with(&options);
    let ended = outcomes(&summary);
    assert_eq!((ended["a"], ended["b"], ended["c"]), (Outcome::Failed, Outcome::Stopped, Outcome::Stopped));
    assert_eq!((summary.state, node(&summary, "a").code), (State::Failed, Some(3)));
    let summary = fixture.run(&text.replace("sleep 2", "sleep 0.2"));
    let ended = outcomes(&summary);
    assert_eq!(
        (ended["a"], ended["b"], ended["c"]),
        (Outcome::Failed, Outcome::Succeeded, Outcome::Succeeded)
    );
    assert_eq!(summary.state, State::Failed);
}

/// [par-overlap] Two nodes that change one file are reported while they run.
#[test]
fn an_overlap_is_reported_while_actors_run() {
    let fixture = Fixture::new(&[("file", LINES)]);
    let go = fixture.folder.path().join("go");
    let wait = format!("until [ -e {} ]; do sleep 0.01; done", go.display());
    let options = fixture.options(&format!(
        "defaults = {{ timeout = '300s' }}\n[nodes.a]\nrun = \"sed -i s/one/A/ file; {wait}\"\n[nodes.b]\nrun = \"sed -i s/seven/B/ file; {wait}\"\n"
    ));
    let overlaps = Mutex::new(Vec::new());
    let tell = |event| {
        if let Event::Overlap { path, nodes } = event {
            overlaps.lock().unwrap().push((path, nodes));
            fs::write(&go, "").unwrap();
        }
    };
    let summary = fixture.runs().start(&options, &Cancel::default(), &tell).unwrap();
    assert_eq!(summary.state, State::Ready);
    let overlaps = overlaps.into_inner().unwrap();
    assert_eq!(overlaps, [("file".to_owned(), vec!["a".to_owned(), "b".to_owned()])]);
}

/// [run-again] ActorProcess the same again makes another plan.
#[test]
fn running_again_makes_another_plan() {
    let fixture = Fixture::new(&[("file", "old\n")]);
    let text = "name = 'mine'\n[nodes.a]\nrun = 'echo new >> file'\n";
    let (first, second) = (fixture.run(text), fixture.run(text));
    assert_ne!(first.plan, second.plan);
    assert_eq!((first.name.as_deref(), second.name.as_deref()), (Some("mine"), Some("mine-2")));
    for plan in [first.plan, second.plan] {
        assert_eq!(fixture.plans.get(plan).unwrap().state, State::Ready);
    }
    let _ = fixture.apply(first.plan).unwrap();
    assert_eq!(fixture.file("file"), "old\nnew\n");
}

/// A change outside its `paths` fails a node, and none of its changes count. A gate has no paths.
#[test]
fn a_change_outside_paths_fails_the_node() {
    let fixture = Fixture::new(&[("src/a", "1"), ("b", "1")]);
    let summary = fixture.run(
        "[nodes.good]\nwrites = ['src/**']\nrun = 'echo 2 > src/a'\n\
         [nodes.bad]\nwrites = ['src/**']\nrun = 'echo 2 > b; mv src/a src/z'\n\
         [nodes.gate]\nwrites = []\nrun = 'touch new'\n",
    );
    let ended = outcomes(&summary);
    assert_eq!(
        (ended["good"], ended["bad"], ended["gate"]),
        (Outcome::Succeeded, Outcome::RefusedPaths, Outcome::RefusedPaths)
    );
    assert_eq!((summary.state, summary.files_changed), (State::Failed, 1));
    let reason = node(&summary, "bad").reason.clone().unwrap();
    assert!(reason.contains("`b`") && !reason.contains("src"), "{reason}");
}

/// A failure that is to be passed over fails nothing, and what the actor changed counts.
#[test]
fn continue_on_error_starts_dependent_nodes() {
    let fixture = Fixture::new(&[]);
    let summary = fixture.run(
        "[nodes.a]\ncontinue-on-error = true\nrun = 'touch a; exit 1'\n[nodes.b]\nneeds = ['a']\nrun = 'cat a && touch b'\n",
    );
    assert_eq!((outcome(&summary, "a"), outcome(&summary, "b")), (Outcome::Failed, Outcome::Succeeded));
    assert_eq!((summary.state, summary.files_changed), (State::Ready, 2));
    assert_eq!(
        fixture.resume(summary.plan).unwrap_err().to_string(),
        format!("plan {} is ready: nothing to resume", summary.plan)
    );
}

/// Cancelled, actors are asked to end; what they did is kept, and the rest can be run later.
#[test]
fn a_cancelled_run_ends_cleanly() {
    let fixture = Fixture::new(&[]);
    let cancel = Cancel::default();
    let options = fixture.options(
        "concurrency = 1\n[nodes.a]\nrun = \"trap 'touch asked; exit 0' TERM; echo ready; sleep 600 & wait\"\n[nodes.b]\nrun = 'true'\n",
    );
    let tell = |event| {
        if matches!(event, Event::NodeOutput { .. }) {
            cancel.cancel();
        }
    };
    let summary = fixture.runs().start(&options, &cancel, &tell).unwrap();
    assert!(summary.cancelled);
    assert_eq!((summary.state, node(&summary, "a").files_changed), (State::Failed, 1));
    assert_eq!((outcome(&summary, "a"), outcome(&summary, "b")), (Outcome::Cancelled, Outcome::Cancelled));
    // Not so when the plan is cancelled.
    let plan = fixture.plans.get(summary.plan).unwrap();
    fixture.plans.cancel(&plan, &crate::fixture::who(), "not needed").unwrap();
    assert!(fixture.resume(summary.plan).unwrap_err().to_string().contains("nothing to resume"));
}

/// Cancelled twice, an actor that does not want to end is killed at once.
#[test]
fn a_second_cancel_kills_the_actors() {
    let fixture = Fixture::new(&[]);
    let cancel = Cancel::default();
    let options = fixture.options(
        "[nodes.a]\ntimeout = '300s'\nrun = \"trap '' TERM; echo ready; while :; do sleep 600; done\"\n",
    );
    let tell = |event| {
        if matches!(event, Event::NodeOutput { .. }) {
            cancel.cancel();
            cancel.cancel();
        }
    };
    let summary = fixture.runs().start(&options, &cancel, &tell).unwrap();
    assert_eq!((summary.state, outcome(&summary, "a")), (State::Failed, Outcome::Cancelled));
}
