//! Every operation, with the policies that have it.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt;

use filetx::RelPath;

use super::place::{Place, Policy, Tx, check, check_folder, check_tree, on_both};

#[test]
fn put_creates_and_replaces_files_and_keeps_modes() {
    check(&[], |tx| tx.put("f", b"new"), &["f=new"]);
    check(&[], |tx| tx.put("f", b""), &["f="]);
    check(&["f:640=old"], |tx| tx.put("f", b"new"), &["f:640=new"]);
    check(&["f:640=a longer text"], |tx| tx.put("f", b"new"), &["f:640=new"]);
    check(&["f=old", "g=stays"], |tx| tx.put("f", b"new"), &["f=new", "g=stays"]);
}

#[test]
fn put_creates_missing_parents() {
    check_tree(&[], |tx| tx.put("a/b/f", b"new"), &["a/", "a/b/", "a/b/f=new"]);
    check_tree(&["a/:750"], |tx| tx.put("a/b/f", b"new"), &["a/:750", "a/b/", "a/b/f=new"]);
}

#[test]
fn the_last_put_wins() {
    let twice = |tx: &mut Tx<'_, '_>| {
        tx.put("f", b"first, and longer")?;
        tx.put("f", b"second")
    };
    check(&[], twice, &["f=second"]);
    check(&["f=old"], twice, &["f=second"]);
}

#[test]
fn put_accepts_a_reader() {
    let put = |tx: &mut Tx<'_, '_>| tx.tree().put_reader_with_mode("f", 0o640, &mut &b"read"[..]);
    check_tree(&["g=old"], put, &["f:640=read", "g=old"]);
    check_tree(&["f=old"], put, &["f:640=read"]);
}

#[test]
fn put_accepts_a_staged_file() {
    let put = |tx: &mut Tx<'_, '_>| {
        let mut staged = tx.stage(0)?;
        staged.write_all(b"sta").unwrap();
        staged.write_all(b"ged").unwrap();
        tx.put_staged("f", staged)
    };
    check(&[], put, &["f=staged"]);
    check(&["f:604=old"], put, &["f:604=staged"]);
}

#[test]
fn an_unused_staged_file_leaves_nothing() {
    let stage = |tx: &mut Tx<'_, '_>| {
        tx.stage(0)?.write_all(b"never put").unwrap();
        tx.put("f", b"new")
    };
    check(&[], stage, &["f=new"]);
}

#[test]
fn append_extends_or_creates_a_file() {
    check_folder(&["f:640=one"], |tx| tx.append("f", b" two"), &["f:640=one two"]);
    check_folder(&[], |tx| tx.append("f", b"one"), &["f=one"]);
    let twice = |tx: &mut Tx<'_, '_>| {
        tx.append("f", b" two")?;
        tx.append("f", b" three")
    };
    check_folder(&["f=one"], twice, &["f=one two three"]);
    check_folder(&[], twice, &["f= two three"]);
}

#[test]
fn append_extends_staged_content() {
    let put = |tx: &mut Tx<'_, '_>| {
        tx.put("f", b"put")?;
        tx.append("f", b" and more")
    };
    check_folder(&["f=a longer text than that"], put, &["f=put and more"]);
    let removed = |tx: &mut Tx<'_, '_>| {
        tx.remove("f")?;
        tx.append("f", b"anew")
    };
    check_folder(&["f:640=old"], removed, &["f=anew"]);
}

#[test]
fn truncate_shortens_files_and_staged_content() {
    check_folder(&["f:640=0123456789"], |tx| tx.truncate("f", 4), &["f:640=0123"]);
    check_folder(&["f=0123456789"], |tx| tx.truncate("f", 0), &["f="]);
    check_folder(&["f=0123456789"], |tx| tx.truncate("f", 10), &["f=0123456789"]);
    let work = |tx: &mut Tx<'_, '_>| {
        tx.append("f", b"abc")?;
        tx.truncate("f", 11)?;
        tx.append("f", b"X")?;
        tx.truncate("f", 2)?;
        tx.append("f", b"end")
    };
    check_folder(&["f=0123456789"], work, &["f=01end"]);
}

#[test]
fn remove_removes_files_and_symlinks() {
    check(&["f=old", "g=stays"], |tx| tx.remove("f"), &["g=stays"]);
    check(&["f=stays", "l->f"], |tx| tx.remove("l"), &["f=stays"]);
    check(&["l->nowhere"], |tx| tx.remove("l"), &[]);
    let put_and_removed = |tx: &mut Tx<'_, '_>| {
        tx.put("f", b"new")?;
        tx.remove("f")
    };
    check(&[], put_and_removed, &[]);
}

