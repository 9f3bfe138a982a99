//! A run killed at any moment resumes, and ends with the same result.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use executor::Error;
use executor::run::{Cancel, Event, NodeState, Outcome, Runs};
use plan::{PlanId, Plans, State, Status};
use testkit::children::{role, send, start};
use testkit::report::{figure, is_proof};
use testkit::seed;

use crate::fixture::{Fixture, files, is_tagged, options, outcome, plans, who};

/// Twelve nodes: four layers of three, each of which needs two of the layer before, changes a file of its own, lines of a shared one that are its
/// own, and leaves a child behind for a moment.
fn graph() -> String {
    let mut text = "concurrency = 4\n".to_owned();
    for number in 0..12 {
        let needs: Vec<String> = match number {
            0..3 => Vec::new(),
            _ => [0, 1].map(|step| format!("'n{}'", (number / 3 - 1) * 3 + (number + step) % 3)).to_vec(),
        };
        text += &format!(
            "[nodes.n{number}]\nneeds = [{}]\nrun = \"\"\"\n\
             sed -i 's/^line {number}$/LINE {number}/' shared\n\
             cat own-* 2>/dev/null | wc -l > own-{number}; (setsid sleep 0.02 &)\nsleep 0.01\n\"\"\"\n",
            needs.join(", ")
        );
    }
    text
}

fn fixture() -> Fixture {
    let lines: String = (0..12).map(|number| format!("line {number}\nbetween\nbetween\n")).collect();
    Fixture::new(&[("shared", &lines), ("folder/other", "untouched\n")])
}

fn runs(folder: &Path) -> (Plans, Runs) {
    let plans = plans(&folder.join("home"));
    let runs = Runs::new(plans.clone(), &folder.join("home/runs"));
    (plans, runs)
}

/// A child process that starts a run, or resumes the newest.
#[test]
fn child() {
    let Some((role, folder)) = role() else { return };
    let (plans, runs) = runs(&folder);
    // A process killed before it created a plan leaves nothing to resume.
    let plan = plans.find("@latest").ok();
    let tell = |event: Event| {
        if let Event::RunStarted { .. } = event {
            send("started");
        }
    };
    let ended = match plan {
        Some(plan) => runs.resume(plan.id, &who(), &[], &Cancel::default(), &tell),
        None => runs.start(&options(&folder, &graph()), &Cancel::default(), &tell),
    };
    match ended {
        Ok(summary) => send(summary.state.as_str()),
        Err(Error::NothingToResume { .. }) => send("nothing"),
        Err(Error::LeaseHeld { owner, .. }) if role == "second" => send(&format!("held by {owner}")),
        Err(error) => panic!("{error:?}"),
    }
}

/// The number of attempts of each succeeded node.
fn succeeded(runs: &Runs, plan: PlanId) -> BTreeMap<String, u32> {
    let nodes = runs.nodes(plan).unwrap().into_iter();
    nodes
        .filter(|node| node.state == NodeState::Ended(Outcome::Succeeded))
        .map(|node| (node.name, node.attempts))
        .collect()
}

#[test]
fn a_killed_run_resumes_to_the_same_result() {
    let whole = fixture();
    let summary = whole.run(&graph());
    assert_eq!(summary.state, State::Ready, "{summary:?}");
    let _ = whole.apply(summary.plan).unwrap();
    let expected = whole.files();
    assert_eq!(expected.len(), 14);

    let (seed, kills_wanted) = (seed::from_env_or(7), if is_proof() { 200 } else { 20 });
    let _replay = seed::Replay::new("cleveragents-executor", "kills", seed);
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut kills, mut grounds, mut orphans) = (0, 0, 0);
    while kills < kills_wanted {
        let fixture = fixture();
        let folder = fixture.folder.path();
        let mut done = BTreeMap::new();
        for _ in 0..3 {
            let mut child = start("kills::child", "run", folder);
            if child.receive_or_end().as_deref() != Some("started") {
                break;
            }
            std::thread::sleep(Duration::from_millis(random.u64(..400)));
            child.kill();
            kills += 1;
            let Ok(plan) = fixture.plans.find("@latest") else { continue };
            orphans += usize::from(
                fixture
                    .plans
                    .changesets(plan.id)
                    .unwrap()
                    .iter()
                    .any(|changeset| is_tagged(&changeset.id.to_string())),
            );
            let now = succeeded(&fixture.runs(), plan.id);
            for (name, attempts) in &done {
                assert_eq!(now.get(name), Some(attempts), "{name} was run again");
            }
            done = now;
        }
        grounds += 1;
        let plan = fixture.plans.find("@latest").unwrap();
        match fixture.resume(plan.id) {
            Ok((summary, _)) => assert_eq!(summary.state, State::Ready, "{summary:?}"),
            Err(Error::NothingToResume { state, .. }) => assert_eq!(state, State::Ready),
            Err(error) => panic!("{error}"),
        }
        check(&fixture, plan.id, &done);
        let _ = fixture.apply(plan.id).unwrap();
        assert_eq!(fixture.files(), expected);
    }
    figure("kills of a run", kills);
    figure("runs that were killed", grounds);
    figure("kills that left orphans", orphans);
}

