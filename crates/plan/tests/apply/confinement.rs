//! [sec-escape]: no write leaves the root, at check time or between check and use.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use plan::{Change, Error, State};

use super::fixture::{Fixture, actor, bytes, write};

/// Odd names that are inside the root.
#[test]
fn odd_names_stay_inside_and_can_be_undone() {
    let fixture = Fixture::new();
    let names: Vec<Vec<u8>> = vec![
        b"a/new\nline".to_vec(),
        b"a/-rf".to_vec(),
        b"a/ space ".to_vec(),
        b"a/\xff\xfe".to_vec(),
        "a/e\u{301}".into(),
        "a/\u{e9}".into(),
        b"a/...".to_vec(),
        b"a/a\\b".to_vec(),
        b"a/CON".to_vec(),
        "a/\u{202e}txt".into(),
    ];
    let plan = fixture.plans.create(None, &[&fixture.root("a")], &actor("ana")).unwrap();
    let changeset = fixture.plans.context(plan.id).unwrap().start_changeset(&actor("coder")).unwrap();
    for name in &names {
        changeset.record(Change::write(bytes(&name[2..]), "new")).unwrap();
    }
    changeset.seal().unwrap();
    fixture.plans.mark_ready(plan.id, &actor("ana")).unwrap();
    let _ = fixture.apply(plan.id).unwrap();
    for name in &names {
        assert!(fixture.root("a").join(std::ffi::OsStr::from_bytes(&name[2..])).exists(), "{name:?}");
    }
    let _ = fixture.undo(plan.id).unwrap();
    assert!(fixture.trees().0.is_empty());
}

/// A folder became a symlink after the plan was recorded.
#[test]
fn a_folder_that_became_a_symlink_is_not_followed() {
    let fixture = Fixture::new();
    fixture.write("a/sub/f", "old");
    let outside = fixture.folder.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("f"), "old").unwrap();
    let plan = fixture.plan(vec![("coder", vec![write("a/sub/f", "new"), write("a/sub/g", "new")])]);
    std::fs::rename(fixture.root("a/sub"), fixture.root("a/real")).unwrap();
    symlink(&outside, fixture.root("a/sub")).unwrap();
    assert!(fixture.apply(plan).is_err());
    assert_eq!(std::fs::read_to_string(outside.join("f")).unwrap(), "old");
    assert!(!outside.join("g").exists());
}

#[test]
fn undo_does_not_follow_a_symlink_either() {
    let fixture = Fixture::new();
    fixture.write("a/sub/f", "old");
    let plan = fixture.plan(vec![("coder", vec![write("a/sub/f", "new"), write("a/sub/g", "new")])]);
    let _ = fixture.apply(plan).unwrap();
    let outside = fixture.folder.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("f"), "new").unwrap();
    std::fs::write(outside.join("g"), "new").unwrap();
    std::fs::rename(fixture.root("a/sub"), fixture.root("a/real")).unwrap();
    symlink(&outside, fixture.root("a/sub")).unwrap();
    assert!(fixture.undo(plan).is_err());
    assert_eq!(std::fs::read_to_string(outside.join("f")).unwrap(), "new");
    assert!(outside.join("g").exists());
}

/// A FIFO, and a file with a hard link outside.
#[test]
fn fifos_are_not_opened_and_hard_links_keep_their_content() {
    let fixture = Fixture::new();
    fixture.write("a/linked", "old");
    let outside = fixture.folder.path().join("outside");
    std::fs::hard_link(fixture.root("a/linked"), &outside).unwrap();
    let plan = fixture.plan(vec![("coder", vec![write("a/linked", "new"), write("a/pipe", "new")])]);
    let made = std::process::Command::new("mkfifo").arg(fixture.root("a/pipe")).status().unwrap();
    assert!(made.success());
    assert!(fixture.apply(plan).is_err());
    std::fs::remove_file(fixture.root("a/pipe")).unwrap();
    let _ = fixture.apply(plan).unwrap();
    assert_eq!(
        (fixture.read("a/linked"), std::fs::read_to_string(outside).unwrap()),
        ("new".into(), "old".into())
    );
}

struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Swaps of a folder during one round. Unlimited swaps would keep the system from resolving any
/// path.
const SWAPS: u32 = 200;

/// Undoes the last swap if there was an odd number of them.
fn put_folder_back(fixture: &Fixture) {
    let folder = |name: &str| fixture.root("a").join(name);
    if folder("sub").is_symlink() {
        std::fs::rename(folder("sub"), folder("link")).unwrap();
        std::fs::rename(folder("trap"), folder("sub")).unwrap();
        std::fs::rename(folder("link"), folder("trap")).unwrap();
    }
}

/// A thread keeps swapping a folder for a symlink and back, between check and use.
#[test]
fn a_symlink_swapped_in_between_check_and_use_is_not_followed() {
    let fixture = Fixture::new();
    let outside = fixture.folder.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    fixture.write("a/sub/0", "old");
    symlink(&outside, fixture.root("a/trap")).unwrap();
    let stop = AtomicBool::new(false);
    let swaps = AtomicU32::new(0);
    let rounds = if testkit::report::is_proof() { 100 } else { 30 };
    let (mut applied, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let folder = |name: &str| fixture.root("a").join(name);
            while !stop.load(Ordering::Relaxed) {
                if swaps.load(Ordering::Relaxed) == 0 {
                    std::thread::yield_now();
                    continue;
                }
                let _ = rustix::fs::renameat_with(
                    rustix::fs::CWD,
                    folder("sub"),
                    rustix::fs::CWD,
                    folder("trap"),
                    rustix::fs::RenameFlags::EXCHANGE,
                );
                swaps.fetch_sub(1, Ordering::Relaxed);
            }
        });
        // Stop the thread even if a round panics.
        let _stop = Stop(&stop);
        for round in 0..rounds {
            let name = format!("a/sub/{round}x");
            let plan = fixture.plan(vec![(
                "coder",
                vec![
                    write(&name, "new").with_base(None),
                    write("a/plain", format!("{round}")).with_base(None),
                ],
            )]);
            // The swaps are in progress when the apply starts.
            swaps.store(SWAPS, Ordering::Relaxed);
            while swaps.load(Ordering::Relaxed) == SWAPS {
                std::thread::yield_now();
            }
            match fixture.apply(plan) {
                Ok(_) => applied += 1,
                // A symlink stood there after the commit point: the next command finishes the apply.
                Err(Error::ApplyIncomplete { .. }) => {
                    while swaps.load(Ordering::Relaxed) > 0 {
                        std::thread::yield_now();
                    }
                    put_folder_back(&fixture);
                    fixture.plans.recover_plan(&fixture.host, plan, &actor("ana")).unwrap();
                    assert_eq!(
                        (fixture.state(plan), fixture.read("a/plain")),
                        (State::Applied, format!("{round}"))
                    );
                    applied += 1;
                }
                Err(error) => {
                    assert!(!fixture.root("a/plain").exists(), "refused, and half of it is there: {error}");
                    refused += 1;
                }
            }
            if fixture.state(plan) == State::Applied {
                drop(fixture.undo(plan));
            }
            let _ = std::fs::remove_file(fixture.root("a/plain"));
        }
    });
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0, "{applied} applied, {refused} refused");
    assert_eq!(applied + refused, rounds);
}
