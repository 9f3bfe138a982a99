//! Stores that cannot be opened: the error gives the reason, nothing changes, and no password is
//! shown.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;
use std::{error, fs};

use store::{Error, Outcome, PlanStore, PostgresOptions, PostgresStore, Transfer};
use testkit::folder::scratch;
use testkit::store_conformance::fixtures::*;

use super::{open, server_or_skip};

#[track_caller]
fn refused_to_open(url: &str, code: &str) -> Error {
    let error = PostgresOptions::default().wait(Duration::ZERO).open(url).unwrap_err();
    assert_eq!(error.code(), code, "{error:?}");
    assert_eq!(error.outcome(), Outcome::Aborted);
    let mut shown = format!("{error} {error:?}");
    let mut cause = error::Error::source(&error);
    while let Some(found) = cause {
        shown += &format!(" {found}");
        cause = found.source();
    }
    assert!(!shown.contains("secret"), "{shown}");
    error
}

#[test]
fn denied_access_is_reported() {
    let Some(server) = server_or_skip("postgres-refusals") else { return };
    let database = server.database();
    server.sql("postgres", "CREATE ROLE strict LOGIN PASSWORD 'right secret'");
    let url = server.url_of("strict", &database);
    let with = |password: &str| url.replace("strict@", &format!("strict:{password}@"));
    refused_to_open(&with("wrong-secret"), "store-denied");
    refused_to_open(&url, "store-denied");
    refused_to_open(&server.url("nowhere"), "store-denied");
    // Access is granted, but not the right to create tables.
    refused_to_open(&with("right%20secret"), "store-denied");
    server.sql("postgres", &format!("GRANT CREATE ON DATABASE {database} TO strict"));
    make_plan(&PostgresStore::open(&with("right%20secret")).unwrap());

    let options = PostgresOptions::default().password(Some("right secret".to_owned()));
    assert!(!format!("{options:?}").contains("secret"));
    let store = options.open(&url).unwrap();
    assert!(!format!("{store:?}").contains("secret"));
    assert!(store.location().starts_with("postgres://strict@127.0.0.1:"));
    let folder = scratch();
    let file = folder.path().join("pgpass");
    fs::write(&file, format!("127.0.0.1:{}:*:strict:right secret\n", server.port())).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    PostgresOptions::default().passfile(Some(file)).open(&url).unwrap();
}

#[test]
fn an_unreachable_server_fails_and_the_next_host_is_tried() {
    let Some(server) = server_or_skip("postgres-hosts") else { return };
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let nobody = listener.local_addr().unwrap().port();
    drop(listener);
    refused_to_open(&format!("postgres://ana:secret@127.0.0.1:{nobody}/agents"), "store-unreachable");
    refused_to_open("postgres://ana:secret@nowhere.invalid/agents", "store-unreachable");
    refused_to_open("postgres://ana:secret@/agents", "store-url");
    let (database, port) = (server.database(), server.port());
    let hosts = format!("127.0.0.1:{nobody},127.0.0.1:{port}");
    make_plan(
        &PostgresStore::open(&format!("postgres://postgres@{hosts}/{database}?sslmode=disable")).unwrap(),
    );
}

#[test]
fn a_read_only_server_is_refused() {
    let Some(server) = server_or_skip("postgres-read-only") else { return };
    let database = server.database();
    let store = PostgresOptions::default().wait(Duration::from_secs(4)).open(&server.url(&database)).unwrap();
    let plan = make_plan(&store);
    server.sql("postgres", &format!("ALTER DATABASE {database} SET default_transaction_read_only = on"));
    refused_to_open(&server.url(&database), "store-read-only");
    // An existing session is refused like a new one after the server has become a standby.
    let ended =
        format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'");
    server.sql("postgres", &ended);
    let error = store.step_plan(&step(&plan, "ready")).unwrap_err();
    assert_eq!((error.code(), error.outcome()), ("store-read-only", Outcome::Aborted), "{error:?}");
    let writable = format!("ALTER DATABASE {database} SET default_transaction_read_only = off");
    server.sql("postgres", &format!("SET default_transaction_read_only = off; {writable}"));
    store.step_plan(&step(&plan, "ready")).unwrap();
}

#[test]
fn newer_or_foreign_tables_are_refused_untouched() {
    let Some(server) = server_or_skip("postgres-versions") else { return };
    let newer = server.database();
    make_plan(&open(server, &newer));
    server.sql(&newer, "UPDATE agents.versions SET version = 99");
    let error = refused_to_open(&server.url(&newer), "store-newer");
    assert!(error.to_string().ends_with("has schema version 99; this program supports version 5"), "{error}");
    assert_eq!(server.sql(&newer, "SELECT count(*) FROM agents.plans"), "1");

    let other = server.database();
    server.sql(&other, "CREATE SCHEMA agents; CREATE TABLE agents.spies (name text)");
    refused_to_open(&server.url(&other), "not-a-store");
    assert_eq!(server.sql(&other, "SELECT to_regclass('agents.versions') IS NULL"), "t");

    // An empty schema that an administrator created, opened by two clients at once.
    let ours = server.database();
    server.sql(&ours, "CREATE SCHEMA agents");
    together(4, |_| make_plan(&open(server, &ours)));
    assert_eq!(server.sql(&ours, "SELECT count(*) FROM agents.plans"), "4");
}

#[test]
fn encryption_follows_the_url() {
    let Some(server) = server_or_skip("postgres-tls") else { return };
    let (database, port) = (server.database(), server.port());
    let url = |host: &str, options: &str| format!("postgres://postgres@{host}:{port}/{database}?{options}");
    let encrypted = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
                     WHERE ssl AND application_name = 'agents'";
    let certificate = format!("sslmode=verify-full&sslrootcert={}", server.certificate().display());
    for (host, options) in [("127.0.0.1", "sslmode=require"), ("127.0.0.1", ""), ("localhost", &*certificate)]
    {
        let store = PostgresStore::open(&url(host, options)).unwrap();
        make_plan(&store);
        assert_ne!(server.sql(&database, encrypted), "0", "{options}");
    }
    // A name that the certificate lacks; authorities that did not sign it; no certificates.
    refused_to_open(&url("127.0.0.1", &certificate), "store-unreachable");
    refused_to_open(&url("localhost", "sslmode=verify-full"), "store-unreachable");
    refused_to_open(&url("localhost", "sslmode=verify-full&sslrootcert=/nowhere"), "store-url");
    refused_to_open(&url("localhost", "sslmode=verify-full&sslrootcert=/dev/null"), "store-url");
}
