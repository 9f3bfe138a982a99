//! Reading: ranges, chunks, the index, and readers beside writers.

use std::fs;

use context::{Draft, Error, Role};

use super::support::{Place, assert_error, draft, drafts, name, text, texts};

fn numbers(chat: &context::ContextManager, range: impl std::ops::RangeBounds<u64>) -> Vec<u64> {
    chat.messages(range)
        .map(|one| {
            let one = one.unwrap();
            assert_eq!(text(&one.message), format!("m{}", one.number));
            one.number
        })
        .collect()
}

#[test]
fn ranges_select_messages() {
    let (_place, chat) = Place::with_messages(10);
    assert_eq!(numbers(&chat, ..), (0..10).collect::<Vec<_>>());
    assert_eq!(numbers(&chat, 2..4), [2, 3]);
    assert_eq!(numbers(&chat, 2..=4), [2, 3, 4]);
    assert_eq!(numbers(&chat, 8..), [8, 9]);
    assert_eq!(numbers(&chat, 8..100), [8, 9]);
    assert_eq!(numbers(&chat, 20..), [0_u64; 0]);
    use std::ops::Bound::{Excluded, Unbounded};
    assert_eq!(numbers(&chat, (Excluded(7), Unbounded)), [8, 9]);
    let last: Vec<u64> = chat.last(3).map(|one| one.unwrap().number).collect();
    assert_eq!(last, [7, 8, 9]);
    assert_eq!(chat.last(50).count(), 10);
    assert_eq!(chat.last(50).size_hint(), (1, Some(10)));
}

#[test]
fn long_messages_are_read_in_chunks() {
    let place = Place::new();
    let mut chat = place.contexts.create(&name("chat")).unwrap();
    let long = |number: usize| format!("{number}{}", "x".repeat(100_000 * number));
    chat.append_all((0..12).map(|number| draft(&long(number)))).unwrap();
    let _ = chat.save().unwrap();
    for (number, one) in place.open("chat").messages(..).enumerate() {
        assert!(text(&one.unwrap().message) == long(number));
    }
}

#[test]
fn a_wrong_or_missing_index_is_not_trusted() {
    let (place, chat) = Place::with_messages(300);
    let good = place.read("messages.index");
    assert_eq!(good.len(), 5 * 51);
    let entries: Vec<&str> = good.split_inclusive('\n').collect();
    let swapped = [entries[0], entries[2], entries[1], entries[3], entries[4]].concat();
    let moved = good.replace(&entries[3][13..33], &entries[2][13..33]);
    let far = good.replace(&entries[3][13..33], "00000000000099999999");
    for bad in ["", "x", &swapped, &moved, &far, &good[..100], &good.replace('0', "z")] {
        fs::write(place.file("messages.index"), bad).unwrap();
        for number in [0, 63, 64, 128, 192, 200, 299] {
            assert_eq!(numbers(&chat, number..number + 1), [number]);
        }
    }
    fs::remove_file(place.file("messages.index")).unwrap();
    assert_eq!(numbers(&chat, 250..252), [250, 251]);
    // The next writer of an entry rebuilds the index.
    let mut chat = place.open("chat");
    chat.append_all(drafts(300..330)).unwrap();
    let _ = chat.save().unwrap();
    assert!(place.read("messages.index").starts_with(&good));
    assert_eq!(place.read("messages.index").len(), 6 * 51);
    assert_eq!(numbers(&place.open("chat"), 320..), (320..330).collect::<Vec<_>>());
}

#[test]
fn a_reader_continues_during_appends_and_ends_at_a_rewind() {
    let place = Place::new();
    let mut chat = place.contexts.create(&name("chat")).unwrap();
    let padding = "x".repeat(10_000);
    let long = |number: u64| Draft::text(Role::User, &format!("{number} {padding}"));
    chat.append_all((0..100).map(long)).unwrap();
    let _ = chat.save().unwrap();
    let mut reading = place.open("chat").messages(..);
    assert_eq!(reading.next().unwrap().unwrap().number, 0);
    chat.append(draft("later")).unwrap();
    let _ = chat.save().unwrap();
    assert_eq!(reading.by_ref().map(Result::unwrap).count(), 99, "as of when it was opened");
    let mut reading = place.open("chat").messages(..);
    assert_eq!(reading.next().unwrap().unwrap().number, 0);
    let _ = chat.rewind(3, None).unwrap();
    chat.append_all((0..200).map(long)).unwrap();
    let _ = chat.save().unwrap();
    let error = reading.find_map(Result::err).unwrap();
    assert!(matches!(error, Error::Rewritten { .. }));
    assert!(reading.next().is_none(), "an error is the last");
    assert_eq!(error.to_string(), "context `chat` was rewound or replaced during the read");
}

#[test]
fn a_reader_detects_a_recreated_context() {
    let (place, _chat) = Place::with_messages(5);
    let old = place.open("chat");
    let _ = place.contexts.remove(&name("chat"), None).unwrap();
    assert_error(old.messages(..).next().unwrap(), "there is no context `chat`");
    let mut new = place.contexts.create(&name("chat")).unwrap();
    new.append_all(drafts(0..5)).unwrap();
    let _ = new.save().unwrap();
    assert!(matches!(old.messages(..).next(), Some(Err(Error::Rewritten { .. }))));
}

#[test]
fn refresh_sees_saves_of_others() {
    let (place, mut one) = Place::with_messages(1);
    let mut two = place.open("chat");
    two.append(draft("by two")).unwrap();
    let _ = two.save().unwrap();
    assert_eq!(texts(&one), ["m0"]);
    one.append(draft("staged")).unwrap();
    one.refresh().unwrap();
    assert_eq!(texts(&one), ["m0", "by two"]);
    assert!(one.is_staged());
}

#[test]
fn reading_writes_nothing() {
    let (place, chat) = Place::with_messages(100);
    drop(chat);
    let before = testkit::folder::tree(place.folder.path());
    let chat = place.open("chat");
    assert_eq!(chat.messages(..).count(), 100);
    assert_eq!(place.again().list().unwrap().len(), 1);
    assert!(chat.notices().is_empty());
    assert!(testkit::folder::tree(place.folder.path()) == before);
    // A legacy folder has no lock, and reading creates none.
    place.write_old("[]");
    fs::rename(place.file(""), place.contexts.folder().join("other")).unwrap();
    fs::remove_file(place.contexts.folder().join("other/messages.jsonl")).unwrap();
    let before = testkit::folder::tree(place.folder.path());
    assert_eq!(place.open("other").messages(..).count(), 0);
    assert!(testkit::folder::tree(place.folder.path()) == before);
}
