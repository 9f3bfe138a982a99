//! Export and import: no loss, and no change by an invalid import.

use std::fs;
use std::path::{Path, PathBuf};

use context::{Draft, Error, Format, MESSAGE_BYTES_MAX, OnExisting, Outcome, Revision, Role};
use testkit::chain;

use super::support::{Place, assert_error, draft, json, name, names, text, texts};

/// A context with all kinds of content.
fn rich() -> (Place, context::ContextManager) {
    let (place, mut chat) = Place::with_messages(2);
    let parts = r#"{"role":"assistant","name":"bot","content":[{"type":"text","text":"look"},{"type":"image","v":1.10}],"tool_calls":[{"id":"c1"}],"metadata":{"a":1},"x":0.50}"#;
    chat.append(Draft::parse(parts).unwrap()).unwrap();
    chat.append(Draft::parse(r#"{"role":"tool","tool_call_id":"c1","content":"42\n"}"#).unwrap()).unwrap();
    chat.set_state(json(r#"{"n":1.10}"#)).unwrap();
    chat.set_global(json(r#"{"who":"ada"}"#)).unwrap();
    let _ = chat.save().unwrap();
    (place, chat)
}

fn archive(chat: &context::ContextManager) -> String {
    let mut out = Vec::new();
    chat.export(Format::Archive, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

impl Place {
    fn beside(&self, file: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(file);
        fs::write(&path, content).unwrap();
        path
    }
}

fn lines(chat: &context::ContextManager) -> Vec<String> {
    chat.messages(..).map(|one| one.unwrap().message.as_json().to_owned()).collect()
}

#[test]
fn archives_round_trip_without_loss() {
    let (place, chat) = rich();
    let before = testkit::folder::tree(place.folder.path());
    let text = archive(&chat);
    assert_eq!(archive(&chat), text, "the same revision is the same archive");
    assert!(testkit::folder::tree(place.folder.path()) == before, "an export changes nothing");
    assert!(text.starts_with(r#"{"kind":"cleveragents-context","version":1,"name":"chat"}"#));
    assert!(text.lines().last().unwrap().contains(r#""message_count":4,"checksum":"sha256:"#));
    let file = place.beside("export.jsonl", &text);
    assert_error(place.contexts.import(&file, None, OnExisting::Fail, None), "context `chat` already exists");
    let copy = place.contexts.import(&file, Some(&name("copy")), OnExisting::Fail, None).unwrap();
    for copy in [copy, place.open("copy")] {
        assert_eq!(lines(&copy), lines(&chat));
        assert_eq!(copy.state(), chat.state());
        assert_eq!(copy.global_context(), chat.global_context());
        assert_eq!(copy.metadata().created_at(), chat.metadata().created_at());
        assert_eq!(copy.metadata().revision(), Revision(1));
    }
    assert!(place.contexts.verify(&name("copy")).unwrap().is_sound());
    // Older exports have only the digits of the checksum.
    let file = place.beside("bare.jsonl", text.replace("\"sha256:", "\""));
    assert_eq!(
        lines(&place.contexts.import(&file, Some(&name("bare")), OnExisting::Fail, None).unwrap()),
        lines(&chat)
    );
}

#[test]
fn an_archive_replaces_all_or_nothing() {
    let (place, chat) = rich();
    let file = place.beside("export.jsonl", archive(&chat));
    let (other, mut target) = Place::with_messages(90);
    target.set_state(json(r#"{"old":true}"#)).unwrap();
    let _ = target.save().unwrap();
    let stale = other.contexts.import(&file, None, OnExisting::Replace, Some(Revision(1)));
    assert_error(stale, "is at revision 3, not 1");
    let new = other.contexts.import(&file, None, OnExisting::Replace, Some(Revision(3))).unwrap();
    assert_eq!(new.metadata().revision(), Revision(4), "revisions count on");
    assert_eq!(lines(&other.open("chat")), lines(&chat));
    assert_eq!(other.open("chat").state().as_str(), r#"{"n":1.10}"#);
    assert!(matches!(target.messages(..).next(), Some(Err(Error::Rewritten { .. }))));
    target.append(draft("goes on")).unwrap();
    assert_eq!(target.save().unwrap().message_count, 5);
    assert!(other.contexts.verify(&name("chat")).unwrap().is_sound());
    other.write_old("[]");
    fs::remove_file(other.file("messages.jsonl")).unwrap();
    assert!(other.contexts.import(&file, None, OnExisting::Replace, None).is_ok());
    assert!(!other.file("messages.json").exists());
    assert_eq!(lines(&other.open("chat")), lines(&chat));
}

#[test]
fn unreadable_metadata_are_not_replaced() {
    let (place, chat) = rich();
    let file = place.beside("export.jsonl", archive(&chat));
    let (other, _) = Place::with_messages(2);
    for damaged in ["{", r#"{"revision":-3}"#, r#"{"format":99}"#] {
        other.write("metadata.json", damaged);
        let error = other.contexts.import(&file, None, OnExisting::Replace, None).err().unwrap();
        assert!(matches!(error, Error::Damaged { .. } | Error::Newer { .. }), "{error}");
        assert_eq!(other.read("metadata.json"), damaged);
    }
    // An explicit removal works.
    let _ = other.contexts.remove(&name("chat"), None).unwrap();
    assert!(other.contexts.import(&file, None, OnExisting::Replace, None).is_ok());
    let old = place.folder.path().join("old");
    fs::create_dir(&old).unwrap();
    fs::write(old.join("messages.json"), "[]").unwrap();
    fs::write(old.join("metadata.json"), r#"{"revision":[]}"#).unwrap();
    assert_error(other.contexts.import(&old, None, OnExisting::Fail, None), "its `metadata.json` is invalid");
}

#[test]
fn an_invalid_archive_leaves_the_context_unchanged() {
    let (place, chat) = rich();
    let good = archive(&chat);
    let all: Vec<&str> = good.split_inclusive('\n').collect();
    let end = all.len() - 1;
    let without = |at: usize| {
        all.iter().enumerate().filter(|(n, _)| *n != at).map(|(_, line)| *line).collect::<String>()
    };
    let cases = [
        (good.replace("m1", "m2"), "its checksum is sha256:"),
        (without(5), "its checksum is sha256:"),
        (without(end), "it ends after line 8"),
        (good[..good.len() - 3].to_owned(), "it ends after line 8"),
        (good[..200].to_owned(), "it ends after line 1"),
        (without(2), "metadata, state and global_context come first"),
        (good.clone() + "x", "the last line is before it"),
        (
            good.replace("\"version\":1,", "\"version\":2,"),
            "archive of version 2; this program supports version 1",
        ),
        (
            good.replace("\"message_count\":4,\"checksum", "\"message_count\":5,\"checksum"),
            "the number of messages before it",
        ),
        (
            good.replace("\"kind\":\"message\"", "\"kind\":\"massage\""),
            "only messages and the end may follow",
        ),
        (
            good.replace("\"role\":\"tool\"", "\"roll\":\"tool\""),
            "line 8 is invalid: `role` of the message must be a string",
        ),
        (
            good.replace("\"kind\":\"state\",\"value\":{", "\"kind\":\"state\",\"value\":[{"),
            "line 3 is invalid",
        ),
        (good.replace("{\"n\":1.10}", "[]"), "it must hold a JSON object"),
    ];
    for (content, expected) in cases {
        let file = place.beside("bad.jsonl", &content);
        let before = testkit::folder::tree_without(&place.file(""), ".txn");
        let result = place.contexts.import(&file, Some(&name("chat")), OnExisting::Replace, None);
        let error = assert_error(result, expected);
        assert!(chain(&error).starts_with("cannot import"), "{}", chain(&error));
        assert_eq!(error.outcome(), Outcome::Aborted);
        assert!(testkit::folder::tree_without(&place.file(""), ".txn") == before);
        assert_error(place.contexts.import(&file, Some(&name("new")), OnExisting::Fail, None), expected);
        assert_eq!(names(place.contexts.folder()), [".locks", ".trash", "chat"], "{expected}");
    }
    assert!(place.contexts.verify(&name("chat")).unwrap().is_sound());
}

#[test]
fn lists_of_chat_messages_are_detected_by_content() {
    let place = Place::new();
    let list = r#"[{"role":"system","content":"be kind"},{"id":"msg_1","role":"user","content":[{"type":"text","text":"hi"}],"f":1.10}]"#;
    for (file, content) in
        [("a.json", list.to_owned()), ("b.txt", format!("\n {{\"model\":\"m\",\"messages\":{list}}}"))]
    {
        let path = place.beside(file, content);
        let chat = place.contexts.import(&path, None, OnExisting::Fail, None).unwrap();
        assert_eq!(chat.name().as_str(), &file[..1], "without its ending");
        assert_eq!(texts(&chat), ["be kind", "hi"]);
        let second = chat.messages(1..).next().unwrap().unwrap().message;
        assert_eq!(second.field("source_id").unwrap().as_str(), "\"msg_1\"");
        assert_eq!(second.field("f").unwrap().as_str(), "1.10");
        assert!(second.id().is_some() && second.time().is_none(), "a time that nobody knows is not made up");
    }
}

#[test]
fn unknown_import_formats_are_rejected() {
    let place = Place::new();
    let unknown = "it is not an archive, a list of chat messages, or a folder with messages.json";
    for (content, expected) in [
        (&b"hello"[..], unknown),
        (b"", unknown),
        (b"{}", unknown),
        (b"{\"messages\":7}", unknown),
        (b"[\xff]", unknown),
        (b"[1]", "message 1 is invalid: a message is a JSON object"),
        (b"[{\"role\":\"user\"},{}]", "message 2 is invalid: `role` of the message must be a string"),
        (b"[\n{]", "line 2 is invalid: it is not JSON"),
        (b"{\"messages\":\n[}", "line 2 is invalid: it is not JSON"),
        (b"{\"role\":\"user\"}\n{\"role\":\"user\"}\n", "line 2 is invalid: it is not JSON"),
    ] {
        let path = place.beside("odd", content);
        assert_error(place.contexts.import(&path, None, OnExisting::Fail, None), expected);
    }
    let missing = place.folder.path().join("missing");
    assert_error(place.contexts.import(&missing, None, OnExisting::Fail, None), "reading it failed");
    assert_error(
        place.contexts.import(place.folder.path(), Some(&name("x")), OnExisting::Fail, None),
        unknown,
    );
    let socket = place.folder.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    assert_error(place.contexts.import(&socket, Some(&name("x")), OnExisting::Fail, None), unknown);
    let odd = place.beside("a b.json", "[]");
    assert_error(place.contexts.import(&odd, None, OnExisting::Fail, None), "is not a valid context name");
    assert!(place.contexts.list().unwrap().is_empty());
}

#[test]
fn the_legacy_layout_round_trips() {
    let (place, chat) = rich();
    let out = place.folder.path().join("out");
    chat.export_to(Format::Json4, &out).unwrap();
    assert_eq!(names(&out), ["global_context.json", "messages.json", "metadata.json", "state.json"]);
    let messages = fs::read_to_string(out.join("messages.json")).unwrap();
    assert!(messages.starts_with("[\n  {\n    \"id\": \""), "{messages}");
    assert!(messages.contains("\n        \"v\": 1.10\n"), "{messages}");
    assert!(messages.ends_with("\n  }\n]"));
    assert_eq!(fs::read_to_string(out.join("state.json")).unwrap(), "{\n  \"n\": 1.10\n}");
    let back = place.contexts.import(&out, None, OnExisting::Fail, None).unwrap();
    assert_eq!(back.name().as_str(), "out");
    assert_eq!(lines(&back), lines(&chat));
    assert_eq!((back.state(), back.global_context()), (chat.state(), chat.global_context()));
    // The folder is a legacy context.
    fs::rename(&out, place.contexts.folder().join("old")).unwrap();
    assert_eq!(lines(&place.open("old")), lines(&chat));
    let empty = place.contexts.create(&name("empty")).unwrap();
    empty.export_to(Format::Json4, &out).unwrap();
    assert_eq!(fs::read_to_string(out.join("messages.json")).unwrap(), "[]");
    assert_error(chat.export_to(Format::Json4, &out), "cannot write the export");
    assert_eq!(
        fs::read_to_string(out.join("messages.json")).unwrap(),
        "[]",
        "a folder that is not empty stays"
    );
    fs::write(out.join("state.json"), "[]").unwrap();
    assert_error(
        place.contexts.import(&out, Some(&name("x")), OnExisting::Fail, None),
        "its `state.json` is invalid: it must hold a JSON object",
    );
    fs::write(out.join("messages.json"), "x").unwrap();
    assert_error(
        place.contexts.import(&out, Some(&name("x")), OnExisting::Fail, None),
        "its `messages.json` is invalid",
    );
    assert_eq!(names(place.folder.path()), ["contexts", "out"], "no leftovers");
}

#[test]
fn exports_for_chat_apis_and_for_people() {
    let (place, chat) = rich();
    let file = place.folder.path().join("chat.json");
    fs::write(&file, "what was there").unwrap();
    chat.export_to(Format::Openai, &file).unwrap();
    let content = fs::read_to_string(&file).unwrap();
    let value: serde_json::Value = serde_json::from_str(&content).unwrap();
    assert_eq!(value["messages"].as_array().unwrap().len(), 4);
    assert_eq!(value["messages"][0], serde_json::json!({"role": "user", "content": "m0"}));
    assert!(content.contains(r#""x":0.50"#) && !content.contains("metadata"));
    let back = place.contexts.import(&file, Some(&name("back")), OnExisting::Fail, None).unwrap();
    assert_eq!(texts(&back), texts(&chat));
    let mut out = Vec::new();
    chat.export(Format::Markdown, &mut out).unwrap();
    let markdown = String::from_utf8(out).unwrap();
    assert!(markdown.starts_with("# chat\n\n## 0. user, 20"), "{markdown}");
    assert!(markdown.contains("## 2. assistant bot, "), "{markdown}");
    assert!(
        markdown.contains("look\n\n~~~~json\n{\n  \"type\": \"image\",\n  \"v\": 1.10\n}\n~~~~"),
        "{markdown}"
    );
    assert_error(chat.export(Format::Json4, &mut Vec::new()), "four files need a folder");
    for (text, format) in [
        ("archive", Format::Archive),
        ("json4", Format::Json4),
        ("openai", Format::Openai),
        ("markdown", Format::Markdown),
    ] {
        assert_eq!(text.parse(), Ok(format));
    }
    assert!("pdf".parse::<Format>().unwrap_err().contains("use archive, json4, openai or markdown"));
}

#[test]
fn a_failed_export_leaves_the_existing_file() {
    let (place, chat) = rich();
    let file = place.beside("out.jsonl", "what was there");
    let damaged = place.read("messages.jsonl").replace("m1", "\"1");
    place.write("messages.jsonl", damaged);
    assert_error(chat.export_to(Format::Archive, &file), "line 2 is damaged");
    assert_eq!(fs::read_to_string(&file).unwrap(), "what was there");
    assert_error(chat.export_to(Format::Archive, Path::new("/")), "cannot write the export");
    let nowhere = place.folder.path().join("no/where");
    assert_error(chat.export_to(Format::Archive, &nowhere), "cannot write the export");
    assert_eq!(names(place.folder.path()), ["contexts", "out.jsonl"], "no leftovers");
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    for format in [Format::Archive, Format::Openai, Format::Markdown] {
        assert_error(chat.export(format, &mut Full), "cannot write the export");
    }
}

#[test]
fn any_role_can_be_imported_and_ids_increase() {
    let place = Place::new();
    let id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let list = format!(
        r#"[{{"id":"{id}","role":"user","content":"a"}},{{"id":"{id}","role":"function","content":"b"}}]"#
    );
    let chat = place.contexts.import(&place.beside("x.json", list), None, OnExisting::Fail, None).unwrap();
    let all: Vec<_> = chat.messages(..).map(|one| one.unwrap().message).collect();
    assert_eq!(all[0].id().unwrap().to_string(), id);
    assert!(all[1].id() > all[0].id());
    assert_eq!(all[1].role(), &Role::Other("function".into()));
    assert_eq!(text(&all[1]), "b");
}

#[test]
fn messages_of_an_import_are_bounded_like_those_of_an_append() {
    let (place, chat) = Place::with_messages(1);
    let long = format!(r#"{{"role":"user","content":"{}"}}"#, "x".repeat(MESSAGE_BYTES_MAX + 4096));
    let list = place.folder.path().join("list.json");
    fs::write(&list, format!(r#"[{{"role":"user"}},{long}]"#)).unwrap();
    let import =
        |from: &Path| place.contexts.import(from, Some(&name("chat")), OnExisting::Replace, None).map(|_| ());
    assert_error(import(&list), "message 2 is invalid");
    let text = archive(&chat);
    let message = text.lines().find(|line| line.starts_with(r#"{"kind":"message""#)).unwrap();
    let file = place.folder.path().join("archive.jsonl");
    fs::write(&file, text.replace(message, &format!(r#"{{"kind":"message","value":{long}}}"#))).unwrap();
    assert_error(import(&file), "line 5 is invalid");
    let folder = place.folder.path().join("folder");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("messages.json"), format!("[{long}]")).unwrap();
    assert_error(import(&folder), "message 1 cannot be appended");
    assert_eq!(texts(&place.open("chat")), ["m0"]);
}

#[test]
#[cfg(unix)]
fn files_of_a_folder_are_plain() {
    let place = Place::new();
    let folder = place.folder.path().join("folder");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("messages.json"), "[]").unwrap();
    std::os::unix::fs::symlink("/dev/zero", folder.join("state.json")).unwrap();
    let imported = place.contexts.import(&folder, Some(&name("chat")), OnExisting::Fail, None);
    assert_error(imported.map(|_| ()), "its `state.json` is invalid");
}
