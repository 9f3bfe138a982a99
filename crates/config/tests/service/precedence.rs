//! Order of the layers, and explanations of values.

use config::{Error, Layer, Origin, Reveal, Scope, Value};

use crate::support::{Fixture, key};

const VARIABLE: (&str, &str) = ("CLEVERAGENTS_PLAN_CONCURRENCY", "2");

/// Removes the strongest layer, one after the other.
#[test]
fn the_strongest_layer_wins_in_get_and_list() {
    let fixture = Fixture::new();
    fixture.write(Scope::Local, "plan.concurrency = 3\n");
    fixture.write(Scope::Project, "\n[plan]\nconcurrency = 5\n");
    fixture.write(Scope::Global, "# mine\n\nplan = { concurrency = 6 }\n");
    let check = |variables: &[(&str, &str)], flags: &[&str], expected: i64, origin: &Origin| {
        let service = fixture.service_with(variables, flags);
        let resolved = service.resolve(&key("plan.concurrency")).unwrap();
        assert_eq!(resolved.value, Some(Value::Integer(expected)));
        assert_eq!(&resolved.origin, origin);
        assert_eq!(service.get(&key("plan.concurrency")).unwrap(), Some(Value::Integer(expected)));
        let listing = service.list(Some(&key("plan")));
        assert!(listing.problems.is_empty());
        let listed = listing.entries.iter().find(|entry| entry.key == key("plan.concurrency")).unwrap();
        assert_eq!((&listed.value, &listed.origin), (&resolved.value, &resolved.origin));
        assert_eq!(listing.entries.len(), 2);
        resolved
    };
    let file = |scope, line| Origin::File { scope, file: fixture.file(scope), line };

    let resolved = check(&[VARIABLE], &["plan.concurrency=1"], 1, &Origin::Flag);
    let layers: Vec<_> = resolved
        .layers
        .iter()
        .map(|found| match &found.value {
            Ok(Some(value)) => format!("{} {value}", found.layer),
            _ => panic!("{} has no value", found.layer),
        })
        .collect();
    assert_eq!(layers, ["flag 1", "environment 2", "local 3", "project 5", "global 6", "default 4"]);

    check(&[VARIABLE], &[], 2, &Origin::Variable { name: VARIABLE.0.to_owned() });
    check(&[], &[], 3, &file(Scope::Local, 1));
    fixture.write(Scope::Local, "");
    check(&[], &[], 5, &file(Scope::Project, 3));
    fixture.write(Scope::Project, "");
    check(&[], &[], 6, &file(Scope::Global, 3));
    fixture.write(Scope::Global, "");
    check(&[], &[], 4, &Origin::Default);
}

#[test]
fn the_format_variable_is_below_the_flag() {
    let fixture = Fixture::new();
    fixture.write(Scope::Global, "core.format = \"rich\"\n");
    let variables = [("CLEVERAGENTS_CORE_FORMAT", "json")];
    let format = |flags: &[&str]| {
        let resolved = fixture.service_with(&variables, flags).resolve(&key("core.format")).unwrap();
        (resolved.show(Reveal::No).unwrap(), resolved.origin.layer())
    };
    assert_eq!(format(&[]), ("json".to_owned(), Layer::Environment));
    assert_eq!(format(&["core.format=plain"]), ("plain".to_owned(), Layer::Flag));
}

#[test]
fn user_keys_are_typed_by_toml_and_listed() {
    let fixture = Fixture::new();
    fixture.write(
        Scope::Global,
        "[x]\nwhen = 07:30:00\nlist = [1, 'a']\n[x.inner]\na = { b = 1 }\n[[x.tables]]\nc = 1\n",
    );
    fixture.write(Scope::Project, "x.inner.a.b = 2\n");
    let service = fixture.service_with(&[], &["x.flag=[true]"]);
    let listing = service.list(Some(&key("x")));
    let shown: Vec<_> = listing
        .entries
        .iter()
        .map(|entry| format!("{}={}", entry.key, entry.show(Reveal::No).unwrap()))
        .collect();
    assert_eq!(
        shown,
        ["x.flag=[true]", "x.inner.a.b=2", "x.list=[1, \"a\"]", "x.tables=[{ c = 1 }]", "x.when=07:30:00"]
    );
    assert!(matches!(service.get(&key("x.inner")), Err(Error::IsTable { .. })));
    assert_eq!(service.get(&key("x.nothing")).unwrap(), None);
    assert!(matches!(service.get(&key("core")), Err(Error::IsTable { .. })));
}

