//! Journals in a root: carried out only if the store has logged what they change.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use filetx::{ErrorKind, TreeTransaction, Wait};
use plan::{ApplyRequest, Host, Machine, Plan, PlanId, Plans, State, Trust};
use serde_json::{Value, json};
use store::{OpenChangesets, PlanStep, RequestId, Store};
use testkit::folder::{Tree, copy, tree};
use testkit::journals::{leave_journal, stopping};

use super::fixture::{Fixture, actor, write};

const HOOK: &str = ".git/hooks/post-commit";

/// All files without lock files, which hold nothing.
fn everything(fixture: &Fixture) -> Vec<Tree> {
    let of = |root: &str| {
        let mut all = tree(&fixture.root(root));
        all.retain(|path, _| !path.ends_with("/lock"));
        all
    };
    vec![of("a"), of("b")]
}

/// Leaves the journal of a transaction that writes a hook.
fn plant(fixture: &Fixture, roots: &[&str], owner: &str) {
    let roots: Vec<PathBuf> = roots.iter().map(|root| fixture.root(root)).collect();
    leave_journal(&roots, &plan::txn_dir(), owner.as_bytes(), 0, |tx| {
        tx.put(HOOK, b"#!/bin/sh\n")?;
        (1..roots.len()).try_for_each(|root| tx.put((root, "planted"), b"x"))
    });
}

/// Creates a ready plan over the root `a` alone.
fn plan_in_a(fixture: &Fixture) -> PlanId {
    let plan = fixture.plans.create(None, &[&fixture.root("a")], &actor("ana")).unwrap();
    let changeset = fixture.plans.context(plan.id).unwrap().start_changeset(&actor("coder")).unwrap();
    changeset.record_many(fixture.rooted(vec![write("a/f", "new")])).unwrap();
    changeset.seal().unwrap();
    fixture.plans.mark_ready(plan.id, &actor("ana")).unwrap().id
}

/// An apply, its dry run and the recording of a base are refused, and nothing is touched.
fn check_refused(fixture: &Fixture, id: PlanId) {
    let before = everything(fixture);
    for dry_run in [false, true] {
        let error = fixture.apply_with(id, |request| request.dry_run = dry_run).unwrap_err();
        assert_eq!((error.code(), error.kind()), ("untrusted-journal", ErrorKind::Conflict), "{error:?}");
    }
    let other = fixture.plans.create(None, &[&fixture.root("a"), &fixture.root("b")], &actor("ana")).unwrap();
    let changeset = fixture.plans.context(other.id).unwrap().start_changeset(&actor("coder")).unwrap();
    let error = changeset.record_many(fixture.rooted(vec![write("a/f", "newer")])).unwrap_err();
    assert_eq!(error.code(), "untrusted-journal", "{error:?}");
    assert_eq!(everything(fixture), before);
    assert_eq!(fixture.state(id), State::Ready);
}

#[test]
fn a_repository_with_a_journal_writes_no_hook() {
    let fixture = Fixture::new();
    fixture.write("a/f", "old");
    let id = plan_in_a(&fixture);
    plant(&fixture, &["a"], &id.to_string());
    check_refused(&fixture, id);
    assert!(!fixture.root("a").join(HOOK).exists());
    let found = fixture.plans.found_journal(&fixture.host, &fixture.root("a")).unwrap().unwrap();
    assert_eq!(found.trust, Trust::Unknown { reason: "no plan of this store is applying it".into() });
    assert!(found.paths.contains(&fixture.root("a").canonicalize().unwrap().join(HOOK)), "{found:?}");
    // Control: without the journal the plan is applied.
    std::fs::remove_file(fixture.root("a").join(plan::TXN_DIR).join("journal")).unwrap();
    assert_eq!(fixture.apply(id).unwrap().plan.state, State::Applied);
}

#[test]
fn a_journal_that_names_another_root_creates_nothing_there() {
    let fixture = Fixture::new();
    fixture.write("a/f", "old");
    let id = plan_in_a(&fixture);
    plant(&fixture, &["a", "b"], &id.to_string());
    std::fs::remove_dir_all(fixture.root("b").join(".cleveragents")).unwrap();
    check_refused(&fixture, id);
    assert_eq!(tree(&fixture.root("b")).len(), 0, "nothing was created in the other root");
}

