//! The rules of the simulated disk, one by one, with expected results.

#![expect(clippy::unwrap_used, reason = "the helpers of a test may panic as the test itself may")]

extern crate cleveragents_testkit as testkit;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::sync::Arc;

use filetx::{FileKind, OpenMode, RelPath, RenameMode, Storage, StoredFile};
use testkit::sim::{Fault, FaultDuration, Node, SECTOR_BYTES, SimDisk, is_simulated_crash};

fn path(text: &str) -> RelPath {
    if text.is_empty() { RelPath::root() } else { RelPath::new(text).unwrap() }
}

fn disk() -> (SimDisk, Arc<dyn Storage>) {
    let disk = SimDisk::new();
    let root = disk.make_root("r");
    (disk, root)
}

fn create(root: &Arc<dyn Storage>, name: &str) -> Box<dyn StoredFile> {
    root.open(&path(name), OpenMode::Create { mode: 0o644 }).unwrap()
}

fn rename(root: &Arc<dyn Storage>, from: &str, to: &str) {
    root.rename(&path(from), &path(to), RenameMode::Replace).unwrap();
}

fn sync(root: &Arc<dyn Storage>, folder: &str) {
    root.sync_folder(&path(folder)).unwrap();
}

fn read(file: &dyn StoredFile) -> Vec<u8> {
    let mut bytes = vec![0; file.stat().unwrap().len as usize];
    assert_eq!(file.read_at(&mut bytes, 0).unwrap(), bytes.len());
    bytes
}

/// The trees that a power cut may leave, in short: `name=content`, `name/` for folders, `name@` for the rest.
fn trees(disk: &SimDisk) -> BTreeSet<String> {
    let texts: Vec<String> = disk.crash_states().map(|cut| tree(&cut.disk)).collect();
    let different: BTreeSet<String> = texts.iter().cloned().collect();
    assert_eq!(texts.len(), different.len(), "a state came twice: {texts:?}");
    different
}

fn tree(disk: &SimDisk) -> String {
    let show = |(path, node)| match node {
        Node::File { content, .. } => format!("{path}={}", String::from_utf8_lossy(&content)),
        Node::Folder { .. } => format!("{path}/"),
        Node::Symlink { .. } | Node::Other => format!("{path}@"),
    };
    disk.tree("r").into_iter().map(show).collect::<Vec<_>>().join(" ")
}

fn check(disk: &SimDisk, expected: &[&str]) {
    assert_eq!(trees(disk), expected.iter().map(ToString::to_string).collect());
}

#[test]
fn nothing_pending_leaves_one_state() {
    let (disk, _) = disk();
    disk.external_write("r", "a", b"old");
    assert_eq!(disk.crash_state_count(), 1);
    check(&disk, &["a=old"]);
}

#[test]
fn a_write_without_sync_may_be_lost() {
    let (disk, root) = disk();
    disk.external_write("r", "a", b"old");
    let file = root.open(&path("a"), OpenMode::Write).unwrap();
    file.write_at(b"new", 0).unwrap();
    assert_eq!(disk.crash_state_count(), 2);
    check(&disk, &["a=old", "a=new"]);
    file.sync_data().unwrap();
    check(&disk, &["a=new"]);
}

#[test]
fn any_one_version_of_a_sector_survives() {
    let (disk, root) = disk();
    disk.external_write("r", "a", b"0");
    let file = root.open(&path("a"), OpenMode::Write).unwrap();
    for version in [b"1", b"2", b"3"] {
        file.write_at(version, 0).unwrap();
    }
    assert_eq!(disk.crash_state_count(), 4);
    check(&disk, &["a=0", "a=1", "a=2", "a=3"]);
}

#[test]
fn length_and_data_are_kept_or_lost_apart() {
    let (disk, root) = disk();
    disk.external_write("r", "a", b"old");
    let file = root.open(&path("a"), OpenMode::Write).unwrap();
    file.write_at(b"er", 3).unwrap();
    assert_eq!(disk.crash_state_count(), 4);
    check(&disk, &["a=old", "a=old\0\0", "a=older"]);
}

