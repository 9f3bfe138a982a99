//! Writing: one key, several, nested, and the state after failures.

use config::{ConfigService, ConfigTransaction, Error, Origin, Scope, Value, Wait, WriteSummary};

use testkit::chain;

use crate::support::{Fixture, key};

#[test]
fn a_key_is_set_and_unset() {
    let fixture = Fixture::new();
    let service = fixture.service();
    let written = service.set_value(Scope::Global, &key("plan.concurrency"), "8").unwrap();
    let file = fixture.file(Scope::Global);
    let expected =
        WriteSummary { scope: Scope::Global, file, keys: vec![key("plan.concurrency")], changed: true };
    assert_eq!(written, expected);
    assert_eq!(fixture.read(Scope::Global), "plan.concurrency = 8\n");
    assert!(!service.set_value(Scope::Global, &key("plan.concurrency"), "8").unwrap().changed);
    assert!(service.unset(Scope::Global, &key("plan.concurrency")).unwrap().changed);
    assert_eq!(fixture.read(Scope::Global), "");
    let again = service.unset(Scope::Global, &key("plan.concurrency")).unwrap();
    assert!(!again.changed && again.keys.is_empty());
}

#[test]
fn unset_creates_no_file() {
    let fixture = Fixture::new();
    let service = fixture.service();
    assert!(!service.unset(Scope::Project, &key("core.color")).unwrap().changed);
    assert!(matches!(service.unset(Scope::Project, &key("core.colr")), Err(Error::UnknownKey { .. })));
    assert_eq!(crate::support::names(&fixture.path("project")), Vec::<String>::new());
}

#[test]
fn several_keys_are_set_all_or_none() {
    let fixture = Fixture::new();
    let service = fixture.service();
    let (format, color, merge) = (key("core.format"), key("core.color"), key("plan.merge"));
    service.write_config([(&format, "json"), (&color, "never")]).unwrap();
    let before = fixture.read(Scope::Global);
    assert_eq!(before, "core.format = \"json\"\ncore.color = \"never\"\n");
    let error = service.write_config([(&format, "plain"), (&merge, "guess")]).unwrap_err();
    assert!(matches!(error, Error::OutOfRange { .. }));
    assert_eq!(fixture.read(Scope::Global), before);
    service.write_scoped_config(Scope::Local, [(&format, "plain"), (&merge, "last-wins")]).unwrap();
    assert_eq!(service.get(&format).unwrap(), Some(Value::String("plain".into())));
}

#[test]
fn rejected_values_are_not_written() {
    let fixture = Fixture::new();
    fixture.write(Scope::Project, "# shared\n");
    let service = fixture.service_with(&[("N", "many")], &["core.interpolate=N"]);
    let check = |name: &str, text: &str, expected: &str| {
        let error = service.set_value(Scope::Project, &key(name), text).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert_eq!(fixture.read(Scope::Project), "# shared\n");
    };
    check("core.formt", "json", "unknown key `core.formt`");
    check("nothing.like-it", "json", "unknown key `nothing.like-it`");
    check(
        "core.format",
        "xml",
        "`core.format` must be one of `auto`, `rich`, `plain`, `json`; `xml` is not allowed",
    );
    check("plan.concurrency", "many", "`plan.concurrency` must be an integer from 1 to 256, not `many`");
    check("plan.concurrency", "0", "`plan.concurrency` must be an integer from 1 to 256; `0` is not allowed");
    check("plan.concurrency", "${N}", "`plan.concurrency` must be an integer from 1 to 256, not `many`");
    check("core.color", "${", "`core.color`: `${}` is not closed");
    check("x", "1", "`x` is a table, not a value");
    check("core", "1", "`core` is a table, not a value");
    check("x.a", "${A B}", "`x.a`: `${A B}` does not name a variable");
    check("sandbox.confine", "off", "`sandbox.confine` cannot be set in the project scope, only in: global");
    assert!(matches!(service.unset(Scope::Project, &key("core.formt")), Err(Error::UnknownKey { .. })));
}