#[test]
fn a_planted_pointer_creates_nothing_in_the_folder_it_names() {
    let fixture = Fixture::new();
    fixture.write("a/f", "old");
    let id = plan_in_a(&fixture);
    plant(&fixture, &["b", "a"], &id.to_string());
    std::fs::remove_dir_all(fixture.root("b").join(".cleveragents")).unwrap();
    check_refused(&fixture, id);
    assert_eq!(tree(&fixture.root("b")).len(), 0);
}

/// Puts a plan into *applying* with a transaction, as an apply does.
fn set_applying(fixture: &Fixture, plan: &Plan, id: u128, machine: &Machine, more: Value) {
    let mut intent = json!({
        "machine": machine, "process": 1, "transaction": format!("{id:032x}"), "changeset": null,
        "who": "ana", "from": "ready",
    });
    intent.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let step = PlanStep {
        plan: plan.id,
        request: RequestId::new(),
        from: plan.state.stored(),
        version: plan.version,
        to: State::Applying.stored(),
        epoch: None,
        open: OpenChangesets::Refuse,
        detail: Some(json!({ "apply": intent })),
        kind: store::AuditKind::parse("plan.applying").unwrap(),
        actor: actor("ana"),
        note: Value::Null,
    };
    fixture.plans.store().step_plan(&step).unwrap();
}

/// Returns the reason not to trust a journal with these changes, of a plan that changes `a/f` and
/// creates `a/d/g`, in a store that has the transaction as that of the plan.
fn objection(
    owner: Option<&str>,
    machine: &Machine,
    more: Value,
    stage: impl FnOnce(&mut TreeTransaction<'_>) -> filetx::Result<()>,
) -> Option<String> {
    let fixture = Fixture::new();
    fixture.write("a/f", "old");
    fixture.write("a/other", "old");
    let id = fixture.plan(vec![("coder", vec![write("a/f", "new"), write("a/d/g", "new")])]);
    let owner = owner.map_or_else(|| id.to_string(), str::to_owned);
    let roots = ["a", "b"].map(|root| fixture.root(root));
    let transaction = leave_journal(&roots, &plan::txn_dir(), owner.as_bytes(), 0, stage);
    set_applying(&fixture, &fixture.get(id), transaction, machine, more);
    let before = everything(&fixture);
    let found = fixture.plans.found_journal(&fixture.host, &fixture.root("a")).unwrap().unwrap();
    let recovered = fixture.plans.recover_plan(&fixture.host, id, &actor("bob"));
    match found.trust {
        Trust::Unknown { reason } => {
            let code = recovered.unwrap_err().code();
            assert!(["untrusted-journal", "other-machine"].contains(&code), "{code}");
            assert_eq!(everything(&fixture), before);
            Some(reason)
        }
        trust => {
            assert_eq!((trust, fixture.state(id)), (Trust::Ours, State::Applied));
            assert_eq!((fixture.read("a/f"), fixture.read("a/d/g")), ("new".into(), "new".into()));
            None
        }
    }
}

#[test]
fn the_journal_of_an_apply_changes_exactly_what_was_logged() {
    let ours = |tx: &mut TreeTransaction<'_>| {
        tx.put_with_mode("f", 0o644, b"new")?;
        tx.put_with_mode("d/g", 0o644, b"new")
    };
    let here = Machine::local();
    let check = |expected: Option<&str>, stage: &dyn Fn(&mut TreeTransaction<'_>) -> filetx::Result<()>| {
        let found = objection(None, &here, json!({}), |tx| stage(tx));
        match (expected, &found) {
            (None, None) => {}
            (Some(expected), Some(found)) if found.contains(expected) => {}
            _ => panic!("{found:?}, expected {expected:?}"),
        }
    };
    check(None, &ours);
    let and = |more: fn(&mut TreeTransaction<'_>) -> filetx::Result<()>| {
        move |tx: &mut TreeTransaction<'_>| ours(tx).and_then(|()| more(tx))
    };
    check(Some("`other`"), &and(|tx| tx.put("other", b"x")));
    check(Some("`other`"), &and(|tx| tx.remove("other")));
    check(Some("`other`"), &and(|tx| tx.set_mode("other", 0o4755)));
    check(Some("`.git`"), &and(|tx| tx.put(HOOK, b"x")));
    check(Some("`planted`"), &and(|tx| tx.put((1, "planted"), b"x")));
    check(Some("`e`"), &and(|tx| tx.put("e/x", b"x")));
    check(Some("`f`"), &and(|tx| tx.put("f", b"bad")));
    check(Some("`f`"), &and(|tx| tx.set_mode("f", 0o4644)));
    check(Some("`d`"), &and(|tx| tx.set_mode("d", 0o777)));
    check(Some("`f`"), &and(|tx| tx.symlink("f", "new".as_ref())));
    let reason = objection(Some("someone else"), &here, json!({}), ours).unwrap();
    assert!(reason.contains("owner"), "{reason}");
}