/// Invariants of an ended run, however often it was killed.
fn check(fixture: &Fixture, plan: PlanId, done: &BTreeMap<String, u32>) {
    let nodes = succeeded(&fixture.runs(), plan);
    assert_eq!(nodes.len(), 12);
    assert!(done.iter().all(|(name, attempts)| nodes[name] == *attempts), "{done:?} {nodes:?}");
    let changesets = fixture.plans.changesets(plan).unwrap();
    assert!(changesets.iter().all(|changeset| changeset.status != Status::Open));
    assert!(changesets.iter().all(|changeset| !is_tagged(&changeset.id.to_string())), "an orphan is left");
    let folded = fixture.plans.deltas(plan, &Default::default()).unwrap();
    assert_eq!(folded.len(), 12, "one changeset of each node counts");
    assert!(folded.iter().all(|folded| folded.changes.len() == 2), "{folded:?}");
    let sandboxes = fixture.home().join("runs").join(plan.to_string()).join("nodes");
    for (name, attempts) in nodes {
        let sandbox = sandboxes.join(&name).join(attempts.to_string()).join("sandbox/tree");
        assert!(files(&sandbox).contains_key("shared"), "the sandbox of {name} is lost");
    }
    let heads = fixture.plans.store().check().unwrap();
    assert!(heads.is_empty(), "{heads:?}");
}

/// Another process gives the plan up, or takes it over: the run ends its actors and says so.
#[test]
fn a_run_stops_when_its_plan_is_cancelled_or_taken() {
    let fixture = Fixture::new(&[]);
    let options = fixture.options(
        "[nodes.a]\nrun = 'touch new; echo ready; sleep 600'\n[nodes.b]\nneeds = ['a']\nrun = 'true'\n",
    );
    let stop = Cancel::default();
    let tell = |event| {
        if matches!(event, Event::NodeOutput { .. }) {
            let plan = fixture.plans.find("@latest").unwrap();
            fixture.plans.cancel(&plan, &who(), "not needed any more").unwrap();
        }
    };
    // The run polls for it.
    let summary = fixture.runs().start(&options, &stop, &tell).unwrap();
    assert_eq!((summary.state, summary.cancelled), (State::Cancelled, true));
    assert_eq!((outcome(&summary, "a"), outcome(&summary, "b")), (Outcome::Cancelled, Outcome::Cancelled));
    let stored = fixture.runs().nodes(summary.plan).unwrap();
    assert!(stored.iter().all(|node| node.state == NodeState::Ended(Outcome::Cancelled)), "{stored:?}");
    assert!(stored.iter().any(|node| node.seconds.is_some()), "how long it ran is known: {stored:?}");

    let stop = Cancel::default();
    let tell = |event| {
        if matches!(event, Event::NodeOutput { .. }) {
            let plan = fixture.plans.find("@latest").unwrap();
            let resource = store::Resource::Plan(plan.id);
            let store = fixture.plans.store();
            let lease =
                store.leases(plan.id).unwrap().into_iter().find(|lease| lease.resource == resource).unwrap();
            store.release(&lease).unwrap();
            let owner = store::Owner::parse("somebody else").unwrap();
            store
                .acquire(resource, &store::LeaseRequest { owner, duration: Duration::from_secs(600) })
                .unwrap();
            let error = fixture.runs().resume(plan.id, &who(), &[], &Cancel::default(), &|_| {}).unwrap_err();
            assert!(error.to_string().contains("somebody else"), "{error}");
            stop.cancel();
        }
    };
    let error = fixture.runs().start(&options, &stop, &tell).unwrap_err();
    assert!(matches!(error, Error::LeaseLost { .. }), "{error}");
}