#[test]
fn references_are_stored_unexpanded() {
    let fixture = Fixture::new();
    let service = fixture.service_with(&[("N", "8")], &[]);
    service.set_value(Scope::Global, &key("plan.concurrency"), "${N}").unwrap();
    service.set_value(Scope::Global, &key("server.token"), "${NOT_SET_TOKEN}").unwrap();
    service.set_value(Scope::Global, &key("x.a"), "${NOT_SET}").unwrap();
    assert_eq!(
        fixture.read(Scope::Global),
        "plan.concurrency = \"${N}\"\nserver.token = \"${NOT_SET_TOKEN}\"\nx.a = \"${NOT_SET}\"\n"
    );
    assert_eq!(service.get(&key("plan.concurrency")).unwrap(), Some(Value::Integer(8)));
}

#[test]
fn unknown_and_misplaced_keys_can_be_removed() {
    let fixture = Fixture::new();
    fixture.write(Scope::Project, "core.formt = 1\nstore.url = \"u\"\n");
    let service = fixture.service();
    assert!(service.unset(Scope::Project, &key("core.formt")).unwrap().changed);
    assert!(service.unset(Scope::Project, &key("store.url")).unwrap().changed);
    assert_eq!(fixture.read(Scope::Project), "");
}

#[test]
fn a_long_lived_service_changes_its_key_only() {
    let fixture = Fixture::new();
    let (old, other) = (fixture.service(), fixture.service());
    old.set_value(Scope::Global, &key("x.a"), "1").unwrap();
    assert_eq!(old.get(&key("x.b")).unwrap(), None);
    other.set_value(Scope::Global, &key("x.b"), "2").unwrap();
    old.set_value(Scope::Global, &key("x.a"), "3").unwrap();
    assert_eq!(fixture.read(Scope::Global), "x.a = 3\nx.b = 2\n");
}

/// A setter that joins the transaction of its caller.
fn set_colour(tx: &mut ConfigTransaction<'_>, colour: &str) -> Result<(), Error> {
    tx.set_value(&key("core.color"), colour)
}

#[test]
fn nested_writes_see_staged_changes_and_commit_once() {
    let fixture = Fixture::new();
    let service = fixture.service();
    let syncs = filetx::sync_count();
    let (seen, written) = service
        .batch(Scope::Local, |tx| {
            assert_eq!(tx.scope(), Scope::Local);
            assert_eq!(tx.file(), fixture.file(Scope::Local));
            tx.set_value(&key("x.outer"), "1")?;
            set_colour(tx, "never")?;
            assert!(!fixture.file(Scope::Local).exists(), "nothing is written yet");
            assert_eq!(tx.get(&key("x.outer"))?, Some(Value::Integer(1)));
            assert_eq!(tx.get(&key("core.format"))?, None, "this scope does not say");
            let resolved = tx.resolve(&key("core.color"))?;
            assert!(matches!(resolved.origin, Origin::File { scope: Scope::Local, line: 2, .. }));
            tx.unset(&key("x.outer"))?;
            tx.get(&key("x.outer"))
        })
        .unwrap();
    assert_eq!(seen, None);
    assert_eq!(written.keys, [key("x.outer"), key("core.color"), key("x.outer")]);
    assert_eq!(fixture.read(Scope::Local), "core.color = \"never\"\n");
    assert!(filetx::sync_count() > syncs);
}

#[test]
fn an_outer_failure_writes_nothing() {
    let fixture = Fixture::new();
    fixture.write(Scope::Local, "# mine\n");
    let failed = fixture.service().batch(Scope::Local, |tx| {
        set_colour(tx, "never")?;
        tx.set_value(&key("core.format"), "xml")
    });
    assert!(matches!(failed, Err(Error::OutOfRange { .. })));
    assert_eq!(fixture.read(Scope::Local), "# mine\n");
    let panicked = std::panic::catch_unwind(|| {
        fixture.service().batch(Scope::Local, |tx| -> Result<(), Error> {
            set_colour(tx, "never")?;
            panic!("in the middle")
        })
    });
    assert!(panicked.is_err());
    assert_eq!(fixture.read(Scope::Local), "# mine\n");
    fixture.service().set_value(Scope::Local, &key("x.a"), "1").unwrap();
}

