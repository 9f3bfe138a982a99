//! Data in a pipe is exact; on a terminal, characters that it would obey or hide are visible.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::plan::project;
use crate::program::{Program, json};
use crate::terminal::Terminal;

/// An escape sequence that clears the screen, a bell, a mark that turns the text around, and a line that is drawn over.
const NASTY: &str = "\x1b[2J\x07gpj.\u{202e}exe over\rdrawn";
/// Parts of it that no terminal may get.
const RAW: [&str; 4] = ["\x1b[2J", "\x07", "\u{202e}", "over\r"];
const VISIBLE: &str = r"\u{1b}[2J\u{7}gpj.\u{202e}exe over\rdrawn";

/// Checks what a command prints in a pipe and on a terminal.
#[track_caller]
fn check(program: &Program, words: &[&str], exact: &[u8], visible: &str) {
    let printed = program.command_of(words).output().unwrap();
    assert!(printed.status.success(), "{words:?}: {printed:?}");
    let found = printed.stdout.windows(exact.len()).any(|window| window == exact);
    assert!(found, "{words:?} prints {:?}", String::from_utf8_lossy(&printed.stdout));
    let mut command = program.command_of(words);
    let (shown, code) = Terminal::start(command.env("PAGER", "cat")).end();
    assert_eq!(code, Some(0), "{words:?}: {shown}");
    assert!(shown.contains(visible), "{words:?} shows {shown:?}");
    for raw in RAW.into_iter().filter(|raw| *raw != "over\r") {
        assert!(!shown.contains(raw), "{words:?} shows {shown:?}");
    }
}

#[test]
fn a_diff_hides_nothing() {
    let program = project();
    let id = program.made("[CODER]", "changeset start work --actor coder");
    let content = [NASTY.as_bytes(), b" \xff\x9b1m\n"].concat();
    program.write("content", &content);
    for path in ["b.txt", "\x1b[2Jname\u{202e}"] {
        program.run_of(&["changeset", "record", &id, "--path", path, "--content", "content"]).success();
    }
    program.write("content", b"\xff\n");
    program.run(&format!("changeset record {id} --path bytes --content content")).success();
    program.run(&format!("changeset seal {id}")).success();
    let visible = format!(r"+{VISIBLE} \xff\x9b1m");
    check(&program, &["plan", "diff", "work"], &[b"+", &content[..]].concat(), &visible);
    check(&program, &["--format", "plain", "plan", "diff", "work"], &content, &visible);
    // Names are composed lines: visible everywhere.
    let name = r"\u{1b}[2Jname\u{202e}";
    for words in [&["plan", "diff", "work", "--stat"][..], &["plan", "apply", "work", "--dry-run"]] {
        check(&program, words, name.as_bytes(), name);
    }
    check(&program, &["--format", "json", "plan", "diff", "work"], "name\u{202e}".as_bytes(), r"name\u202e");
    let diff = json(&program.run("plan diff work --format json").success());
    let files = diff["data"]["files"].as_array().unwrap();
    let bytes = files.iter().find(|file| file["path"] == "bytes").unwrap();
    let expected = serde_json::json!({ "sign": "+", "text": { "base64": "/wo=" } });
    assert_eq!(bytes["hunks"][0]["lines"][0], expected);
}

#[test]
fn values_and_messages_are_exact() {
    let program = Program::in_project();
    program.run_of(&["config", "set", "x.b", NASTY]).success();
    check(&program, &["config", "get", "x.b"], format!("{NASTY}\n").as_bytes(), VISIBLE);
    program.run("context create chat").success();
    program
        .run_of(&["context", "append", "chat", "--role", "user", &format!("first\n{NASTY}\n\n")])
        .success();
    check(&program, &["context", "show", "chat"], format!("first\n{NASTY}\n\n").as_bytes(), VISIBLE);
    check(&program, &["context", "search", "first", "-C", "1"], NASTY.as_bytes(), VISIBLE);
    check(&program, &["context", "export", "chat", "--format", "markdown"], NASTY.as_bytes(), VISIBLE);
}

#[cfg(target_os = "linux")]
#[test]
fn logs_are_exact() {
    let program = Program::in_project();
    let script = "printf '\\033[2J\\007gpj.\\342\\200\\256exe over\\rdrawn \\377\\n'";
    program.run_of(&["run", "--name", "work", "--", "sh", "-c", script]).success();
    let exact = [NASTY.as_bytes(), b" \xff\n"].concat();
    let visible = format!(r"{VISIBLE} \xff");
    check(&program, &["logs", "work"], &exact, &visible);
    check(&program, &["logs", "work", "sh"], &exact, &visible);
}

#[test]
fn errors_and_questions_show_names_visibly() {
    let program = project();
    let mut command = program.command_of(&["plan", "show", NASTY]);
    let (shown, code) = Terminal::start(&mut command).end();
    assert_eq!(code, Some(3), "{shown}");
    assert!(shown.contains(VISIBLE) && RAW.iter().all(|raw| !shown.contains(raw)), "{shown:?}");
}
