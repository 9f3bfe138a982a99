//! Files that another program changed: never overwritten, and never ignored.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

use context::{Error, Notice, Outcome};

use super::support::{Place, assert_error, draft, json, name, names, texts};

fn add_by_hand(place: &Place, text: &str) {
    let mut file = OpenOptions::new().append(true).open(place.file("messages.jsonl")).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

#[test]
fn a_manually_added_line_is_an_error() {
    let (place, mut chat) = Place::with_messages(2);
    add_by_hand(&place, "{\"role\":\"user\",\"content\":\"by hand\"}\n");
    let there = place.read("messages.jsonl");
    chat.append(draft("ours")).unwrap();
    for error in [
        chat.save().unwrap_err(),
        place.again().open(&name("chat")).err().unwrap(),
        chat.refresh().unwrap_err(),
    ] {
        assert!(matches!(error, Error::ModifiedExternally { .. }));
        let text = error.to_string();
        let expected =
            "messages.jsonl` was modified by another program: 2 messages were recorded, 3 were found";
        assert!(text.ends_with(expected), "{text}");
        assert_eq!(error.outcome(), Outcome::Aborted);
    }
    assert_eq!(place.read("messages.jsonl"), there, "not overwritten");
    assert!(chat.is_staged() && chat.metadata().message_count() == 2, "the object is as it was");
    assert!(place.again().list().unwrap()[0].metadata.is_err());
}

#[test]
fn a_manually_removed_line_is_an_error() {
    let (place, mut chat) = Place::with_messages(3);
    let text = place.read("messages.jsonl");
    let cut = text.split_inclusive('\n').take(2).collect::<String>();
    fs::write(place.file("messages.jsonl"), &cut).unwrap();
    chat.append(draft("ours")).unwrap();
    assert_error(chat.save(), "3 messages were recorded, 2 were found");
    assert_eq!(place.read("messages.jsonl"), cut);
    fs::remove_file(place.file("messages.jsonl")).unwrap();
    assert_error(chat.save(), "3 messages were recorded, 0 were found");
    assert!(!place.file("messages.jsonl").exists());
}

#[test]
fn a_torn_last_line_is_reported_and_preserved() {
    for keep in [1, 30] {
        let (place, _chat) = Place::with_messages(3);
        let text = place.read("messages.jsonl");
        let whole = text.split_inclusive('\n').take(2).collect::<String>();
        fs::write(place.file("messages.jsonl"), &text[..whole.len() + keep]).unwrap();
        let mut chat = place.open("chat");
        let bytes = keep as u64;
        assert_eq!(chat.notices(), [Notice::TornTail { name: name("chat"), line: 3, bytes }]);
        assert!(chat.notices()[0].to_string().contains("line 3 of the messages of context `chat` is torn"));
        assert_eq!(texts(&chat), ["m0", "m1"]);
        assert_eq!(chat.metadata().message_count(), 2);
        assert_eq!(place.read("messages.jsonl").len(), whole.len() + keep, "reading changes nothing");
        chat.append(draft("after")).unwrap();
        let saved = chat.save().unwrap();
        assert_eq!(saved.preserved_at, [place.file("messages.jsonl.torn")]);
        assert_eq!(place.read("messages.jsonl.torn"), text[whole.len()..][..keep]);
        let chat = place.open("chat");
        assert!(chat.notices().is_empty());
        assert_eq!(texts(&chat), ["m0", "m1", "after"]);
    }
}

#[test]
fn torn_lines_are_preserved_in_separate_files() {
    let (place, _chat) = Place::with_messages(1);
    for count in 0..2 {
        add_by_hand(&place, &format!("{{\"torn\":{count}"));
        let mut chat = place.open("chat");
        chat.append(draft("next")).unwrap();
        let _ = chat.save().unwrap();
    }
    assert_eq!(place.read("messages.jsonl.torn"), "{\"torn\":0");
    assert_eq!(place.read("messages.jsonl.torn-2"), "{\"torn\":1");
    assert_eq!(texts(&place.open("chat")), ["m0", "next", "next"]);
}

#[test]
fn complete_lines_of_another_tool_are_accepted() {
    let place = Place::new();
    place.write(
        "messages.jsonl",
        "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"tool\",\"content\":\"b\"}",
    );
    let mut chat = place.open("chat");
    assert_eq!(chat.metadata().message_count(), 2);
    assert_eq!(texts(&chat), ["a", "b"]);
    chat.append(draft("c")).unwrap();
    assert_eq!(chat.save().unwrap().message_count, 3);
    assert_eq!(place.read("messages.jsonl").lines().count(), 3);
    assert_eq!(texts(&place.open("chat")), ["a", "b", "c"]);
    // A wrong count is rejected.
    place.write("metadata.json", "{\"message_count\": 7}");
    assert_error(place.again().open(&name("chat")), "7 messages were recorded, 3 were found");
}

#[test]
fn damaged_files_are_reported_with_position_and_kept() {
    let (place, mut chat) = Place::with_messages(3);
    chat.append(draft("staged")).unwrap();
    let good = place.read("metadata.json");
    for (file, content, expected) in [
        ("state.json", "{\n  \"a\": x\n}", "state.json`, line 2, column 8 is damaged: it is not JSON"),
        ("global_context.json", "[]", "global_context.json` is damaged: it must hold a JSON object"),
        ("metadata.json", "[]", "metadata.json` is damaged: it must hold a JSON object"),
        ("metadata.json", "{", "metadata.json`, line 1, column 1 is damaged"),
        ("metadata.json", "{\"revision\":-1}", "metadata.json` is damaged: it must hold a revision"),
        ("metadata.json", "{\"format\":99}", "has format 99; this program supports format 1"),
    ] {
        let before = fs::read(place.file(file)).unwrap();
        place.write(file, content);
        assert_error(place.again().open(&name("chat")), expected);
        if file == "metadata.json" {
            assert_error(chat.save(), expected);
        }
        assert_eq!(place.read(file), content);
        fs::write(place.file(file), before).unwrap();
    }
    assert_eq!(place.read("metadata.json"), good);
    // An invalid line in a file of the right length.
    let text = place.read("messages.jsonl").replace("m1", "\"1");
    place.write("messages.jsonl", text);
    let chat = place.open("chat");
    assert!(chat.messages(..1).next().unwrap().is_ok());
    assert_error(chat.messages(..).find(Result::is_err).unwrap(), "messages.jsonl`, line 2 is damaged");
}

#[test]
fn an_invalid_revision_is_never_incremented() {
    let (place, mut chat) = Place::with_messages(2);
    let last = place.read("metadata.json").replace("\"revision\": 2", "\"revision\": 9007199254740991");
    place.write("metadata.json", &last);
    assert_eq!(place.open("chat").metadata().revision(), context::Revision::MAX);
    chat.append(draft("one more")).unwrap();
    assert_error(chat.save(), "it must hold a revision that can be incremented");
    assert_eq!(place.read("metadata.json"), last);
    assert_eq!(texts(&place.open("chat")), ["m0", "m1"]);
}

#[test]
fn two_layouts_at_once_are_rejected() {
    let (place, mut chat) = Place::with_messages(1);
    place.write("messages.json", "[]");
    chat.append(draft("x")).unwrap();
    assert_error(chat.save(), "has both messages.json and messages.jsonl");
    assert_error(place.again().open(&name("chat")), "has both messages.json and messages.jsonl");
}

#[test]
fn irregular_files_are_rejected() {
    let (place, _chat) = Place::with_messages(1);
    fs::remove_file(place.file("state.json")).unwrap();
    std::os::unix::fs::symlink("metadata.json", place.file("state.json")).unwrap();
    assert_error(place.again().open(&name("chat")), "cannot read context `chat`");
    fs::remove_file(place.file("messages.jsonl")).unwrap();
    fs::create_dir(place.file("messages.jsonl")).unwrap();
    assert_error(place.again().open(&name("chat")), "it must hold a plain file");
    fs::write(place.contexts.folder().join("file"), "").unwrap();
    assert_error(place.again().open(&name("file")), "there is no context `file`");
    assert_error(place.again().create(&name("file")), "cannot make");
    assert!(!names(place.contexts.folder()).contains(&".trash".to_owned()));
}

#[test]
fn harmless_manual_edits_are_accepted() {
    let (place, mut chat) = Place::with_messages(1);
    place.write("state.json", "{ \"by\": \"hand\" }");
    chat.append(draft("x")).unwrap();
    let _ = chat.save().unwrap();
    assert_eq!(place.read("state.json"), "{ \"by\": \"hand\" }", "what is not changed is not written");
    assert_eq!(place.open("chat").state().as_str(), r#"{"by":"hand"}"#);
}

/// A context whose journal may be unpublished, and whose state a person changed.
fn interrupted() -> Place {
    let (place, mut chat) = Place::with_messages(2);
    chat.set_state(json(r#"{"step":1}"#)).unwrap();
    let _ = chat.save().unwrap();
    drop(chat);
    fs::remove_file(place.file(".txn/published")).unwrap();
    place.write("state.json", "written by a person");
    place
}

fn preserved(place: &Place) -> PathBuf {
    let [name] = &*names(&place.file(".txn/kept")) else { panic!("one file is preserved") };
    place.file(".txn/kept").join(name)
}

#[test]
fn content_that_recovery_preserves_is_reported_by_the_write_that_recovers() {
    let place = interrupted();
    // A read does not recover, so the report stays.
    assert_eq!(place.open("chat").state().as_str(), r#"{"step":1}"#);
    assert!(place.again().verify(&name("chat")).unwrap().notices.is_empty());

    let mut chat = place.open("chat");
    chat.append(draft("m2")).unwrap();
    let saved = chat.save().unwrap();
    let file = preserved(&place);
    assert_eq!(fs::read_to_string(&file).unwrap(), "written by a person");
    assert_eq!(saved.preserved_at, std::slice::from_ref(&file));
    chat.append(draft("m3")).unwrap();
    assert!(chat.save().unwrap().preserved_at.is_empty(), "it is reported once");

    let notice = Notice::Preserved { name: name("chat"), preserved_at: file };
    assert_eq!(place.again().verify(&name("chat")).unwrap().notices, std::slice::from_ref(&notice));
    assert_eq!(place.again().preserved(&name("chat")).unwrap(), std::slice::from_ref(&notice));
    assert!(notice.to_string().contains(".txn/kept"), "{notice}");
}

#[test]
fn a_write_that_recovers_and_fails_does_not_lose_the_report() {
    let place = interrupted();
    let mut chat = place.open("chat");
    chat.append(draft("m2")).unwrap();
    assert_error(chat.save_if(context::Revision(1)), "revision");
    assert_eq!(chat.save().unwrap().preserved_at, [preserved(&place)]);
}

#[test]
fn every_recovering_write_reports_preserved_content() {
    let place = interrupted();
    let repaired = place.again().repair(&name("chat"), None).unwrap();
    assert_eq!(repaired.preserved_at, [preserved(&place)]);

    let place = interrupted();
    let export = place.folder.path().join("chat.archive");
    place.open("chat").export_to(context::Format::Archive, &export).unwrap();
    let chat =
        place.again().import(&export, Some(&name("chat")), context::OnExisting::Replace, None).unwrap();
    assert_eq!(chat.notices(), [Notice::Preserved { name: name("chat"), preserved_at: preserved(&place) }]);
}
