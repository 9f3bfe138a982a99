//! Legacy folders: messages in one array.

use context::Revision;

use super::support::{Place, assert_error, draft, name, texts};

const OLD: &str = "[\n  {\n    \"role\": \"user\",\n    \"content\": \"one\",\n    \"timestamp\": \"2025-01-01T10:00:00\",\n    \"score\": 1.10\n  },\n  {\n    \"role\": \"function\",\n    \"content\": \"two\"\n  }\n]";

#[test]
fn the_legacy_layout_is_readable() {
    let place = Place::new();
    place.write_old(OLD);
    let before = testkit::folder::tree(place.folder.path());
    let chat = place.open("chat");
    assert_eq!(texts(&chat), ["one", "two"]);
    assert_eq!((chat.metadata().message_count(), chat.metadata().revision()), (2, Revision(0)));
    assert_eq!(chat.state().as_str(), r#"{"step":1.10}"#);
    assert_eq!(chat.messages(1..).count(), 1);
    assert_eq!(place.again().list().unwrap()[0].metadata.as_ref().unwrap().message_count(), 2);
    assert!(testkit::folder::tree(place.folder.path()) == before);
}

#[test]
fn the_first_write_converts_the_legacy_layout() {
    let place = Place::new();
    place.write_old(OLD);
    let mut chat = place.open("chat");
    chat.append(draft("three")).unwrap();
    let saved = chat.save().unwrap();
    assert_eq!(saved.preserved_at, [place.file("messages.json.old")]);
    assert_eq!((saved.revision, saved.message_count), (Revision(1), 3));
    assert_eq!(place.read("messages.json.old"), OLD);
    assert!(!place.file("messages.json").exists());
    let chat = place.open("chat");
    assert_eq!(texts(&chat), ["one", "two", "three"]);
    let all: Vec<_> = chat.messages(..).map(|one| one.unwrap().message).collect();
    assert!(all.is_sorted_by_key(|message| message.id()) && all.iter().all(|message| message.id().is_some()));
    assert!(
        all[0]
            .as_json()
            .ends_with(r#""role":"user","content":"one","timestamp":"2025-01-01T10:00:00","score":1.10}"#)
    );
    assert_eq!(all[0].id().unwrap().time().unwrap().to_string(), "2025-01-01T10:00:00Z");
    let metadata = chat.metadata().as_json().as_str();
    assert!(metadata.contains(r#""owner":"ada","created_at":"2025-01-01T10:00:00""#), "{metadata}");
    assert_eq!(place.read("state.json"), "{\n  \"step\": 1.10\n}", "what did not change is as it was");
}

#[test]
fn a_failed_first_write_keeps_the_legacy_layout() {
    let place = Place::new();
    place.write_old(OLD);
    let mut chat = place.open("chat");
    chat.append(draft("three")).unwrap();
    assert_error(chat.save_if(Revision(7)), "is at revision 0, not 7");
    assert_eq!(place.read("messages.json"), OLD);
    assert!(!place.file("messages.jsonl").exists());
    assert_eq!(chat.rewind(1, None).unwrap().message_count, 1);
    assert_eq!(texts(&place.open("chat")), ["one"]);
    assert_eq!(place.read("messages.json.old"), OLD);
}

#[test]
fn a_fork_keeps_the_legacy_layout_of_its_source() {
    let place = Place::new();
    place.write_old(OLD);
    let fork = place.open("chat").fork(&name("fork"), Some(1)).unwrap();
    assert_eq!(texts(&fork), ["one"]);
    assert_eq!(fork.state().as_str(), r#"{"step":1.10}"#);
    assert_eq!(place.read("messages.json"), OLD);
}

#[test]
fn errors_in_the_legacy_layout_are_reported() {
    let place = Place::new();
    place.write_old("[\n  {\"role\":\n]");
    assert_error(place.again().open(&name("chat")), "messages.json`, line 3, column 1 is damaged");
    place.write_old("{}");
    assert_error(place.again().open(&name("chat")), "it must hold a list of messages");
    place.write_old("[]");
    place.write("metadata.json", "{\"message_count\": 4}");
    assert_error(place.again().open(&name("chat")), "4 messages were recorded, 0 were found");
}
