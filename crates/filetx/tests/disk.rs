//! The promises of the real disk: no path leaves the root, only plain files are opened, modes are
//! exact.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may fail anywhere")]

extern crate cleveragents_filetx as filetx;

mod support;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::net::UnixListener;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use filetx::{Disk, FileKind, OpenMode, RelPath, RenameMode, Storage};
use rustix::fs::{
    AtFlags, CWD, RenameFlags, StatxFlags, XattrFlags, getxattr, renameat_with, setxattr, statx,
};
use rustix::io::Errno;
use rustix::process::geteuid;
use support::*;

fn read(disk: &Disk, path: &str) -> io::Result<Vec<u8>> {
    let mut buffer = [0; 64];
    let len = disk.open(&rel(path), OpenMode::Read)?.read_at(&mut buffer, 0)?;
    Ok(buffer[..len].to_vec())
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn writes_are_read_back_at_their_offset() {
    let play = Playground::new();
    let file = play.disk.open(&rel("a"), OpenMode::Create { mode: 0o640 }).unwrap();
    file.write_at(b"hello world", 0).unwrap();
    file.write_at(b"W", 6).unwrap();
    file.set_len(9).unwrap();
    file.sync_data().unwrap();
    file.sync_all().unwrap();
    assert_eq!(read(&play.disk, "a").unwrap(), b"hello Wor");
    let mut buffer = [0; 4];
    assert_eq!(file.read_at(&mut buffer, 6).unwrap(), 3);
    assert_eq!(file.read_at(&mut buffer, 9).unwrap(), 0);

    let again = play.disk.open(&rel("a"), OpenMode::Write).unwrap();
    again.write_at(b"J", 0).unwrap();
    assert_eq!(fs::read(play.root("a")).unwrap(), b"Jello Wor");
}

#[test]
fn a_read_only_handle_cannot_write() {
    let play = Playground::new();
    fs::write(play.root("a"), "old").unwrap();
    let error = play.disk.open(&rel("a"), OpenMode::Read).unwrap().write_at(b"new", 0).unwrap_err();
    assert_eq!(errno(&error), Some(Errno::BADF));
}

#[test]
fn create_refuses_an_existing_path() {
    let play = Playground::new();
    fs::write(play.root("a"), "old").unwrap();
    symlink("nowhere", play.root("dangling")).unwrap();
    for path in ["a", "dangling"] {
        let error = play.disk.open(&rel(path), OpenMode::Create { mode: 0o600 }).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    }
    assert_eq!(fs::read(play.root("a")).unwrap(), b"old");
}

#[test]
fn stat_reports_kind_mode_length_links_and_identity() {
    let play = Playground::new();
    fs::write(play.root("file"), "12345").unwrap();
    fs::set_permissions(play.root("file"), PermissionsExt::from_mode(0o2751)).unwrap();
    fs::hard_link(play.root("file"), play.root("second")).unwrap();
    fs::create_dir(play.root("folder")).unwrap();
    symlink("file", play.root("link")).unwrap();
    make_fifo(&play.root("fifo"));
    let stat = |path: &str| play.disk.stat(&rel(path)).unwrap();

    let file = stat("file").unwrap();
    let metadata = fs::metadata(play.root("file")).unwrap();
    assert_eq!((file.kind, file.mode, file.len, file.links), (FileKind::File, 0o2751, 5, 2));
    assert_eq!((file.id.device, file.id.inode), (metadata.dev(), metadata.ino()));
    assert_eq!(stat("second"), Some(file));
    assert_eq!(play.disk.open(&rel("file"), OpenMode::Read).unwrap().stat().unwrap(), file);
    assert_eq!(stat("folder").unwrap().kind, FileKind::Folder);
    assert_eq!(stat("link").unwrap().kind, FileKind::Symlink);
    assert_eq!(stat("fifo").unwrap().kind, FileKind::Other);
    assert_eq!(stat("missing"), None);
    assert_eq!(stat("missing/below"), None);
    assert_eq!(stat("file/below"), None);
    assert_eq!(play.disk.stat(&RelPath::root()).unwrap().unwrap().kind, FileKind::Folder);
}

#[test]
fn stat_reports_the_mount() {
    let disk = Disk::open(Path::new("/")).unwrap();
    let mount = |path: &RelPath| disk.stat(path).unwrap().unwrap().mount;
    assert_ne!(mount(&rel("proc")), mount(&RelPath::root()));
}

#[test]
fn no_operation_leads_through_a_symlink() {
    let play = Playground::new();
    let disk = &play.disk;
    fs::write(play.root("inside"), "inside").unwrap();
    symlink(play.outside(""), play.root("out")).unwrap();
    symlink("../outside", play.root("up")).unwrap();
    for folder in ["out", "up"] {
        let secret = &rel(format!("{folder}/secret"));
        let new = &rel(format!("{folder}/new"));
        let (folder, inside) = (&rel(folder), &rel("inside"));
        let results = [
            disk.stat(secret).map(drop),
            disk.open(secret, OpenMode::Read).map(drop),
            disk.open(secret, OpenMode::Write).map(drop),
            disk.open(new, OpenMode::Create { mode: 0o600 }).map(drop),
            disk.list(folder).map(drop),
            disk.read_link(secret).map(drop),
            disk.make_folder(new, 0o700),
            disk.make_symlink(OsStr::new("x"), new),
            disk.link(inside, new),
            disk.link(secret, &rel("stolen")),
            disk.rename(inside, new, RenameMode::Replace),
            disk.rename(inside, secret, RenameMode::Replace),
            disk.rename(inside, new, RenameMode::NoReplace),
            disk.rename(inside, secret, RenameMode::Exchange),
            disk.rename(secret, &rel("stolen"), RenameMode::Replace),
            disk.remove_file(secret),
            disk.remove_folder(new),
            disk.set_mode(secret, 0o777),
            disk.copy_attributes(secret, inside),
            disk.copy_attributes(inside, secret),
            disk.sync_folder(folder),
            disk.check_writable(folder),
        ];
        for (at, result) in results.into_iter().enumerate() {
            assert_eq!(errno(&result.unwrap_err()), Some(Errno::LOOP), "operation {at}");
        }
    }
    play.assert_outside_untouched();
    assert_eq!(names(&play.root("")), ["inside", "out", "up"]);
}

#[test]
fn operations_never_follow_a_symlink() {
    let play = Playground::new();
    let (disk, link) = (&play.disk, &rel("link"));
    symlink(play.outside("secret"), play.root("link")).unwrap();
    fs::write(play.root("inside"), "inside").unwrap();

    assert_eq!(disk.open(link, OpenMode::Read).err().unwrap().kind(), ErrorKind::InvalidInput);
    assert_eq!(disk.open(link, OpenMode::Write).err().unwrap().kind(), ErrorKind::InvalidInput);
    assert_eq!(disk.set_mode(link, 0o777).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(disk.copy_attributes(link, &rel("inside")).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(disk.read_link(link).unwrap(), play.outside("secret"));
    disk.link(link, &rel("second")).unwrap();
    assert!(play.root("second").is_symlink());
    disk.remove_file(&rel("second")).unwrap();
    disk.rename(&rel("inside"), link, RenameMode::Replace).unwrap();
    assert_eq!(fs::read(play.root("link")).unwrap(), b"inside");
    play.assert_outside_untouched();
}

#[test]
fn a_folder_swapped_for_a_symlink_during_a_call_is_not_followed() {
    let play = Playground::new();
    fs::create_dir(play.root("folder")).unwrap();
    fs::write(play.root("folder/secret"), "inside").unwrap();
    symlink(play.outside(""), play.root("swap")).unwrap();
    let (secret, new) = (rel("folder/secret"), rel("folder/new"));
    while_swapping(&play.root("folder"), &play.root("swap"), || {
        if let Ok(content) = read(&play.disk, "folder/secret") {
            assert_eq!(content, b"inside");
        }
        if let Ok(file) = play.disk.open(&secret, OpenMode::Write) {
            file.write_at(b"inside", 0).unwrap();
        }
        // Refused, or done inside the root: the race decides.
        let _ = play.disk.set_mode(&secret, 0o640);
        if play.disk.open(&new, OpenMode::Create { mode: 0o600 }).is_ok() {
            while play.disk.remove_file(&new).is_err() {}
        }
    });
    play.assert_outside_untouched();
    assert_ne!(mode(&play.outside("secret")), 0o640);
}

#[test]
fn a_file_swapped_for_a_fifo_is_refused_and_does_not_block() {
    let play = Playground::new();
    fs::write(play.root("file"), "plain").unwrap();
    make_fifo(&play.root("swap"));
    while_swapping(&play.root("file"), &play.root("swap"), || {
        for how in [OpenMode::Read, OpenMode::Write] {
            match play.disk.open(&rel("file"), how) {
                Ok(file) => assert_eq!(file.stat().unwrap().kind, FileKind::File),
                Err(error) => assert_eq!(error.kind(), ErrorKind::InvalidInput),
            }
        }
    });
}

#[test]
fn only_plain_files_are_opened() {
    let play = Playground::new();
    make_fifo(&play.root("fifo"));
    let _socket = UnixListener::bind(play.root("socket")).unwrap();
    fs::create_dir(play.root("folder")).unwrap();
    for path in ["fifo", "socket", "folder"] {
        for how in [OpenMode::Read, OpenMode::Write] {
            let error = play.disk.open(&rel(path), how).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{path}");
        }
    }
    for path in ["fifo", "socket"] {
        assert_eq!(play.disk.set_mode(&rel(path), 0o777).unwrap_err().kind(), ErrorKind::InvalidInput);
    }
    let devices = Disk::open(Path::new("/dev")).unwrap();
    assert_eq!(devices.open(&rel("null"), OpenMode::Write).err().unwrap().kind(), ErrorKind::InvalidInput);
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

#[test]
fn names_may_have_any_bytes() {
    let play = Playground::new();
    let mut expected: Vec<OsString> = [
        b"two\nlines".as_slice(),
        b"\xff\xfe",
        b" ",
        b"*",
        b"-rf",
        &[b'n'; 255],
        b"\\",
        "\u{202e}txt".as_bytes(),
    ]
    .map(|name| OsStr::from_bytes(name).to_owned())
    .into();
    for name in &expected {
        let file = play.disk.open(&rel(name), OpenMode::Create { mode: 0o600 }).unwrap();
        file.write_at(name.as_bytes(), 0).unwrap();
        assert_eq!(fs::read(play.root(name)).unwrap(), name.as_bytes());
    }
    let mut listed = play.disk.list(&RelPath::root()).unwrap();
    listed.sort();
    expected.sort();
    assert_eq!(listed, expected);
}

#[test]
fn rename_replaces_refuses_or_exchanges() {
    let play = Playground::new();
    let (disk, a, b, c) = (&play.disk, &rel("a"), &rel("folder/b"), &rel("c"));
    disk.make_folder(&rel("folder"), 0o700).unwrap();
    fs::write(play.root("a"), "a").unwrap();
    fs::write(play.root("folder/b"), "b").unwrap();

    assert_eq!(disk.rename(a, b, RenameMode::NoReplace).unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(disk.rename(a, c, RenameMode::Exchange).unwrap_err().kind(), ErrorKind::NotFound);
    disk.rename(a, b, RenameMode::Exchange).unwrap();
    assert_eq!(read(disk, "a").unwrap(), b"b");
    disk.rename(a, c, RenameMode::NoReplace).unwrap();
    disk.rename(b, c, RenameMode::Replace).unwrap();
    assert_eq!(read(disk, "c").unwrap(), b"a");
    assert_eq!(names(&play.root("")), ["c", "folder"]);
}

#[test]
fn an_unknown_rename_flag_is_unsupported() {
    // The kernel refuses a folder moved into itself with the same error number as an unknown flag.
    let play = Playground::new();
    play.disk.make_folder(&rel("folder"), 0o700).unwrap();
    let error = play.disk.rename(&rel("folder"), &rel("folder/below"), RenameMode::NoReplace).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

#[test]
fn links_symlinks_and_folders_are_created_and_removed() {
    let play = Playground::new();
    let disk = &play.disk;
    disk.make_folder(&rel("folder"), 0o700).unwrap();
    disk.make_folder(&rel("folder/below"), 0o700).unwrap();
    disk.make_symlink(OsStr::new("any where"), &rel("folder/link")).unwrap();
    assert_eq!(disk.read_link(&rel("folder/link")).unwrap(), "any where");
    disk.open(&rel("file"), OpenMode::Create { mode: 0o600 }).unwrap();
    disk.link(&rel("file"), &rel("folder/second")).unwrap();
    assert_eq!(disk.stat(&rel("file")).unwrap().unwrap().links, 2);
    let taken = disk.link(&rel("file"), &rel("folder/link")).unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::AlreadyExists);
    disk.sync_folder(&rel("folder")).unwrap();
    disk.sync_folder(&RelPath::root()).unwrap();

    assert_eq!(disk.remove_folder(&rel("folder")).unwrap_err().kind(), ErrorKind::DirectoryNotEmpty);
    disk.remove_folder(&rel("folder/below")).unwrap();
    disk.remove_file(&rel("folder/link")).unwrap();
    disk.remove_file(&rel("folder/second")).unwrap();
    disk.remove_folder(&rel("folder")).unwrap();
    assert_eq!(disk.list(&RelPath::root()).unwrap(), ["file"]);
    assert_eq!(disk.list(&rel("file")).unwrap_err().kind(), ErrorKind::NotADirectory);
}

#[test]
fn set_mode_works_on_unreadable_files() {
    let play = Playground::new();
    fs::set_permissions(play.path(), PermissionsExt::from_mode(0o777)).unwrap();
    fs::set_permissions(play.root(""), PermissionsExt::from_mode(0o777)).unwrap();
    as_ordinary_user(|| {
        let disk = &play.disk;
        disk.open(&rel("file"), OpenMode::Create { mode: 0 }).unwrap();
        disk.make_folder(&rel("folder"), 0).unwrap();
        assert_eq!((mode(&play.root("file")), mode(&play.root("folder"))), (0, 0));
        assert_eq!(
            disk.open(&rel("file"), OpenMode::Read).err().unwrap().kind(),
            ErrorKind::PermissionDenied
        );
        disk.set_mode(&rel("file"), 0o4755).unwrap();
        disk.set_mode(&rel("folder"), 0o1700).unwrap();
        assert_eq!((mode(&play.root("file")), mode(&play.root("folder"))), (0o4755, 0o1700));
        disk.make_folder(&rel("folder/below"), 0o700).unwrap();
        disk.set_mode(&rel("folder/below"), 0o750).unwrap();
        assert_eq!(mode(&play.root("folder/below")), 0o750);
    });
}

#[test]
fn owner_and_attributes_are_copied() {
    let play = Playground::new();
    fs::write(play.root("from"), "").unwrap();
    fs::write(play.root("to"), "").unwrap();
    let set = |path: &str, name: &str, value: &[u8]| {
        setxattr(play.root(path), name, value, XattrFlags::empty()).unwrap()
    };
    set("from", "user.small", b"1");
    set("from", "user.big", &[7; 3000]);
    set("to", "user.small", b"other");
    set("to", "user.gone", b"2");
    if geteuid().is_root() {
        chown(play.root("from"), Some(NOBODY), Some(NOBODY)).unwrap();
        set("from", "trusted.layer", b"3");
    }
    play.disk.copy_attributes(&rel("from"), &rel("to")).unwrap();

    let get = |name: &str| {
        let mut value = vec![0; 4096];
        getxattr(play.root("to"), name, &mut *value).map(|len| value[..len].to_vec())
    };
    assert_eq!(get("user.small").unwrap(), b"1");
    assert_eq!(get("user.big").unwrap(), [7; 3000]);
    assert_eq!(get("user.gone"), Err(Errno::NODATA));
    assert_eq!(get("trusted.layer"), Err(Errno::NODATA));
    let (from, to) = (fs::metadata(play.root("from")).unwrap(), fs::metadata(play.root("to")).unwrap());
    assert_eq!((to.uid(), to.gid()), (from.uid(), from.gid()));
}

#[test]
fn an_ordinary_user_copies_permitted_attributes() {
    let play = Playground::new();
    for folder in [play.path(), &play.root("")] {
        fs::set_permissions(folder, PermissionsExt::from_mode(0o777)).unwrap();
    }
    fs::write(play.root("theirs"), "").unwrap();
    setxattr(play.root("theirs"), "user.tag", b"1", XattrFlags::empty()).unwrap();
    as_ordinary_user(|| {
        let disk = &play.disk;
        for name in ["mine", "read-only", "unreadable"] {
            disk.open(&rel(name), OpenMode::Create { mode: 0o600 }).unwrap();
        }
        disk.copy_attributes(&rel("theirs"), &rel("mine")).unwrap();
        let mut value = [0; 1];
        assert_eq!(getxattr(play.root("mine"), "user.tag", &mut value), Ok(1));
        assert_eq!(disk.stat(&rel("mine")).unwrap().unwrap().mode, 0o600);

        disk.set_mode(&rel("read-only"), 0o400).unwrap();
        disk.copy_attributes(&rel("theirs"), &rel("read-only")).unwrap();
        assert_eq!(getxattr(play.root("read-only"), "user.tag", &mut value), Err(Errno::NODATA));

        disk.set_mode(&rel("unreadable"), 0).unwrap();
        disk.copy_attributes(&rel("unreadable"), &rel("mine")).unwrap();
        assert_eq!(getxattr(play.root("mine"), "user.tag", &mut value), Ok(1));
    });
}

#[test]
fn a_file_system_without_attributes_is_supported() {
    // `/proc` has plain files with an owner and no extended attributes that could be listed or set.
    let proc = Disk::open(Path::new("/proc/self")).unwrap();
    proc.copy_attributes(&rel("status"), &rel("stat")).unwrap();
}

#[test]
fn check_writable_reports_permissions() {
    let play = Playground::new();
    play.disk.make_folder(&rel("closed"), 0o555).unwrap();
    play.disk.make_folder(&rel("open"), 0o777).unwrap();
    fs::set_permissions(play.path(), PermissionsExt::from_mode(0o755)).unwrap();
    fs::set_permissions(play.root(""), PermissionsExt::from_mode(0o555)).unwrap();
    as_ordinary_user(|| {
        play.disk.check_writable(&rel("open")).unwrap();
        for folder in [rel("closed"), RelPath::root()] {
            let error = play.disk.check_writable(&folder).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::PermissionDenied);
        }
    });
    fs::set_permissions(play.root(""), PermissionsExt::from_mode(0o755)).unwrap();
    let missing = play.disk.check_writable(&rel("missing")).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
}

#[test]
fn a_read_only_mount_is_not_writable_even_for_root() {
    let folder = tempfile::tempdir().unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "ro", "none"])
        .arg(folder.path())
        .output()
        .is_ok_and(|output| output.status.success());
    if !mounted {
        eprintln!("skipped: mounting is not allowed here");
        return;
    }
    let checked = Disk::open(folder.path()).and_then(|disk| disk.check_writable(&RelPath::root()));
    assert!(Command::new("umount").arg("-l").arg(folder.path()).status().unwrap().success());
    assert_eq!(checked.unwrap_err().kind(), ErrorKind::ReadOnlyFilesystem);
}

#[test]
fn only_folders_are_roots_and_the_root_path_may_be_a_symlink() {
    let play = Playground::new();
    symlink(play.root(""), play.path().join("link")).unwrap();
    let disk = Disk::open(&play.path().join("link")).unwrap();
    disk.open(&rel("a"), OpenMode::Create { mode: 0o600 }).unwrap();
    assert!(play.root("a").exists());
    assert_eq!(Disk::open(&play.root("a")).unwrap_err().kind(), ErrorKind::NotADirectory);
    assert_eq!(Disk::open(&play.root("missing")).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn create_makes_missing_parents_and_keeps_an_existing_root() {
    let play = Playground::new();
    let deep = play.root("a/b/c");
    let disk = Disk::create(&deep, 0o700).unwrap();
    disk.open(&rel("file"), OpenMode::Create { mode: 0o600 }).unwrap();
    for folder in ["a", "a/b", "a/b/c"] {
        assert_eq!(mode(&play.root(folder)), 0o700, "{folder}");
    }
    fs::set_permissions(&deep, PermissionsExt::from_mode(0o750)).unwrap();
    Disk::create(&deep, 0o700).unwrap();
    assert_eq!(mode(&deep), 0o750);

    symlink("nowhere", play.root("dangling")).unwrap();
    assert_eq!(Disk::create(&play.root("dangling"), 0o700).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(Disk::create(&play.root("missing/.."), 0o700).unwrap_err().kind(), ErrorKind::InvalidInput);
    let below_file = Disk::create(&deep.join("file/folder"), 0o700).unwrap_err();
    assert_eq!(below_file.kind(), ErrorKind::NotADirectory);
    assert_eq!(Disk::create(Path::new("/proc/nothing-here"), 0o700).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_handle_stays_on_its_root_when_the_root_is_renamed() {
    let play = Playground::new();
    fs::rename(play.root(""), play.path().join("moved")).unwrap();
    fs::create_dir(play.root("")).unwrap();
    play.disk.open(&rel("a"), OpenMode::Create { mode: 0o600 }).unwrap();
    assert_eq!(names(&play.path().join("moved")), ["a"]);
    assert!(names(&play.root("")).is_empty());
}

#[test]
fn the_boot_id_is_the_same_for_one_mount() {
    let play = Playground::new();
    let run = play.disk.boot_id();
    assert!(run.is_some());
    assert_eq!(Disk::open(play.path()).unwrap().boot_id(), run);
    // Kernels before 6.8 have no unique mount ids.
    let unique = StatxFlags::from_bits_retain(0x4000);
    let mask = statx(CWD, "/proc", AtFlags::empty(), unique).unwrap().stx_mask;
    let has_unique_ids = StatxFlags::from_bits_retain(mask).contains(unique);
    assert_eq!(Disk::open(Path::new("/proc")).unwrap().boot_id() != run, has_unique_ids);
}

#[test]
fn a_failed_write_is_an_error() {
    let play = Playground::new();
    let file = play.disk.open(&rel("a"), OpenMode::Create { mode: 0o600 }).unwrap();
    let error = file.write_at(b"x", i64::MAX as u64 - 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FileTooLarge);
    assert_eq!(file.stat().unwrap().len, 0);
}

/// Runs `attempt` many times while another thread keeps swapping the two paths.
fn while_swapping(first: &Path, second: &Path, mut attempt: impl FnMut()) {
    const ATTEMPTS: usize = 3000;
    let done = AtomicBool::new(false);
    let swaps = thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            let mut swaps = 0;
            while !done.load(Ordering::Relaxed) {
                renameat_with(CWD, first, CWD, second, RenameFlags::EXCHANGE).unwrap();
                swaps += 1;
            }
            swaps
        });
        // A failing attempt must end the swapping too, or the test would hang instead of fail.
        let attempts = catch_unwind(AssertUnwindSafe(|| (0..ATTEMPTS).for_each(|_| attempt())));
        done.store(true, Ordering::Relaxed);
        attempts.unwrap_or_else(|panic| resume_unwind(panic));
        swapper.join().unwrap()
    });
    assert!(swaps > 10, "nothing was swapped, so nothing was shown");
}

fn errno(error: &io::Error) -> Option<Errno> {
    Errno::from_io_error(error)
}
