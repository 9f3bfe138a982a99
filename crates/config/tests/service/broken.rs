//! Unusable files: reported, never replaced, never covered by a default.

use std::fs;

use config::{Error, FILE_BYTES_MAX, Scope, Value};

use crate::support::{Fixture, key};

/// Checks that setting a key fails and leaves the file unchanged.
fn check(content: &[u8], expected: &str) {
    let fixture = Fixture::new();
    fixture.write(Scope::Global, content);
    let file = fixture.file(Scope::Global);
    let expected = expected.replace("FILE", &file.display().to_string());
    let service = fixture.service();
    let written = service.set_value(Scope::Global, &key("plan.concurrency"), "8").unwrap_err();
    assert_eq!(written.to_string(), expected);
    let unset = service.unset(Scope::Global, &key("plan.concurrency")).unwrap_err();
    assert_eq!(unset.to_string(), expected);
    assert_eq!(fs::read(&file).unwrap(), content, "the file is as it was");
    // The default does not replace a value that the file may set.
    assert_eq!(service.get(&key("plan.concurrency")).unwrap_err().to_string(), expected);
    let listing = service.list(None);
    assert!(listing.entries.is_empty());
    let problems: Vec<_> = listing.problems.iter().map(Error::to_string).collect();
    assert_eq!(problems, [expected]);
}

#[test]
fn an_unparsable_file_is_unchanged() {
    check(b"a = 1\nb = = 2\n", "cannot parse `FILE`, line 2, column 5: extra `=`, expected nothing");
}

#[test]
fn a_file_with_duplicate_keys_is_unchanged() {
    check(b"[x]\na = 1\na = 2\n", "cannot parse `FILE`, line 3, column 1: duplicate key");
    check(b"[x]\n[x]\n", "cannot parse `FILE`, line 2, column 2: duplicate key");
    check(b"x.a = 1\n[x]\nb = 1\n", "cannot parse `FILE`, line 2, column 2: duplicate key");
}

#[test]
fn a_non_utf8_file_is_unchanged() {
    check(b"x.a = \"\xe9\"\n", "`FILE` is not UTF-8 text: bad byte at offset 7, line 1");
}

#[test]
fn a_file_over_the_limit_is_unchanged() {
    let content = "#".repeat(FILE_BYTES_MAX as usize + 1);
    check(content.as_bytes(), "`FILE` has more than 10485760 bytes");
}

#[test]
fn a_file_does_not_grow_over_the_limit() {
    let fixture = Fixture::new();
    let content = format!("{}\n", "#".repeat(FILE_BYTES_MAX as usize - 8));
    fixture.write(Scope::Global, &content);
    let error = fixture.service().set_value(Scope::Global, &key("x.a"), "1000").unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    assert!(fixture.read(Scope::Global) == content);
}

#[test]
fn the_position_of_a_syntax_error_is_exact() {
    let fixture = Fixture::new();
    fixture.write(Scope::Global, "\u{feff}# note\r\nx.a = \"ä\" oops\r\n");
    let Err(Error::Parse(found)) = fixture.service().set_value(Scope::Global, &key("x.b"), "1") else {
        panic!("it parses")
    };
    assert_eq!((found.offset, found.line, found.column), (22, 2, 11));
    assert_eq!(found.source_line, "x.a = \"ä\" oops");
    assert_eq!(found.file, fixture.file(Scope::Global));
}

