//! Answers that cannot be written.

#![expect(clippy::disallowed_methods, reason = "prepares folders and files of the test")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::File;
use std::process::Output;

use crate::plan::{changed, project};
use crate::program::{Program, json};

/// Runs a command whose standard output is a full disk.
fn run_full(program: &Program, words: &str) -> (Option<i32>, String) {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let Output { status, stderr, .. } = program.command(words).stdout(full).output().unwrap();
    (status.code(), String::from_utf8(stderr).unwrap())
}

#[test]
fn json_that_cannot_be_written_is_an_error() {
    let program = project();
    for words in ["plan list", "plan show work", "config get plan.merge", "plan diff work"] {
        let (code, stderr) = run_full(&program, &format!("{words} --format json"));
        assert_eq!(code, Some(1), "{words}: {stderr}");
        assert!(stderr.starts_with("error: cannot print"), "{words}: {stderr}");
        assert!(!stderr.contains("the change was made"), "{words}: {stderr}");
    }
    assert_eq!(run_full(&program, "plan show nothing --format json").0, Some(3));
}

#[test]
fn a_change_whose_answer_cannot_be_written_is_reported() {
    let program = project();
    changed(&program, "[CODER]", "coder", "b.txt", "new\n");
    program.run("context create chat").success();
    for (words, done) in [
        ("plan apply work --format json", "work: applied 1 file to "),
        ("plan undo work --yes --format json", "work: undid 1 file in "),
        ("context append chat --role user hello", "chat: appended message 0, revision "),
        ("context append chat --role user hello --format json", "chat: appended message 1, revision "),
        ("plan create --name other", "was created"),
        ("changeset start other --actor coder", "was started"),
    ] {
        let (code, stderr) = run_full(&program, words);
        assert_eq!(code, Some(1), "{words}: {stderr}");
        let error = stderr.lines().find(|line| line.starts_with("error: ")).unwrap_or_default();
        assert!(error.starts_with("error: cannot print; the change was made: "), "{words}: {stderr}");
        assert!(error.contains(done), "{words}: {stderr}");
    }
    assert_eq!(program.text("b.txt"), "old\n", "applied and undone");
    let id = json(&program.run("changeset list other --format json"))["data"]["changesets"][0]["id"].clone();
    let id = id.as_str().unwrap();
    let record = format!("changeset record {id} --path new.txt --content b.txt");
    let (code, stderr) = run_full(&program, &format!("{record} --format json"));
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("the change was made: ") && stderr.contains(": recorded change 1"), "{stderr}");
    // As text it has nothing to print.
    assert_eq!(run_full(&program, &record).0, Some(0));
}
