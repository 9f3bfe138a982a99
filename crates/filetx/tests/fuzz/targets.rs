//! Properties of everything that a transaction folder may hold. The tests run them over the seeds; the
//! programs in `fuzz/` search for bytes that break them.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use filetx::{Disk, Error, RelPath, Snapshot, Storage, StorageResolver, TreeOptions, Trees, Vouch};
use testkit::journals::{distrust, trust};
use testkit::sim::SimDisk;

use super::bytes;
use super::place::Place;

/// The journal of an own folder: it is carried out in the folder alone, or refused without a change; a
/// reader writes nothing; and a folder that opens can be written.
pub(crate) fn own_journal(input: &[u8]) {
    let place = Place::new();
    place.write("a/.txn/journal", &bytes::journal(input));
    let (before, outside) = (place.tree("a"), place.outside());
    let seen = place.own_snapshot();
    assert_eq!(place.tree("a"), before, "a reader writes nothing");
    let opened = place.own();
    assert_eq!(place.outside(), outside, "nothing outside changes");
    match opened {
        Ok(folder) => {
            if let Ok(seen) = seen {
                assert_eq!(place.own_snapshot().unwrap(), seen, "readers saw what recovery leaves");
            }
            let mut tx = folder.begin().unwrap();
            tx.put("n", b"next").unwrap();
            let _ = tx.commit().unwrap();
            drop(folder);
            let _ = place.own().unwrap();
            assert_eq!(place.own_snapshot().unwrap()["n"].as_deref(), Some(&b"next"[..]));
        }
        Err(Error::CorruptJournal { .. } | Error::UnsupportedVersion { .. }) => {
            assert_eq!(place.tree("a"), before, "a refused journal changes nothing");
        }
        Err(_) => {}
    }
}

/// The journal of a tree: it is carried out in the roots that it names, or refused without a change.
pub(crate) fn tree_journal(input: &[u8]) {
    let place = Place::new();
    place.write("a/.txn/journal", &bytes::journal(input));
    check_trees(&place, "/a");
}

/// A pointer: it leads to a root with its journal, or is refused or forgotten without a change.
pub(crate) fn pointer(input: &[u8]) {
    let place = Place::new();
    place.write("b/.txn/pointer", &bytes::pointer(input));
    // The journal of transaction 7 in the main root `/a`: writes `n` in both roots.
    place.write(
        "a/.txn/journal",
        &bytes::journal(include_bytes!("../../../../fuzz/seeds/tree_journal/two-roots")),
    );
    check_trees(&place, "/b");
}

/// Opens a root with planted files, and opens it again.
fn check_trees(place: &Place, root: &str) {
    let (before, files, outside) = (place.tree(""), place.files(), place.outside());
    let _ = place.read_tree(root);
    assert_eq!(place.tree(""), before, "a reader writes nothing");
    assert!(place.trees(root, &distrust).is_err(), "nobody vouches for it");
    assert_eq!(place.tree(""), before, "nothing is touched");
    let opened = place.trees(root, &trust);
    assert_eq!(place.outside(), outside, "nothing outside changes");
    match opened {
        Ok(mut trees) => {
            let files = place.files();
            let ids: Vec<u128> = trees.recovered().iter().map(|recovered| recovered.id).collect();
            for id in ids {
                trees.acknowledge(id).unwrap();
            }
            drop(trees);
            let again = place.trees(root, &trust).unwrap();
            assert!(again.recovered().is_empty(), "recovery ends");
            assert_eq!(place.files(), files, "the second recovery changes nothing");
        }
        Err(Error::CorruptJournal { .. } | Error::UnsupportedVersion { .. }) => {
            assert_eq!(place.files(), files, "a refused journal changes nothing");
        }
        Err(_) => {}
    }
}

/// The watermark: whatever it says, readers and recovery see what was committed.
pub(crate) fn watermark(input: &[u8]) {
    let place = Place::new();
    let folder = place.own().unwrap();
    for text in ["one\n", "two\n", "three\n"] {
        let mut tx = folder.begin().unwrap();
        tx.append("f", text.as_bytes()).unwrap();
        tx.put("g", text.as_bytes()).unwrap();
        let _ = tx.commit().unwrap();
    }
    drop(folder);
    let committed = place.own_snapshot().unwrap();
    assert_eq!(committed["f"].as_deref(), Some(&b"old\none\ntwo\nthree\n"[..]));
    let boot_id = Disk::open(&place.path("a")).unwrap().boot_id().unwrap_or_default();
    place.write("a/.txn/published", &bytes::watermark(input, boot_id));
    assert_eq!(place.own_snapshot().unwrap(), committed);
    let folder = place.own().unwrap();
    assert_eq!(place.own_snapshot().unwrap(), committed);
    assert!(folder.take_preserved().is_empty());
}