#[test]
fn a_key_of_another_file_resolves_and_reports_skipped_files() {
    let fixture = Fixture::new();
    fixture.write(Scope::Project, "this is no TOML");
    fixture.write(Scope::Global, "plan.concurrency = 6\n");
    let service = fixture.service_with(&[("CLEVERAGENTS_CORE_COLOR", "never")], &[]);
    let resolved = service.resolve(&key("plan.concurrency")).unwrap();
    assert_eq!(resolved.value, Some(Value::Integer(6)));
    assert!(matches!(resolved.skipped().collect::<Vec<_>>()[..], [Error::Parse(_)]));
    assert_eq!(service.get(&key("core.color")).unwrap(), Some(Value::String("never".into())));
    assert!(matches!(service.get(&key("core.format")), Err(Error::Parse(_))));
    assert!(matches!(service.get(&key("x.nothing")), Err(Error::Parse(_))));
    let listing = service.list(None);
    let listed: Vec<_> = listing.entries.iter().map(|entry| entry.key.to_string()).collect();
    let global_only = [
        "sandbox.allow-write",
        "sandbox.confine",
        "sandbox.max-file-size",
        "server.token",
        "server.url",
        "store.url",
        "store.wait",
    ];
    let others = ["core.color", "core.interpolate", "core.log-file", "plan.concurrency"];
    assert_eq!(listed, [&others[..], &global_only[..]].concat());
    assert_eq!(listing.problems.len(), 1);
    // Other scopes stay writable.
    service.set_value(Scope::Local, &key("core.format"), "plain").unwrap();
    assert_eq!(service.get(&key("core.format")).unwrap(), Some(Value::String("plain".into())));
}

#[test]
fn an_invalid_value_is_an_error_unless_overridden() {
    let fixture = Fixture::new();
    fixture.write(
        Scope::Global,
        "plan.concurrency = 1000\ncore.color = true\nplan.merg = \"x\"\ncore.format.x = 1\n",
    );
    let service = fixture.service_with(&[("CLEVERAGENTS_CORE_COLOR", "never")], &[]);
    let error = service.get(&key("plan.concurrency")).unwrap_err();
    assert!(matches!(error, Error::OutOfRange { .. }), "{error}");
    assert!(error.to_string().ends_with("config.toml:1)"), "{error}");
    let color = service.resolve(&key("core.color")).unwrap();
    assert_eq!(color.value, Some(Value::String("never".into())));
    assert_eq!(color.skipped().count(), 1);
    let problems = service.list(None).problems;
    let shown: Vec<_> = problems.iter().map(|problem| problem.to_string()).collect();
    assert_eq!(problems.len(), 4, "{shown:?}");
    assert!(shown[0].starts_with("unknown key `plan.merg` ("), "{shown:?}");
    // Other keys stay writable.
    service.set_value(Scope::Global, &key("plan.concurrency"), "8").unwrap();
    assert_eq!(service.get(&key("plan.concurrency")).unwrap(), Some(Value::Integer(8)));
}

#[test]
fn a_value_in_place_of_a_table_is_a_problem() {
    let fixture = Fixture::new();
    fixture.write(Scope::Global, "x = 1\ncore = 2\n");
    let problems = fixture.service().list(None).problems;
    let shown: Vec<_> = problems.iter().map(Error::to_string).collect();
    assert!(shown[0].starts_with("`core` must be a table, not `a value`"), "{shown:?}");
    assert!(shown[1].starts_with("`x` must be a table, not `a value`"), "{shown:?}");
    let error = fixture.service().set_value(Scope::Global, &key("core.color"), "auto").unwrap_err();
    assert!(matches!(error, Error::TableAndValue { line: 2, .. }), "{error}");
}

#[cfg(unix)]
#[test]
fn folders_and_pipes_are_rejected() {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.file(Scope::Global)).unwrap();
    let error = fixture.service().get(&key("core.color")).unwrap_err();
    assert!(matches!(error, Error::NotAFile { .. }), "{error}");
    let error = fixture.service().set_value(Scope::Global, &key("core.color"), "auto").unwrap_err();
    assert!(matches!(error, Error::NotAFile { .. }), "{error}");
}

#[cfg(unix)]
#[test]
fn a_symlink_loop_is_an_error() {
    use std::os::unix::fs::symlink;
    let fixture = Fixture::new();
    fs::create_dir(&fixture.dirs.home).unwrap();
    symlink("config.toml", fixture.file(Scope::Global)).unwrap();
    let error = fixture.service().get(&key("core.color")).unwrap_err();
    assert!(matches!(error, Error::Read { .. }), "{error}");
}
