//! Edits by a person, concurrent with other writes.

use std::fs;

use config::{EditOutcome, Error, Scope};

use crate::support::{Fixture, key, names};

const ORIGINAL: &str = "# mine\nx.a = 1\nx.b = 2\nx.c = 3\nx.d = 4\nx.e = 5\n";

/// Edits `ORIGINAL` to `edited` while the file changes to `now`.
fn edit(now: &str, edited: &str) -> (Fixture, Result<EditOutcome, Error>) {
    let fixture = Fixture::new();
    fixture.write(Scope::Global, ORIGINAL);
    let service = fixture.service();
    let original = service.original(Scope::Global).unwrap();
    assert_eq!(original, ORIGINAL.as_bytes());
    fixture.write(Scope::Global, now);
    let checked = service.check_edit(Scope::Global, &original, edited.as_bytes());
    let outcome = service.edit(Scope::Global, &original, edited.as_bytes());
    assert_eq!(checked.is_ok(), outcome.is_ok(), "a check foretells it");
    (fixture, outcome.map(|edited| edited.outcome))
}

fn check_accepted(now: &str, edited: &str, outcome: EditOutcome, expected: &str) {
    let (fixture, found) = edit(now, edited);
    assert_eq!(found.unwrap(), outcome);
    assert_eq!(fixture.read(Scope::Global), expected);
    assert_eq!(names(&fixture.dirs.home), [".config.toml.lock", "config.toml"]);
}

/// Checks that the edit is rejected and saved, and returns the reason.
fn check_rejected(now: &str, edited: &str) -> Error {
    let (fixture, found) = edit(now, edited);
    let Err(Error::EditRejected { saved_at, source, file }) = found else { panic!("{found:?}") };
    assert_eq!(fixture.read(Scope::Global), now, "the file is as it was");
    assert_eq!(
        saved_at.parent().unwrap().canonicalize().unwrap(),
        file.parent().unwrap().canonicalize().unwrap()
    );
    assert_eq!(fs::read(&saved_at).unwrap(), edited.as_bytes());
    // A second saved edit does not replace the first.
    let error = fixture.service().edit(Scope::Global, ORIGINAL.as_bytes(), edited.as_bytes()).unwrap_err();
    assert!(error.to_string().contains("config.toml.edited-2"), "{error}");
    *source
}

#[test]
fn an_edit_is_applied() {
    check_accepted(ORIGINAL, ORIGINAL, EditOutcome::Unchanged, ORIGINAL);
    check_accepted(ORIGINAL, "x.a = 9\n", EditOutcome::Applied, "x.a = 9\n");
    check_accepted(ORIGINAL, "", EditOutcome::Applied, "");
    check_accepted("x.z = 1\n", ORIGINAL, EditOutcome::Unchanged, "x.z = 1\n");
    check_accepted("x.a = 9\n", "x.a = 9\n", EditOutcome::Applied, "x.a = 9\n");
}

#[test]
fn an_edit_is_merged_with_concurrent_changes() {
    let (now, edited) =
        (ORIGINAL.replace("x.a = 1", "x.a = 10"), ORIGINAL.replace("x.e = 5", "x.e = 50 # me"));
    let both = now.replace("x.e = 5", "x.e = 50 # me");
    check_accepted(&now, &edited, EditOutcome::Merged, &both);
}

#[test]
fn an_overlapping_edit_is_rejected_and_saved() {
    let (now, edited) = (ORIGINAL.replace("x.a = 1", "x.a = 10"), ORIGINAL.replace("x.a = 1", "x.a = 11"));
    let error = check_rejected(&now, &edited);
    assert!(matches!(error, Error::Conflict { .. }), "{error}");
}

#[test]
fn an_edit_that_merges_to_invalid_toml_is_rejected_and_saved() {
    let (now, edited) = (format!("x.z = 1\n{ORIGINAL}"), format!("{ORIGINAL}x.z = 2\n"));
    assert!(matches!(check_rejected(&now, &edited), Error::Parse(_)));
}

#[test]
fn an_invalid_edit_is_rejected_and_saved() {
    assert!(matches!(check_rejected(ORIGINAL, "x.a = = 1\n"), Error::Parse(_)));
    assert!(matches!(check_rejected(ORIGINAL, "plan.concurrency = 0\n"), Error::OutOfRange { .. }));
    assert!(matches!(check_rejected(ORIGINAL, "x = 1\n"), Error::IsTable { .. }));
    let error = check_rejected(ORIGINAL, "\ncore.formt = 1\n").to_string();
    assert!(
        error.starts_with("unknown key `core.formt` (") && error.ends_with("config.toml.edited:2)"),
        "{error}"
    );
}

#[test]
fn a_reference_to_an_unset_variable_is_accepted() {
    check_accepted(
        ORIGINAL,
        "core.color = \"${NOT_SET}\"\n",
        EditOutcome::Applied,
        "core.color = \"${NOT_SET}\"\n",
    );
}

#[test]
fn earlier_errors_do_not_reject_an_edit() {
    let fixture = Fixture::new();
    fixture.write(Scope::Global, "core.formt = 1\n");
    let edited = b"core.formt = 1\nx.a = 1\n";
    let done = fixture.service().edit(Scope::Global, b"core.formt = 1\n", edited).unwrap();
    assert_eq!(done.written.keys, [key("x.a")]);
    assert!(done.written.changed);
}

#[test]
fn an_edit_fixes_a_broken_file() {
    let fixture = Fixture::new();
    fixture.write(Scope::Project, "x.a = = 1\n");
    let service = fixture.service();
    let original = service.original(Scope::Project).unwrap();
    let done = service.edit(Scope::Project, &original, b"x.a = 1\n").unwrap();
    assert_eq!((done.outcome, done.written.keys.len()), (EditOutcome::Applied, 0));
    assert_eq!(fixture.read(Scope::Project), "x.a = 1\n");
}

#[test]
fn an_edit_creates_a_missing_file() {
    let fixture = Fixture::new();
    let service = fixture.service();
    assert_eq!(service.original(Scope::Local).unwrap(), b"");
    service.edit(Scope::Local, b"", b"x.a = 1\n").unwrap();
    assert_eq!(fixture.read(Scope::Local), "x.a = 1\n");
}
