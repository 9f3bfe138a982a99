//! `agents plan recover`: journals for which no plan of the store vouches.

use testkit::journals::leave_journal;

use super::{changed, project};
use crate::program::{Program, json};

const JOURNAL: &str = ".cleveragents/.txn/journal";

/// Leaves the journal of an apply of another store, which has changed `a.txt` and not yet `b.txt`.
fn foreign_journal(program: &Program) {
    leave_journal(&[program.path("")], &plan::txn_dir(), b"01ARZ3NDEKTSV4RRFFQ69G5FAV", 2, |tx| {
        tx.put("a.txt", b"new\n")?;
        tx.put("b.txt", b"new\n")
    });
    assert_eq!((program.text("a.txt"), program.text("b.txt")), ("new\n".into(), "old\n".into()));
}

#[test]
fn a_planted_journal_writes_no_hook() {
    let program = project();
    changed(&program, "[CODER]", "coder", "c.txt", "new\n");
    leave_journal(&[program.path("")], &plan::txn_dir(), b"", 0, |tx| {
        tx.put(".git/hooks/post-commit", b"#!/bin/sh\n")
    });
    let failed = program.run("--format json plan apply work").code(4);
    assert_eq!(json(&failed)["messages"][0]["code"], "untrusted-journal");
    program.run("run --apply -- touch new.txt").failure();
    for decision in ["--finish", "--roll-back"] {
        program.run(&format!("plan recover --root . {decision} --yes")).code(4);
    }
    program.run("doctor --fix").code(1);
    assert!(!program.path(".git/hooks/post-commit").exists());
    program.run("plan recover --root . --set-aside --yes").success();
    program.run("plan apply work").success();
    assert!(!program.path(".git/hooks/post-commit").exists());
}

#[test]
fn a_journal_of_another_store_waits_for_a_decision() {
    for (decision, a, b) in [
        ("--finish", "new\n", "new\n"),
        ("--roll-back", "one\ntwo\nthree\nfour\nfive\n", "old\n"),
        ("--set-aside", "new\n", "old\n"),
    ] {
        let program = project();
        changed(&program, "[CODER]", "coder", "c.txt", "new\n");
        foreign_journal(&program);
        program.run("plan apply work").code(4);
        program.run("doctor --fix").code(1);
        program.run("plan recover --root .").code(4);
        program.run(&format!("plan recover --root . {decision}")).code(2);
        assert!(program.path(JOURNAL).exists());
        assert_eq!((program.text("a.txt"), program.text("b.txt")), ("new\n".into(), "old\n".into()));
        program.run(&format!("plan recover --root . {decision} --yes")).success();
        assert_eq!((program.text("a.txt"), program.text("b.txt")), (a.to_owned(), b.to_owned()));
        assert!(!program.path(JOURNAL).exists());
        program.run("plan apply work").success();
        program.run("plan recover --root .").success();
    }
}

#[test]
fn an_unreadable_journal_is_set_aside_on_request() {
    let program = project();
    changed(&program, "[CODER]", "coder", "c.txt", "new\n");
    program.write(JOURNAL, "garbage");
    let failed = json(&program.run("--format json plan apply work").code(1));
    let message = &failed["messages"][0];
    assert_eq!(message["code"], "corrupt-journal");
    assert!(message["hint"].to_string().contains("agents plan recover --root "), "{message}");
    let doctor = program.run("doctor").code(1);
    let printed = String::from_utf8_lossy(&doctor.get_output().stdout).into_owned();
    assert!(printed.contains("the journal cannot be read"), "{printed}");
    program.run("plan recover --root .").code(4);
    program.run("plan recover --root . --finish --yes").code(1);
    assert!(program.path(JOURNAL).exists());
    program.run("plan recover --root . --set-aside --yes").success();
    program.run("plan apply work").success();
    assert_eq!(program.text("c.txt"), "new\n");
}

/// The home folder is lost, and with it the store.
#[test]
fn without_a_store_a_person_decides() {
    let program = Program::in_project();
    program.write("a.txt", "old\n");
    program.write("b.txt", "old\n");
    foreign_journal(&program);
    program.run("plan recover --root .").code(4);
    program.run("plan recover --root . --roll-back --yes").success();
    assert_eq!((program.text("a.txt"), program.text("b.txt")), ("old\n".into(), "old\n".into()));
    program.run("plan recover --root .").success();
}

/// The server may vouch for the journal.
#[test]
fn without_an_answer_of_the_store_nothing_is_decided() {
    let program = Program::in_project();
    program.write("a.txt", "old\n");
    program.write("b.txt", "old\n");
    foreign_journal(&program);
    let url = "-c store.url=postgres://nobody@127.0.0.1:1/none?connect_timeout=1";
    for words in ["plan recover --root . --set-aside --yes", "plan recover --root ."] {
        program.run(&format!("{words} {url}")).code(5);
    }
    assert!(program.path(JOURNAL).exists());
}
