//! Nothing outside the root changes, whatever is at a path before staging or before the commit.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use filetx::Result;

use super::place::{Place, Policy, Tx, check, check_folder, check_tree, on_both, refused_tree};

type Work<'a> = &'a dyn Fn(&mut Tx<'_, '_>) -> Result<()>;

#[test]
fn a_symlinked_folder_does_not_lead_out_of_the_root() {
    let start = ["f=x", "d/", "d/out->../../outside"];
    let check = |work: Work<'_>, path: &str| refused_tree(&start, work, "WrongFileKind", path);
    check(&|tx| tx.put("d/out/secret", b"x"), "root/d/out` is a symlink, not a folder");
    check(&|tx| tx.put("d/out/new", b"x"), "root/d/out");
    check(&|tx| tx.remove("d/out/secret"), "root/d/out");
    check(&|tx| tx.set_mode("d/out/secret", 0o666), "root/d/out");
    check(&|tx| tx.symlink("d/out/l", "x".as_ref()), "root/d/out");
    check(&|tx| tx.put("d/out/e/new", b"x"), "root/d/out");
}

#[test]
fn files_behind_a_symlink_are_not_read() {
    on_both(|place| {
        place.make(&["out->../outside", "l->../outside/secret"]);
        place.aborted(|tx| {
            assert_eq!(tx.read("out/secret").unwrap(), None);
            assert_eq!(tx.path_state("out/secret").unwrap(), filetx::PathState::Absent);
            assert!(tx.remove("out/secret").is_err());
            assert!(tx.put("out/secret", b"x").is_err());
            assert!(tx.read("l").is_err());
            assert_eq!(tx.list("out").unwrap().len(), 0);
        });
        place.assert_outside_untouched();
    });
}

#[test]
fn a_symlink_to_a_file_outside_is_replaced_not_followed() {
    let start = ["l->../outside/secret", "f:640=x"];
    check(&start, |tx| tx.put("l", b"new"), &["f:640=x", "l=new"]);
    check(&start, |tx| tx.remove("l"), &["f:640=x"]);
    check_folder(&start, |tx| tx.rename("f", "l"), &["l:640=x"]);
    check_tree(&start, |tx| tx.symlink("l", "f".as_ref()), &["f:640=x", "l->f"]);
}

/// Stages `work` in the folder `d`, replaces `d` by a symlink to `outside`, and commits. Nothing
/// may be created through it.
fn swapped(work: Work<'_>) {
    let committed = commit_swapped(work);
    assert!(committed.pending.is_some() || !committed.preserved.is_empty(), "it landed: {committed:?}");
}

fn commit_swapped(work: Work<'_>) -> filetx::CommitReport {
    let place = Place::new(Policy::UserTree);
    fs::write(place.outside("f"), "outside").unwrap();
    fs::set_permissions(place.outside("f"), std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    fs::create_dir(place.outside("e")).unwrap();
    place.make(&["d/", "d/f=inside", "d/e/"]);
    let outside = listing(&place.outside(""));
    let committed = place.try_change(|tx| {
        work(tx)?;
        fs::rename(place.root("d"), place.root("moved")).unwrap();
        symlink("../outside", place.root("d")).unwrap();
        Ok(())
    });
    assert_eq!(listing(&place.outside("")), outside);
    // Recovery does not change `outside` either.
    drop(place.open_trees());
    assert_eq!(listing(&place.outside("")), outside);
    assert_eq!(fs::read_link(place.root("d")).unwrap(), Path::new("../outside"));
    committed.unwrap()
}

fn listing(folder: &Path) -> Vec<(String, Option<Vec<u8>>, u32)> {
    let mode = |path: &Path| std::os::unix::fs::MetadataExt::mode(&fs::metadata(path).unwrap());
    let entry = |name: String| {
        let path = folder.join(&name);
        (name, fs::read(&path).ok(), mode(&path))
    };
    super::place::names(folder).into_iter().map(entry).collect()
}

#[test]
fn a_folder_swapped_for_a_symlink_before_the_commit_is_not_followed() {
    swapped(&|tx| tx.put("d/f", b"new"));
    swapped(&|tx| tx.put("d/new", b"new"));
    swapped(&|tx| tx.put("d/e/new", b"new"));
    swapped(&|tx| tx.set_mode("d/f", 0o600));
    swapped(&|tx| tx.symlink("d/l", "x".as_ref()));
}

#[test]
fn remove_does_not_follow_a_swapped_folder() {
    let _ = commit_swapped(&|tx| tx.remove("d/f"));
    let _ = commit_swapped(&|tx| tx.remove_folder("d/e"));
}

#[test]
fn a_file_swapped_for_a_symlink_before_the_commit_is_not_followed() {
    on_both(|place| {
        place.make(&["f=inside"]);
        let committed = place
            .try_change(|tx| {
                tx.put("f", b"new")?;
                fs::remove_file(place.root("f")).unwrap();
                symlink("../outside/secret", place.root("f")).unwrap();
                Ok(())
            })
            .unwrap();
        assert!(committed.pending.is_none());
        place.assert_outside_untouched();
        if place.policy == Policy::UserTree {
            assert_eq!(place.lines(), ["f->../outside/secret"], "the person's link stays");
            let aside = committed.preserved[0].preserved_at.as_ref().unwrap();
            assert_eq!(fs::read(aside).unwrap(), b"new");
            assert!(committed.preserved[0].path.ends_with("root/f"));
        } else {
            assert_eq!(place.lines(), ["f=new"], "the folder is ours");
        }
    });
}

#[test]
fn a_hard_link_keeps_its_content() {
    let check_on = |place: &Place, work: Work<'_>, expected: &str| {
        fs::hard_link(place.outside("secret"), place.root("f")).unwrap();
        place.change(work);
        assert_eq!(fs::read(place.root("f")).unwrap(), expected.as_bytes());
        place.assert_outside_untouched();
    };
    on_both(|place| check_on(place, &|tx| tx.put("f", b"new"), "new"));
    let check = |work: Work<'_>, expected: &str| check_on(&Place::new(Policy::OwnFolder), work, expected);
    check(&|tx| tx.append("f", b" and more"), "secret and more");
    check(&|tx| tx.truncate("f", 3), "sec");
    check(
        &|tx| {
            tx.put("g", b"from g")?;
            tx.rename("g", "f")
        },
        "from g",
    );
}