#[test]
fn an_inner_failure_can_be_caught() {
    let fixture = Fixture::new();
    let written = fixture.service().batch(Scope::Local, |tx| {
        tx.set_value(&key("x.a"), "1")?;
        // A failed call stages nothing.
        assert!(tx.set_value(&key("core.color"), "red").is_err());
        // Several calls that fail together stage nothing.
        let inner = tx.nested(|tx| {
            tx.set_value(&key("x.a"), "2")?;
            tx.set_value(&key("x.b"), "2")?;
            tx.unset(&key("core.formt"))
        });
        assert!(matches!(inner, Err(Error::UnknownKey { .. })));
        tx.nested(|tx| tx.set_value(&key("x.c"), "3"))
    });
    assert_eq!(written.unwrap().1.keys, [key("x.a"), key("x.c")]);
    assert_eq!(fixture.read(Scope::Local), "x.a = 1\nx.c = 3\n");
}

#[test]
fn values_are_set_by_type() {
    let fixture = Fixture::new();
    let service = fixture.service();
    let (_, written) = service
        .batch(Scope::Global, |tx| {
            tx.set(&key("core.lock-timeout"), &Value::Duration(std::time::Duration::from_secs(90)))?;
            tx.set(&key("sandbox.allow-write"), &Value::List(vec![Value::String("/a".into())]))?;
            tx.set(&key("plan.concurrency"), &Value::String("${N:2}".into()))?;
            tx.set(&key("x.t"), &Value::Float(0.5))?;
            assert!(tx.set(&key("plan.concurrency"), &Value::Bool(true)).is_err());
            Ok::<_, Error>(())
        })
        .unwrap();
    assert_eq!(written.keys.len(), 4);
    assert_eq!(
        fixture.read(Scope::Global),
        "core.lock-timeout = \"1m30s\"\nsandbox.allow-write = [\"/a\"]\nplan.concurrency = \"${N:2}\"\nx.t = 0.5\n"
    );
}

#[test]
fn a_transaction_reports_and_fixes_invalid_values() {
    let fixture = Fixture::new();
    fixture.write(Scope::Global, "core.color = \"red\" # oops\n");
    fixture
        .service()
        .batch(Scope::Global, |tx| {
            assert!(matches!(tx.get(&key("core.color")), Err(Error::OutOfRange { .. })));
            tx.set_value(&key("core.color"), "never")
        })
        .unwrap();
    assert_eq!(fixture.read(Scope::Global), "core.color = \"never\" # oops\n");
}

#[test]
fn a_nested_write_of_the_service_fails_at_once() {
    let fixture = Fixture::new();
    let service = fixture.service();
    service
        .batch(Scope::Local, |_| {
            let error = service.set_value(Scope::Local, &key("x.a"), "1").unwrap_err();
            assert!(matches!(error, Error::Nested { .. }));
            assert!(chain(&error).contains("writes.rs"), "it says where: {}", chain(&error));
            // Another file has another lock.
            service.set_value(Scope::Global, &key("x.a"), "1").map(drop)
        })
        .unwrap();
}

#[test]
fn a_busy_file_is_an_error_after_the_timeout() {
    let fixture = Fixture::new();
    let service = fixture.service();
    let hasty: ConfigService = fixture
        .service()
        .with_wait(Wait { timeout: std::time::Duration::from_millis(20), ..Wait::default() });
    service
        .batch(Scope::Global, |_| {
            let error = std::thread::scope(|scope| {
                scope.spawn(|| hasty.set_value(Scope::Global, &key("x.a"), "1").unwrap_err()).join().unwrap()
            });
            assert!(matches!(error, Error::Busy { .. }), "{error}");
            assert!(chain(&error).contains("is still held"), "{}", chain(&error));
            Ok::<_, Error>(())
        })
        .unwrap();
    hasty.set_value(Scope::Global, &key("x.a"), "1").unwrap();
}