#[test]
fn a_cut_in_length_may_be_lost() {
    let (disk, root) = disk();
    disk.external_write("r", "a", b"older");
    let file = root.open(&path("a"), OpenMode::Write).unwrap();
    file.set_len(3).unwrap();
    assert_eq!(read(&*file), b"old");
    // The zeros after the new end may reach the disk before the length does.
    check(&disk, &["a=older", "a=old", "a=old\0\0"]);
    file.sync_data().unwrap();
    file.set_len(5).unwrap();
    assert_eq!(read(&*file), b"old\0\0");
    check(&disk, &["a=old", "a=old\0\0"]);
}

#[test]
fn zeros_in_the_place_of_cut_off_data_are_synced_like_data() {
    for sync_first in [false, true] {
        let (disk, root) = disk();
        disk.external_write("r", "a", &[b'o'; 2 * SECTOR_BYTES]);
        let file = root.open(&path("a"), OpenMode::Write).unwrap();
        file.set_len(0).unwrap();
        if sync_first {
            file.sync_data().unwrap();
        }
        file.set_len(SECTOR_BYTES as u64).unwrap();
        file.write_at(b"n", 2 * SECTOR_BYTES as u64).unwrap();
        file.sync_data().unwrap();
        let expected = [&[0; 2 * SECTOR_BYTES][..], b"n"].concat();
        assert_eq!(read(&*file), expected);
        let states: Vec<_> =
            disk.crash_states().map(|cut| cut.disk.external_read("r", "a").unwrap()).collect();
        assert_eq!(states, [expected]);
    }
}

#[test]
fn what_no_name_can_reach_any_more_adds_no_choices() {
    let (disk, root) = disk();
    let file = create(&root, "a");
    sync(&root, "");
    root.remove_file(&path("a")).unwrap();
    file.write_at(b"x", 0).unwrap();
    assert_eq!(disk.crash_state_count(), 8);
    sync(&root, "");
    assert_eq!(disk.crash_state_count(), 1);
}

#[test]
fn a_write_tears_at_sector_boundaries_only() {
    let (disk, root) = disk();
    let record = SECTOR_BYTES / 2;
    let old = vec![b'o'; 3 * SECTOR_BYTES];
    disk.external_write("r", "a", &old);
    let file = root.open(&path("a"), OpenMode::Write).unwrap();
    // From the middle of sector 0 to the end of sector 1: exactly two sectors, with no third.
    file.write_at(&vec![b'n'; 3 * record], record as u64).unwrap();
    assert_eq!(disk.crash_state_count(), 4);
    let states: BTreeSet<(u8, u8, u8, u8)> = disk
        .crash_states()
        .map(|cut| {
            let bytes = cut.disk.external_read("r", "a").unwrap();
            let second = bytes[SECTOR_BYTES];
            assert_eq!(bytes[..record], old[..record]);
            assert!(bytes[record..SECTOR_BYTES].iter().all(|byte| *byte == bytes[record]));
            assert!(bytes[SECTOR_BYTES..2 * SECTOR_BYTES].iter().all(|byte| *byte == second));
            (bytes[record - 1], bytes[record], second, bytes[2 * SECTOR_BYTES])
        })
        .collect();
    let expected = [(b'o', b'o'), (b'o', b'n'), (b'n', b'o'), (b'n', b'n')];
    assert_eq!(states, expected.map(|(first, second)| (b'o', first, second, b'o')).into());
}

#[test]
fn a_record_that_ends_at_a_boundary_leaves_the_next_sector_alone() {
    let (disk, root) = disk();
    disk.external_write("r", "a", &[0; 2 * SECTOR_BYTES]);
    let file = root.open(&path("a"), OpenMode::Write).unwrap();
    file.write_at(&[1; SECTOR_BYTES], 0).unwrap();
    file.sync_data().unwrap();
    file.write_at(&[2; SECTOR_BYTES], SECTOR_BYTES as u64).unwrap();
    assert_eq!(disk.crash_state_count(), 2);
    for cut in disk.crash_states() {
        assert_eq!(cut.disk.external_read("r", "a").unwrap()[..SECTOR_BYTES], [1; SECTOR_BYTES]);
    }
}

#[test]
fn a_file_sync_does_not_make_the_name_durable() {
    let (disk, root) = disk();
    let file = create(&root, "a");
    file.write_at(b"x", 0).unwrap();
    file.sync_all().unwrap();
    check(&disk, &["", "a=x"]);
    sync(&root, "");
    check(&disk, &["a=x"]);
}

