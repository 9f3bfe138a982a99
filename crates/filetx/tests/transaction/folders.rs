//! Own folders: journal, checkpoints, and edits of a person.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use filetx::{Error, FolderOptions, FolderTransaction, INLINE_BYTES_MAX, OwnFolder};

use super::place::{Place, Policy, names};
use super::support::as_ordinary_user;

fn small_journal() -> FolderOptions {
    FolderOptions { journal_bytes: 4096, journal_bytes_max: 0, ..FolderOptions::default() }
}

fn change(folder: &OwnFolder, work: impl FnOnce(&mut FolderTransaction<'_>) -> filetx::Result<()>) {
    let mut tx = folder.begin().unwrap();
    work(&mut tx).unwrap();
    let committed = tx.commit().unwrap();
    assert!(committed.pending.is_none(), "{:?}", committed.pending);
}

#[test]
fn an_edited_file_is_reported_once_and_stays() {
    let place = Place::new(Policy::OwnFolder);
    let folder = place.open_folder();
    change(&folder, |tx| tx.put("log", b"one\n"));
    let mut by_hand = fs::OpenOptions::new().append(true).open(place.root("log")).unwrap();
    by_hand.write_all(b"by hand\n").unwrap();
    let mut tx = folder.begin().unwrap();
    let error = tx.append("log", b"two\n").unwrap_err();
    place.assert_error(&error, "ModifiedExternally", "root/log`: its length is 12 bytes, not 4");
    assert_eq!(tx.read("log").unwrap().unwrap(), b"one\nby hand\n");
    drop(tx);
    change(&folder, |tx| tx.append("log", b"two\n"));
    change(&folder, |tx| tx.append("log", b"three\n"));
    drop(folder);
    assert_eq!(fs::read(place.root("log")).unwrap(), b"one\nby hand\ntwo\nthree\n");
}

#[test]
fn a_truncated_file_is_reported() {
    let place = Place::new(Policy::OwnFolder);
    let folder = place.open_folder();
    change(&folder, |tx| tx.put("log", b"one\ntwo\n"));
    fs::write(place.root("log"), "one\n").unwrap();
    let mut tx = folder.begin().unwrap();
    assert!(matches!(tx.truncate("log", 2), Err(Error::ModifiedExternally { .. })));
    // It was reported: the same transaction may continue.
    tx.append("log", b"three\n").unwrap();
    let _ = tx.commit().unwrap();
    assert_eq!(fs::read(place.root("log")).unwrap(), b"one\nthree\n");
}

/// Length of the journal after `count` commits of about a sector each. Checks that `count` lines
/// are there.
fn journal_len_after(place: &Place, folder: &OwnFolder, count: usize) -> u64 {
    for number in 0..count {
        change(folder, |tx| tx.append("log", format!("{number}\n").as_bytes()));
    }
    let log = fs::read_to_string(place.root("log")).unwrap();
    let lines = log.lines().rev().take(count).map(|line| line.parse::<usize>().unwrap());
    assert!(lines.eq((0..count).rev()), "{log}");
    fs::metadata(place.root(".txn/journal")).unwrap().len()
}

#[test]
fn a_journal_that_one_process_fills_doubles_up_to_its_limit() {
    let place = Place::new(Policy::OwnFolder);
    let sizes =
        |max| FolderOptions { journal_bytes: 16 << 10, journal_bytes_max: max, ..FolderOptions::default() };
    let open = |max| place.open_folder_with(sizes(max));
    assert_eq!(journal_len_after(&place, &open(0), 100), 16 << 10, "without a larger limit it stays");
    assert_eq!(journal_len_after(&place, &open(64 << 10), 400), 64 << 10);
    assert_eq!(journal_len_after(&place, &open(16 << 10), 200), 16 << 10, "it follows a smaller limit");
    // A program with a few commits at a time does not fill the journal alone.
    for _ in 0..20 {
        assert_eq!(journal_len_after(&place, &open(1 << 20), 10), 16 << 10);
    }
}

#[test]
fn a_moved_removed_or_replaced_folder_is_refused() {
    let place = Place::new(Policy::OwnFolder);
    let folder = place.open_folder();
    change(&folder, |tx| tx.put("log", b"one\n"));
    let elsewhere = place.root("").parent().unwrap().join("moved");
    fs::rename(place.root(""), &elsewhere).unwrap();
    let gone = |folder: &OwnFolder| matches!(folder.begin(), Err(Error::FolderMoved { .. }));
    assert!(gone(&folder), "nothing is there");
    fs::create_dir(place.root("")).unwrap();
    assert!(gone(&folder), "another folder is there");
    change(&place.open_folder(), |tx| tx.put("log", b"other\n"));
    assert!(gone(&folder));
    assert_eq!(fs::read(elsewhere.join("log")).unwrap(), b"one\n");
    assert_eq!(fs::read(place.root("log")).unwrap(), b"other\n");
    // Moved back, it works again.
    fs::remove_dir_all(place.root("")).unwrap();
    fs::rename(&elsewhere, place.root("")).unwrap();
    change(&folder, |tx| tx.append("log", b"two\n"));
    assert_eq!(fs::read(place.root("log")).unwrap(), b"one\ntwo\n");
}

#[test]
fn a_folder_opened_through_a_symlink_stays_the_same() {
    let place = Place::new(Policy::OwnFolder);
    let link = place.root("").parent().unwrap().join("link");
    std::os::unix::fs::symlink(place.root(""), &link).unwrap();
    let lock = link.with_file_name("lock");
    let folder = OwnFolder::open(&link, &lock, FolderOptions::default()).unwrap();
    change(&folder, |tx| tx.put("log", b"one\n"));
    change(&folder, |tx| tx.append("log", b"two\n"));
    assert_eq!(fs::read(place.root("log")).unwrap(), b"one\ntwo\n");
}

#[test]
fn an_append_larger_than_the_journal_makes_it_grow() {
    let place = Place::new(Policy::OwnFolder);
    let folder = place.open_folder_with(small_journal());
    let journal_len = || fs::metadata(place.root(".txn/journal")).unwrap().len();
    change(&folder, |tx| tx.put("log", b"start\n"));
    let before = journal_len();
    let large = vec![b'x'; 300_000];
    change(&folder, |tx| tx.append("log", &large));
    assert!(journal_len() > 300_000 && before < 300_000);
    change(&folder, |tx| tx.append("log", b"end\n"));
    drop(folder);
    let expected = [b"start\n", large.as_slice(), b"end\n"].concat();
    assert!(fs::read(place.root("log")).unwrap() == expected);
    // Another process continues with the grown journal.
    place.change(|tx| tx.append("log", b"later\n"));
    assert!(fs::read(place.root("log")).unwrap() == [expected.as_slice(), b"later\n"].concat());
}

#[test]
fn many_commits_over_many_checkpoints_are_correct() {
    let place = Place::new(Policy::OwnFolder);
    let folder = place.open_folder_with(small_journal());
    let mut log = String::new();
    for round in 0..120_u32 {
        let line = format!("line {round}\n");
        log.push_str(&line);
        change(&folder, |tx| {
            tx.append("log", line.as_bytes())?;
            tx.put("count", round.to_string().as_bytes())?;
            if round % 10 == 3 {
                // Staged content.
                tx.put("large", &vec![round as u8; INLINE_BYTES_MAX + 1])?;
            }
            match round % 4 {
                0 => tx.put("f", b"there"),
                1 => tx.rename("f", "g"),
                2 => tx.truncate("g", 1),
                _ => tx.remove("g"),
            }
        });
        assert_eq!(fs::read_to_string(place.root("log")).unwrap(), log);
    }
    drop(folder);
    assert_eq!(names(&place.root("")), ["log", "count", "large", ".txn"].map(str::to_owned).into());
    assert_eq!(fs::read_to_string(place.root("count")).unwrap(), "119");
    assert!(fs::read(place.root("large")).unwrap() == vec![113; INLINE_BYTES_MAX + 1]);
    assert!(
        names(&place.root(".txn/stage")).len() <= 1,
        "checkpoints remove staged content that is in the files"
    );
}

#[test]
fn two_handles_of_one_folder_see_each_others_commits() {
    let place = Place::new(Policy::OwnFolder);
    let handles = [place.open_folder_with(small_journal()), place.open_folder_with(small_journal())];
    for round in 0..40 {
        change(&handles[round % 2], |tx| {
            let count =
                tx.read("count")?.map_or(0, |count| String::from_utf8(count).unwrap().parse().unwrap());
            assert_eq!(count, round);
            tx.append("log", b"x")?;
            tx.put("count", (count + 1).to_string().as_bytes())
        });
    }
    assert_eq!(fs::read(place.root("log")).unwrap().len(), 40);
}

#[test]
fn two_handles_of_one_folder_in_two_threads_lose_no_commit() {
    let place = Place::new(Policy::OwnFolder);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let folder = place.open_folder_with(small_journal());
                for _ in 0..50 {
                    change(&folder, |tx| tx.append("log", b"x"));
                }
            });
        }
    });
    assert_eq!(fs::read(place.root("log")).unwrap().len(), 100);
}

