//! Search, verification, repair, pruning.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use context::{Contexts, Error, Options, Revision, Role, SearchQuery};
use jiff::Timestamp;

use super::support::{Place, assert_error, draft, drafts, json, name, names, texts};

#[test]
fn search_streams_hits_over_all_contexts() {
    let place = Place::new();
    for (context, lines) in
        [("a", ["the torn file", "nothing"]), ("b", ["a File\nthat is\nTORN\nfor good", "file"])]
    {
        let mut chat = place.contexts.create(&name(context)).unwrap();
        chat.append_all(lines.map(draft)).unwrap();
        let _ = chat.save().unwrap();
    }
    fs::create_dir(place.contexts.folder().join("husk")).unwrap();
    let mut query = SearchQuery::words("torn FILE");
    query.context_lines = 1;
    let hits: Vec<_> = place.contexts.search(&[], query.clone()).unwrap().map(Result::unwrap).collect();
    assert_eq!(hits.len(), 2);
    assert_eq!((hits[0].name.as_str(), hits[0].number, &hits[0].role), ("a", 0, &Role::User));
    assert!(hits[0].id.is_some() && hits[0].time.is_some());
    let lines: Vec<_> = hits[1].lines.iter().map(|line| (line.number, line.is_match, &*line.text)).collect();
    assert_eq!(
        lines,
        [(1, true, "a File"), (2, false, "that is"), (3, true, "TORN"), (4, false, "for good")]
    );
    let hits = |names: &[&str]| {
        let names: Vec<_> = names.iter().map(|text| name(text)).collect();
        place.contexts.search(&names, SearchQuery::words("file")).unwrap().collect::<Vec<_>>()
    };
    assert_eq!(hits(&["b"]).len(), 2);
    assert!(matches!(&hits(&["husk", "a"])[..], [Err(Error::NotFound { .. }), Ok(_)]));
    fs::write(place.contexts.folder().join("a/metadata.json"), "x").unwrap();
    let found = hits(&[]);
    assert!(
        matches!(&found[..], [Err(Error::Damaged { .. }), Ok(_), Ok(_)]),
        "the rest is searched all the same"
    );
}

#[test]
fn an_intact_context_has_no_problems() {
    let (place, chat) = Place::with_messages(130);
    let report = chat.verify().unwrap();
    assert!(report.is_sound() && report.notices.is_empty(), "{report:?}");
    assert_eq!((report.message_count, report.name.as_str()), (130, "chat"));
    place.write_old("[{\"role\":\"user\"}]");
    fs::remove_file(place.file("messages.jsonl")).unwrap();
    let report = place.contexts.verify(&name("chat")).unwrap();
    assert!(report.is_sound() && report.message_count == 1, "{report:?}");
    assert_error(place.contexts.verify(&name("no")), "there is no context `no`");
}

fn problems(place: &Place) -> Vec<(String, Option<u64>, String)> {
    let report = place.contexts.verify(&name("chat")).unwrap();
    let file =
        |problem: &context::VerifyFinding| problem.file.file_name().unwrap().to_string_lossy().into_owned();
    report.problems.iter().map(|problem| (file(problem), problem.line, problem.message.clone())).collect()
}

#[test]
fn verify_reports_each_problem() {
    let (place, _chat) = Place::with_messages(130);
    let good = place.read("messages.jsonl");
    let lines: Vec<&str> = good.split_inclusive('\n').collect();
    // Two lines are swapped: all counts are right.
    let mut swapped = lines.clone();
    swapped.swap(9, 10);
    place.write("messages.jsonl", swapped.concat());
    let found = problems(&place);
    assert_eq!((found.len(), found[0].1), (1, Some(11)), "{found:?}");
    assert!(found[0].2.contains("is not greater than"));
    place.write("messages.jsonl", good.replace("\"m5\"", "\"m5 ").replace("\"m7\"", "m\"7\""));
    let found = problems(&place);
    assert_eq!(found.iter().map(|one| one.1).collect::<Vec<_>>(), [Some(6), Some(8)], "{found:?}");
    assert!(found[0].2.starts_with("the message is not JSON: "), "{found:?}");
    place.write("messages.jsonl", lines[..120].concat());
    assert_eq!(problems(&place)[0].2, "130 messages were recorded, 120 were found");
    place.write("messages.jsonl", &good);
    place.write("messages.index", place.read("messages.index").replace('1', "2"));
    assert_eq!(problems(&place)[0].0, "messages.index");
    fs::write(place.file("state.json"), "{").unwrap();
    assert!(problems(&place).iter().any(|one| one.0 == "state.json" && one.1 == Some(1)));
    place.write("messages.json", "[]");
    assert!(problems(&place)[0].2.contains("both messages.json and messages.jsonl"));
}

