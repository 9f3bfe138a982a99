//! The lease of a run: takeover rules, and fencing of a replaced run.

use std::fs;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use executor::Error;
use executor::run::{Cancel, Event, NodeState, Outcome};
use plan::{PlanId, State, Status};
use store::{Lease, LeaseRequest, Owner, Resource};
use testkit::children::{command, start};

use crate::fixture::{Fixture, outcome, who};

/// A run whose only actor changes a file, says so, and waits for the file `go`.
pub(crate) fn waiting(fixture: &Fixture) -> executor::run::Options {
    let go = fixture.folder.path().join("go");
    let line = format!("echo 2 > file; echo ready; until [ -e {} ]; do sleep 0.01; done", go.display());
    fixture.options(&format!("[nodes.a]\ntimeout = '300s'\nrun = \"{line}\"\n"))
}

pub(crate) fn let_go(fixture: &Fixture) {
    fs::write(fixture.folder.path().join("go"), "").unwrap();
}

pub(crate) fn lease(fixture: &Fixture, plan: PlanId) -> Lease {
    let leases = fixture.plans.store().leases(plan).unwrap();
    leases.into_iter().find(|lease| lease.resource == Resource::Plan(plan)).unwrap()
}

/// Makes the lease look expired, as after a step of the clock.
pub(crate) fn expire(fixture: &Fixture, plan: PlanId) -> Lease {
    fixture.plans.store().renew(&lease(fixture, plan), Duration::ZERO).unwrap()
}

#[test]
fn a_live_run_is_not_replaced_when_its_lease_looks_expired() {
    let fixture = Fixture::new(&[("file", "1\n")]);
    let asked = Mutex::new(Vec::new());
    let tell = |event| {
        if matches!(event, Event::NodeOutput { .. }) {
            let plan = fixture.plans.find("@latest").unwrap().id;
            expire(&fixture, plan);
            // Another process, and another thread of this one.
            asked.lock().unwrap().push(start("kills::child", "second", fixture.folder.path()).receive());
            let error = fixture.runs().resume(plan, &who(), &[], &Cancel::default(), &|_| {}).unwrap_err();
            assert!(matches!(error, Error::LeaseHeld { .. }), "{error}");
            asked.lock().unwrap().push(error.to_string());
            assert!(fixture.runs().unfinished().unwrap()[0].owner.is_some());
            let_go(&fixture);
        }
    };
    let summary = fixture.runs().start(&waiting(&fixture), &Cancel::default(), &tell).unwrap();
    let own = format!("process {} ", std::process::id());
    let asked = asked.into_inner().unwrap();
    assert!(asked.len() == 2 && asked.iter().all(|answer| answer.contains(&own)), "{asked:?}");
    assert_eq!((summary.state, outcome(&summary, "a")), (State::Ready, Outcome::Succeeded));
    let _ = fixture.apply(summary.plan).unwrap();
    assert_eq!(fixture.file("file"), "2\n");
}

/// Another machine takes over while the actor works. The run notices when it records the end.
#[test]
fn a_replaced_run_changes_nothing() {
    let fixture = Fixture::new(&[("file", "1\n")]);
    let store = fixture.plans.store();
    let state = |plan: PlanId| {
        let nodes: Vec<_> =
            store.nodes(plan).unwrap().into_iter().map(|node| (node.state, node.version)).collect();
        let changesets: Vec<_> = fixture.plans.changesets(plan).unwrap();
        (nodes, changesets, store.plan(plan).unwrap().version, fixture.plans.timeline(plan).unwrap().len())
    };
    let replaced = Mutex::new(None);
    let tell = |event| {
        if matches!(event, Event::NodeOutput { .. }) {
            let plan = fixture.plans.find("@latest").unwrap().id;
            while store.nodes(plan).unwrap()[0].detail["process"].is_null() {
                std::thread::yield_now();
            }
            expire(&fixture, plan);
            let owner = Owner::parse("somebody else").unwrap();
            let holding = LeaseRequest { owner, duration: Duration::from_secs(600) };
            let lease = store.acquire(Resource::Plan(plan), &holding).unwrap();
            *replaced.lock().unwrap() = Some((plan, lease, state(plan)));
            let_go(&fixture);
        }
    };
    let error = fixture.runs().start(&waiting(&fixture), &Cancel::default(), &tell).unwrap_err();
    assert!(matches!(error, Error::LeaseLost { .. }), "{error}");
    let (plan, lease, before) = replaced.into_inner().unwrap().unwrap();
    assert_eq!(state(plan), before, "nothing more is written");
    assert_eq!(before.1[0].status, Status::Open);
    // The successor continues.
    store.release(&lease).unwrap();
    let (summary, _) = fixture.resume(plan).unwrap();
    assert_eq!((summary.state, outcome(&summary, "a")), (State::Ready, Outcome::Succeeded));
    let changesets = fixture.plans.changesets(plan).unwrap();
    assert_eq!([changesets[0].status, changesets[1].status], [Status::Abandoned, Status::Sealed]);
}

/// The lease of a dead process is taken although it has not expired.
#[test]
fn a_dead_run_is_replaced_at_once() {
    let fixture = Fixture::new(&[("file", "1\n")]);
    let mut child = start("kills::child", "run", fixture.folder.path());
    assert_eq!(child.receive(), "started");
    child.kill();
    let plan = fixture.plans.find("@latest").unwrap().id;
    let dead = lease(&fixture, plan);
    assert!(dead.expires_at > store::Time::now() && fixture.runs().check_idle(plan).is_ok());
    let (summary, _) = fixture.resume(plan).unwrap();
    assert_eq!(summary.state, State::Ready);
    let nodes = fixture.runs().nodes(plan).unwrap();
    assert!(nodes.iter().all(|node| node.state == NodeState::Ended(Outcome::Succeeded)), "{nodes:?}");
}

/// The state of a process in another PID namespace is unknown here. Needs `bwrap`; crafted owner texts are tested in `plan`.
#[test]
fn a_live_run_is_not_taken_for_dead_from_another_pid_namespace() {
    let confined = |words: &mut Command| {
        let program = words.get_program().to_owned();
        let mut bwrap = Command::new("bwrap");
        bwrap.args(["--dev-bind", "/", "/", "--unshare-pid", "--proc", "/proc"]).arg(program);
        bwrap.args(words.get_args());
        bwrap.envs(words.get_envs().filter_map(|(name, value)| Some((name, value?))));
        bwrap.stdin(Stdio::null());
        bwrap
    };
    if !confined(&mut Command::new("true"))
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
    {
        eprintln!("bwrap makes no namespace here");
        return;
    }
    let fixture = Fixture::new(&[("file", "1\n")]);
    let heard = Mutex::new(String::new());
    let tell = |event| {
        if matches!(event, Event::NodeOutput { .. }) {
            let second =
                confined(&mut command("kills::child", "second", fixture.folder.path())).output().unwrap();
            *heard.lock().unwrap() = String::from_utf8(second.stdout).unwrap();
            let_go(&fixture);
        }
    };
    let summary = fixture.runs().start(&waiting(&fixture), &Cancel::default(), &tell).unwrap();
    assert_eq!((summary.state, outcome(&summary, "a")), (State::Ready, Outcome::Succeeded));
    let heard = heard.into_inner().unwrap();
    assert!(heard.contains(&format!("@held by process {} ", std::process::id())), "{heard}");
}