/// A run that learns of its lost lease at a renewal ends its actors and writes nothing more.
#[test]
fn a_run_without_its_lease_writes_nothing() {
    let fixture = Fixture::new(&[("file", "1\n")]);
    let options = fixture.options(
        "[nodes.a]\nretries = 3\nrun = 'echo 2 > file; echo ready; sleep 600'\n[nodes.b]\nneeds = ['a']\nrun = 'true'\n",
    );
    let (store, resource) = (fixture.plans.store(), store::Resource::Plan);
    let written = Mutex::new(None);
    let state = |plan: PlanId| {
        let nodes: Vec<_> =
            store.nodes(plan).unwrap().into_iter().map(|node| (node.state, node.version)).collect();
        let changesets = fixture.plans.changesets(plan).unwrap();
        (nodes, changesets, store.plan(plan).unwrap().version)
    };
    let tell = |event| {
        if matches!(event, Event::NodeOutput { .. }) {
            let plan = fixture.plans.find("@latest").unwrap().id;
            // The process of the actor is recorded before it is taken over.
            while store.nodes(plan).unwrap()[0].detail["process"].is_null() {
                std::thread::yield_now();
            }
            let leases = store.leases(plan).unwrap();
            let lease = leases.iter().find(|lease| lease.resource == resource(plan)).unwrap();
            store.release(lease).unwrap();
            let owner = store::Owner::parse("somebody else").unwrap();
            let holding = store::LeaseRequest { owner, duration: Duration::from_secs(600) };
            store.acquire(resource(plan), &holding).unwrap();
            *written.lock().unwrap() = Some((plan, state(plan)));
        }
    };
    let error = fixture.runs().start(&options, &Cancel::default(), &tell).unwrap_err();
    assert!(matches!(error, Error::LeaseLost { .. }), "{error}");
    let (plan, before) = written.into_inner().unwrap().unwrap();
    assert_eq!(state(plan), before, "nothing more is written");
    let [changeset] = before.1.as_slice() else { panic!("{before:?}") };
    assert_eq!((changeset.status, changeset.entries), (Status::Open, 0));
    assert!(!is_tagged(&changeset.id.to_string()), "its actor has ended");
}

/// Recovers a run that died before its first node, or between two steps.
#[test]
fn a_resumed_run_recovers_what_a_dead_run_left() {
    let fixture = fixture();
    let mut child = start("kills::child", "run", fixture.folder.path());
    assert_eq!(child.receive(), "started");
    child.kill();
    let plan = fixture.plans.find("@latest").unwrap();
    let unfinished = fixture.runs().unfinished().unwrap();
    assert_eq!((unfinished.len(), &unfinished[0].owner, unfinished[0].plan), (1, &None, plan.id));
    // A changeset that was started for a node that never ran.
    let node = fixture.plans.store().nodes(plan.id).unwrap()[0].id;
    let context = fixture.plans.context(plan.id).unwrap();
    let stray = context.start(&who(), Some(node), &plan::LeaseOptions::default()).unwrap().id();
    let (summary, _) = fixture.resume(plan.id).unwrap();
    assert_eq!(summary.state, State::Ready);
    assert_eq!(fixture.plans.changeset(stray).unwrap().status, Status::Abandoned);
    check(&fixture, plan.id, &BTreeMap::new());
}

#[test]
fn a_plan_has_one_run_at_a_time() {
    let fixture = Fixture::new(&[]);
    let go = fixture.folder.path().join("go");
    let line = format!("until [ -e {} ]; do sleep 0.01; done; touch done", go.display());
    fs::write(fixture.folder.path().join("plan"), "").unwrap();
    let options = fixture.options(&format!("[nodes.a]\ntimeout = '300s'\nrun = \"echo ready; {line}\"\n"));
    let asked = Mutex::new(Vec::new());
    let tell = |event| {
        if matches!(event, Event::NodeOutput { .. }) {
            // Another process, and another thread of this one.
            let plan = fixture.plans.find("@latest").unwrap().id;
            let mut second = start("kills::child", "second", fixture.folder.path());
            asked.lock().unwrap().push(second.receive());
            let error = fixture.runs().resume(plan, &who(), &[], &Cancel::default(), &|_| {}).unwrap_err();
            asked.lock().unwrap().push(error.to_string());
            let unfinished = fixture.runs().unfinished().unwrap();
            assert!(unfinished[0].owner.is_some() && fixture.runs().check_idle(plan).is_err());
            assert!(fixture.runs().output(plan, "a").unwrap().is_running);
            fs::write(&go, "").unwrap();
        }
    };
    let summary = fixture.runs().start(&options, &Cancel::default(), &tell).unwrap();
    assert_eq!(summary.state, State::Ready);
    let own = format!("process {}", std::process::id());
    let asked = asked.into_inner().unwrap();
    assert!(asked.len() == 2 && asked.iter().all(|answer| answer.contains(&own)), "{asked:?}");
    assert!(
        fixture.runs().unfinished().unwrap().is_empty() && fixture.runs().check_idle(summary.plan).is_ok()
    );
}