#[test]
fn create_and_write_without_any_sync_counts_exactly() {
    let (disk, root) = disk();
    create(&root, "a").write_at(b"x", 0).unwrap();
    // The name, the length and the sector; without the name the other two do not show.
    assert_eq!(disk.crash_state_count(), 8);
    check(&disk, &["", "a=", "a=\0", "a=x"]);
}

#[test]
fn a_rename_without_folder_sync_shows_old_or_new() {
    let (disk, root) = disk();
    disk.external_write("r", "a", b"old");
    disk.external_write("r", "t", b"new");
    rename(&root, "t", "a");
    check(&disk, &["a=old t=new", "a=new"]);
    sync(&root, "");
    check(&disk, &["a=new"]);
}

#[test]
fn a_kept_rename_does_not_need_the_lost_create() {
    let (disk, root) = disk();
    create(&root, "t");
    rename(&root, "t", "a");
    check(&disk, &["", "t=", "a="]);
    assert_eq!(disk.crash_state_count(), 4);
}

#[test]
fn a_rename_across_folders_is_durable_when_either_is_synced() {
    for synced in ["f", "g"] {
        let (disk, root) = disk();
        disk.external_write("r", "f/a", b"x");
        disk.external_make_folder("r", "g");
        rename(&root, "f/a", "g/a");
        check(&disk, &["f/ f/a=x g/", "f/ g/ g/a=x"]);
        sync(&root, synced);
        check(&disk, &["f/ g/ g/a=x"]);
    }
}

#[test]
fn a_settled_rename_stays_later_than_an_open_one() {
    let (disk, root) = disk();
    disk.external_write("r", "f/a", b"x");
    disk.external_make_folder("r", "g");
    disk.external_make_folder("r", "h");
    rename(&root, "f/a", "g/a");
    rename(&root, "g/a", "h/a");
    sync(&root, "h");
    // The first rename may be lost, so the old name may be back; but it never brings back the name in g.
    check(&disk, &["f/ g/ h/ h/a=x", "f/ f/a=x g/ h/ h/a=x"]);
}

#[test]
fn the_sync_of_another_folder_settles_nothing() {
    let (disk, root) = disk();
    disk.external_make_folder("r", "f");
    create(&root, "a");
    sync(&root, "f");
    check(&disk, &["f/", "a= f/"]);
}

#[test]
fn a_lost_folder_takes_synced_entries_along() {
    let (disk, root) = disk();
    root.make_folder(&path("f"), 0o755).unwrap();
    let file = create(&root, "f/a");
    file.write_at(b"x", 0).unwrap();
    file.sync_all().unwrap();
    sync(&root, "f");
    check(&disk, &["", "f/ f/a=x"]);
    sync(&root, "");
    check(&disk, &["f/ f/a=x"]);
}

#[test]
fn removals_may_be_lost() {
    let (disk, root) = disk();
    disk.external_write("r", "a", b"x");
    disk.external_make_folder("r", "f");
    root.remove_file(&path("a")).unwrap();
    root.remove_folder(&path("f")).unwrap();
    assert_eq!(tree(&disk), "");
    check(&disk, &["", "a=x", "f/", "a=x f/"]);
}

#[test]
fn a_symlink_is_durable_after_the_folder_sync() {
    let (disk, root) = disk();
    root.make_symlink(OsStr::new("/etc"), &path("l")).unwrap();
    check(&disk, &["", "l@"]);
    sync(&root, "");
    check(&disk, &["l@"]);
    assert_eq!(root.read_link(&path("l")).unwrap(), "/etc");
}

#[test]
fn modes_are_durable_after_sync_all_but_not_after_sync_data() {
    let modes = |disk: &SimDisk| -> BTreeSet<u32> {
        let mode = |disk: &SimDisk| disk.root("r").stat(&path("a")).unwrap().unwrap().mode;
        disk.crash_states().map(|cut| mode(&cut.disk)).collect()
    };
    let (disk, root) = disk();
    disk.external_write("r", "a", b"x");
    root.set_mode(&path("a"), 0o600).unwrap();
    root.set_mode(&path("a"), 0o640).unwrap();
    let file = root.open(&path("a"), OpenMode::Write).unwrap();
    file.sync_data().unwrap();
    assert_eq!(modes(&disk), [0o644, 0o600, 0o640].into());
    sync(&root, "");
    assert_eq!(modes(&disk), [0o644, 0o600, 0o640].into());
    file.sync_all().unwrap();
    assert_eq!(modes(&disk), [0o640].into());
}

