//! A full disk, at every size: the save fails with an error, or succeeds; the context stays usable.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "fills the disk")]

extern crate cleveragents_context as context;

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use context::{ContextManager, Contexts, Draft, Error, Json, Name, Options, Outcome, Role};
use testkit::mount::SmallDisk;
use testkit::report;

const PAGE_BYTES: u64 = 4096;
/// More pages than one save needs.
const PAGES_MAX: u64 = 48;

fn contexts(home: &Path) -> Contexts {
    let options = Options { journal_bytes: 16 * 1024, ..Options::default() };
    Contexts::at(&home.join("contexts"), options)
}

fn name() -> Name {
    Name::new("chat").unwrap()
}

fn save(chat: &mut ContextManager) -> Result<u64, Error> {
    chat.append(Draft::text(Role::User, &"m".repeat(9_000)))?;
    chat.set_state(Json::parse(&format!(r#"{{"s":"{}"}}"#, "s".repeat(9_000))).unwrap())?;
    chat.set_global(Json::parse(&format!(r#"{{"g":"{}"}}"#, "g".repeat(9_000))).unwrap())?;
    chat.save().map(|saved| saved.message_count)
}

/// Fills the disk up to so many pages.
fn leave_pages(home: &Path, pages: u64) {
    let mut filler = File::create(home.join("filler")).unwrap();
    while filler.write_all(&[b'f'; PAGE_BYTES as usize]).is_ok() {}
    let len = filler.metadata().unwrap().len() / PAGE_BYTES * PAGE_BYTES;
    filler.set_len(len - pages * PAGE_BYTES).unwrap();
}

/// Returns true if the whole save is there.
fn is_new(chat: &ContextManager) -> bool {
    let lens = [chat.state(), chat.global_context()].map(|json| json.as_str().len() > 9_000);
    let messages = chat.messages(..).map(Result::unwrap).count();
    match (messages, lens) {
        (1, [false, false]) => false,
        (2, [true, true]) => true,
        mixed => panic!("mixed: {mixed:?}"),
    }
}

#[test]
fn a_full_disk_leaves_all_old_or_all_new_and_the_context_usable() {
    let (mut failed, mut saved) = (0, 0);
    for pages in 0..PAGES_MAX {
        let scratch = testkit::folder::scratch();
        let disk = match SmallDisk::new(scratch.path(), 1 << 20) {
            Ok(disk) => disk,
            Err(reason) => return report::skipped("context-full-disk", &reason),
        };
        let home = disk.point();
        let mut chat = contexts(home).create(&name()).unwrap();
        chat.append(Draft::text(Role::User, "first")).unwrap();
        let _ = chat.save().unwrap();
        leave_pages(home, pages);
        let result = save(&mut chat);
        // A reader needs no space.
        let seen = is_new(&contexts(home).open(&name()).unwrap());
        match &result {
            Ok(count) => assert!(seen && *count == 2),
            Err(error) => {
                assert!(!seen || error.outcome() == Outcome::Unknown, "{error}");
                assert!(chat.is_staged() && chat.metadata().message_count() == 1, "the object is as it was");
            }
        }
        *(if result.is_ok() { &mut saved } else { &mut failed }) += 1;
        fs::remove_file(home.join("filler")).unwrap();
        // The context stays usable, by the same object and by another one.
        if !is_new(&contexts(home).open(&name()).unwrap()) {
            assert_eq!(chat.save().unwrap().message_count, 2, "{pages} pages");
        }
        let mut other = contexts(home).open(&name()).unwrap();
        assert!(is_new(&other));
        other.append(Draft::text(Role::User, "after")).unwrap();
        assert_eq!(other.save().unwrap().message_count, 3);
        assert!(other.verify().unwrap().is_sound());
    }
    assert!(failed > 2 && saved > 2, "{failed} failed, {saved} saved");
    report::figure("context saves on a disk that was full at every size", PAGES_MAX);
}