#[test]
fn rename_moves_a_file_with_its_mode() {
    check_folder(&["f:640=text"], |tx| tx.rename("f", "g"), &["g:640=text"]);
    check_folder(&["f:640=text", "g->f"], |tx| tx.rename("f", "g"), &["g:640=text"]);
    check_folder(&["f:640=text", "g=old and longer"], |tx| tx.rename("f", "g"), &["g:640=text"]);
    check_folder(&["f=text"], |tx| tx.rename("f", "f"), &["f=text"]);
}

#[test]
fn rename_moves_staged_content() {
    let work = |tx: &mut Tx<'_, '_>| {
        tx.put("f", b"new")?;
        tx.append("f", b"er")?;
        tx.rename("f", "g")?;
        tx.rename("g", "h")
    };
    check_folder(&["f:640=old"], work, &["h:640=newer"]);
}

#[test]
fn rename_moves_long_content_that_is_not_published() {
    let text = "0123456789abcdef".repeat(5_000);
    let work = |tx: &mut Tx<'_, '_>| {
        tx.put("f", b"")?;
        tx.append("f", text.as_bytes())?;
        tx.rename("f", "g")
    };
    check_folder(&[], work, &[&format!("g={text}")]);
    check_folder(&["f:640=", "g=old"], work, &[&format!("g:640={text}")]);
}

#[test]
fn two_files_swap_names() {
    let swap = |tx: &mut Tx<'_, '_>| {
        tx.rename("f", "tmp")?;
        tx.rename("g", "f")?;
        tx.rename("tmp", "g")
    };
    check_folder(&["f:640=one", "g=two"], swap, &["f=two", "g:640=one"]);
}

#[test]
fn set_mode_changes_only_the_mode() {
    check_tree(&["f=text"], |tx| tx.set_mode("f", 0o751), &["f:751=text"]);
    check_tree(&["d/", "d/f=text"], |tx| tx.set_mode("d", 0o711), &["d/:711", "d/f=text"]);
    let new = |tx: &mut Tx<'_, '_>| {
        tx.put("f", b"new")?;
        tx.set_mode("f", 0o640)?;
        tx.put("d/f", b"x")?;
        tx.set_mode("d", 0o711)
    };
    check_tree(&[], new, &["f:640=new", "d/:711", "d/f=x"]);
    check_tree(&["f:604=old"], new, &["f:640=new", "d/:711", "d/f=x"]);
    let before = |tx: &mut Tx<'_, '_>| {
        tx.set_mode("f", 0o640)?;
        tx.put("f", b"newer")
    };
    check_tree(&["f=old"], before, &["f:640=newer"]);
}

#[test]
fn symlinks_are_created_and_replaced() {
    check_tree(&[], |tx| tx.symlink("d/l", "../../any where".as_ref()), &["d/", "d/l->../../any where"]);
    check_tree(&["l->old"], |tx| tx.symlink("l", "new".as_ref()), &["l->new"]);
    check_tree(&["l=a file"], |tx| tx.symlink("l", "new".as_ref()), &["l->new"]);
    check_tree(&["f=stays", "l->f"], |tx| tx.put("l", b"a file now"), &["f=stays", "l=a file now"]);
}

#[test]
fn folders_are_created_with_parents_and_removed_when_empty() {
    check_tree(&[], |tx| tx.put("a/b/f", b"x"), &["a/", "a/b/", "a/b/f=x"]);
    check_tree(&["a/", "a/b/"], |tx| tx.remove_folder("a/b"), &["a/"]);
    let emptied = |tx: &mut Tx<'_, '_>| {
        tx.remove("a/f")?;
        tx.remove_folder("a")
    };
    check_tree(&["a/", "a/f=x"], emptied, &[]);
    let put_and_gone = |tx: &mut Tx<'_, '_>| {
        tx.put("a/b/f", b"x")?;
        tx.remove("a/b/f")?;
        tx.remove_folder("a/b")?;
        tx.remove_folder("a")
    };
    check_tree(&["g=x"], put_and_gone, &["g=x"]);
}

#[test]
fn a_path_changes_its_kind() {
    let to_folder = |tx: &mut Tx<'_, '_>| {
        tx.remove("x")?;
        tx.put("x/y", b"inside")
    };
    check_tree(&["x=a file"], to_folder, &["x/", "x/y=inside"]);
    check_tree(&["x->a link"], to_folder, &["x/", "x/y=inside"]);
    let to_file = |tx: &mut Tx<'_, '_>| {
        tx.remove("x/y")?;
        tx.remove_folder("x")?;
        tx.put("x", b"a file")
    };
    check_tree(&["x/", "x/y=inside"], to_file, &["x=a file"]);
    let to_symlink = |tx: &mut Tx<'_, '_>| {
        tx.remove_folder("x")?;
        tx.symlink("x", "target".as_ref())
    };
    check_tree(&["x/"], to_symlink, &["x->target"]);
}

