//! Names and options that are rejected before any I/O.

use crate::program::{Program, stderr_text};

#[test]
fn invalid_names_are_rejected_before_any_io() {
    let program = Program::new();
    let long = "n".repeat(300);
    for name in ["../x", "a/b", "", ".locks", "con", "nul.txt", "a b", "é\u{301}", &long] {
        for words in [["context", "create", name], ["context", "show", name], ["context", "verify", name]] {
            let stderr_text = stderr_text(&program.run_of(&words).code(2));
            assert!(stderr_text.contains("is not a valid context name"), "{stderr_text}");
        }
    }
    assert!(!program.path("agents-home").exists());
}

#[test]
fn conflicting_options_are_rejected() {
    let program = super::write::with_messages(1);
    for words in [
        "context append chat --role user",
        "context append chat text",
        "context append chat --role user text --jsonl -",
        "context show chat --last 1 --range 1..2",
        "context show chat --range 1-2",
        "context show chat --range x..",
        "context show chat --range 5..2",
        "context verify --repair",
        "context verify chat --all",
        "context verify chat --if-revision 1",
        "context export chat --format json4",
        "context list --format markdown",
        "config list --format archive",
        "context search x --since yesterday",
        "context search x --role nobody",
    ] {
        program.run(words).code(2).stdout_eq("");
    }
}

#[test]
fn an_uncreatable_home_is_reported() {
    let program = Program::new();
    program.write("agents-home", "a file");
    let stderr_text = stderr_text(&program.run("context create chat").code(1));
    assert!(stderr_text.starts_with("error: cannot make `"), "{stderr_text}");
}
