//! Resolving conflicts, durably.

use plan::{Change, Choice, Clash, PathKey, Plan, Selection, State, Step, Strategy};

use super::fixture::*;

impl Ground {
    fn conflicts(&self) -> Vec<(Clash, String)> {
        let combined = self.plans.combine(self.plan.id, &Selection::default(), Strategy::ThreeWay).unwrap();
        combined.conflicts().map(|conflict| (conflict.clash, conflict.key.path.show().into_owned())).collect()
    }

    /// The final contents by path.
    fn result(&self) -> Vec<(String, Option<String>)> {
        let combined = self.plans.combine(self.plan.id, &Selection::default(), Strategy::ThreeWay).unwrap();
        let text = |content: &plan::Content| {
            let bytes = store::read_blob(self.store(), content.blob, 1 << 20).unwrap();
            String::from_utf8(bytes).unwrap()
        };
        let shown = |(key, change): (&PathKey, &plan::CombinedChange)| {
            (key.path.show().into_owned(), change.after.as_ref().map(text))
        };
        combined.changes().map(shown).collect()
    }

    fn resolve(&self, path: &str, choice: Choice) -> plan::Result<Plan> {
        let plan = self.plans.get(self.plan.id).unwrap();
        self.plans.resolve(&plan, &self.key(path), &choice, Strategy::ThreeWay, &actor("ana"))
    }

    /// One file that two actors changed differently, and the plan in conflict about it.
    fn in_conflict() -> Self {
        let ground = Self::new();
        ground.write("f", "a\n");
        let (one, two) = (ground.start("one"), ground.start("two"));
        one.record(write("f", "one\n")).unwrap();
        two.record(write("f", "two\n")).unwrap();
        one.seal().unwrap();
        two.seal().unwrap();
        let ready = ground.settled();
        ground.plans.step(&ready, &Step::to(State::Conflict, &actor("ana"))).unwrap();
        ground
    }
}

#[test]
fn taking_an_actors_version_resolves_for_good() {
    let ground = Ground::in_conflict();
    assert_eq!(ground.conflicts(), [(Clash::Lines, "f".to_owned())]);
    let plan = ground.resolve("f", Choice::Take(actor("two"))).unwrap();
    assert_eq!(plan.state, State::Ready);
    // Read anew, as another process would.
    assert_eq!(ground.conflicts(), []);
    assert_eq!(ground.result(), [("f".to_owned(), Some("two\n".to_owned()))]);
    let combined = ground.plans.combine(plan.id, &Selection::default(), Strategy::ThreeWay).unwrap();
    let (_, change) = combined.changes().next().unwrap();
    let credits: Vec<&str> = change.credits.iter().map(|credit| credit.actor.as_str()).collect();
    assert_eq!(credits, ["one", "two", "ana"]);
    assert!(change.base.is_some(), "the root is still expected to hold what was there");
    let events = ground.plans.timeline(plan.id).unwrap();
    let last = events.last().unwrap();
    assert_eq!(
        (last.kind.as_str(), last.who.as_str(), last.to),
        ("plan.resolved", "ana", Some(State::Ready))
    );
    assert_eq!(last.body["note"]["take"]["actor"], "two");
    assert_eq!(store::verify(ground.store(), &[]).unwrap().findings, []);
}

#[test]
fn content_and_nothing_resolve_too_and_the_later_counts() {
    let ground = Ground::in_conflict();
    ground.resolve("f", Choice::Content(file("both\n"))).unwrap();
    assert_eq!(ground.result(), [("f".to_owned(), Some("both\n".to_owned()))]);
    ground.resolve("f", Choice::Content(None)).unwrap();
    assert_eq!(ground.result(), [("f".to_owned(), None)]);
}

#[test]
fn who_thinks_better_of_a_resolution_makes_it_anew() {
    let ground = Ground::in_conflict();
    for (take, text) in [("two", "two\n"), ("one", "one\n"), ("two", "two\n")] {
        let plan = ground.resolve("f", Choice::Take(actor(take))).unwrap();
        assert_eq!(plan.state, State::Ready);
        assert_eq!(ground.result(), [("f".to_owned(), Some(text.to_owned()))]);
    }
    let error = ground.resolve("f", Choice::Take(actor("ana"))).unwrap_err();
    assert_eq!(error.code(), "not-theirs", "whoever resolved it is not one of them");
    let combined = ground.plans.combine(ground.plan.id, &Selection::default(), Strategy::ThreeWay).unwrap();
    let (_, change) = combined.changes().next().unwrap();
    assert!(change.base.is_some(), "the root is still expected to hold what was there");
}

#[test]
fn a_resolution_that_others_built_on_stays() {
    let ground = Ground::in_conflict();
    ground.resolve("f", Choice::Content(file("1\n2\n"))).unwrap();
    ground.sealed("three", vec![write("f", "1\ntwo\n").on(file("1\n2\n"))]);
    ground.settled();
    let error = ground.resolve("f", Choice::Take(actor("one"))).unwrap_err();
    assert_eq!(error.code(), "no-conflict");
    assert_eq!(ground.result(), [("f".to_owned(), Some("1\ntwo\n".to_owned()))]);
}

