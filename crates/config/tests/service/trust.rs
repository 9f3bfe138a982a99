//! Project files are not trusted.

use config::{Error, Scope, Value};

use crate::support::{Fixture, key};

const ABUSE: &str = "store.url = \"postgres://evil\"\nserver.url = \"https://evil\"\nserver.token = \"t\"\n\
                     sandbox.confine = \"off\"\nsandbox.allow-write = [\"/\"]\n";

#[test]
fn project_files_cannot_set_security_settings() {
    for scope in [Scope::Project, Scope::Local] {
        let fixture = Fixture::new();
        fixture.write(Scope::Global, "server.url = \"https://mine\"\n");
        fixture.write(scope, ABUSE);
        let service = fixture.service();
        assert_eq!(service.get(&key("server.url")).unwrap(), Some(Value::String("https://mine".into())));
        assert_eq!(service.get(&key("store.url")).unwrap(), None);
        assert_eq!(service.get(&key("server.token")).unwrap(), None);
        assert_eq!(service.get(&key("sandbox.confine")).unwrap(), Some(Value::String("auto".into())));
        assert_eq!(service.get(&key("sandbox.allow-write")).unwrap(), Some(Value::List(vec![])));
        // The problem is reported.
        let resolved = service.resolve(&key("store.url")).unwrap();
        assert!(matches!(resolved.skipped().collect::<Vec<_>>()[..], [Error::NotInScope { .. }]));
        let problems = service.list(None).problems;
        assert_eq!(problems.len(), 5, "{problems:?}");
        for name in ["store.url", "server.url", "server.token", "sandbox.confine", "sandbox.allow-write"] {
            let error = service.set_value(scope, &key(name), "off").unwrap_err();
            assert!(matches!(error, Error::NotInScope { .. }), "{error}");
        }
        assert_eq!(fixture.read(scope), ABUSE);
    }
}

#[test]
fn project_files_cannot_interpolate_secrets() {
    let fixture = Fixture::new();
    fixture.write(
        Scope::Project,
        "x.a = \"${GITHUB_TOKEN}\"\nx.b = [{ c = \"${PGPASSWORD:none}\" }]\nx.d = \"${USER}\"\n",
    );
    let variables = [("GITHUB_TOKEN", "hunter2"), ("PGPASSWORD", "hunter2"), ("USER", "me")];
    let service = fixture.service_with(&variables, &[]);
    for name in ["x.a", "x.b"] {
        let error = service.get(&key(name)).unwrap_err();
        assert!(matches!(error, Error::SecretVariable { .. }), "{error}");
        assert!(!format!("{error:?}").contains("hunter2"));
    }
    assert_eq!(service.get(&key("x.d")).unwrap(), Some(Value::String("me".into())));
    for text in ["${GITHUB_TOKEN}", "[\"${GITHUB_TOKEN}\"]"] {
        let error = service.set_value(Scope::Project, &key("x.e"), text).unwrap_err();
        assert!(matches!(error, Error::SecretVariable { .. }), "{error}");
    }
    let error = service.set_value(Scope::Project, &key("core.color"), "${GITHUB_TOKEN}").unwrap_err();
    assert!(matches!(error, Error::SecretVariable { .. }), "{error}");
    service.set_value(Scope::Global, &key("x.e"), "${GITHUB_TOKEN}").unwrap();
}

#[test]
fn project_files_interpolate_listed_variables_only() {
    let fixture = Fixture::new();
    let text = "plan.merge = \"${WHERE_TO:last-wins}\"\nx.home = \"${HOME}\"\n";
    let variables = [("HOME", "/srv/me"), ("WHERE_TO", "three-way")];
    for scope in [Scope::Project, Scope::Local] {
        fixture.write(Scope::Global, "plan.merge = \"fail-on-conflict\"\n");
        fixture.write(scope, text);
        let service = fixture.service_with(&variables, &[]);
        assert_eq!(service.get(&key("x.home")).unwrap(), Some(Value::String("/srv/me".into())));
        // The value is not replaced by that of a weaker layer, nor by its own default.
        let error = service.get(&key("plan.merge")).unwrap_err();
        assert!(
            matches!(&error, Error::VariableNotListed { variable, listed, origin: Some(_), .. }
                if variable == "WHERE_TO" && listed.is_empty()),
            "{error}"
        );
        assert_eq!(service.list(None).problems.len(), 1);
        let error = service.set_value(scope, &key("x.a"), "${WHERE_TO}").unwrap_err();
        assert!(matches!(error, Error::VariableNotListed { .. }), "{error}");
        let edited = format!("{text}x.b = \"${{WHERE_TO}}\"\n");
        let error = service.edit(scope, text.as_bytes(), edited.as_bytes()).unwrap_err();
        assert!(error.to_string().contains("rejected"), "{error}");

        service.set_value(Scope::Global, &key("core.interpolate"), "OTHER,WHERE_TO").unwrap();
        assert_eq!(service.get(&key("plan.merge")).unwrap(), Some(Value::String("three-way".into())));
        service.set_value(scope, &key("x.a"), "${WHERE_TO}").unwrap();
        service.batch(scope, |tx| tx.get(&key("x.a"))).unwrap();
        let text = fixture.read(scope);
        let edited = format!("{text}x.b = \"${{WHERE_TO}}\"\n");
        service.edit(scope, text.as_bytes(), edited.as_bytes()).unwrap();
        assert_eq!(service.get(&key("x.b")).unwrap(), Some(Value::String("three-way".into())));
        fixture.write(scope, "");
    }
}

#[test]
fn a_project_cannot_list_variables_itself() {
    let fixture = Fixture::new();
    fixture.write(Scope::Project, "core.interpolate = [\"WHERE_TO\"]\nx.a = \"${WHERE_TO}\"\n");
    let service = fixture.service_with(&[("WHERE_TO", "hunter2")], &[]);
    let error = service.get(&key("x.a")).unwrap_err();
    assert!(matches!(error, Error::VariableNotListed { .. }), "{error}");
    // A global file that does not parse lists nothing, and is the error to correct.
    fixture.write(Scope::Global, "core.interpolate = [\n");
    let error = service.get(&key("x.a")).unwrap_err();
    assert!(matches!(error, Error::Parse(_)), "{error}");
}
