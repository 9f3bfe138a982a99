//! Export and import.

use snapbox::str;

use super::write::with_messages;
use crate::program::{json, stderr_text, text};

#[test]
fn an_archive_round_trips() {
    let program = with_messages(3);
    program.run("context export chat -o chat.jsonl").success().stdout_eq("").stderr_eq(str![[r#"
chat: exported 3 messages to chat.jsonl

"#]]);
    let printed = text(&program.run("context export chat --format archive").success());
    assert_eq!(printed, program.text("chat.jsonl"), "the same bytes");
    assert_eq!(
        text(&program.run("context export chat --format json").success()),
        printed,
        "bytes in every format"
    );
    program.run("context import chat.jsonl").code(4).stderr_eq(str![[r#"
error: context `chat` already exists
  hint: choose another name, or import with --replace

"#]]);
    program
        .run("context import chat.jsonl --as copy")
        .success()
        .stdout_eq("")
        .stderr_eq("copy: imported 3 messages, revision 1\n");
    program.run("context rewind chat --to 0").success();
    program
        .run("context import chat.jsonl --replace")
        .success()
        .stdout_eq("")
        .stderr_eq("chat: imported 3 messages, revision 4\n");
}

#[test]
fn a_failed_import_changes_nothing() {
    let program = with_messages(3);
    let good = text(&program.run("context export chat").success());
    program.write("bad.jsonl", good.replace("m1", "m7"));
    let stderr_text = stderr_text(&program.run("context import bad.jsonl --replace").code(1));
    assert!(
        stderr_text.starts_with("error: cannot import `bad.jsonl`\n  its checksum is sha256:"),
        "{stderr_text}"
    );
    assert_eq!(text(&program.run("context export chat").success()), good);
    program.write("notes.txt", "hello");
    program.run("context import notes.txt").code(1).stderr_eq(str![[r#"
error: cannot import `notes.txt`
  it is not an archive, a list of chat messages, or a folder with messages.json

"#]]);
    program.run("context import missing").code(3).stderr_eq(str![[r#"
error: cannot import `missing`
  reading it failed
  No such file or directory (os error 2)

"#]]);
}

#[test]
fn other_export_formats() {
    let program = with_messages(1);
    program.run("context export chat --format openai").success().stdout_eq(str![[r#"
{"messages":[
{"role":"user","content":"m0"}
]}

"#]]);
    program.run("context export chat --format markdown").success().stdout_eq(str![[r#"
# chat

## 0. user, [..]Z

m0

"#]]);
    program.run("context export chat --format json4 -o old").success();
    assert_eq!(program.names("old"), ["global_context.json", "messages.json", "metadata.json", "state.json"]);
    let answer = program.run("context import old --format json").success();
    assert_eq!(json(&answer)["data"]["name"], "old");
    program.write("talk.json", r#"[{"role":"user","content":"a"}]"#);
    program
        .run("context import talk.json")
        .success()
        .stdout_eq("")
        .stderr_eq("talk: imported 1 message, revision 1\n");
}

#[test]
fn a_legacy_folder_is_readable_and_converted_at_the_first_write() {
    let program = with_messages(0);
    let array = "[\n  {\n    \"role\": \"user\",\n    \"content\": \"old\"\n  }\n]";
    program.write("agents-home/contexts/old/messages.json", array);
    program.write("agents-home/contexts/old/metadata.json", "{}");
    program.run("context show old").success().stdout_eq(str![[r#"
[0] user
old


"#]]);
    program.run("context append old --role user new").success().stderr_eq(str![[r#"
old: appended message 1, revision 1
warning: content was preserved in `[PLACE]/agents-home/contexts/old/messages.json.old`

"#]]);
    assert_eq!(program.text("agents-home/contexts/old/messages.json.old"), array);
    program.run("context verify old").success().stdout_eq("old: sound, 2 messages\n");
}

#[test]
fn an_unknown_export_format_lists_the_formats_of_exports() {
    let program = with_messages(1);
    let found = stderr_text(&program.run("context export chat --format yaml").code(2));
    assert!(found.contains("archive, json4, openai, markdown") && !found.contains("rich"), "{found}");
    let found = stderr_text(&program.run("context list --format yaml").code(2));
    assert!(found.contains("rich, plain, json") && !found.contains("archive"), "{found}");
}
