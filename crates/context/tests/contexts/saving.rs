//! Effects of a save, and of a failed one.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use context::{BATCH_BYTES_MAX, Draft, Error, MESSAGE_BYTES_MAX, Outcome, Revision, Role};

use super::support::{Place, assert_error, draft, drafts, json, name, texts};

#[test]
fn files_of_a_new_context_are_private() {
    let place = Place::new();
    let chat = place.contexts.create(&name("chat")).unwrap();
    assert_eq!(chat.metadata().revision(), Revision(1));
    assert_eq!(
        place.names(),
        [".txn", "global_context.json", "messages.index", "messages.jsonl", "metadata.json", "state.json"]
    );
    assert_eq!(place.read("state.json"), "{}\n");
    for (path, mode) in [("", 0o700), ("state.json", 0o600), ("messages.jsonl", 0o600), (".txn", 0o700)] {
        let found = fs::metadata(place.file(path)).unwrap().permissions().mode() & 0o7777;
        assert_eq!(found, mode, "{path}");
    }
    let locks = place.contexts.folder().join(".locks");
    assert_eq!(fs::metadata(&locks).unwrap().permissions().mode() & 0o7777, 0o700);
    assert_error(place.contexts.create(&name("chat")), "context `chat` already exists");
    assert_eq!(place.open("chat").metadata().revision(), Revision(1));
}

