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
