//! Runs that end while they are asked, played by the test: what is not known is told as such, and nothing is done instead.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};

use cleveragents::{Draft, Edit, Error, Kind, Reveal, Role, RunClient};

use crate::fixture::{client, code, entry, key};

/// What a call comes to when the run does this with the connection.
fn with_run<T: Send>(run: impl FnOnce(UnixStream) + Send, call: impl FnOnce(&RunClient) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("runs/plan/socket-1");
    fs::create_dir_all(socket.parent().unwrap()).unwrap();
    let listener = UnixListener::bind(&socket).unwrap();
    let variables = [("AGENTS_SOCKET", socket.to_str().unwrap()), ("AGENTS_TOKEN", "t")];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let client = client(&BTreeMap::from(variables));
    std::thread::scope(|scope| {
        scope.spawn(|| run(listener.accept().unwrap().0));
        call(&client)
    })
}

fn read_request(stream: &UnixStream) -> String {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    line
}

fn record(client: &RunClient) -> Result<cleveragents::RecordedEntry, Error> {
    client.record("changeset", &entry("file", Edit::Delete))
}

#[test]
fn an_answer_that_never_comes_is_a_doubt() {
    let hangs_up = |stream: UnixStream| drop(read_request(&stream));
    assert_eq!(code(with_run(hangs_up, record)), ("no-reply", Kind::OutcomeUnknown));
    let message = [Draft::text(Role::User, "hello")];
    let append = |client: &RunClient| client.append(&"talk".parse().unwrap(), &message, None);
    assert_eq!(code(with_run(hangs_up, append)), ("no-reply", Kind::OutcomeUnknown));
    for answer in [
        "what?\n",
        "{\"version\":1}\n",
        "{\"version\":1,\"ok\":{}}\n",
        "{\"version\":1,\"error\":{}}\n",
        "{\"vers",
    ] {
        let says = |mut stream: UnixStream| {
            assert!(read_request(&stream).contains("\"token\":\"t\""));
            stream.write_all(answer.as_bytes()).unwrap();
        };
        assert_eq!(code(with_run(says, record)), ("no-reply", Kind::OutcomeUnknown), "{answer}");
    }
    // Of what only reads there is no doubt.
    let get = |client: &RunClient| client.get(&key("x.word"), Reveal::No);
    assert_eq!(code(with_run(hangs_up, get)), ("run-gone", Kind::NotFound));
}

#[test]
fn half_of_a_request_is_none() {
    let long = || entry("file", Edit::Bytes(vec![b'x'; 8 << 20], None));
    let call = |client: &RunClient| client.record("changeset", &long());
    assert_eq!(code(with_run(drop, call)), ("run-gone", Kind::NotFound));
    // A refusal that comes before all was sent is heard.
    let refuses = |mut stream: UnixStream| {
        read_request(&stream);
        let error = "{\"kind\":\"busy\",\"code\":\"of-tomorrow\",\"message\":\"later\"}";
        stream.write_all(format!("{{\"version\":1,\"error\":{error}}}\n").as_bytes()).unwrap();
    };
    for _ in 0..2 {
        assert_eq!(code(with_run(refuses, call)), ("of-tomorrow", Kind::Busy));
    }
}

#[test]
fn a_file_that_becomes_shorter_is_not_sent_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, vec![b'x'; 8 << 20]).unwrap();
    let received = std::sync::Mutex::new(0);
    let shortens = |mut stream: UnixStream| {
        // More than the socket holds is not read yet.
        fs::write(&file, "short").unwrap();
        *received.lock().unwrap() = stream.read_to_end(&mut Vec::new()).unwrap();
    };
    let call = |client: &RunClient| {
        let content = Edit::Content(file.clone(), None);
        client.record("changeset", &entry("file", content))
    };
    assert_eq!(code(with_run(shortens, call)), ("io", Kind::Error));
    assert!(*received.lock().unwrap() < 8 << 20);
}