/// A machine may be renamed; version 0.1 stored no inodes of the roots.
#[test]
fn the_journal_of_another_machine_is_not_trusted() {
    let ours = |tx: &mut TreeTransaction<'_>| {
        tx.put_with_mode("f", 0o644, b"new")?;
        tx.put_with_mode("d/g", 0o644, b"new")
    };
    let elsewhere = Machine { host: "elsewhere".into(), id: "2".into() };
    assert_eq!(objection(None, &elsewhere, json!({}), ours), None);
    let reason = objection(None, &elsewhere, json!({ "inodes": [1, 2] }), ours).unwrap();
    assert!(reason.contains("is being applied on elsewhere"), "{reason}");
}

/// Applies a plan and stops after the commit point.
fn interrupt(fixture: &Fixture, id: PlanId) {
    let host = Host::on_storage(stopping(2), Machine::local());
    let request = ApplyRequest::by(&actor("bob"));
    let error = fixture.plans.apply(&host, &fixture.get(id), &request).unwrap_err();
    assert_eq!(error.code(), "apply-incomplete", "{error:?}");
}

/// As `rsync -a` does it: to the same path on a machine with the same store.
#[test]
fn a_copied_root_on_another_machine_is_not_finished() {
    let on_disk = |path: &Path| Ok(Arc::new(filetx::Disk::open(path)?) as Arc<dyn filetx::Storage>);
    let elsewhere = Host::on_storage(Arc::new(on_disk), Machine { host: "elsewhere".into(), id: "2".into() });
    let fixture = Fixture::new();
    fixture.write("a/f", "old");
    fixture.write("a/g", "old");
    let id = fixture.plan(vec![("coder", vec![write("a/f", "new"), write("a/g", "new")])]);
    let other = fixture.plan(vec![("coder", vec![write("a/h", "new")])]);
    interrupt(&fixture, id);
    // Control: the same folders, on a machine with another name.
    assert!(fixture.plans.is_local_apply(&elsewhere, &fixture.get(id)).unwrap());
    let aside = fixture.folder.path().join("aside");
    std::fs::rename(fixture.root("a"), &aside).unwrap();
    copy(&aside, &fixture.root("a"));
    let before = everything(&fixture);
    let error = fixture.plans.recover_plan(&elsewhere, id, &actor("bob")).unwrap_err();
    assert_eq!(error.code(), "other-machine", "{error:?}");
    let request = ApplyRequest::by(&actor("bob"));
    let error = fixture.plans.apply(&elsewhere, &fixture.get(other), &request).unwrap_err();
    assert_eq!(error.code(), "untrusted-journal", "{error:?}");
    assert_eq!((everything(&fixture), fixture.state(id)), (before, State::Applying));
    // The machine that began it finishes it, also in a folder that was restored from a copy.
    assert_eq!(fixture.apply(other).unwrap().recovered.len(), 1);
    assert_eq!((fixture.read("a/f"), fixture.read("a/g")), ("new".into(), "new".into()));
}

