//! Resolutions of conflicts.

use plan::{Change, Choice, ConflictKind, PathKey, Plan, Selection, State, Step, Strategy};

use super::fixture::*;

impl Fixture {
    fn conflicts(&self) -> Vec<(ConflictKind, String)> {
        let combined = self.plans.combine(self.plan.id, &Selection::default(), Strategy::ThreeWay).unwrap();
        combined.conflicts().map(|conflict| (conflict.kind, conflict.key.path.show().into_owned())).collect()
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

    /// A plan in conflict: two actors changed one file differently.
    fn in_conflict() -> Self {
        let fixture = Self::new();
        fixture.write("f", "a\n");
        let (one, two) = (fixture.start("one"), fixture.start("two"));
        one.record(write("f", "one\n")).unwrap();
        two.record(write("f", "two\n")).unwrap();
        one.seal().unwrap();
        two.seal().unwrap();
        let ready = fixture.mark_ready();
        fixture.plans.step(&ready, &Step::to(State::Conflict, &actor("ana"))).unwrap();
        fixture
    }
}

#[test]
fn taking_the_version_of_an_actor_resolves_durably() {
    let fixture = Fixture::in_conflict();
    assert_eq!(fixture.conflicts(), [(ConflictKind::Lines, "f".to_owned())]);
    let plan = fixture.resolve("f", Choice::Take(actor("two"))).unwrap();
    assert_eq!(plan.state, State::Ready);
    // Read again, as another process would.
    assert_eq!(fixture.conflicts(), []);
    assert_eq!(fixture.result(), [("f".to_owned(), Some("two\n".to_owned()))]);
    let combined = fixture.plans.combine(plan.id, &Selection::default(), Strategy::ThreeWay).unwrap();
    let (_, change) = combined.changes().next().unwrap();
    let authors: Vec<&str> = change.authors.iter().map(|author| author.actor.as_str()).collect();
    assert_eq!(authors, ["one", "two", "ana"]);
    assert!(change.base.is_some(), "the root is still expected to hold what was there");
    let events = fixture.plans.timeline(plan.id).unwrap();
    let last = events.last().unwrap();
    assert_eq!(
        (last.kind.as_str(), last.actor.as_str(), last.to),
        ("plan.resolved", "ana", Some(State::Ready))
    );
    assert_eq!(last.body["note"]["take"]["actor"], "two");
    assert_eq!(store::verify(fixture.store(), &[]).unwrap().findings, []);
}

#[test]
fn the_later_of_two_resolutions_applies() {
    let fixture = Fixture::in_conflict();
    fixture.resolve("f", Choice::Content(file("both\n"))).unwrap();
    assert_eq!(fixture.result(), [("f".to_owned(), Some("both\n".to_owned()))]);
    fixture.resolve("f", Choice::Content(None)).unwrap();
    assert_eq!(fixture.result(), [("f".to_owned(), None)]);
}

#[test]
fn a_resolution_can_be_changed() {
    let fixture = Fixture::in_conflict();
    for (take, text) in [("two", "two\n"), ("one", "one\n"), ("two", "two\n")] {
        let plan = fixture.resolve("f", Choice::Take(actor(take))).unwrap();
        assert_eq!(plan.state, State::Ready);
        assert_eq!(fixture.result(), [("f".to_owned(), Some(text.to_owned()))]);
    }
    let error = fixture.resolve("f", Choice::Take(actor("ana"))).unwrap_err();
    assert_eq!(error.code(), "actor-not-involved", "the resolver is not one of them");
    let combined = fixture.plans.combine(fixture.plan.id, &Selection::default(), Strategy::ThreeWay).unwrap();
    let (_, change) = combined.changes().next().unwrap();
    assert!(change.base.is_some(), "the root is still expected to hold what was there");
}

#[test]
fn a_resolution_that_others_built_on_cannot_be_changed() {
    let fixture = Fixture::in_conflict();
    fixture.resolve("f", Choice::Content(file("1\n2\n"))).unwrap();
    fixture.sealed("three", vec![write("f", "1\ntwo\n").with_base(file("1\n2\n"))]);
    fixture.mark_ready();
    let error = fixture.resolve("f", Choice::Take(actor("one"))).unwrap_err();
    assert_eq!(error.code(), "no-conflict");
    assert_eq!(fixture.result(), [("f".to_owned(), Some("1\ntwo\n".to_owned()))]);
}

#[test]
fn invalid_resolutions_are_refused() {
    let fixture = Fixture::in_conflict();
    let error = fixture.resolve("other", Choice::Take(actor("one"))).unwrap_err();
    assert_eq!(error.code(), "no-conflict");
    let error = fixture.resolve("f", Choice::Take(actor("three"))).unwrap_err();
    let plan::Error::ActorNotInvolved { actors, .. } = error else { panic!("{error}") };
    assert_eq!(actors, [actor("one"), actor("two")]);
    let plan = fixture.plans.get(fixture.plan.id).unwrap();
    let cancelled = fixture.plans.cancel(&plan, &actor("ana"), "enough").unwrap();
    let error = fixture.resolve("f", Choice::Take(actor("one"))).unwrap_err();
    assert_eq!((cancelled.state, error.code()), (State::Cancelled, "illegal-step"));
    assert_eq!(fixture.plans.changesets(fixture.plan.id).unwrap().len(), 2, "nothing was recorded");
}

#[test]
fn a_failed_resolution_has_no_effect() {
    let fixture = Fixture::in_conflict();
    let missing = plan::ContentInput::stored(plan::Content {
        blob: store::BlobHash::of(b"?"),
        ..file("x").unwrap().content
    });
    assert_eq!(fixture.resolve("f", Choice::Content(Some(missing))).unwrap_err().code(), "blob-missing");
    assert_eq!(fixture.conflicts().len(), 1);
    let statuses: Vec<_> =
        fixture.plans.changesets(fixture.plan.id).unwrap().iter().map(|found| found.status).collect();
    assert_eq!(statuses.last(), Some(&plan::Status::Abandoned));
}

#[test]
fn changes_after_a_resolution_merge_with_it() {
    let fixture = Fixture::in_conflict();
    fixture.resolve("f", Choice::Content(file("1\n2\n3\n4\n"))).unwrap();
    let resolved = file("1\n2\n3\n4\n");
    fixture.sealed("three", vec![write("f", "1\n2\n3\nfour\n").with_base(resolved)]);
    assert_eq!(fixture.result(), [("f".to_owned(), Some("1\n2\n3\nfour\n".to_owned()))]);
    let other = fixture.start("four");
    other.record(write("f", "x\n")).unwrap();
    other.seal().unwrap();
    assert_eq!(fixture.conflicts().len(), 1, "a new change can clash with a resolution");
}

#[test]
fn a_plan_stays_in_conflict_until_all_are_resolved() {
    let fixture = Fixture::new();
    let changes = |name: &str| vec![write("f", format!("{name}\n")), write("g", format!("{name}\n"))];
    fixture.sealed("one", changes("one"));
    fixture.sealed("two", changes("two"));
    let ready = fixture.mark_ready();
    fixture.plans.step(&ready, &Step::to(State::Conflict, &actor("ana"))).unwrap();
    assert_eq!(fixture.resolve("f", Choice::Take(actor("one"))).unwrap().state, State::Conflict);
    assert_eq!(fixture.resolve("g", Choice::Take(actor("two"))).unwrap().state, State::Ready);
    assert_eq!(fixture.result(), [("f".into(), Some("one\n".into())), ("g".into(), Some("two\n".into()))]);
}

fn renamed() -> Fixture {
    let fixture = Fixture::new();
    fixture.write("old", "a\n");
    let (one, two) = (fixture.start("one"), fixture.start("two"));
    one.record(Change::rename(bytes("old"), bytes("x"))).unwrap();
    two.record(Change::rename(bytes("old"), bytes("y"))).unwrap();
    one.seal().unwrap();
    two.seal().unwrap();
    fixture.mark_ready();
    assert_eq!(fixture.conflicts(), [(ConflictKind::Renamed, "old".to_owned())]);
    fixture
}

#[test]
fn the_chosen_of_two_new_names_stays() {
    let fixture = renamed();
    fixture.resolve("old", Choice::Take(actor("two"))).unwrap();
    assert_eq!(fixture.result(), [("old".into(), None), ("y".into(), Some("a\n".into()))]);
    let fixture = renamed();
    fixture.resolve("old", Choice::Content(file("kept\n"))).unwrap();
    assert_eq!(fixture.result(), [("old".into(), Some("kept\n".into()))]);
}

/// One renames and edits a file; two edits the same line.
fn conflict_under_a_new_name() -> Fixture {
    let fixture = Fixture::new();
    fixture.write("old", "a\n");
    let (one, two) = (fixture.start("one"), fixture.start("two"));
    one.record_many(vec![Change::rename(bytes("old"), bytes("new")), write("new", "one\n")]).unwrap();
    two.record(write("old", "two\n")).unwrap();
    one.seal().unwrap();
    two.seal().unwrap();
    let ready = fixture.mark_ready();
    fixture.plans.step(&ready, &Step::to(State::Conflict, &actor("ana"))).unwrap();
    assert_eq!(fixture.conflicts(), [(ConflictKind::Lines, "new".to_owned())]);
    fixture
}

#[test]
fn a_conflict_under_a_new_name_is_resolved_with_the_old_name() {
    let check = |choice: Choice, expected: Option<&str>| {
        let fixture = conflict_under_a_new_name();
        assert_eq!(fixture.resolve("new", choice).unwrap().state, State::Ready);
        assert_eq!(fixture.conflicts(), []);
        let new = expected.map(|text| ("new".to_owned(), Some(text.to_owned())));
        let expected: Vec<_> = new.into_iter().chain([("old".to_owned(), None)]).collect();
        assert_eq!(fixture.result(), expected);
    };
    check(Choice::Take(actor("one")), Some("one\n"));
    check(Choice::Take(actor("two")), Some("two\n"));
    check(Choice::Content(file("both\n")), Some("both\n"));
    check(Choice::Content(None), None);
}

#[test]
fn an_edit_of_the_old_name_follows_a_resolution_to_the_new_one() {
    let fixture = conflict_under_a_new_name();
    fixture.resolve("new", Choice::Content(file("a\n\n\n"))).unwrap();
    fixture.sealed("three", vec![write("old", "x\na\n").with_base(file("a\n"))]);
    assert_eq!(fixture.conflicts(), []);
    let changes = fixture.plans.combine(fixture.plan.id, &Selection::default(), Strategy::ThreeWay).unwrap();
    let keys: Vec<_> = changes
        .changes()
        .map(|(key, change)| (key.path.show().into_owned(), change.after.is_some()))
        .collect();
    assert_eq!(keys, [("new".to_owned(), true), ("old".to_owned(), false)]);
}

/// One renames a file to a path that two creates; three edits it under its old name.
fn same_name() -> Fixture {
    let fixture = Fixture::new();
    fixture.write("old", "1\n2\n3\n4\n");
    let started = ["one", "two", "three"].map(|name| fixture.start(name));
    let rename = vec![Change::rename(bytes("old"), bytes("new")), write("new", "ONE\n2\n3\n4\n")];
    started[0].record_many(rename).unwrap();
    started[1].record(write("new", "two\n")).unwrap();
    started[2].record(write("old", "1\n2\n3\nTHREE\n")).unwrap();
    for changeset in started {
        changeset.seal().unwrap();
    }
    fixture.mark_ready();
    assert_eq!(fixture.conflicts(), [(ConflictKind::SamePath, "new".to_owned())]);
    fixture
}

/// Neither the file that does not get the name nor its edit is lost.
#[test]
fn the_chosen_of_two_files_gets_the_name() {
    let fixture = same_name();
    fixture.resolve("new", Choice::Take(actor("two"))).unwrap();
    assert_eq!(
        fixture.result(),
        [("new".into(), Some("two\n".into())), ("old".into(), Some("1\n2\n3\nTHREE\n".into()))]
    );
    let fixture = same_name();
    fixture.resolve("new", Choice::Take(actor("one"))).unwrap();
    assert_eq!(fixture.conflicts(), []);
    let patch = String::from_utf8(fixture.patch()).unwrap();
    assert!(patch.contains("rename from old\nrename to new\n"), "{patch}");
    assert!(patch.contains("-1\n+ONE\n") && patch.contains("-4\n+THREE\n"), "{patch}");
    let fixture = same_name();
    fixture.resolve("new", Choice::Content(None)).unwrap();
    assert_eq!(fixture.result(), [("old".into(), Some("1\n2\n3\nTHREE\n".into()))]);
}

/// A file that is not chosen, at the path of a folder, keeps its old name.
#[test]
fn a_renamed_file_that_yields_to_a_folder_keeps_its_old_name() {
    let fixture = Fixture::new();
    fixture.write("old", "text\n");
    fixture.sealed("one", vec![Change::rename(bytes("old"), bytes("a"))]);
    fixture.sealed("two", vec![write("a/b", "below\n")]);
    fixture.mark_ready();
    fixture.resolve("a", Choice::Take(actor("two"))).unwrap();
    assert_eq!(fixture.result(), [("a/b".into(), Some("below\n".into()))]);
}

#[test]
fn the_chosen_of_a_file_and_a_folder_stays() {
    let clash = || {
        let fixture = Fixture::new();
        fixture.sealed("one", vec![write("a", "file\n")]);
        fixture.sealed("two", vec![write("a/b", "below\n"), write("a/c", "below\n")]);
        fixture.mark_ready();
        assert_eq!(fixture.conflicts(), [(ConflictKind::Folder, "a".to_owned())]);
        fixture
    };
    let fixture = clash();
    fixture.resolve("a", Choice::Take(actor("one"))).unwrap();
    assert_eq!(fixture.result(), [("a".into(), Some("file\n".into()))]);
    let fixture = clash();
    fixture.resolve("a", Choice::Take(actor("two"))).unwrap();
    assert_eq!(
        fixture.result(),
        [("a/b".into(), Some("below\n".into())), ("a/c".into(), Some("below\n".into()))]
    );
}
