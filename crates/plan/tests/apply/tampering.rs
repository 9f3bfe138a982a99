//! Plans that another program altered in the store are neither applied nor undone.

use plan::{Detail, Error, NodeChangesets, PlanId, Purpose, State, Strategy};
use serde_json::json;
use store::{Name, NewNode, NodeId, NodeStep, RequestId, Version, verify};

use super::fixture::{Fixture, write};
use crate::support::actor;

/// Statements that alter what an apply of [`plan`] brings.
const ALTERATIONS: [&str; 10] = [
    // Paths, modes, contents and number of entries.
    "UPDATE entries SET form = replace(form, '\"f\"', '\"x\"')",
    "UPDATE entries SET form = replace(form, '420', '493')",
    "UPDATE entries SET after_blob = (SELECT hash FROM blobs WHERE hash <> entries.after_blob LIMIT 1)
     WHERE after_blob IS NOT NULL",
    "DELETE FROM entries WHERE sequence = 2",
    // Author, order and status of changesets.
    "UPDATE changesets SET actor = 'mallory' WHERE actor = 'ann'",
    "UPDATE changesets SET started_at = (SELECT max(started_at) FROM changesets) WHERE actor = 'ann'",
    "UPDATE changesets SET status = 'sealed', reason = NULL WHERE actor = 'eve'",
    // Roots, merge strategy, and the changesets of nodes.
    "UPDATE plans SET roots = replace(roots, '/a\"', '/b\"')",
    "UPDATE plans SET detail = replace(detail, 'three-way', 'last-wins')",
    "UPDATE nodes SET detail = replace(detail, '\"builds_on\":[]', '\"builds_on\":[\"01ARZ3NDEKTSV4RRFFQ69G5FAV\"]')",
];

/// Creates a ready plan with a merge strategy, two actors, an abandoned changeset and a node.
fn plan(fixture: &Fixture) -> PlanId {
    fixture.write("a/f", "old");
    let detail = Detail { merge: Some(Strategy::ThreeWay), ..Detail::default() };
    let roots = [fixture.root("a"), fixture.root("b")];
    let roots = roots.each_ref().map(|root| root.as_path());
    let plan = fixture.plans.create_with(Purpose::Work, None, &roots, &detail, &actor("ana")).unwrap();
    let context = fixture.plans.context(plan.id).unwrap();
    for (name, path) in [("ann", "a/f"), ("bob", "b/f"), ("eve", "b/e")] {
        let changeset = context.start_changeset(&actor(name)).unwrap();
        let second = format!("{path}2");
        changeset.record_many(fixture.rooted(vec![write(path, name), write(&second, name)])).unwrap();
        match name {
            "eve" => drop(changeset.abandon("no").unwrap()),
            _ => drop(changeset.seal().unwrap()),
        }
    }
    add_node(fixture, plan.id);
    assert_eq!(fixture.plans.mark_ready(plan.id, &actor("ana")).unwrap().state, State::Ready);
    plan.id
}

fn add_node(fixture: &Fixture, plan: PlanId) {
    let store = fixture.plans.store();
    let word = |text| store::State::parse(text).unwrap();
    let (id, name) = (NodeId::new(), Name::parse("n").unwrap());
    let node = NewNode { id, name, state: word("queued"), detail: json!({}) };
    store.create_nodes(plan, &[node], &actor("ana")).unwrap();
    let step = NodeStep {
        node: id,
        request: RequestId::new(),
        from: word("queued"),
        version: Version(1),
        to: word("succeeded"),
        epoch: None,
        detail: Some(serde_json::to_value(NodeChangesets::default()).unwrap()),
        actor: actor("ana"),
        note: json!(null),
    };
    store.step_node(&step).unwrap();
}

/// Every engine with every alteration; both are found by `audit verify`, too.
fn each_alteration(test: &str, check: impl Fn(&Fixture, PlanId, &dyn Fn())) {
    for alteration in ALTERATIONS {
        for fixture in Fixture::of_each_engine(test) {
            let plan = plan(&fixture);
            check(&fixture, plan, &|| fixture.tamper(alteration));
            let found = verify(fixture.plans.store().as_ref(), &[]).unwrap().findings;
            assert_eq!(found.len(), 1, "{alteration}: {found:?}");
        }
    }
}

fn is_refused<T: std::fmt::Debug>(answer: Result<T, Error>) {
    let error = answer.unwrap_err();
    assert!(matches!(error, Error::Tampered { .. }), "{error:?}");
    assert_eq!((error.code(), error.outcome()), ("tampered", store::Outcome::Aborted));
}

#[test]
fn an_altered_plan_is_not_applied() {
    each_alteration("apply-tampering", |fixture, plan, alter| {
        let before = fixture.trees();
        let _ = fixture.apply_with(plan, |request| request.dry_run = true).unwrap();
        alter();
        is_refused(fixture.apply_with(plan, |request| request.dry_run = true));
        is_refused(fixture.apply(plan));
        assert_eq!((fixture.trees(), fixture.state(plan)), (before, State::Ready));
    });
}

#[test]
fn an_altered_plan_is_not_undone() {
    each_alteration("undo-tampering", |fixture, plan, alter| {
        let _ = fixture.apply(plan).unwrap();
        let _ = fixture.undo_with(plan, |request| request.dry_run = true).unwrap();
        let applied = fixture.trees();
        alter();
        is_refused(fixture.undo_with(plan, |request| request.dry_run = true));
        is_refused(fixture.undo(plan));
        assert_eq!((fixture.trees(), fixture.state(plan)), (applied, State::Applied));
    });
}

/// The targets of an apply and the ledger decide what an undo restores.
#[test]
fn an_altered_target_log_or_ledger_is_not_undone() {
    for alteration in [
        "UPDATE entries SET before_blob = after_blob WHERE form LIKE '%agents plan apply%' AND before_blob IS NOT NULL",
        "UPDATE plans SET detail = replace(detail, 'landed', 'lost')",
    ] {
        for fixture in Fixture::of_each_engine("undo-log-tampering") {
            let plan = plan(&fixture);
            let _ = fixture.apply(plan).unwrap();
            let applied = fixture.trees();
            fixture.tamper(alteration);
            is_refused(fixture.undo(plan));
            assert_eq!((fixture.trees(), fixture.state(plan)), (applied, State::Applied));
        }
    }
}
