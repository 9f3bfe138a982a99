//! Expectations that hold, and those that conflict.

use filetx::{Error, Expected, Hash, Transaction};

use super::place::{check, refused};

fn content(text: &str) -> Expected {
    Expected::Content(Hash::of(text.as_bytes()))
}

#[test]
fn expectations_that_hold_let_the_transaction_go_on() {
    let work = |tx: &mut Transaction<'_>| {
        tx.expect("missing", &Expected::Absent)?;
        tx.expect("missing/below", &Expected::Absent)?;
        tx.expect("f", &content("text"))?;
        tx.expect("l", &Expected::Symlink("f".into()))?;
        tx.put("f", b"new")
    };
    check(&["f:640=text", "l->f"], work, &["f:640=new", "l->f"]);
}

#[test]
fn expectations_are_about_what_was_staged() {
    let work = |tx: &mut Transaction<'_>| {
        tx.put("f", b"new")?;
        tx.expect("f", &content("new"))?;
        tx.remove("g")?;
        tx.expect("g", &Expected::Absent)
    };
    check(&["f=old", "g=old"], work, &["f=new"]);
}

#[test]
fn a_large_file_is_compared_whole() {
    let text = "0123456789abcdef".repeat(20_000);
    let work = |tx: &mut Transaction<'_>| {
        tx.put("f", text.as_bytes())?;
        tx.expect("f", &content(&text))?;
        assert!(matches!(tx.expect("f", &content(&text[1..])), Err(Error::Conflict { .. })));
        tx.remove("f")
    };
    check(&[], work, &[]);
}

#[test]
fn what_is_not_as_expected_is_a_conflict_that_says_both() {
    let conflict = |expected: Expected, path: &str, text: &str| {
        let start = ["f=text", "d/", "l->f"];
        refused(&start, |tx| tx.expect(path, &expected), "Conflict", text);
    };
    conflict(Expected::Absent, "f", "root/f` changed: expected nothing, found a file of 4 bytes");
    conflict(Expected::Absent, "d", "expected nothing, found a folder");
    conflict(Expected::Absent, "l", "expected nothing, found a symlink to `f`");
    conflict(content("other"), "f", "expected a file with hash");
    conflict(content("text"), "missing", "found nothing");
    conflict(content("text"), "l", "found a symlink to `f`");
    conflict(content(""), "d", "found a folder");
    conflict(Expected::Symlink("g".into()), "l", "expected a symlink to `g`, found a symlink to `f`");
    conflict(Expected::Symlink("f".into()), "f", "expected a symlink to `f`, found a file");
}
