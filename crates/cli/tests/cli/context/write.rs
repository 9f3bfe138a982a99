//! Commands that change a context.

use snapbox::str;

use crate::program::{Program, json, text};

/// Creates a context `chat` with so many messages.
pub(super) fn with_messages(count: usize) -> Program {
    let program = Program::new();
    program.run("context create chat").success();
    let lines: String =
        (0..count).map(|at| format!("{{\"role\":\"user\",\"content\":\"m{at}\"}}\n")).collect();
    if count > 0 {
        program.run_reading(lines.as_bytes(), "context append chat --jsonl -").success();
    }
    program
}

#[test]
fn create_append_show() {
    let program = Program::new();
    program.run("context create chat").success().stdout_eq("").stderr_eq(str![[r#"
chat: created in [PLACE]/agents-home/contexts/chat

"#]]);
    let appended = program.run_of(&["context", "append", "chat", "--role", "user", "hello there"]).success();
    assert_eq!(text(&appended).trim_end().len(), 26, "the id alone");
    appended.stderr_eq("chat: appended message 0, revision 2\n");
    program.run_reading(b"from a pipe\n", "context append chat --role assistant -").success();
    program.run("context show chat").success().stderr_eq("").stdout_eq(str![[r#"
[0] user, [..]Z
hello there

[1] assistant, [..]Z
from a pipe


"#]]);
}

#[test]
fn a_text_may_begin_with_hyphens_but_not_look_like_an_option() {
    let program = Program::new();
    program.run("context create chat").success();
    for said in ["- a list", "---", "-5", "--- a diff", "--"] {
        program.run_of(&["context", "append", "chat", "--role", "user", "--", said]).success();
    }
    program.run_of(&["context", "append", "chat", "--role", "user", "- a list"]).success();
    program.run("context append chat --role user --stdin").code(2).stdout_eq("").stderr_eq(str![[r#"
error: invalid value '--stdin' for '[TEXT]': there is no such option; `-` reads the text from standard input
  hint: agents help context append

"#]]);
}

#[test]
fn many_messages_are_one_commit_or_none() {
    let program = with_messages(2);
    let good = "{\"role\":\"tool\",\"content\":\"a\",\"n\":1.10}\n\n{\"role\":\"tool\",\"content\":\"b\"}\n";
    let answer =
        program.run_reading(good.as_bytes(), "context append chat --jsonl - --format json").success();
    let data = &json(&answer)["data"];
    assert_eq!((data["ids"].as_array().map(Vec::len), &data["revision"]), (Some(2), &3.into()));
    assert_eq!(data["message_count"], 4);
    let bad = format!("{good}{{\"role\":\"nobody\"}}\n");
    program.run_reading(bad.as_bytes(), "context append chat --jsonl -").code(2).stdout_eq("").stderr_eq(
        str![[r#"
error: message 3 cannot be appended
  `nobody` is not a role; use system, developer, user, assistant or tool

"#]],
    );
    let shown = text(&program.run("context show chat --range 2..").success());
    assert!(shown.contains("\na\n") && shown.contains("\nb\n") && !shown.contains("nobody"), "{shown}");
    program.write("lines", good);
    program.run("context append chat --jsonl lines").success();
    program.run("context append chat --jsonl missing").code(1).stderr_eq(str![[r#"
error: cannot read `missing`
  No such file or directory (os error 2)

"#]]);
    let stored = program.text("agents-home/contexts/chat/messages.jsonl");
    assert_eq!(stored.lines().count(), 6);
    assert!(stored.contains("\"n\":1.10"), "values keep their spelling");
}

#[test]
fn state_and_global_context_are_set_patched_and_read() {
    let program = with_messages(0);
    program
        .run_of(&["context", "state", "set", "chat", r#"{"a": 1.10, "b": {"c": true}}"#])
        .success()
        .stdout_eq("")
        .stderr_eq(str![[r#"
chat: changed the state, revision 2

"#]]);
    program.run_reading(br#"{"b":{"c":null,"d":[1,2]}}"#, "context state patch chat -").success();
    program.run("context state get chat").success().stdout_eq(str![[r#"
{
  "a": 1.10,
  "b": {
    "d": [
      1,
      2
    ]
  }
}

"#]]);
    program.run("context state get chat /b/d/1").success().stdout_eq("2\n");
    for words in ["context state get chat --format json", "context state get chat /a --format json"] {
        assert!(text(&program.run(words).success()).contains("1.10"), "programs get its spelling too");
    }
    program.run("context state get chat /x").code(3).stderr_eq(str![[r#"
error: context `chat` has no value at `/x`
  hint: a pointer is like /a/b or /list/0

"#]]);
    program.run("context global patch chat {\"who\":\"ada\"}").success();
    let got = program.run("context global get chat --format json").success();
    assert_eq!(json(&got)["data"], serde_json::json!({ "who": "ada" }));
    assert_eq!(json(&got)["command"], "context global get");
    program.run("context state set chat []").code(2).stderr_eq(str![[r#"
error: the state must be a JSON object

"#]]);
    program.run("context state set chat {").code(2).stderr_eq(str![[r#"
error: cannot parse the value as JSON
  it is not JSON
  EOF while parsing an object at line 1 column 1
  hint: quote a text as JSON: '"text"'

"#]]);
}

#[test]
fn a_stale_revision_changes_nothing_and_exits_with_4() {
    let program = with_messages(3);
    program.write("archive", program.run("context export chat").success().get_output().stdout.clone());
    for words in [
        "context append chat --role user x --if-revision 1",
        "context state set chat {} --if-revision 1",
        "context global patch chat {} --if-revision 1",
        "context rewind chat --to 0 --if-revision 1",
        "context clear chat --yes --if-revision 1",
        "context remove chat --yes --if-revision 1",
        "context rename chat talk --if-revision 1",
        "context import archive --replace --if-revision 1",
        "context verify chat --repair --if-revision 1",
    ] {
        program.run(words).code(4).stdout_eq("").stderr_eq(str![[r#"
error: context `chat` is at revision 2, not 1; nothing was changed
  hint: agents context show chat --last 1

"#]]);
    }
    let answer = program.run("context append chat --role user x --if-revision 1 --format json").code(4);
    assert_eq!(json(&answer)["messages"][0]["code"], "stale");
    program.run("context append chat --role user x --if-revision 2").success();
    assert_eq!(program.text("agents-home/contexts/chat/messages.jsonl").lines().count(), 4);
}

#[test]
fn rewind_fork_rename() {
    let program = with_messages(5);
    program
        .run("context fork chat side --at 2")
        .success()
        .stdout_eq("")
        .stderr_eq("side: forked from chat, 2 messages\n");
    program
        .run("context rewind chat --to 1")
        .success()
        .stdout_eq("")
        .stderr_eq("chat: kept 1 message, revision 3\n");
    program.run("context rewind chat --to 9").code(2).stderr_eq(str![[r#"
error: context `chat` has 1 message, fewer than 9

"#]]);
    program.run("context rename side talk").success().stdout_eq("").stderr_eq("side: renamed to talk\n");
    program.run("context show side").code(3).stderr_eq(str![[r#"
error: there is no context `side`
  hint: agents context list

"#]]);
    program.run("context fork chat talk").code(4).stderr_eq(str![[r#"
error: context `talk` already exists
  hint: choose another name, or import with --replace

"#]]);
    program.run("context list").success().stdout_eq(str![[r#"
chat         1         3  [..]Z
talk         2         1  [..]Z

"#]]);
}

#[test]
fn deleting_without_a_terminal_needs_yes() {
    let program = with_messages(3);
    for (words, what) in [
        ("context clear chat", "clear chat"),
        ("context remove chat", "delete chat"),
        ("context prune --older-than 0s", "delete 1 context"),
    ] {
        let stderr_text = crate::program::stderr_text(&program.run(words).code(2));
        assert_eq!(stderr_text, format!("error: not a terminal: add --yes to {what}\n"));
    }
    assert_eq!(program.text("agents-home/contexts/chat/messages.jsonl").lines().count(), 3);
    program.run("context clear chat --yes").success().stdout_eq("").stderr_eq("chat: cleared, revision 3\n");
    program.run("context show chat").success().stdout_eq("");
    program.run("context remove chat --yes").success().stdout_eq("").stderr_eq("chat: removed\n");
    program.run("context remove chat --yes").code(3);
    assert_eq!(program.names("agents-home/contexts"), [".locks", ".trash"]);
}

#[test]
fn prune_lists_and_removes_stale_contexts() {
    let program = with_messages(1);
    program.run("context prune --older-than 30d --dry-run").success().stdout_eq("nothing to remove\n");
    program.run("context prune --older-than 0s --dry-run").success().stdout_eq(str![[r#"
chat  1 message  [..]Z
would remove 1 context

"#]]);
    assert_eq!(program.names("agents-home/contexts"), [".locks", "chat"]);
    let answer = program.run("context prune --older-than 0s --yes --format json").success();
    assert_eq!(json(&answer)["data"]["removed"], serde_json::json!(["chat"]));
    for age in ["soon", "--older-than=-1d"] {
        let words = if age.starts_with("--") {
            format!("context prune {age}")
        } else {
            format!("context prune --older-than {age}")
        };
        assert!(
            crate::program::stderr_text(&program.run(&words).code(2))
                .contains("is not a duration such as 30d or 12h")
        );
    }
}

#[test]
#[cfg(unix)]
fn endless_input_is_refused() {
    let program = crate::plan::project();
    program.run("context create chat").success();
    let found = program.run("context append chat --jsonl /dev/zero").code(1).get_output().stderr.clone();
    let found = String::from_utf8_lossy(&found);
    assert!(
        found.contains("cannot read `/dev/zero`") && found.contains("more than 268435456 bytes"),
        "{found}"
    );
    program.run("context import /dev/zero --as other").code(1);
    let changeset = program.made("[CHANGESET]", "changeset start work --actor me");
    let record = |from: &str| program.run(&format!("changeset record {changeset} --path f {from}")).code(1);
    record("--content /dev/zero");
    record("--patch /dev/zero");
    program.run("audit verify --checkpoint /dev/zero").code(1);
    assert_eq!(program.text("agents-home/contexts/chat/messages.jsonl").lines().count(), 0);
}

#[test]
fn a_file_that_is_not_text_is_refused() {
    let program = with_messages(1);
    program.write("m.jsonl", b"\xff\xfe");
    program.run("context append chat --jsonl m.jsonl").code(1).stderr_eq(str![[r#"
error: `m.jsonl` is not a text file

"#]]);
}

#[test]
fn an_empty_file_appends_nothing_and_says_so() {
    let program = with_messages(1);
    program.write("empty.jsonl", "\n");
    program
        .run("context append chat --jsonl empty.jsonl")
        .success()
        .stdout_eq("")
        .stderr_eq("chat: appended no message, revision 2\n");
}
