//! Servers that accept connections and do not answer, restart, or have no room.

use std::net::TcpListener;
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use store::{Outcome, PlanStore, PostgresOptions, PostgresStore};
use testkit::postgres::Server;
use testkit::report::skipped;
use testkit::store_conformance::fixtures::*;

use super::server_or_skip;

/// Long enough for a slow machine, and an end to a test that fails.
const LONG_WAIT: Duration = Duration::from_secs(120);

/// A server that accepts connections and never answers.
fn silent() -> (TcpListener, u16) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

fn signal(server: &Server, signal: &str) {
    let process = server.process().to_string();
    assert!(Command::new("kill").args([signal, &process]).status().unwrap().success());
}

#[test]
fn the_host_after_a_silent_one_is_used() {
    let Some(server) = server_or_skip("postgres-silent-host") else { return };
    let ((_silent, nobody), port) = (silent(), server.port());
    let hosts = format!("127.0.0.1:{nobody},127.0.0.1:{port}");
    let database = server.database();
    let url = format!("postgres://postgres@{hosts}/{database}?sslmode=disable&connect_timeout=1");
    make_plan(&PostgresStore::open(&url).unwrap());
    // Also when the time for all is shorter than that for one.
    let url = url.replace("connect_timeout=1", "connect_timeout=3600");
    make_plan(&PostgresOptions::default().timeout(LONG_WAIT / 10).wait(Duration::ZERO).open(&url).unwrap());
}

#[test]
fn silent_hosts_are_unreachable_and_named() {
    let ((_one, first), (_two, second)) = (silent(), silent());
    let url = format!("postgres://ana:secret@127.0.0.1:{first},127.0.0.1:{second}/agents?connect_timeout=1");
    let error = PostgresOptions::default().wait(Duration::ZERO).open(&url).unwrap_err();
    assert_eq!((error.code(), error.outcome()), ("store-unreachable", Outcome::Aborted));
    assert!(error.is_outage());
    let shown = testkit::chain(&error);
    for port in [first, second] {
        assert!(shown.contains(&format!("127.0.0.1:{port} does not answer")), "{shown}");
    }
    assert!(!shown.contains("secret"), "{shown}");
}

#[test]
fn a_server_that_stops_answering_is_unreachable_not_busy() {
    let server = match Server::start(&[]) {
        Err(reason) => return skipped("postgres-frozen", &reason),
        Ok(server) => server,
    };
    let database = server.database();
    let options = PostgresOptions::default().timeout(Duration::from_secs(2)).wait(Duration::ZERO);
    let store = options.open(&server.url(&database)).unwrap();
    let plan = make_plan(&store);
    let sessions =
        format!("SELECT string_agg(pid::text, ' ') FROM pg_stat_activity WHERE datname = '{database}'");
    let sessions = server.sql("postgres", &sessions);
    let frozen: Vec<&str> = sessions.split(' ').collect();
    signal(&server, "-STOP");
    let stop = |signal: &str| Command::new("kill").arg(signal).args(&frozen).status().unwrap().success();
    assert!(stop("-STOP"));
    let error = store.plan(plan.id).unwrap_err();
    assert!(stop("-CONT"));
    signal(&server, "-CONT");
    assert_eq!((error.code(), error.outcome()), ("store-unreachable", Outcome::Aborted), "{error:?}");
    assert!(testkit::chain(&error).contains("does not answer") && error.is_outage(), "{error:?}");
}

#[test]
fn a_new_process_waits_for_a_full_server() {
    let Some(server) = server_or_skip("postgres-full") else { return };
    let database = server.database();
    server.sql("postgres", "CREATE ROLE many LOGIN CONNECTION LIMIT 1");
    server.sql("postgres", &format!("GRANT CREATE ON DATABASE {database} TO many"));
    let url = server.url_of("many", &database);
    let first = PostgresStore::open(&url).unwrap();
    // The only session is taken.
    let full = PostgresOptions::default().wait(Duration::ZERO).open(&url).unwrap_err();
    assert_eq!(full.code(), "store-unreachable", "{full:?}");
    let (send, receive) = mpsc::channel();
    thread::scope(|scope| {
        let second = scope.spawn(|| {
            send.send(()).unwrap();
            PostgresOptions::default().wait(LONG_WAIT).open(&url)
        });
        receive.recv().unwrap();
        drop(first);
        make_plan(&second.join().unwrap().unwrap());
    });
}

#[test]
fn a_new_process_waits_for_a_server_that_starts() {
    let (listener, port) = silent();
    drop(listener);
    let url = format!("postgres://ana@127.0.0.1:{port}/agents?sslmode=disable");
    let refused = PostgresOptions::default().wait(Duration::ZERO).open(&url).unwrap_err();
    assert_eq!(refused.code(), "store-unreachable", "{refused:?}");
    // A server that answers that it is starting up, then goes away.
    let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let (send, receive) = mpsc::channel();
    let answers = thread::spawn(move || {
        for _ in 0..3 {
            let (mut socket, _) = listener.accept().unwrap();
            std::io::Write::write_all(&mut socket, &starting_up()).unwrap();
            send.send(()).unwrap();
        }
    });
    let waiting = thread::spawn(move || PostgresOptions::default().wait(LONG_WAIT / 12).open(&url));
    // It came back three times.
    (0..3).for_each(|_| receive.recv_timeout(LONG_WAIT).unwrap());
    answers.join().unwrap();
    assert_eq!(waiting.join().unwrap().unwrap_err().code(), "store-unreachable");
}

/// The answer of a server that is starting: `FATAL: 57P03`.
fn starting_up() -> Vec<u8> {
    let fields = b"SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0";
    let length = u32::try_from(fields.len() + 4).unwrap().to_be_bytes();
    [&b"E"[..], &length, fields].concat()
}