#[test]
fn what_cannot_be_resolved_is_refused() {
    let ground = Ground::in_conflict();
    let error = ground.resolve("other", Choice::Take(actor("one"))).unwrap_err();
    assert_eq!(error.code(), "no-conflict");
    let error = ground.resolve("f", Choice::Take(actor("three"))).unwrap_err();
    let plan::Error::NotTheirs { actors, .. } = error else { panic!("{error}") };
    assert_eq!(actors, [actor("one"), actor("two")]);
    let plan = ground.plans.get(ground.plan.id).unwrap();
    let cancelled = ground.plans.cancel(&plan, &actor("ana"), "enough").unwrap();
    let error = ground.resolve("f", Choice::Take(actor("one"))).unwrap_err();
    assert_eq!((cancelled.state, error.code()), (State::Cancelled, "illegal-step"));
    assert_eq!(ground.plans.changesets(ground.plan.id).unwrap().len(), 2, "nothing was recorded");
}

#[test]
fn a_resolution_that_cannot_be_recorded_counts_for_nothing() {
    let ground = Ground::in_conflict();
    let missing =
        plan::Piece::stored(plan::Content { blob: store::BlobHash::of(b"?"), ..file("x").unwrap().content });
    assert_eq!(ground.resolve("f", Choice::Content(Some(missing))).unwrap_err().code(), "blob-missing");
    assert_eq!(ground.conflicts().len(), 1);
    let statuses: Vec<_> =
        ground.plans.changesets(ground.plan.id).unwrap().iter().map(|found| found.status).collect();
    assert_eq!(statuses.last(), Some(&plan::Status::Abandoned));
}

#[test]
fn changes_behind_a_resolution_are_combined_with_it() {
    let ground = Ground::in_conflict();
    ground.resolve("f", Choice::Content(file("1\n2\n3\n4\n"))).unwrap();
    let resolved = file("1\n2\n3\n4\n");
    ground.sealed("three", vec![write("f", "1\n2\n3\nfour\n").on(resolved)]);
    assert_eq!(ground.result(), [("f".to_owned(), Some("1\n2\n3\nfour\n".to_owned()))]);
    let other = ground.start("four");
    other.record(write("f", "x\n")).unwrap();
    other.seal().unwrap();
    assert_eq!(ground.conflicts().len(), 1, "a new change can clash with a resolution");
}

#[test]
fn one_of_two_conflicts_resolved_leaves_the_plan_in_conflict() {
    let ground = Ground::new();
    let changes = |name: &str| vec![write("f", format!("{name}\n")), write("g", format!("{name}\n"))];
    ground.sealed("one", changes("one"));
    ground.sealed("two", changes("two"));
    let ready = ground.settled();
    ground.plans.step(&ready, &Step::to(State::Conflict, &actor("ana"))).unwrap();
    assert_eq!(ground.resolve("f", Choice::Take(actor("one"))).unwrap().state, State::Conflict);
    assert_eq!(ground.resolve("g", Choice::Take(actor("two"))).unwrap().state, State::Ready);
    assert_eq!(ground.result(), [("f".into(), Some("one\n".into())), ("g".into(), Some("two\n".into()))]);
}

fn renamed() -> Ground {
    let ground = Ground::new();
    ground.write("old", "a\n");
    let (one, two) = (ground.start("one"), ground.start("two"));
    one.record(Change::rename(bytes("old"), bytes("x"))).unwrap();
    two.record(Change::rename(bytes("old"), bytes("y"))).unwrap();
    one.seal().unwrap();
    two.seal().unwrap();
    ground.settled();
    assert_eq!(ground.conflicts(), [(Clash::Renamed, "old".to_owned())]);
    ground
}

#[test]
fn of_two_new_names_the_taken_one_stays() {
    let ground = renamed();
    ground.resolve("old", Choice::Take(actor("two"))).unwrap();
    assert_eq!(ground.result(), [("old".into(), None), ("y".into(), Some("a\n".into()))]);
    let ground = renamed();
    ground.resolve("old", Choice::Content(file("kept\n"))).unwrap();
    assert_eq!(ground.result(), [("old".into(), Some("kept\n".into()))]);
}

/// One renames a file and edits it, two edits the same line of it.
fn clash_under_a_new_name() -> Ground {
    let ground = Ground::new();
    ground.write("old", "a\n");
    let (one, two) = (ground.start("one"), ground.start("two"));
    one.record_many(vec![Change::rename(bytes("old"), bytes("new")), write("new", "one\n")]).unwrap();
    two.record(write("old", "two\n")).unwrap();
    one.seal().unwrap();
    two.seal().unwrap();
    let ready = ground.settled();
    ground.plans.step(&ready, &Step::to(State::Conflict, &actor("ana"))).unwrap();
    assert_eq!(ground.conflicts(), [(Clash::Lines, "new".to_owned())]);
    ground
}

