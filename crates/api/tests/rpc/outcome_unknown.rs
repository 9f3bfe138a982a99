//! Runs that end during a request, played by the test: the client reports an unknown outcome, and does
//! nothing instead.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};

use cleveragents::{Draft, Edit, Error, Kind, Reveal, Role, RunClient};

use crate::fixture::{client, code, entry, key};

/// The result of a call when the run does this with the connection.
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

/// Reads a request with its bodies, so that the client has sent all of it.
fn read_whole_request(stream: &UnixStream) {
    let (mut reader, mut line) = (BufReader::new(stream), String::new());
    reader.read_line(&mut line).unwrap();
    let request: serde_json::Value = serde_json::from_str(&line).unwrap();
    let lengths = request["body_lengths"].as_array().unwrap().iter();
    let bytes = lengths.map(|length| length.as_u64().unwrap()).sum();
    std::io::copy(&mut reader.take(bytes), &mut std::io::sink()).unwrap();
}

fn record(client: &RunClient) -> Result<cleveragents::RecordedEntry, Error> {
    client.record("changeset", &entry("file", Edit::Delete))
}

#[test]
fn a_missing_response_is_an_unknown_outcome() {
    let hangs_up = |stream: UnixStream| read_whole_request(&stream);
    assert_eq!(code(with_run(hangs_up, record)), ("no-reply", Kind::OutcomeUnknown));
    let message = [Draft::text(Role::User, "hello")];
    let append = |client: &RunClient| client.append(&"talk".parse().unwrap(), &message, None);
    assert_eq!(code(with_run(hangs_up, append)), ("no-reply", Kind::OutcomeUnknown));
    for answer in [
        "what?\n",
        "{\"version\":2}\n",
        "{\"version\":2,\"result\":{}}\n",
        "{\"version\":2,\"error\":{}}\n",
        "{\"vers",
    ] {
        let says = |mut stream: UnixStream| {
            assert!(read_request(&stream).contains("\"token\":\"t\""));
            stream.write_all(answer.as_bytes()).unwrap();
        };
        assert_eq!(code(with_run(says, record)), ("no-reply", Kind::OutcomeUnknown), "{answer}");
    }
    // A read has no unknown outcome.
    let get = |client: &RunClient| client.get(&key("x.word"), Reveal::No);
    assert_eq!(code(with_run(hangs_up, get)), ("run-gone", Kind::NotFound));
}

#[test]
fn a_run_of_another_version_is_named() {
    let of_0_1 = |mut stream: UnixStream| {
        read_request(&stream);
        let error = "{\"kind\":\"usage\",\"code\":\"bad-request\",\"text\":\"it is of version 2\"}";
        stream.write_all(format!("{{\"version\":1,\"error\":{error}}}\n").as_bytes()).unwrap();
    };
    let error = with_run(of_0_1, record).unwrap_err();
    assert_eq!((error.code(), error.kind()), ("run-version", Kind::Usage));
    assert!(error.to_string().contains("protocol version 1, this program has version 2"), "{error}");
}

#[test]
fn an_incomplete_request_changes_nothing() {
    let long = || entry("file", Edit::Bytes(vec![b'x'; 8 << 20], None));
    let call = |client: &RunClient| client.record("changeset", &long());
    assert_eq!(code(with_run(drop, call)), ("run-gone", Kind::NotFound));
    // The client reads a refusal that comes before all was sent.
    let refuses = |mut stream: UnixStream| {
        read_request(&stream);
        let error = "{\"kind\":\"busy\",\"code\":\"of-tomorrow\",\"message\":\"later\"}";
        stream.write_all(format!("{{\"version\":2,\"error\":{error}}}\n").as_bytes()).unwrap();
    };
    for _ in 0..2 {
        assert_eq!(code(with_run(refuses, call)), ("of-tomorrow", Kind::Busy));
    }
}

#[test]
fn a_file_that_becomes_shorter_is_not_sent_as_complete() {
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