/// The mode of a file must not stop this or a later commit.
#[test]
fn read_only_files_can_be_changed() {
    let place = Place::new(Policy::OwnFolder);
    let all = |path| fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    all(place.root(""));
    all(place.root(".."));
    as_ordinary_user(|| {
        let folder = place.open_folder_with(small_journal());
        change(&folder, |tx| tx.put("f", b"one"));
        fs::set_permissions(place.root("f"), fs::Permissions::from_mode(0o400)).unwrap();
        change(&folder, |tx| tx.append("f", b" two"));
        for _ in 0..20 {
            change(&folder, |tx| tx.put("g", &[b'x'; 400]));
        }
        change(&folder, |tx| tx.put("f", b"three"));
    });
    assert_eq!(fs::read(place.root("f")).unwrap(), b"three");
    assert_eq!(fs::metadata(place.root("f")).unwrap().mode() & 0o777, 0o400);
}

#[test]
fn a_missing_folder_is_an_error_that_names_it() {
    let place = Place::new(Policy::OwnFolder);
    let missing = place.root("missing");
    let error =
        OwnFolder::open(&missing, &place.lock_file(), FolderOptions::default()).map(drop).unwrap_err();
    place.assert_error(&error, "Io", "root/missing");
}

/// A commit must fail if the lock file was removed while the lock was held.
#[test]
fn a_removed_lock_file_aborts_the_commit() {
    let place = Place::new(Policy::OwnFolder);
    let folder = place.open_folder();
    let mut tx = folder.begin().unwrap();
    tx.put("f", b"x").unwrap();
    fs::remove_file(place.lock_file()).unwrap();
    let failure = tx.commit().unwrap_err();
    assert_eq!(failure.outcome, filetx::FailureOutcome::Aborted);
    let Error::GroupCommit { source } = failure.error else { panic!("{:?}", failure.error) };
    place.assert_error(&source, "LockFileReplaced", "lock` was removed or replaced while it was held");
    assert_eq!(place.lines(), Vec::<String>::new());
    change(&folder, |tx| tx.put("f", b"y"));
    assert_eq!(place.lines(), ["f=y"]);
}