#[test]
fn the_mode_of_a_folder_is_durable_after_its_own_sync() {
    let (disk, root) = disk();
    disk.external_make_folder("r", "f");
    root.set_mode(&path("f"), 0o700).unwrap();
    sync(&root, "");
    assert_eq!(disk.crash_states().count(), 2);
    sync(&root, "f");
    assert_eq!(disk.crash_states().count(), 1);
    assert_eq!(root.stat(&path("f")).unwrap().unwrap().mode, 0o700);
}

#[test]
fn attributes_are_copied_and_durable_after_sync_all() {
    let (disk, root) = disk();
    disk.external_write("r", "a", b"");
    disk.external_write("r", "b", b"");
    disk.external_set_owner("r", "a", 7);
    root.copy_attributes(&path("a"), &path("b")).unwrap();
    assert_eq!(disk.external_owner("r", "b"), Some(7));
    assert_eq!(disk.crash_states().count(), 2);
    root.open(&path("b"), OpenMode::Read).unwrap().sync_all().unwrap();
    assert_eq!(disk.crash_states().count(), 1);
}

#[test]
fn a_failed_sync_is_never_made_good_by_a_later_one() {
    let (disk, root) = disk();
    disk.external_write("r", "a", b"old");
    let file = root.open(&path("a"), OpenMode::Write).unwrap();
    file.write_at(b"new", 0).unwrap();
    disk.fail_at(1, Fault::Io, FaultDuration::Once);
    assert_eq!(file.sync_data().unwrap_err().raw_os_error(), Some(5));
    file.sync_data().unwrap();
    assert_eq!(read(&*file), b"new");
    check(&disk, &["a=old", "a=new"]);
    // After another write the page is dirty again, and the next sync counts.
    file.write_at(b"new", 0).unwrap();
    file.sync_data().unwrap();
    check(&disk, &["a=new"]);
}

#[test]
fn a_failed_folder_sync_forgets_names_only_if_told_so() {
    for forget in [false, true] {
        let (disk, root) = disk();
        disk.set_folder_syncs_forget(forget);
        create(&root, "a");
        disk.fail_at(1, Fault::Io, FaultDuration::Once);
        root.sync_folder(&RelPath::root()).unwrap_err();
        check(&disk, &["", "a="]);
        sync(&root, "");
        check(&disk, if forget { &["", "a="] } else { &["a="] });
    }
}

#[test]
fn an_exchange_is_kept_or_lost_as_a_whole() {
    let (disk, root) = disk();
    disk.external_write("r", "a", b"1");
    disk.external_write("r", "b", b"2");
    root.rename(&path("a"), &path("b"), RenameMode::Exchange).unwrap();
    assert_eq!(tree(&disk), "a=2 b=1");
    check(&disk, &["a=1 b=2", "a=2 b=1"]);
    disk.set_exchange(false);
    let refused = root.rename(&path("a"), &path("b"), RenameMode::Exchange).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::Unsupported);
}

#[test]
fn a_full_disk_stops_a_write_half_way() {
    let (disk, root) = disk();
    disk.external_write("r", "a", b"....");
    let file = root.open(&path("a"), OpenMode::Write).unwrap();
    disk.fail_at(0, Fault::NoSpace, FaultDuration::Once);
    assert_eq!(file.write_at(b"abcd", 0).unwrap_err().raw_os_error(), Some(28));
    assert_eq!(read(&*file), b"ab..");
    file.write_at(b"abcd", 0).unwrap();
    assert_eq!(read(&*file), b"abcd");
}