/// Changes one message of `chat` without changing its length.
fn change_message(place: &Place, from: &str, to: &str) {
    let text = place.read("messages.jsonl");
    assert!(text.contains(from) && from.len() == to.len());
    place.write("messages.jsonl", text.replace(from, to));
}

#[test]
fn verify_finds_a_change_of_the_same_length() {
    let (place, mut chat) = Place::with_messages(130);
    // After an append, a rewind, a fork, an import and a repair, the digest is that of the messages.
    chat.append(draft("more")).unwrap();
    let _ = chat.save().unwrap();
    assert!(problems(&place).is_empty());
    let _ = chat.rewind(100, None).unwrap();
    assert!(problems(&place).is_empty());
    assert!(chat.fork(&name("fork"), Some(70)).unwrap().verify().unwrap().is_sound());
    chat.set_state(json("{}")).unwrap();
    let _ = chat.save().unwrap();
    change_message(&place, "\"m5\"", "\"n5\"");
    let found = problems(&place);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&*found[0].0, found[0].1), ("messages.jsonl", None));
    assert!(found[0].2.contains("another program changed messages"), "{found:?}");
    // A later append does not hide it, a repair accepts it.
    chat.append(draft("more")).unwrap();
    let _ = chat.save().unwrap();
    assert_eq!(problems(&place).len(), 1);
    let _ = place.contexts.repair(&name("chat"), None).unwrap();
    assert!(problems(&place).is_empty());
    let _ = chat.clear(None).unwrap();
    assert!(problems(&place).is_empty());
}

#[test]
fn a_context_without_a_digest_is_sound() {
    let (place, mut chat) = Place::with_messages(3);
    // An older version increments the revision and keeps the field.
    let metadata = place.read("metadata.json");
    place.write(
        "metadata.json",
        metadata.replace("\"revision\": 2,\n  \"rewritten\"", "\"revision\": 3,\n  \"rewritten\""),
    );
    assert_eq!(place.open("chat").metadata().revision(), Revision(3));
    change_message(&place, "\"m1\"", "\"n1\"");
    assert!(problems(&place).is_empty());
    chat.append(draft("more")).unwrap();
    let _ = chat.save().unwrap();
    assert!(problems(&place).is_empty());
    assert!(!place.read("metadata.json").contains("digest"));
    let _ = place.contexts.repair(&name("chat"), None).unwrap();
    assert!(place.read("metadata.json").contains("digest"));
    assert!(problems(&place).is_empty());
}

#[test]
fn repair_accepts_manually_added_lines() {
    let (place, mut chat) = Place::with_messages(70);
    let added = place.read("messages.jsonl")
        + "{\"role\":\"user\",\"content\":\"by hand\"}\n{\"role\":\"user\",\"content\":\"no end\"}";
    place.write("messages.jsonl", &added);
    assert_error(place.contexts.repair(&name("chat"), Some(Revision(7))), "is at revision 2, not 7");
    let repaired = place.contexts.repair(&name("chat"), None).unwrap();
    assert_eq!((repaired.message_count, repaired.revision), (72, Revision(3)));
    assert!(repaired.preserved_at.is_empty());
    assert_eq!(place.read("messages.jsonl"), added + "\n");
    chat.append(draft("ours")).unwrap();
    assert_eq!(chat.save().unwrap().message_count, 73);
    assert_eq!(texts(&place.open("chat"))[70..], ["by hand", "no end", "ours"]);
    assert!(problems(&place).is_empty());
    assert_error(place.contexts.repair(&name("no"), None), "there is no context `no`");
}

