//! Messages of the protocol, piece by piece.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use serde_json::{Value, json};

use super::protocol::check_body_lengths;
use super::protocol::{Bodies, Line, Outcome, REQUEST_BYTES_MAX, Request, Response, VERSION, read_line};
use super::server::{CONNECTIONS_MAX, Server, Tokens};
use super::{Method, NodeSession, RequestHandler};
use crate::Error;
use crate::sandbox::connect_private;

/// Answers errors with their text.
#[derive(Debug)]
struct Echo;

impl RequestHandler for Echo {
    fn handle(&self, _: &NodeSession, _: Method, _: Bodies<'_>) -> Result<Value, Value> {
        unreachable!("no node is running")
    }

    fn error_response(&self, error: Error) -> Value {
        json!(error.to_string())
    }

    fn variables(&self) -> Vec<(OsString, OsString)> {
        Vec::new()
    }
}

#[test]
fn idle_connections_do_not_keep_others_out() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::listen(folder.path(), Arc::new(Echo)).unwrap();
    let names = std::fs::read_dir(folder.path()).unwrap();
    let socket = names.map(|entry| entry.unwrap().path()).next().unwrap();
    let connect = || connect_private(&socket).unwrap();
    let ask = |mut stream: UnixStream| {
        let request = "{\"version\":2,\"token\":\"t\",\"method\":\"get\",\"params\":{\"key\":\"k\",\"reveal\":false}}\n";
        stream.write_all(request.as_bytes()).unwrap();
        let mut response = String::new();
        BufReader::new(stream).read_line(&mut response).unwrap();
        response
    };
    std::thread::scope(|scope| {
        let _serving = server.serve(scope).unwrap();
        let mut idle: Vec<UnixStream> = (0..2 * CONNECTIONS_MAX).map(|_| connect()).collect();
        // Half a request is no request.
        idle.iter_mut().for_each(|stream| drop(stream.write_all(b"{\"version\"")));
        let response = ask(connect());
        assert!(response.contains("no running node has this token"), "{response:?}");
        // The newest ones are still open.
        idle.pop().unwrap().write_all(b":7}\n").unwrap();
    });
}

fn parsed(line: &str) -> Result<Request, String> {
    Request::parse(Line::Complete(line.as_bytes().to_vec())).map_err(|error| match error {
        Error::BadRequest { reason } => reason,
        error => panic!("{error:?}"),
    })
}

#[test]
fn invalid_requests_are_refused_with_a_reason() {
    let with = |fields: &str| {
        format!(
            "{{\"version\":2,\"token\":\"t\",\"method\":\"get\",\"params\":{{\"key\":\"k\",\"reveal\":false}}{fields}}}"
        )
    };
    let request = parsed(&with("")).unwrap();
    assert_eq!((request.version, request.token.as_str(), request.body_lengths.len()), (2, "t", 0));
    assert_eq!(parsed(&with(",\"body_lengths\":[1,2]")).unwrap().body_lengths, [1, 2]);
    let check = |line: &str, expected: &str| {
        let reason = parsed(line).err().unwrap();
        assert!(reason.contains(expected), "{line}: {reason}");
    };
    check("", "EOF");
    check("hello", "expected value");
    check("7", "struct Versioned");
    check("{\"version\":1,\"ask\":\"get\"}", "it has protocol version 1, this run has version 2");
    check("{\"version\":3,\"other\":true}", "it has protocol version 3, this run has version 2");
    check("{\"version\":2,\"method\":\"get\"}", "missing field `token`");
    check(&with(",\"more\":1"), "unknown field `more`");
    check(&with(",\"body_lengths\":[1,2,3]"), "more than 2 bodies");
    check(&with(",\"body_lengths\":[-1]"), "invalid value");
    check(&with(&format!(",\"body_lengths\":[{0},{0}]", u64::MAX)), "longer than any file");
    assert!(matches!(Request::parse(Line::TooLong), Err(Error::BadRequest { .. })));
}

#[test]
fn responses_of_another_version_are_told_apart() {
    let of_0_1 = br#"{"version":1,"error":{"kind":"usage","code":"bad-request","text":"t"}}"#;
    assert!(matches!(Response::parse(of_0_1), Ok(Err(1))));
    assert!(matches!(Response::parse(br#"{"version":2,"result":7}"#), Ok(Ok(Outcome::Result(_)))));
    assert!(matches!(Response::parse(br#"{"version":2,"error":7}"#), Ok(Ok(Outcome::Error(_)))));
    assert!(Response::parse(br#"{"version":2}"#).is_err());
}

#[test]
fn lines_are_bounded_and_complete() {
    let mut lines = [b"one\n".as_slice(), b"\n", b"incomplete"].concat();
    let mut reader = lines.as_slice();
    let complete = |line: Option<Line>| match line {
        Some(Line::Complete(line)) => String::from_utf8(line).unwrap(),
        _ => panic!("no complete line"),
    };
    assert_eq!(complete(read_line(&mut reader).unwrap()), "one");
    assert_eq!(complete(read_line(&mut reader).unwrap()), "");
    assert!(read_line(&mut reader).unwrap().is_none());
    lines = vec![b'a'; REQUEST_BYTES_MAX + 2];
    assert!(matches!(read_line(&mut lines.as_slice()).unwrap(), Some(Line::TooLong)));
    lines[REQUEST_BYTES_MAX] = b'\n';
    assert_eq!(complete(read_line(&mut lines.as_slice()).unwrap()).len(), REQUEST_BYTES_MAX);
}

#[test]
fn an_incomplete_body_is_an_error() {
    let mut reader = b"onetwo!".as_slice();
    let mut unread = 6;
    let mut bodies = Bodies::new(&mut reader, &[3, 3], &mut unread);
    let mut text = String::new();
    bodies.next().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "one");
    assert!(bodies.next_whole(2).unwrap_err().to_string().contains("longer than 2 bytes"));
    assert!(bodies.next().is_err(), "there are two");
    assert_eq!((unread, reader.len()), (3, 4), "a body that is too long is not read");
    let mut unread = 5;
    let mut bodies = Bodies::new(&mut reader, &[5], &mut unread);
    let error = bodies.next_whole(5).unwrap_err().to_string();
    assert!(error.contains("incomplete"), "{error}");
}

#[test]
fn a_body_that_is_too_long_for_a_file_is_refused_unread() {
    assert!(check_body_lengths(&[10, 9], 10).is_ok());
    let error = check_body_lengths(&[10, 11], 10).unwrap_err();
    assert!(error.to_string().contains("a body has 11 bytes; `sandbox.max-file-size`"), "{error}");
}

#[test]
fn tokens_are_unique() {
    let (one, other) = (Tokens::new().unwrap(), Tokens::new().unwrap());
    let all = [one.next(), one.next(), other.next(), other.next()];
    let different: std::collections::BTreeSet<_> = all.iter().collect();
    assert_eq!(different.len(), 4);
    assert!(all.iter().all(|token| token.len() == 64));
    assert_eq!(VERSION, 2);
}