/// The file in the root becomes another one.
#[test]
fn a_change_of_mode_does_not_go_through_a_hard_link() {
    let place = Place::new(Policy::UserTree);
    fs::hard_link(place.outside("secret"), place.root("f")).unwrap();
    place.change(|tx| tx.set_mode("f", 0o4777));
    place.assert_outside_untouched();
    assert_eq!(place.lines(), ["f:4777=secret"]);
    // A link that appears after staging: the mode stays.
    place.make(&["g=text"]);
    let committed = place.try_change(|tx| {
        tx.set_mode("g", 0o600)?;
        fs::hard_link(place.root("g"), place.outside("g")).unwrap();
        Ok(())
    });
    assert_eq!(committed.unwrap().preserved.len(), 1);
    assert_eq!(place.lines(), ["f:4777=secret", "g=text"]);
    fs::remove_file(place.outside("g")).unwrap();
    place.change(|tx| tx.set_mode("g", 0o600));
    assert_eq!(place.lines(), ["f:4777=secret", "g:600=text"]);
}

#[test]
fn removing_one_hard_link_keeps_the_other() {
    on_both(|place| {
        fs::hard_link(place.outside("secret"), place.root("f")).unwrap();
        place.change(|tx| tx.remove("f"));
        place.assert_outside_untouched();
        assert_eq!(place.lines(), Vec::<String>::new());
    });
}

/// Names are bytes: any name works.
#[test]
fn unusual_names_work() {
    let odd: [&[u8]; 6] =
        [&[b'n'; 255], &[0xff; 255], b"\xff\xfe", b"new\nline", b" ", "\u{202e}\u{65}\u{301}".as_bytes()];
    on_both(|place| {
        for name in odd {
            let path = Path::new(OsStr::from_bytes(name));
            place.change(|tx| tx.put(path, b"one"));
            place.change(|tx| {
                assert_eq!(tx.list(&filetx::RelPath::root())?, [path.as_os_str()]);
                assert_eq!(tx.read(path)?.unwrap(), b"one");
                tx.put(path, b"two")
            });
            assert_eq!(fs::read(place.root(path)).unwrap(), b"two");
            if place.policy == Policy::UserTree {
                let below = Path::new("folder").join(path);
                place.change(|tx| tx.put(below.as_path(), b"deep"));
                assert_eq!(fs::read(place.root(&below)).unwrap(), b"deep");
                place.change(|tx| {
                    tx.remove(below.as_path())?;
                    tx.remove_folder("folder")
                });
            }
            place.change(|tx| tx.remove(path));
            assert_eq!(place.lines(), Vec::<String>::new());
        }
    });
}

/// Preserved content gets a valid name, however long the original is.
#[test]
fn content_with_an_unusual_name_is_preserved() {
    let place = Place::new(Policy::OwnFolder);
    let name = Path::new(OsStr::from_bytes(&[0xff; 255]));
    place.change(|tx| tx.put(name, b"ours"));
    fs::write(place.root(name), "a person's").unwrap();
    // Without the watermark, the journal is published again.
    fs::remove_file(place.root(".txn/published")).unwrap();
    let kept = place.open_folder().take_preserved();
    assert_eq!(fs::read(kept[0].preserved_at.as_ref().unwrap()).unwrap(), b"a person's");
    assert_eq!(fs::read(place.root(name)).unwrap(), b"ours");
}