#[test]
fn repair_preserves_invalid_lines_in_another_file() {
    let (place, mut chat) = Place::with_messages(100);
    chat.set_state(json(r#"{"a":1}"#)).unwrap();
    let _ = chat.save().unwrap();
    let text = place.read("messages.jsonl").replace("\"m5\"", "\"m5 ").replace("\"m70\"", "x") + "{\"torn";
    place.write("messages.jsonl", &text);
    let repaired = place.contexts.repair(&name("chat"), None).unwrap();
    assert_eq!(repaired.message_count, 98);
    assert_eq!(repaired.preserved_at, [place.file("messages.jsonl.damaged")]);
    let aside = place.read("messages.jsonl.damaged");
    let bad: Vec<&str> = text.lines().filter(|line| context::Message::read(line).is_err()).collect();
    assert_eq!(aside.lines().collect::<Vec<_>>(), bad);
    assert!(problems(&place).is_empty(), "{:?}", problems(&place));
    let chat = place.open("chat");
    assert_eq!(texts(&chat).len(), 98);
    assert_eq!(chat.messages(66..67).next().unwrap().unwrap().message.content().text(), "m67");
    assert_eq!(chat.state().as_str(), r#"{"a":1}"#);
    fs::write(place.file("state.json"), "{").unwrap();
    assert_error(place.contexts.repair(&name("chat"), None), "state.json");
}

#[test]
fn repair_converts_the_legacy_layout() {
    let place = Place::new();
    place.write_old("[{\"role\":\"user\",\"content\":\"a\"}]");
    assert_eq!(place.contexts.repair(&name("chat"), None).unwrap().message_count, 1);
    assert_eq!(texts(&place.open("chat")), ["a"]);
    assert!(names(&place.file("")).contains(&"messages.json.old".to_owned()));
}

#[test]
fn prune_removes_only_stale_contexts() {
    let place = Place::new();
    let day = Arc::new(AtomicI64::new(0));
    let clock = {
        let day = Arc::clone(&day);
        move || Timestamp::from_second(day.load(Ordering::Relaxed) * 86_400).unwrap()
    };
    let options = Options { clock: Arc::new(clock), ..Options::default() };
    let contexts = Contexts::at(place.contexts.folder(), options);
    for (number, context) in (1..).zip(["a", "b", "c"]) {
        day.store(number, Ordering::Relaxed);
        let mut chat = contexts.create(&name(context)).unwrap();
        chat.append_all(drafts(0..2)).unwrap();
        let _ = chat.save().unwrap();
    }
    let before = Timestamp::from_second(3 * 86_400).unwrap();
    let old = |contexts: &Contexts| -> Vec<(String, u64)> {
        let found = contexts.stale(before).unwrap().into_iter();
        found.map(|one| (one.name.to_string(), one.message_count)).collect()
    };
    assert_eq!(old(&contexts), [("a".to_owned(), 2), ("b".to_owned(), 2)]);
    day.store(9, Ordering::Relaxed);
    let mut b = contexts.open(&name("b")).unwrap();
    b.append(draft("just now")).unwrap();
    let _ = b.save().unwrap();
    assert!(contexts.prune(&name("b"), before).unwrap().is_none(), "it was changed since the list");
    assert!(contexts.prune(&name("gone"), before).unwrap().is_none());
    assert!(contexts.prune(&name("a"), before).unwrap().is_some());
    assert_eq!(names(place.contexts.folder()), [".locks", ".trash", "b", "c"]);
    fs::write(place.contexts.folder().join("c/metadata.json"), "{}").unwrap();
    assert!(old(&contexts).is_empty(), "one that does not say when is not old");
}