#[test]
fn no_space_is_for_calls_that_need_some() {
    let (disk, root) = disk();
    disk.external_write("r", "a", b"x");
    disk.external_write("r", "b", b"y");
    disk.full();
    let full = |result: io::Result<()>| assert_eq!(result.unwrap_err().raw_os_error(), Some(28));
    let file = root.open(&path("a"), OpenMode::Write).unwrap();
    full(file.write_at(b"z", 0));
    full(file.set_len(9));
    full(root.open(&path("c"), OpenMode::Create { mode: 0o644 }).map(drop));
    full(root.make_folder(&path("c"), 0o755));
    full(root.make_symlink(OsStr::new("x"), &path("c")));
    full(root.link(&path("a"), &path("c")));
    full(root.rename(&path("a"), &path("c"), RenameMode::Replace));
    assert_eq!(disk.fault_hits(), 7);
    assert_eq!(tree(&disk), "a=x b=y");
    rename(&root, "a", "b");
    root.set_mode(&path("b"), 0o600).unwrap();
    file.set_len(0).unwrap();
    file.sync_all().unwrap();
    sync(&root, "");
    root.remove_file(&path("b")).unwrap();
    disk.heal();
    create(&root, "c");
    assert_eq!(tree(&disk), "c=");
}

#[test]
fn a_lasting_error_stays_and_a_single_one_goes() {
    for (lasts, second_fails) in [(FaultDuration::Once, false), (FaultDuration::Forever, true)] {
        let (disk, root) = disk();
        disk.fail_at(1, Fault::Io, lasts);
        create(&root, "a");
        root.remove_file(&path("a")).unwrap_err();
        assert_eq!(root.remove_file(&path("a")).is_err(), second_fails);
    }
}

#[test]
fn after_a_crash_every_call_fails_and_nothing_of_it_happens() {
    let (disk, root) = disk();
    disk.crash_at(2);
    let file = create(&root, "a");
    file.write_at(b"1", 0).unwrap();
    assert!(!disk.is_crashed());
    assert!(is_simulated_crash(&file.write_at(b"2", 0).unwrap_err()));
    assert!(disk.is_crashed());
    assert!(is_simulated_crash(&file.sync_all().unwrap_err()));
    assert!(is_simulated_crash(&root.stat(&path("a")).unwrap_err()));
    assert_eq!(tree(&disk), "a=1");
    assert_eq!(disk.calls(), 2);
    assert_eq!(disk.log(), ["create a", "write 1 bytes at 0 of a"]);
}

#[test]
fn a_kill_keeps_what_was_written_in_the_same_boot_and_a_cut_starts_another() {
    let (disk, root) = disk();
    create(&root, "a").write_at(b"1", 0).unwrap();
    let killed = disk.kill();
    assert_eq!(tree(&killed), "a=1");
    assert_eq!(killed.root("r").boot_id(), root.boot_id());
    assert_eq!(trees(&killed), trees(&disk));
    for cut in disk.crash_states() {
        assert_ne!(cut.disk.root("r").boot_id(), root.boot_id());
        assert_eq!(cut.disk.crash_state_count(), 1);
    }
}

#[test]
fn forks_do_not_see_each_other() {
    let (disk, root) = disk();
    disk.external_write("r", "a", b"old");
    let fork = disk.fork();
    root.open(&path("a"), OpenMode::Write).unwrap().write_at(b"new", 0).unwrap();
    assert_eq!(tree(&fork), "a=old");
    assert_eq!(fork.crash_state_count(), 1);
    fork.external_remove("r", "a");
    assert_eq!(tree(&disk), "a=new");
}

#[test]
fn two_roots_share_one_count_and_one_fate() {
    let disk = SimDisk::new();
    let (a, b) = (disk.make_root("a"), disk.make_root("b"));
    disk.crash_at(2);
    create(&a, "x");
    create(&b, "y");
    assert!(a.remove_file(&path("x")).is_err());
    let names = |cut: testkit::sim::CrashState| {
        (cut.disk.external_list("a", "").len(), cut.disk.external_list("b", "").len())
    };
    assert_eq!(
        disk.crash_states().map(names).collect::<BTreeSet<_>>(),
        [(0, 0), (0, 1), (1, 0), (1, 1)].into()
    );
}

#[test]
fn files_do_not_move_between_mounts() {
    let (disk, root) = disk();
    disk.make_root_on("r/m", 2);
    create(&root, "a");
    create(&root, "m/b");
    let crosses =
        |result: io::Result<()>| assert_eq!(result.unwrap_err().kind(), io::ErrorKind::CrossesDevices);
    crosses(root.rename(&path("a"), &path("m/a"), RenameMode::Replace));
    crosses(root.rename(&path("a"), &path("m/b"), RenameMode::Exchange));
    crosses(root.rename(&path("m"), &path("n"), RenameMode::Replace));
    crosses(root.link(&path("a"), &path("m/a")));
    let mount = |name| root.stat(&path(name)).unwrap().unwrap().mount;
    assert_ne!(mount("a"), mount("m/b"));
}

