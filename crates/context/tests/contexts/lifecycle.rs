//! Creating, forking, renaming and removing contexts that others have open.

use std::fs;
use std::thread;

use context::{Error, Revision};

use super::support::{Place, assert_error, draft, json, name, names, texts};

#[test]
fn a_fork_shares_nothing() {
    let (place, mut chat) = Place::with_messages(100);
    chat.set_state(json(r#"{"a":1.10}"#)).unwrap();
    chat.append(draft("staged")).unwrap();
    let mut fork = chat.fork(&name("fork"), Some(70)).unwrap();
    assert_eq!(fork.metadata().message_count(), 70);
    assert_eq!(fork.metadata().created_at(), chat.metadata().created_at());
    assert_eq!(fork.metadata().revision(), Revision(1));
    fork.append(draft("in the fork")).unwrap();
    let _ = fork.save().unwrap();
    let _ = chat.save().unwrap();
    let _ = chat.rewind(5, None).unwrap();
    let fork = place.open("fork");
    assert_eq!(texts(&fork).len(), 71);
    assert_eq!(texts(&fork)[70], "in the fork");
    assert_eq!(fork.state().as_str(), "{}", "what was staged is not in it");
    assert_eq!(fork.messages(66..67).next().unwrap().unwrap().number, 66);
    assert_eq!(texts(&place.open("chat")).len(), 5);
    assert_error(chat.fork(&name("fork"), None), "context `fork` already exists");
    assert_error(chat.fork(&name("chat"), None), "context `chat` already exists");
    assert_error(chat.fork(&name("far"), Some(6)), "context `chat` has 5 messages, fewer than 6");
    assert!(!place.contexts.folder().join("far").exists());
}

#[test]
fn a_failed_fork_leaves_no_context() {
    let (place, chat) = Place::with_messages(3);
    let text = place.read("messages.jsonl").replace("m1", "\"1");
    place.write("messages.jsonl", text);
    assert_error(chat.fork(&name("fork"), None), "line 2 is damaged");
    assert_eq!(names(place.contexts.folder()), [".locks", ".trash", "chat"]);
    assert_eq!(names(&place.contexts.folder().join(".trash")), [""; 0]);
    assert!(chat.fork(&name("fork"), Some(1)).is_ok(), "the name is free");
}

#[test]
fn remove_deletes_the_folder_and_other_handles_fail() {
    let (place, mut chat) = Place::with_messages(3);
    let mut other = place.open("chat");
    assert_error(place.contexts.remove(&name("chat"), Some(Revision(1))), "is at revision 2, not 1");
    let removed = place.contexts.remove(&name("chat"), Some(Revision(2))).unwrap();
    assert!(removed.delete_error.is_none());
    assert_eq!(names(place.contexts.folder()), [".locks", ".trash"]);
    assert_eq!(names(&place.contexts.folder().join(".trash")), [""; 0]);
    for chat in [&mut chat, &mut other] {
        chat.append(draft("too late")).unwrap();
        assert!(matches!(chat.save(), Err(Error::NotFound { .. })));
    }
    assert_error(place.contexts.remove(&name("chat"), None), "there is no context `chat`");
    assert_error(place.contexts.open(&name("chat")), "there is no context `chat`");
    // A new context of the same name is another one; an old handle writes to it by name.
    let _ = place.contexts.create(&name("chat")).unwrap();
    assert_eq!(chat.save().unwrap().message_count, 1);
    assert_eq!(other.save().unwrap().message_count, 2);
    assert_eq!(texts(&place.open("chat")), ["too late", "too late"]);
}

#[test]
fn a_damaged_context_can_be_removed() {
    let (place, _chat) = Place::with_messages(3);
    place.write("metadata.json", "{");
    assert_error(place.contexts.remove(&name("chat"), Some(Revision(1))), "metadata.json");
    assert!(place.contexts.remove(&name("chat"), None).is_ok());
}

#[test]
fn rename_moves_the_whole_context() {
    let (place, mut chat) = Place::with_messages(3);
    let [old, new] = ["chat", "talk"].map(name);
    assert_error(place.contexts.rename(&old, &new, Some(Revision(1))), "is at revision 2, not 1");
    place.contexts.rename(&old, &new, Some(Revision(2))).unwrap();
    assert_error(place.contexts.open(&old), "there is no context `chat`");
    chat.append(draft("under the old name")).unwrap();
    assert!(matches!(chat.save(), Err(Error::NotFound { .. })));
    let mut talk = place.open("talk");
    talk.append(draft("under the new name")).unwrap();
    let _ = talk.save().unwrap();
    assert_eq!(texts(&place.open("talk")).len(), 4);
    let _ = place.contexts.create(&old).unwrap();
    assert_error(place.contexts.rename(&old, &new, None), "context `talk` already exists");
    assert_error(place.contexts.rename(&old, &old, None), "context `chat` already exists");
    assert_error(place.contexts.rename(&name("no"), &new, None), "there is no context `no`");
}

#[test]
fn an_empty_folder_is_not_a_context() {
    let (place, _chat) = Place::with_messages(1);
    // The state after a create that was killed.
    for husk in ["husk", "other"] {
        fs::create_dir_all(place.contexts.folder().join(husk).join(".txn/stage")).unwrap();
    }
    let listed: Vec<_> = place.contexts.list().unwrap().into_iter().map(|one| one.name).collect();
    assert_eq!(listed, [name("chat")]);
    assert_error(place.contexts.open(&name("husk")), "there is no context `husk`");
    assert_error(place.contexts.remove(&name("husk"), None), "there is no context `husk`");
    assert_error(place.contexts.rename(&name("husk"), &name("x"), None), "there is no context `husk`");
    place.contexts.rename(&name("chat"), &name("husk"), None).unwrap();
    assert_eq!(texts(&place.open("husk")), ["m0"]);
    assert!(place.contexts.create(&name("other")).is_ok());
}

#[test]
fn no_folder_is_created_before_the_first_context() {
    let place = Place::new();
    assert!(place.contexts.list().unwrap().is_empty());
    assert_error(place.contexts.open(&name("chat")), "there is no context `chat`");
    assert_error(place.contexts.remove(&name("chat"), None), "there is no context `chat`");
    assert!(!place.contexts.folder().exists());
}

#[test]
fn lists_are_sorted_and_include_unreadable_contexts() {
    let place = Place::new();
    for text in ["b", "a", "c"] {
        let _ = place.contexts.create(&name(text)).unwrap();
    }
    fs::write(place.contexts.folder().join("b/metadata.json"), "x").unwrap();
    fs::write(place.contexts.folder().join("note.txt"), "x").unwrap();
    fs::create_dir(place.contexts.folder().join("not a name")).unwrap();
    let listed = place.contexts.list().unwrap();
    let names: Vec<_> = listed.iter().map(|one| (one.name.as_str(), one.metadata.is_ok())).collect();
    assert_eq!(names, [("a", true), ("b", false), ("c", true)]);
}

#[test]
fn concurrent_creates_of_one_name_have_one_winner() {
    let place = Place::new();
    let made = thread::scope(|scope| {
        let threads: Vec<_> =
            (0..8).map(|_| scope.spawn(|| place.again().create(&name("chat")).is_ok())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).filter(|made| *made).count()
    });
    assert_eq!(made, 1);
    assert_eq!(place.open("chat").metadata().revision(), Revision(1));
}

#[test]
fn concurrent_saves_and_removes_are_serialised() {
    let place = Place::new();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10 {
                    let Ok(mut chat) = place.again().create(&name("chat")) else { continue };
                    chat.append(draft("x")).unwrap();
                    match chat.save() {
                        Ok(_) | Err(Error::NotFound { .. }) => {}
                        Err(error) => panic!("{}", testkit::chain(&error)),
                    }
                    match place.again().remove(&name("chat"), None) {
                        Ok(_) | Err(Error::NotFound { .. }) => {}
                        Err(error) => panic!("{}", testkit::chain(&error)),
                    }
                }
            });
        }
    });
    assert!(place.contexts.list().unwrap().iter().all(|one| one.metadata.is_ok()));
}