#[test]
fn a_save_writes_everything_staged_in_one_revision() {
    let place = Place::new();
    let mut chat = place.contexts.create(&name("chat")).unwrap();
    chat.append(draft("hello")).unwrap();
    chat.append(Draft::parse(r#"{"role":"assistant","content":"hi","score":1.10}"#).unwrap()).unwrap();
    chat.set_state(json(r#"{"step":1,"n":1.10}"#)).unwrap();
    chat.patch_state(json(r#"{"step":2}"#)).unwrap();
    chat.patch_global(json(r#"{"user":"ada"}"#)).unwrap();
    assert!(chat.is_staged());
    assert_eq!(place.read("messages.jsonl"), "", "nothing is written before the save");
    let saved = chat.save().unwrap();
    assert!(!chat.is_staged() && saved.pending.is_none() && saved.preserved_at.is_empty());
    assert_eq!((saved.revision, saved.message_count, saved.ids.len()), (Revision(2), 2, 2));
    assert!(saved.ids[0] < saved.ids[1]);
    let other = place.open("chat");
    assert_eq!(texts(&other), ["hello", "hi"]);
    assert_eq!(other.state().as_str(), r#"{"step":2,"n":1.10}"#);
    assert_eq!(other.global_context().as_str(), r#"{"user":"ada"}"#);
    assert_eq!(other.metadata(), chat.metadata());
    assert_eq!(other.metadata().message_count(), 2);
    assert_eq!(other.metadata().last_updated(), chat.metadata().last_updated());
    let second = other.messages(1..2).next().unwrap().unwrap();
    assert_eq!((second.number, second.message.id()), (1, Some(saved.ids[1])));
    assert!(second.message.as_json().contains(r#""score":1.10"#));
}

#[test]
fn an_empty_save_writes_nothing() {
    let (place, mut chat) = Place::with_messages(1);
    let before = place.read("metadata.json");
    let saved = chat.save().unwrap();
    assert_eq!((saved.revision, saved.message_count), (Revision(2), 1));
    assert_eq!(place.read("metadata.json"), before);
    assert_error(chat.save_if(Revision(1)), "is at revision 2, not 1");
}

#[test]
fn concurrent_writers_lose_no_message() {
    let (place, mut one) = Place::with_messages(1);
    let mut two = place.open("chat");
    one.append(draft("from one")).unwrap();
    one.patch_state(json(r#"{"one":1}"#)).unwrap();
    let _ = one.save().unwrap();
    two.append(draft("from two")).unwrap();
    two.patch_state(json(r#"{"two":2}"#)).unwrap();
    assert_eq!(two.save().unwrap().message_count, 3);
    assert_eq!(two.state().as_str(), r#"{"one":1,"two":2}"#, "what is known is what is there");
    one.append(draft("one again")).unwrap();
    let saved = one.save().unwrap();
    assert_eq!((saved.revision, saved.message_count), (Revision(5), 4));
    assert_eq!(texts(&place.open("chat")), ["m0", "from one", "from two", "one again"]);
    assert_eq!(one.state().as_str(), r#"{"one":1,"two":2}"#);
}

#[test]
fn a_conditional_save_at_a_stale_revision_fails() {
    let (place, mut one) = Place::with_messages(1);
    let mut two = place.open("chat");
    let seen = two.metadata().revision();
    one.append(draft("first")).unwrap();
    let _ = one.save().unwrap();
    two.append(draft("second")).unwrap();
    let error = two.save_if(seen).unwrap_err();
    assert!(matches!(&error, Error::Stale { expected: Revision(2), current: Revision(3), .. }), "{error}");
    assert_eq!(error.to_string(), "context `chat` is at revision 3, not 2; nothing was changed");
    assert_eq!(error.outcome(), Outcome::Aborted);
    assert!(two.is_staged(), "nothing was lost");
    assert_eq!(two.metadata().revision(), seen, "the object is as it was");
    assert_eq!(two.save_if(Revision(3)).unwrap().revision, Revision(4));
    for result in [two.rewind(0, Some(seen)), two.clear(Some(seen))] {
        assert!(matches!(result, Err(Error::Stale { .. })));
    }
    assert_eq!(texts(&place.open("chat")), ["m0", "first", "second"]);
}

#[test]
fn rewind_removes_only_messages() {
    let (place, mut chat) = Place::with_messages(200);
    chat.set_state(json(r#"{"kept":true}"#)).unwrap();
    let _ = chat.save().unwrap();
    let last = chat.messages(199..).next().unwrap().unwrap().message.id();
    for (count, revision) in [(200, 4), (130, 5), (64, 6), (63, 7), (1, 8)] {
        let saved = chat.rewind(count, None).unwrap();
        assert_eq!((saved.message_count, saved.revision), (count, Revision(revision)));
        let other = place.open("chat");
        assert_eq!(texts(&other), (0..count).map(|number| format!("m{number}")).collect::<Vec<_>>());
        assert_eq!(other.state().as_str(), r#"{"kept":true}"#);
        assert_eq!(place.read("messages.index").len() as u64, count.div_ceil(64) * 51);
    }
    assert_error(chat.rewind(2, None), "context `chat` has 1 message, fewer than 2");
    chat.append(draft("after")).unwrap();
    let saved = chat.save().unwrap();
    assert!(Some(saved.ids[0]) > last, "ids never come again");
    assert_eq!(texts(&place.open("chat")), ["m0", "after"]);
    assert_eq!(chat.rewind(0, None).unwrap().message_count, 0);
    assert_eq!(place.read("messages.jsonl"), "");
}

#[test]
fn clear_empties_the_data_and_keeps_the_context() {
    let (place, mut chat) = Place::with_messages(70);
    chat.set_state(json(r#"{"a":1}"#)).unwrap();
    chat.set_global(json(r#"{"b":1}"#)).unwrap();
    let _ = chat.save().unwrap();
    let created = chat.metadata().created_at();
    let saved = chat.clear(None).unwrap();
    assert_eq!((saved.message_count, saved.revision), (0, Revision(4)));
    let other = place.open("chat");
    assert_eq!(other.metadata().created_at(), created);
    assert_eq!((other.state().as_str(), other.global_context().as_str()), ("{}", "{}"));
    assert_eq!(texts(&other), [""; 0]);
    assert_eq!(place.read("messages.index"), "");
}

#[test]
fn given_ids_must_increase() {
    let (place, mut chat) = Place::with_messages(1);
    let given = |id: &str| Draft::parse(&format!(r#"{{"id":"{id}","role":"user","content":"x"}}"#)).unwrap();
    let later = "7ZZZZZZZZZ0000000000000000";
    chat.append(given(later)).unwrap();
    assert_eq!(chat.save().unwrap().ids[0].to_string(), later);
    chat.append(given(later)).unwrap();
    assert_error(chat.save(), "is not greater than");
    assert!(chat.is_staged());
    chat.discard();
    chat.append(draft("next")).unwrap();
    assert!(chat.save().unwrap().ids[0].to_string().as_str() > later);
    assert_eq!(place.open("chat").metadata().message_count(), 3);
}

#[test]
fn invalid_changes_are_rejected_when_staged() {
    let (_place, mut chat) = Place::with_messages(0);
    assert_error(chat.set_state(json("[]")), "the state must be a JSON object");
    assert_error(chat.patch_state(json("1")), "a patch of the state must be a JSON object");
    assert_error(chat.set_global(json("null")), "the global context must be a JSON object");
    assert_error(chat.patch_global(json("\"x\"")), "a patch of the global context must be a JSON object");
    let large = Draft::text(Role::User, &"x".repeat(BATCH_BYTES_MAX / 16 - 64));
    let error = chat.append_all(std::iter::repeat_n(large, 17));
    assert_error(error, "messages of one save would exceed the limit");
    assert!(!chat.is_staged());
}

#[test]
fn clones_stage_separately_and_share_files() {
    let (place, mut one) = Place::with_messages(1);
    let mut two = one.clone();
    one.append(draft("one")).unwrap();
    assert!(!two.is_staged());
    let _ = one.save().unwrap();
    two.append(draft("two")).unwrap();
    let _ = two.save().unwrap();
    assert_eq!(texts(&place.open("chat")), ["m0", "one", "two"]);
    assert_eq!(one.folder(), place.file(""));
}

#[test]
fn concurrent_saves_of_threads_are_all_kept() {
    let (place, chat) = Place::with_messages(0);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let mut chat = chat.clone();
            scope.spawn(move || {
                for number in 0..20 {
                    chat.append(draft(&format!("{thread}-{number}"))).unwrap();
                    let saved = chat.save().unwrap();
                    let at = chat.messages(saved.message_count - 1..).next().unwrap().unwrap();
                    assert_eq!(at.message.id(), Some(saved.ids[0]), "a save is where it says");
                }
            });
        }
    });
    let mut all = texts(&place.open("chat"));
    assert_eq!(all.len(), 160);
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 160);
    let ids: Vec<_> = place.open("chat").messages(..).map(|one| one.unwrap().message.id()).collect();
    assert!(ids.is_sorted() && ids.iter().all(Option::is_some));
}

#[test]
fn many_messages_in_one_save() {
    let (place, mut chat) = Place::with_messages(3);
    chat.append_all(drafts(3..500)).unwrap();
    assert_eq!(chat.save().unwrap().ids.len(), 497);
    let other = place.open("chat");
    for number in [0, 1, 63, 64, 65, 127, 128, 499] {
        let one = other.messages(number..).next().unwrap().unwrap();
        assert_eq!((one.number, super::support::text(&one.message)), (number, format!("m{number}")));
    }
    assert_eq!(other.last(20).count(), 20);
}

#[test]
fn append_needs_no_open_context() {
    let place = Place::new();
    let chat = name("chat");
    assert_error(place.contexts.append(&chat, &[draft("m0")], None), "there is no context `chat`");
    assert!(!place.contexts.folder().exists(), "nothing is made for a context that is not there");

    place.contexts.create(&chat).unwrap();
    let drafts: Vec<_> = drafts(0..3).collect();
    let saved = place.again().append(&chat, &drafts, Some(Revision(1))).unwrap();
    assert_eq!((saved.revision, saved.message_count, saved.ids.len()), (Revision(2), 3, 3));
    assert_error(place.contexts.append(&chat, &drafts, Some(Revision(1))), "is at revision 2, not 1");
    let none = place.contexts.append(&chat, &[], Some(Revision(2))).unwrap();
    assert_eq!((none.revision, none.message_count, none.ids.len()), (Revision(2), 3, 0));
    assert_error(place.contexts.append(&chat, &[], Some(Revision(1))), "is at revision 2, not 1");
    assert_eq!(texts(&place.open("chat")), ["m0", "m1", "m2"]);
}

#[test]
fn a_message_that_could_not_be_read_back_is_rejected() {
    let (place, mut chat) = Place::with_messages(1);
    let long = || Draft::text(Role::User, &"x".repeat(MESSAGE_BYTES_MAX));
    assert_error(chat.append_all([draft("a"), long()]), "message 2 cannot be appended");
    assert!(!chat.is_staged());
    let appended = place.contexts.append(&name("chat"), &[draft("a"), long()], None);
    assert_error(appended, "message 2 cannot be appended");
    assert_eq!(texts(&place.open("chat")), ["m0"]);
    // The longest message, at any offset.
    let longest = || Draft::text(Role::User, &"x".repeat(MESSAGE_BYTES_MAX - 64));
    let _ = place.contexts.append(&name("chat"), &[longest(), draft("b"), longest()], None).unwrap();
    assert!(place.contexts.verify(&name("chat")).unwrap().is_sound());
    assert_eq!(texts(&place.open("chat"))[2], "b");
}