#[test]
fn a_clash_under_a_new_name_is_resolved_with_the_old_name() {
    let check = |choice: Choice, expected: Option<&str>| {
        let ground = clash_under_a_new_name();
        assert_eq!(ground.resolve("new", choice).unwrap().state, State::Ready);
        assert_eq!(ground.conflicts(), []);
        let new = expected.map(|text| ("new".to_owned(), Some(text.to_owned())));
        let expected: Vec<_> = new.into_iter().chain([("old".to_owned(), None)]).collect();
        assert_eq!(ground.result(), expected);
    };
    check(Choice::Take(actor("one")), Some("one\n"));
    check(Choice::Take(actor("two")), Some("two\n"));
    check(Choice::Content(file("both\n")), Some("both\n"));
    check(Choice::Content(None), None);
}

#[test]
fn an_edit_of_the_old_name_follows_a_resolution_to_the_new_one() {
    let ground = clash_under_a_new_name();
    ground.resolve("new", Choice::Content(file("a\n\n\n"))).unwrap();
    ground.sealed("three", vec![write("old", "x\na\n").on(file("a\n"))]);
    assert_eq!(ground.conflicts(), []);
    let changes = ground.plans.combine(ground.plan.id, &Selection::default(), Strategy::ThreeWay).unwrap();
    let keys: Vec<_> = changes
        .changes()
        .map(|(key, change)| (key.path.show().into_owned(), change.after.is_some()))
        .collect();
    assert_eq!(keys, [("new".to_owned(), true), ("old".to_owned(), false)]);
}

/// One renames a file to a path that two makes; three edits it under its old name.
fn same_name() -> Ground {
    let ground = Ground::new();
    ground.write("old", "1\n2\n3\n4\n");
    let started = ["one", "two", "three"].map(|name| ground.start(name));
    let rename = vec![Change::rename(bytes("old"), bytes("new")), write("new", "ONE\n2\n3\n4\n")];
    started[0].record_many(rename).unwrap();
    started[1].record(write("new", "two\n")).unwrap();
    started[2].record(write("old", "1\n2\n3\nTHREE\n")).unwrap();
    for changeset in started {
        changeset.seal().unwrap();
    }
    ground.settled();
    assert_eq!(ground.conflicts(), [(Clash::SameName, "new".to_owned())]);
    ground
}

/// Nothing is lost either way: neither the file that does not get the name nor who edited it.
#[test]
fn of_two_files_under_one_name_the_taken_one_gets_it() {
    let ground = same_name();
    ground.resolve("new", Choice::Take(actor("two"))).unwrap();
    assert_eq!(
        ground.result(),
        [("new".into(), Some("two\n".into())), ("old".into(), Some("1\n2\n3\nTHREE\n".into()))]
    );
    let ground = same_name();
    ground.resolve("new", Choice::Take(actor("one"))).unwrap();
    assert_eq!(ground.conflicts(), []);
    let patch = String::from_utf8(ground.patch()).unwrap();
    assert!(patch.contains("rename from old\nrename to new\n"), "{patch}");
    assert!(patch.contains("-1\n+ONE\n") && patch.contains("-4\n+THREE\n"), "{patch}");
    let ground = same_name();
    ground.resolve("new", Choice::Content(None)).unwrap();
    assert_eq!(ground.result(), [("old".into(), Some("1\n2\n3\nTHREE\n".into()))]);
}

/// A file that is not taken where another needs a folder keeps its old name.
#[test]
fn a_renamed_file_that_makes_way_for_a_folder_stays_under_its_old_name() {
    let ground = Ground::new();
    ground.write("old", "text\n");
    ground.sealed("one", vec![Change::rename(bytes("old"), bytes("a"))]);
    ground.sealed("two", vec![write("a/b", "below\n")]);
    ground.settled();
    ground.resolve("a", Choice::Take(actor("two"))).unwrap();
    assert_eq!(ground.result(), [("a/b".into(), Some("below\n".into()))]);
}

#[test]
fn of_a_file_and_a_folder_the_taken_one_stays() {
    let clash = || {
        let ground = Ground::new();
        ground.sealed("one", vec![write("a", "file\n")]);
        ground.sealed("two", vec![write("a/b", "below\n"), write("a/c", "below\n")]);
        ground.settled();
        assert_eq!(ground.conflicts(), [(Clash::Folder, "a".to_owned())]);
        ground
    };
    let ground = clash();
    ground.resolve("a", Choice::Take(actor("one"))).unwrap();
    assert_eq!(ground.result(), [("a".into(), Some("file\n".into()))]);
    let ground = clash();
    ground.resolve("a", Choice::Take(actor("two"))).unwrap();
    assert_eq!(
        ground.result(),
        [("a/b".into(), Some("below\n".into())), ("a/c".into(), Some("below\n".into()))]
    );
}
