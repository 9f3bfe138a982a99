//! What is said on the socket, piece by piece.

use std::io::Read;

use super::protocol;
use super::protocol::{Bodies, Line, REQUEST_BYTES_MAX, Request, read_line};
use super::server::Tokens;
use crate::Error;

fn parsed(line: &str) -> Result<Request, String> {
    Request::parse(Line::Whole(line.as_bytes().to_vec())).map_err(|error| match error {
        Error::BadRequest { reason } => reason,
        error => panic!("{error:?}"),
    })
}

#[test]
fn requests_that_make_no_sense_say_why() {
    let with = |fields: &str| {
        format!(
            "{{\"version\":1,\"token\":\"t\",\"ask\":\"get\",\"with\":{{\"key\":\"k\",\"reveal\":false}}{fields}}}"
        )
    };
    let request = parsed(&with("")).unwrap();
    assert_eq!((request.version, request.token.as_str(), request.bodies.len()), (1, "t", 0));
    assert_eq!(parsed(&with(",\"bodies\":[1,2]")).unwrap().bodies, [1, 2]);
    let check = |line: &str, expected: &str| {
        let reason = parsed(line).err().unwrap();
        assert!(reason.contains(expected), "{line}: {reason}");
    };
    check("", "EOF");
    check("hello", "expected value");
    check("7", "struct Versioned");
    check("{\"version\":2,\"other\":true}", "it is of version 2, and this run speaks version 1");
    check("{\"version\":1,\"ask\":\"get\"}", "missing field `token`");
    check(&with(",\"more\":1"), "unknown field `more`");
    check(&with(",\"bodies\":[1,2,3]"), "more than 2 contents follow it");
    check(&with(",\"bodies\":[-1]"), "invalid value");
    check(&with(&format!(",\"bodies\":[{0},{0}]", u64::MAX)), "longer than any file");
    assert!(matches!(Request::parse(Line::TooLong), Err(Error::BadRequest { .. })));
}

#[test]
fn lines_are_bounded_and_whole() {
    let mut lines = [b"one\n".as_slice(), b"\n", b"cut off"].concat();
    let mut reader = lines.as_slice();
    let whole = |line: Option<Line>| match line {
        Some(Line::Whole(line)) => String::from_utf8(line).unwrap(),
        _ => panic!("no whole line"),
    };
    assert_eq!(whole(read_line(&mut reader).unwrap()), "one");
    assert_eq!(whole(read_line(&mut reader).unwrap()), "");
    assert!(read_line(&mut reader).unwrap().is_none());
    lines = vec![b'a'; REQUEST_BYTES_MAX + 2];
    assert!(matches!(read_line(&mut lines.as_slice()).unwrap(), Some(Line::TooLong)));
    lines[REQUEST_BYTES_MAX] = b'\n';
    assert_eq!(whole(read_line(&mut lines.as_slice()).unwrap()).len(), REQUEST_BYTES_MAX);
}

#[test]
fn half_of_a_content_is_none() {
    let mut reader = b"onetwo!".as_slice();
    let mut left = 6;
    let mut bodies = Bodies::new(&mut reader, &[3, 3], &mut left);
    let mut text = String::new();
    bodies.next().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "one");
    assert!(bodies.next_whole(2).unwrap_err().to_string().contains("more than 2 bytes"));
    assert!(bodies.next().is_err(), "there are two");
    assert_eq!((left, reader.len()), (3, 4), "what is too long is not read");
    let mut left = 5;
    let mut bodies = Bodies::new(&mut reader, &[5], &mut left);
    let error = bodies.next_whole(5).unwrap_err().to_string();
    assert!(error.contains("cut off"), "{error}");
}

#[test]
fn tokens_are_never_the_same() {
    let (one, other) = (Tokens::new().unwrap(), Tokens::new().unwrap());
    let all = [one.next(), one.next(), other.next(), other.next()];
    let different: std::collections::BTreeSet<_> = all.iter().collect();
    assert_eq!(different.len(), 4);
    assert!(all.iter().all(|token| token.len() == 64));
    assert_eq!(protocol::VERSION, 1);
}