#[test]
fn an_edit_survives_later_appends_and_recovery() {
    let place = Place::new(Policy::OwnFolder);
    let folder = place.open_folder();
    let append = |text: &[u8]| -> filetx::Result<()> {
        let mut tx = folder.begin()?;
        tx.append("log", text)?;
        tx.commit().map(|committed| assert!(committed.pending.is_none())).map_err(|failure| failure.error)
    };
    append(b"one\n").unwrap();
    fs::OpenOptions::new()
        .append(true)
        .open(place.root("log"))
        .and_then(|mut file| file.write_all(b"by hand\n"))
        .unwrap();
    assert!(matches!(append(b"two\n"), Err(Error::ModifiedExternally { .. })));
    append(b"two\n").unwrap();
    append(b"three\n").unwrap();
    drop(folder);
    // As after a power cut: all records are published again.
    fs::remove_file(place.root(".txn/published")).unwrap();
    let again = place.open_folder();
    assert_eq!(again.take_preserved(), []);
    drop(again);
    assert_eq!(place.lines(), ["log=one\\nby hand\\ntwo\\nthree\\n"]);
}

#[test]
fn another_process_detects_an_edit() {
    let place = Place::new(Policy::OwnFolder);
    place.change(|tx| tx.append("log", b"one\n"));
    fs::write(place.root("log"), "one\nby hand\n").unwrap();
    // A new handle reads the lengths from the journal.
    let error = place.open_folder().begin().unwrap().append("log", b"two\n").unwrap_err();
    place.assert_error(&error, "ModifiedExternally", "log");
    let error = place.open_folder().begin().unwrap().truncate("log", 2).unwrap_err();
    place.assert_error(&error, "ModifiedExternally", "log");
}

#[test]
fn a_checkpoint_removes_published_staged_content() {
    let place = Place::new(Policy::OwnFolder);
    let folder = place.open_folder();
    let large = vec![7; 24 * 1024 * 1024];
    for _ in 0..6 {
        let mut tx = folder.begin().unwrap();
        tx.put("large", &large).unwrap();
        assert!(tx.commit().unwrap().pending.is_none());
    }
    let staged: u64 = fs::read_dir(place.root(".txn/stage"))
        .unwrap()
        .map(|file| file.unwrap().metadata().unwrap().len())
        .sum();
    assert!(staged <= 4 * large.len() as u64, "{staged} bytes are staged");
}

/// Every open reads the whole journal.
#[test]
fn a_large_record_does_not_stay_in_the_journal() {
    let place = Place::new(Policy::OwnFolder);
    let folder = place.open_folder_with(small_journal());
    let length = || fs::metadata(place.root(".txn/journal")).unwrap().len();
    let usual = length();
    let large = vec![b'x'; 100_000];
    change(&folder, |tx| large.chunks(1_000).try_for_each(|chunk| tx.append("log", chunk)));
    assert!(length() > 100_000, "it is in the journal, with one sync");
    change(&folder, |tx| tx.append("log", b"small"));
    assert_eq!(length(), usual);
    drop(folder);
    assert_eq!(fs::read(place.root("log")).unwrap(), [&large[..], b"small"].concat());
}