/// A journal that another program changes while its transaction commits and publishes, or after a crash
/// in between. The input: the disk call before which it changes, the number of calls until the crash (0:
/// none), an even number to compute the checksum again, and the changed bytes: offset from the first
/// record (`u16`), value.
///
/// The commit goes on with what it has in memory. After a crash, a journal with a wrong checksum is
/// refused, and what it published stays; all other roots keep their files.
pub(crate) fn unpublished(input: &[u8]) {
    let Some((&[at, until_crash, kind], patches)) = input.split_first_chunk::<3>() else { return };
    let mut patches = patches.to_vec();
    patches.truncate(patches.len() / 3 * 3);
    let is_repaired = kind % 2 == 0;
    let disk = start();
    let at = u64::from(at) % calls();
    if until_crash > 0 {
        disk.crash_at(at + u64::from(until_crash));
    }
    disk.on_call(at, move |disk| {
        let names = [".txn/journal", ".txn/journal.tmp"];
        let found = names.into_iter().find_map(|name| Some((name, disk.external_read("a", name)?)));
        let Some((name, mut journal)) = found else { return };
        for patch in patches.chunks(3) {
            let offset = bytes::RECORDS_OFFSET + usize::from(u16::from_le_bytes([patch[0], patch[1]]));
            if let Some(byte) = journal.get_mut(offset) {
                *byte = patch[2];
            }
        }
        if is_repaired {
            bytes::repair(&mut journal);
        }
        disk.external_write("a", name, &journal);
    });
    let is_committed = change(&disk).is_ok();
    let files = |disk: &SimDisk| ["a", "b"].map(|root| disk.tree_without(root, ".txn"));
    let outside = |disk: &SimDisk| disk.tree("outside");
    if is_committed {
        assert_eq!(files(&disk), files(finished()), "the commit uses what it has in memory");
    }
    assert_eq!(outside(&disk), outside(finished()), "nothing outside changes");
    let disk = disk.kill();
    let before = disk.fingerprint();
    let txn_dir = RelPath::new(".txn").unwrap();
    for root in ["a", "b"] {
        if let Ok(snapshot) =
            Snapshot::of_tree_on_storage(Path::new(root), &txn_dir, &resolver(&disk), &trust)
        {
            for path in ["f", "g", "n", "d", "d/x", "link"] {
                let _ = (snapshot.read(path), snapshot.observe(path), snapshot.list(path));
            }
        }
    }
    assert_eq!(disk.fingerprint(), before, "a reader writes nothing");
    let untrusted = disk.fork();
    if open(&untrusted, &distrust).is_err() {
        assert_eq!(untrusted.fingerprint(), before, "a journal that nobody vouches for changes nothing");
    }
    let recovered = open(&disk, &trust);
    assert_eq!(outside(&disk), outside(finished()), "nothing outside changes");
    if recovered.is_ok() && !is_repaired {
        assert!(
            [&start(), finished()].into_iter().any(|disk_of| files(disk_of) == files(&disk)),
            "all or nothing"
        );
    }
}

/// Two roots with files, and a folder beside them.
fn start() -> SimDisk {
    let disk = SimDisk::new();
    for root in ["a", "b", "outside"] {
        let _ = disk.make_root(root);
        for (path, text) in [("f", "old\n"), ("g", "old g\n"), ("d/x", "old x\n")] {
            disk.external_write(root, path, text.as_bytes());
        }
        disk.external_symlink(root, "../outside", "link");
    }
    disk
}

/// Opens both roots and changes files in them.
fn change(disk: &SimDisk) -> Result<(), ()> {
    let mut trees = open(disk, &trust).map_err(drop)?;
    let mut tx = trees.begin();
    let mut stage = || -> filetx::Result<()> {
        tx.put("f", b"new\n")?;
        tx.put("n", b"new n\n")?;
        tx.remove("d/x")?;
        tx.put((1, "d/y"), b"new y\n")?;
        tx.symlink((1, "l"), "f".as_ref())?;
        tx.set_mode((1, "g"), 0o600)
    };
    stage().map_err(drop)?;
    let report = tx.commit_for(b"owner").map_err(drop)?;
    if report.pending.is_some() { Err(()) } else { Ok(()) }
}

fn open(disk: &SimDisk, vouch: Vouch<'_>) -> filetx::Result<Trees> {
    let roots = [Path::new("a"), Path::new("b")];
    Trees::on_storage(&roots, resolver(disk), TreeOptions::default(), vouch)
}

fn resolver(disk: &SimDisk) -> StorageResolver {
    let disk = disk.clone();
    Arc::new(move |path| {
        let root: Option<Arc<dyn Storage>> = path.to_str().and_then(|path| disk.try_root(path));
        root.ok_or_else(|| std::io::ErrorKind::NotFound.into())
    })
}

/// The disk after an undisturbed change.
fn finished() -> &'static SimDisk {
    static FINISHED: OnceLock<SimDisk> = OnceLock::new();
    FINISHED.get_or_init(|| {
        let disk = start();
        change(&disk).unwrap();
        disk
    })
}

/// Number of disk calls of an undisturbed change.
fn calls() -> u64 {
    finished().calls()
}