#[test]
fn references_in_files_are_expanded() {
    let fixture = Fixture::new();
    fixture.write(
        Scope::Global,
        "plan.concurrency = \"${N:7}\"\ncore.color = \"${COLOR}\"\nserver.token = \"a-${SOME_TOKEN}\"\nx.a = [\"${N:7}\"]\n",
    );
    let service = fixture.service_with(&[("COLOR", "always"), ("SOME_TOKEN", "hunter2")], &[]);
    assert_eq!(service.get(&key("plan.concurrency")).unwrap(), Some(Value::Integer(7)));
    assert_eq!(service.get(&key("core.color")).unwrap(), Some(Value::String("always".into())));
    assert_eq!(service.get(&key("server.token")).unwrap(), Some(Value::String("a-hunter2".into())));
    assert_eq!(service.get(&key("x.a")).unwrap(), Some(Value::List(vec![Value::String("7".into())])));

    let error = fixture.service().get(&key("core.color")).unwrap_err();
    let file = fixture.file(Scope::Global);
    assert_eq!(
        error.to_string(),
        format!("`core.color`: `${{COLOR}}` is not set and has no default ({}:2)", file.display())
    );
    let error = fixture.service_with(&[("N", "many")], &[]).get(&key("plan.concurrency")).unwrap_err();
    assert!(matches!(error, Error::WrongType { .. }), "{error}");
}

#[test]
fn secrets_are_redacted_in_debug_and_revealed_on_request() {
    let fixture = Fixture::new();
    fixture.write(Scope::Global, "server.token = \"hunter2\"\n");
    let service =
        fixture.service_with(&[("CLEVERAGENTS_SERVER_TOKEN", "hunter3")], &["server.token=hunter4"]);
    let resolved = service.resolve(&key("server.token")).unwrap();
    assert_eq!(resolved.show(Reveal::No).unwrap(), "[REDACTED]");
    assert_eq!(resolved.show(Reveal::Yes).unwrap(), "hunter4");
    let said = service.batch(Scope::Global, |tx| Ok::<_, Error>(format!("{tx:?}"))).unwrap().0;
    for text in [format!("{resolved:?}"), format!("{service:?}"), format!("{:?}", service.list(None)), said] {
        assert!(!text.contains("hunter"), "{text}");
    }
    // A value of the wrong type is redacted too.
    fixture.write(Scope::Global, "server.token = [\"hunter2\"]\n");
    let error = fixture.service().get(&key("server.token")).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("hunter"), "{error:?}");
}

#[test]
fn a_key_is_explained() {
    let fixture = Fixture::new();
    let service = fixture.service();
    let store = key("store.url");
    let info = service.registry().look_up(&store).unwrap();
    assert_eq!(info.definition.unwrap().variable(), "CLEVERAGENTS_STORE_URL");
    assert_eq!(
        (info.value_type().name(), info.scopes(), info.is_secret()),
        ("string", &[Scope::Global][..], false)
    );
    assert_eq!(service.layers().layer_values(info).len(), 6);
    let mine = key("x.mine");
    let info = service.registry().look_up(&mine).unwrap();
    assert!(info.definition.is_none());
    assert_eq!((info.key, info.scopes()), (&mine, Scope::ALL));
    assert!(matches!(service.registry().look_up(&key("core.formt")), Err(Error::UnknownKey { .. })));
}

#[test]
fn outside_a_project_there_are_fewer_layers() {
    let mut fixture = Fixture::new();
    fixture.dirs.project = None;
    let service = fixture.service();
    assert_eq!(service.resolve(&key("core.color")).unwrap().layers.len(), 4);
    assert!(matches!(service.set_value(Scope::Local, &key("x.a"), "1"), Err(Error::NoProject { .. })));
    assert_eq!(service.file(Scope::Global).unwrap(), fixture.file(Scope::Global));
}

#[test]
fn keys_are_found_in_every_toml_spelling() {
    let fixture = Fixture::new();
    for spelling in
        ["core.color", "\"core\".color", "[core]\ncolor", "\"c\\u006fre\".color", "\"c\\x6fre\".color"]
    {
        fixture.write(Scope::Global, format!("x.a = 1\n{spelling} = \"never\"\n"));
        assert_eq!(
            fixture.service().get(&key("core.color")).unwrap(),
            Some(Value::String("never".to_owned())),
            "{spelling}"
        );
    }
}

#[test]
fn a_file_may_use_the_former_name_of_a_key() {
    let fixture = Fixture::new();
    fixture.write(Scope::Global, "sandbox.writable = [\"/a\"]\n");
    let service = fixture.service();
    let (former, present) = (key("sandbox.writable"), key("sandbox.allow-write"));
    let paths = |path: &str| Some(Value::List(vec![Value::Path(path.into())]));
    assert_eq!(service.get(&present).unwrap(), paths("/a"));
    assert_eq!(service.get(&former).unwrap(), paths("/a"));
    assert_eq!(service.list(None).problems.len(), 0);
    // The present name wins, and a write uses it.
    service.set_value(Scope::Global, &former, "/b").unwrap();
    assert_eq!(fixture.read(Scope::Global), "sandbox.writable = [\"/a\"]\nsandbox.allow-write = [\"/b\"]\n");
    assert_eq!(service.get(&present).unwrap(), paths("/b"));
    service.unset(Scope::Global, &present).unwrap();
    assert_eq!(fixture.read(Scope::Global), "");
}