#[test]
fn a_removed_folder_can_be_created_again() {
    let again = |tx: &mut Tx<'_, '_>| {
        tx.remove("d/f")?;
        tx.remove_folder("d")?;
        tx.put("d/f", b"new")
    };
    check_tree(&["d/", "d/f=old"], again, &["d/", "d/f=new"]);
    let new_again = |tx: &mut Tx<'_, '_>| {
        tx.put("d/f", b"first")?;
        tx.remove("d/f")?;
        tx.remove_folder("d")?;
        tx.put("d/f", b"second")
    };
    check_tree(&[], new_again, &["d/", "d/f=second"]);
}

#[test]
fn ranges_include_staged_changes() {
    let place = Place::new(Policy::OwnFolder);
    place.make(&["f=0123456789"]);
    place.aborted(|tx| {
        tx.truncate("f", 6).unwrap();
        tx.append("f", b"abcd").unwrap();
        let body = tx.open("f").unwrap().unwrap();
        assert_eq!(body.len(), 10);
        for (offset, len, expected) in [
            (0, 10, "012345abcd"),
            (4, 4, "45ab"),
            (6, 2, "ab"),
            (2, 2, "23"),
            (8, 100, "cd"),
            (10, 1, ""),
            (99, 1, ""),
            (0, u64::MAX, "012345abcd"),
        ] {
            assert_eq!(body.read_range(offset, len).unwrap(), expected.as_bytes(), "{offset}, {len}");
        }
        assert!(tx.open("missing").unwrap().is_none());
        assert_eq!(tx.read("missing").unwrap(), None);
        tx.remove("f").unwrap();
        assert_eq!(tx.read("f").unwrap(), None);
    });
}

#[test]
fn a_listing_is_sorted_and_hides_the_transaction_folder() {
    on_both(|place| {
        place.make(&["b=", "d/"]);
        place.aborted(|tx| {
            tx.put("c", b"").unwrap();
            tx.put("a", b"").unwrap();
            tx.remove("b").unwrap();
            assert_eq!(tx.list(&RelPath::root()).unwrap(), ["a", "c", "d"]);
            assert_eq!(tx.list("d").unwrap().len(), 0);
        });
    });
}

#[test]
fn an_empty_commit_changes_nothing() {
    check(&["f=text"], |_| Ok(()), &["f=text"]);
}

#[test]
fn an_unchanged_path_is_not_written() {
    let place = Place::new(Policy::UserTree);
    place.make(&["f:640=text", "d/:711", "l->f"]);
    let identity = |name: &str| {
        let found = fs::symlink_metadata(place.root(name)).unwrap();
        (found.ino(), found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec())
    };
    let before = ["f", "d", "l"].map(identity);
    place.change(|tx| {
        tx.put("f", b"other")?;
        tx.put("f", b"text")?;
        tx.set_mode("f", 0o640)?;
        tx.set_mode("d", 0o711)?;
        tx.symlink("l", "f".as_ref())
    });
    assert_eq!(["f", "d", "l"].map(identity), before);
    place.assert_nothing_left();
}

#[test]
fn a_large_file_is_streamed() {
    const LEN: usize = 5 << 20;
    struct Counted(usize);
    impl std::io::Read for Counted {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = buffer.len().min(LEN - self.0).min(70_000);
            for (index, byte) in buffer[..count].iter_mut().enumerate() {
                *byte = ((self.0 + index) % 251) as u8;
            }
            self.0 += count;
            Ok(count)
        }
    }
    on_both(|place| {
        place.change(|tx| {
            match tx {
                Tx::Tree(tx) => tx.put_reader_with_mode("big", 0o644, &mut Counted(0))?,
                Tx::Folder(tx) => {
                    let mut staged = tx.stage(0)?;
                    std::io::copy(&mut Counted(0), &mut staged).unwrap();
                    tx.put_staged("big", staged)?;
                }
            }
            let body = tx.open("big")?.unwrap();
            assert_eq!(body.len(), LEN as u64);
            assert_eq!(body.read_range(LEN as u64 - 1, 4)?, [((LEN - 1) % 251) as u8]);
            Ok(())
        });
        let content = fs::read(place.root("big")).unwrap();
        assert_eq!(content.len(), LEN);
        assert!(content.iter().enumerate().all(|(index, byte)| *byte == (index % 251) as u8));
        if place.policy == Policy::UserTree {
            place.assert_nothing_left();
        }
    });
}

#[test]
fn a_failing_reader_changes_nothing() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the reader broke"))
        }
    }
    let place = Place::new(Policy::UserTree);
    place.make(&["f=old"]);
    let read = |tx: &mut Tx<'_, '_>| tx.tree().put_reader_with_mode("f", 0o644, &mut Broken);
    let failure = place.try_change(read).unwrap_err();
    assert_eq!(failure.outcome, filetx::FailureOutcome::Aborted);
    assert_eq!(place.lines(), ["f=old"]);
    place.assert_nothing_left();
}
