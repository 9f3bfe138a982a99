//! The built program, with a failing write to each of the four files and to the journal.

use std::process::{Command, Stdio};

use testkit::{report, strace};

use super::write::with_messages;
use crate::program::{Program, text};

/// Runs the program with every write to one file failing.
fn run_failing(program: &Program, file: &str, words: &[&str]) -> std::process::Output {
    let mut inner = program.command_of(words);
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o", "/dev/null", "-P"]).arg(program.path(file));
    command.args(["-e", "trace=pwrite64,write", "-e", "inject=pwrite64,write:error=EIO", "--"]);
    command
        .arg(inner.get_program())
        .args(inner.get_args())
        .current_dir(inner.get_current_dir().expect("it has one"));
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    inner.stdin(Stdio::null());
    command.stdin(Stdio::null()).output().expect("strace starts")
}

/// All four files as a reader sees them.
fn seen(program: &Program) -> [String; 3] {
    ["context show chat", "context state get chat", "context global get chat"]
        .map(|words| text(&program.run(words).success()))
}

#[test]
fn a_failed_write_leaves_all_old_or_all_new_files() {
    if let Some(reason) = strace::unusable() {
        return report::skipped("context-failing-write", &reason);
    }
    let cases: [(&str, &[&str]); 5] = [
        ("messages.jsonl", &["context", "append", "chat", "--role", "user", "new"]),
        ("metadata.json", &["context", "append", "chat", "--role", "user", "new"]),
        ("state.json", &["context", "state", "set", "chat", r#"{"new":true}"#]),
        ("global_context.json", &["context", "global", "set", "chat", r#"{"new":true}"#]),
        (".txn/journal", &["context", "append", "chat", "--role", "user", "new"]),
    ];
    for (file, words) in cases {
        let program = with_messages(2);
        let before = seen(&program);
        let output = run_failing(&program, &format!("agents-home/contexts/chat/{file}"), words);
        let stderr_text = String::from_utf8_lossy(&output.stderr).into_owned();
        let after = seen(&program);
        match output.status.code() {
            // Committed; the next open writes the file itself.
            Some(0) => {
                assert!(
                    stderr_text.contains("chat is saved, but not all files are written"),
                    "{file}: {stderr_text}"
                );
                assert_ne!(after, before, "{file}");
                assert_ne!(file, ".txn/journal");
            }
            Some(6) => {
                assert!(stderr_text.contains("error: cannot save context `chat`"), "{file}: {stderr_text}")
            }
            code => panic!("{file}: {code:?} {stderr_text}"),
        }
        // The next writer completes it, and removes all leftovers.
        program.run("context append chat --role user next").success();
        let names = program.names("agents-home/contexts/chat");
        let expected = [
            ".txn",
            "global_context.json",
            "messages.index",
            "messages.jsonl",
            "metadata.json",
            "state.json",
        ];
        assert_eq!(names, expected, "{file}");
        program.run("context verify chat").success();
        let shown = seen(&program);
        assert!(shown[0].contains("next"), "{file}");
        assert_eq!(shown[1..], after[1..], "{file}: what a reader saw is what there is");
    }
}
