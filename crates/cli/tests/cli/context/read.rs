//! Commands that read.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use snapbox::str;

use super::write::with_messages;
use crate::program::{Program, json, stderr_text, text};

const MESSAGES: &str = "agents-home/contexts/chat/messages.jsonl";

#[test]
fn show_selects_messages() {
    let program = with_messages(10);
    let shown = |words: &str| {
        let all = text(&program.run(words).success());
        all.lines().filter(|line| line.starts_with('m')).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(shown("context show chat --last 2"), ["m8", "m9"]);
    assert_eq!(shown("context show chat --range 2..4"), ["m2", "m3"]);
    assert_eq!(shown("context show chat --range ..1"), ["m0"]);
    assert_eq!(shown("context show chat --range 9.."), ["m9"]);
    assert_eq!(shown("context show chat").len(), 10);
    program.run("context show chat --range 5..2").code(2).stdout_eq("").stderr_eq(str![[r#"
error: `5..2` is not a range such as 2..5, 2.. or ..5

"#]]);
    program.run("context show chat --last 1 --format json").success().stdout_eq(str![[r#"
{"event":"context","name":"chat"}
{"event":"message","number":9,"message":{"id":"[..]","time":"[..]Z","role":"user","content":"m9"}}
{"event":"end","version":1,"command":"context show","status":"ok","exit_code":0,"data":{"message_count":1,"name":"chat"},"timing":{"duration_ms":[..]},"messages":[]}

"#]]);
}

#[test]
fn tool_calls_and_names_are_shown() {
    let program = with_messages(0);
    let line = br#"{"role":"assistant","name":"bot","content":null,"tool_calls":[{"id":"c1"}]}"#;
    program.run_reading(line, "context append chat --jsonl -").success();
    program.run("context show chat").success().stdout_eq(str![[r#"
[0] assistant, bot, [..]Z
tool calls: [{"id":"c1"}]


"#]]);
}

#[cfg(unix)]
#[test]
fn follow_prints_new_messages_until_ctrl_c() {
    let program = with_messages(2);
    let mut command = program.command("context show chat --last 1 --follow --format json");
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut lines =
        BufReader::new(child.stdout.take().expect("it is piped")).lines().map(|line| line.expect("text"));
    let mut next =
        || serde_json::from_str::<serde_json::Value>(&lines.next().expect("a line")).expect("JSON");
    assert_eq!(next()["event"], "context");
    assert_eq!(next()["message"]["content"], "m1");
    program.run("context append chat --role user later").success();
    let later = next();
    assert_eq!((&later["number"], &later["message"]["content"]), (&2.into(), &"later".into()));
    program.run("context rewind chat --to 0").success();
    program.run("context append chat --role user anew").success();
    // It may or may not see the state between the two.
    assert_eq!(next()["message"]["content"], "anew");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
    assert_eq!(next()["exit_code"], 130);
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
}

#[test]
fn list_includes_unreadable_contexts() {
    let program = with_messages(1);
    program.run("context create broken").success();
    program.write("agents-home/contexts/broken/metadata.json", "{\n  x\n}");
    program
        .run("context list")
        .code(1)
        .stdout_eq(str![[r#"
broken  cannot be read
chat           1         2  [..]Z

"#]])
        .stderr_eq(str![[r#"
error: `[PLACE]/agents-home/contexts/broken/metadata.json`, line 2, column 3 is damaged
  it is not JSON
  key must be a string at line 2 column 3
  hint: fix the file by hand, or agents context remove broken

"#]]);
    let answer = program.run("context list --format json").code(1);
    assert_eq!(json(&answer)["data"]["contexts"][1]["message_count"], 1);
    assert_eq!(json(&answer)["data"]["contexts"][0]["problem"]["code"], "damaged");
    assert!(text(&Program::new().run("context list").success()).is_empty());
}

#[test]
fn search_filters_by_text_role_and_time() {
    let program = with_messages(0);
    let lines =
        br#"{"role":"user","content":"where is\nthe torn file\nof mine","time":"2026-01-02T00:00:00Z"}
{"role":"assistant","content":"the File is whole","time":"2026-01-03T00:00:00Z"}
"#;
    program.run_reading(lines, "context append chat --jsonl -").success();
    program.run("context fork chat side").success();
    program.run_of(&["context", "search", "FILE torn", "-C", "1", "--in", "chat"]).success().stdout_eq(str![
        [r#"
chat[0] user 2026-01-02T00:00:00Z
  1- where is
  2: the torn file
  3- of mine

"#]
    ]);
    program.run("context search file --role assistant").success().stdout_eq(str![[r#"
chat[1] assistant 2026-01-03T00:00:00Z
  1: the File is whole
side[1] assistant 2026-01-03T00:00:00Z
  1: the File is whole

"#]]);
    program
        .run("context search file --since 2026-01-03 --until 2026-01-03T00:00:00Z")
        .code(3)
        .stdout_eq("")
        .stderr_eq("no message matches\n");
    program.run("context search file --until 1h").success();
    let answer = program.run("context search file --in chat --until 2026-01-03 --format json").success();
    assert_eq!(text(&answer).lines().count(), 3);
    program.run("context search file --in nowhere").code(1).stderr_eq(str![[r#"
error: there is no context `nowhere`
  hint: agents context list

"#]]);
}

#[test]
fn a_manually_added_line_is_reported_and_repaired_on_request() {
    let program = with_messages(2);
    let mut text = program.text(MESSAGES);
    text += "{\"role\":\"user\",\"content\":\"by hand\"}\n";
    program.write(MESSAGES, &text);
    program.run("context append chat --role user x").code(4).stdout_eq("").stderr_eq(str![[r#"
error: `[PLACE]/agents-home/contexts/chat/messages.jsonl` was modified by another program: 2 messages were recorded, 3 were found
  hint: agents context verify chat --repair  # accepts the changes

"#]]);
    assert_eq!(program.text(MESSAGES), text, "not overwritten");
    program.run("context verify chat").code(1).stdout_eq(str![[r#"
chat: 1 problem, 3 messages
  [PLACE]/agents-home/contexts/chat/messages.jsonl: 2 messages were recorded, 3 were found

"#]]);
    program
        .run("context verify chat --repair")
        .success()
        .stdout_eq("")
        .stderr_eq("chat: repaired, 3 messages, revision 3\n");
    program.run("context verify --all").success().stdout_eq("chat: sound, 3 messages\n");
    program.run("context append chat --role user x").success();
}

#[test]
fn a_torn_last_line_is_reported_and_moved() {
    let program = with_messages(2);
    program.write(MESSAGES, program.text(MESSAGES) + "{\"role\":\"us");
    let notice = "warning: line 3 of the messages of context `chat` is torn (11 bytes); the next write moves it to another file\n";
    assert_eq!(stderr_text(&program.run("context show chat").success()), notice);
    assert_eq!(stderr_text(&program.run("context verify chat").success()), notice);
    program.run("context append chat --role user x").success().stderr_eq(str![[r#"
chat: appended message 2, revision 3
warning: content was preserved in `[PLACE]/agents-home/contexts/chat/messages.jsonl.torn`

"#]]);
    assert_eq!(program.text("agents-home/contexts/chat/messages.jsonl.torn"), "{\"role\":\"us");
    program.run("context verify chat").success().stderr_eq("");
}

#[test]
fn reading_works_on_a_read_only_disk() {
    let program = with_messages(2);
    let contexts = program.path("agents-home/contexts");
    let before = std::fs::metadata(&contexts).expect("it is there").modified().expect("it has a time");
    for words in [
        "context show chat",
        "context list",
        "context verify",
        "context search m1",
        "context export chat",
        "context state get chat",
    ] {
        program.run(words).success();
    }
    assert_eq!(std::fs::metadata(&contexts).expect("it is there").modified().expect("it has a time"), before);
}

#[test]
fn content_that_recovery_preserves_is_reported() {
    let program = with_messages(2);
    program.run_of(&["context", "state", "set", "chat", r#"{"step":1}"#]).success();
    program.write("agents-home/contexts/chat/.txn/published", "");
    program.write("agents-home/contexts/chat/state.json", "written by a person");
    program.run("context show chat --last 1").success().stderr_eq("");
    program.run("context append chat --role user more").success().stderr_eq(str![[r#"
chat: appended message 2, revision 4
warning: content was preserved in `[PLACE]/agents-home/contexts/chat/.txn/kept/[..]-state.json`

"#]]);
    program
        .run("context append chat --role user more")
        .success()
        .stderr_eq("chat: appended message 3, revision 5\n");
    program.run("context verify chat").success().stderr_eq(str![[r#"
warning: another program changed context `chat` while a save was interrupted; its content is preserved in `[PLACE]/agents-home/contexts/chat/.txn/kept/[..]-state.json`

"#]]);
    let found = text(&program.run("doctor").success());
    assert!(found.contains("warning  contexts  another program changed context `chat`"), "{found}");
    program.write("agents-home/contexts/chat/metadata.json", "no");
    let found = text(&program.run("doctor").code(1));
    assert!(found.contains("problem  contexts  `chat` cannot be read"), "{found}");
}

#[test]
fn doctor_looks_at_the_content_of_contexts() {
    let program = with_messages(2);
    let found = text(&program.run("doctor --verbose").success());
    assert!(found.contains("1 context: sound"), "{found}");
    // The length stays the same.
    let messages = "agents-home/contexts/chat/messages.jsonl";
    let changed = program.text(messages).replace("\"m1\"", "\"n1\"");
    program.write(messages, changed);
    let said = "another program changed messages in it; their number and length are the same";
    let found = text(&program.run("context verify chat").code(1));
    assert!(found.contains(said), "{found}");
    let found = text(&program.run("doctor").code(1));
    assert!(found.contains("problem  contexts  `chat`: ") && found.contains(said), "{found}");
    program.run("context verify chat --repair").success();
    program.run("doctor").success();
    program.write("agents-home/contexts/chat/.txn/journal", "not a journal");
    program.run("context show chat").code(1);
    let found = text(&program.run("doctor").code(1));
    assert!(found.contains("problem  contexts  `chat` cannot be read: "), "{found}");
    assert!(found.contains("agents context verify chat"), "{found}");
}