#[test]
fn links_are_counted_and_share_one_file() {
    let (disk, root) = disk();
    let file = create(&root, "a");
    root.link(&path("a"), &path("b")).unwrap();
    file.write_at(b"x", 0).unwrap();
    let stat = |name| root.stat(&path(name)).unwrap().unwrap();
    assert_eq!((stat("a").links, stat("a").id), (2, stat("b").id));
    assert_eq!(root.link(&path("a"), &path("b")).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    root.remove_file(&path("a")).unwrap();
    assert_eq!(stat("b").links, 1);
    root.remove_file(&path("b")).unwrap();
    assert_eq!(file.stat().unwrap().links, 0);
    assert_eq!(read(&*file), b"x");
    disk.set_links(false);
    create(&root, "c");
    assert_eq!(root.link(&path("c"), &path("d")).unwrap_err().kind(), io::ErrorKind::Unsupported);
}

#[test]
fn paths_do_not_lead_through_symlinks_and_only_plain_files_open() {
    let (disk, root) = disk();
    disk.external_write("r", "f/a", b"x");
    disk.external_symlink("r", "f", "l");
    disk.external_fifo("r", "p");
    root.stat(&path("l/a")).unwrap_err();
    root.open(&path("l/a"), OpenMode::Read).map(drop).unwrap_err();
    root.list(&path("l")).unwrap_err();
    root.sync_folder(&path("l")).unwrap_err();
    for name in ["f", "l", "p"] {
        root.open(&path(name), OpenMode::Read).map(drop).unwrap_err();
    }
    assert_eq!(root.stat(&path("l")).unwrap().unwrap().kind, FileKind::Symlink);
    assert_eq!(root.stat(&path("p")).unwrap().unwrap().kind, FileKind::Other);
    assert_eq!(root.stat(&path("no/where")).unwrap(), None);
}

#[test]
fn renames_refuse_what_the_system_refuses() {
    let (disk, root) = disk();
    disk.external_write("r", "a", b"");
    disk.external_write("r", "f/x", b"");
    disk.external_make_folder("r", "g");
    let check = |from, to, how, kind| {
        let error = root.rename(&path(from), &path(to), how).unwrap_err();
        assert_eq!(error.kind(), kind, "{from} to {to}");
    };
    check("a", "g", RenameMode::Replace, io::ErrorKind::IsADirectory);
    check("g", "a", RenameMode::Replace, io::ErrorKind::NotADirectory);
    check("g", "f", RenameMode::Replace, io::ErrorKind::DirectoryNotEmpty);
    check("f", "f/y", RenameMode::Replace, io::ErrorKind::InvalidInput);
    check("a", "g", RenameMode::NoReplace, io::ErrorKind::AlreadyExists);
    check("a", "b", RenameMode::Exchange, io::ErrorKind::NotFound);
    check("b", "a", RenameMode::Replace, io::ErrorKind::NotFound);
    disk.external_set_mode("r", "g", 0o500);
    check("a", "g/a", RenameMode::Replace, io::ErrorKind::PermissionDenied);
    root.check_writable(&path("g")).unwrap_err();
    root.check_writable(&path("f")).unwrap();
    rename(&root, "f", "g");
    assert_eq!(tree(&disk), "a= g/ g/x=");
}

#[test]
fn a_person_edits_between_two_calls_and_settles_nothing_else() {
    let (disk, root) = disk();
    disk.on_call(1, |disk| {
        assert_eq!(disk.external_list("r", ""), ["a".to_owned()].into());
        disk.external_write("r", "p", b"mine");
    });
    create(&root, "a");
    assert_eq!(disk.external_read("r", "p"), None);
    create(&root, "b");
    assert_eq!(disk.external_read("r", "p"), Some(b"mine".to_vec()));
    assert_eq!(disk.calls(), 2);
    check(&disk, &["p=mine", "a= p=mine", "b= p=mine", "a= b= p=mine"]);
}

#[test]
fn what_a_person_does_can_be_lost_if_told_so() {
    let (disk, _) = disk();
    disk.set_external_syncs(false);
    disk.external_write("r", "p", b"");
    check(&disk, &["", "p="]);
}

#[test]
fn fingerprints_tell_trees_apart_but_not_inode_numbers() {
    let with = |names: &[&str], linked: bool| {
        let (disk, root) = disk();
        for name in names {
            create(&root, name);
        }
        if linked {
            root.remove_file(&path("b")).unwrap();
            root.link(&path("a"), &path("b")).unwrap();
        }
        disk.fingerprint()
    };
    assert_eq!(with(&["a", "b"], false), with(&["b", "a"], false));
    assert_ne!(with(&["a", "b"], false), with(&["a"], false));
    assert_ne!(with(&["a", "b"], false), with(&["a", "b"], true));
}

#[test]
fn whole_fingerprints_tell_what_is_pending_apart() {
    let after = |writes: &[&[u8]]| {
        let (disk, root) = disk();
        disk.external_write("r", "a", b"0");
        let file = root.open(&path("a"), OpenMode::Write).unwrap();
        writes.iter().for_each(|bytes| file.write_at(bytes, 0).unwrap());
        (disk.fingerprint(), disk.whole_fingerprint())
    };
    assert_eq!(after(&[b"2"]), after(&[b"2"]));
    assert_eq!(after(&[b"1", b"2"]).0, after(&[b"2"]).0);
    assert_ne!(after(&[b"1", b"2"]).1, after(&[b"2"]).1);
}

#[test]
fn a_removed_root_takes_no_new_names() {
    let (disk, root) = disk();
    let below = disk.make_root("r/below");
    root.remove_folder(&path("below")).unwrap();
    let error = below.make_folder(&path("f"), 0o755).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

#[test]
fn a_file_opened_to_read_is_not_written() {
    let (disk, root) = disk();
    disk.external_write("r", "a", b"old");
    let file = root.open(&path("a"), OpenMode::Read).unwrap();
    file.write_at(b"new", 0).unwrap_err();
    file.set_len(0).unwrap_err();
    assert_eq!(read(&*file), b"old");
    disk.external_set_mode("r", "a", 0o400);
    root.open(&path("a"), OpenMode::Write).map(drop).unwrap_err();
}

#[test]
fn a_tree_can_leave_out_a_folder() {
    let (disk, _) = disk();
    disk.external_write("r", ".txn/journal", b"");
    disk.external_write("r", "a/.txn-2", b"");
    assert_eq!(disk.tree_without("r", ".txn").into_keys().collect::<Vec<_>>(), ["a"]);
    assert_eq!(disk.tree("r").len(), 4);
}

#[test]
fn a_sample_has_the_extremes_and_keeps_to_its_limit() {
    let (disk, root) = disk();
    for name in ["a", "b", "c", "d", "e", "f"] {
        create(&root, name).write_at(b"x", 0).unwrap();
    }
    let all = trees(&disk);
    assert_eq!(all.len(), 4usize.pow(6));
    let sample: BTreeSet<String> = disk.sampled_crash_states(1, 100).map(|cut| tree(&cut.disk)).collect();
    assert_eq!(sample.len(), 100);
    assert!(sample.is_subset(&all));
    let prefixes = ["", "a=x", "a=x b=x", "a=x b=x c=x", "a=x b=x c=x d=x", "a=x b=x c=x d=x e=x"];
    let single = ["f=x", "e=", "b=x c=x d=x e=x f=x", "a=x b=x c=x d=x e=x f=x", "a= b= c= d= e= f="];
    for expected in prefixes.iter().chain(&single) {
        assert!(sample.contains(*expected), "{expected}");
    }
    let again: BTreeSet<String> = disk.sampled_crash_states(1, 100).map(|cut| tree(&cut.disk)).collect();
    assert_eq!(sample, again);
    let other: BTreeSet<String> = disk.sampled_crash_states(2, 100).map(|cut| tree(&cut.disk)).collect();
    assert_ne!(sample, other);
}

#[test]
fn a_cut_says_what_it_lost() {
    let (disk, root) = disk();
    create(&root, "a").write_at(b"x", 0).unwrap();
    let all: Vec<String> = disk.crash_states().map(|cut| cut.describe()).collect();
    assert!(all[0].starts_with("lost create a\n"), "{}", all[0]);
    assert!(
        all[3].starts_with("kept create a\nlength of a: version 1 of 1\nsector 0 of a: version 1 of 1"),
        "{}",
        all[3]
    );
}