/// A store that stops answering.
#[derive(Debug)]
struct SilentStore {
    store: Arc<dyn Store>,
    is_silent: AtomicBool,
}

impl SilentStore {
    fn answer(&self) -> store::Result<&dyn Store> {
        match self.is_silent.load(Ordering::SeqCst) {
            true => Err(store::Error::Stopped { path: "silent".into() }),
            false => Ok(&*self.store),
        }
    }

    fn read<T>(&self, call: impl FnOnce(&dyn Store) -> store::Result<T>) -> store::Result<T> {
        call(self.answer()?)
    }

    fn write<T>(&self, call: impl FnOnce(&dyn Store) -> store::Result<T>) -> store::Result<T> {
        call(self.answer()?)
    }
}

testkit::wrap_store!(SilentStore);

#[test]
fn without_its_store_a_journal_is_busy_not_untrusted() {
    let fixture = Fixture::new();
    fixture.write("a/f", "old");
    let id = fixture.plan(vec![("coder", vec![write("a/f", "new"), write("b/g", "new")])]);
    interrupt(&fixture, id);
    let store =
        Arc::new(SilentStore { store: Arc::clone(fixture.plans.store()), is_silent: AtomicBool::new(false) });
    let plans = Plans::open(Arc::clone(&store) as Arc<dyn Store>);
    let before = everything(&fixture);
    store.is_silent.store(true, Ordering::SeqCst);
    for root in ["a", "b"] {
        let error = plans.snapshot(&fixture.host, &fixture.root_bytes(root)).map(drop).unwrap_err();
        assert_eq!((error.code(), error.kind()), ("cannot-vouch", ErrorKind::Busy), "{error:?}");
        let found = plans.found_journal(&fixture.host, &fixture.root(root)).unwrap().unwrap();
        assert!(matches!(found.trust, Trust::Unavailable { .. }), "{found:?}");
    }
    assert_eq!(everything(&fixture), before);
    store.is_silent.store(false, Ordering::SeqCst);
    assert!(plans.recover_plan(&fixture.host, id, &actor("bob")).unwrap().is_some());
    assert_eq!((fixture.read("a/f"), fixture.read("b/g")), ("new".into(), "new".into()));
}

/// The plan that an apply waited for may be gone.
#[test]
fn an_apply_does_not_miss_the_plan_that_it_waited_for() {
    let fixture = Fixture::new();
    let [first, second] =
        ["first", "second"].map(|name| fixture.plan(vec![("coder", vec![write(&format!("a/{name}"), "x")])]));
    set_applying(&fixture, &fixture.get(first), 1, &Machine::local(), json!({}));
    let roots = [fixture.root("a"), fixture.root("b")];
    let options = filetx::TreeOptions { txn_dir: plan::txn_dir(), ..filetx::TreeOptions::default() };
    let (waiting, waits) = std::sync::mpsc::channel();
    let wait = Wait {
        notice_after: std::time::Duration::ZERO,
        on_wait: Some(Arc::new(move |_| waiting.send(()).unwrap_or_default())),
        ..Wait::default()
    };
    let held =
        filetx::Trees::open(&[roots[0].as_path(), roots[1].as_path()], options, &testkit::journals::trust)
            .unwrap();
    std::thread::scope(|scope| {
        let applied = scope.spawn(|| {
            let request = ApplyRequest::by(&actor("bob"));
            fixture.plans.apply(&Host::local(wait), &fixture.get(second), &request)
        });
        waits.recv().unwrap();
        // Its process ends, and the plan is removed.
        let plan = fixture.get(first);
        let step = plan::Step::to(State::Applied, &actor("ana"));
        let plan = fixture.plans.step(&plan, &step).unwrap();
        fixture.plans.remove(&plan, plan::Force::Yes, &actor("ana")).unwrap();
        drop(held);
        let report = applied.join().unwrap().unwrap();
        assert_eq!((report.plan.state, report.recovered.len()), (State::Applied, 0));
    });
}
