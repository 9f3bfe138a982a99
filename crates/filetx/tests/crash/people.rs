//! Edits of a person during a tree commit, or between a crash and recovery.

use filetx::{Fingerprint, Hash, Observed, Trees};
use testkit::sim::SimDisk;

use testkit::chain;

use super::model::{finder, open_trees};

const PATHS: [&str; 3] = ["changed", "created", "removed"];

fn disk() -> SimDisk {
    let disk = SimDisk::new();
    disk.make_root_on("a", 1);
    disk.make_root_on("b", 2);
    disk.external_write("a", "changed", b"old");
    disk.external_write("a", "removed", b"old");
    drop(open_trees(&disk, 1).expect("an empty root opens"));
    disk.settle();
    disk.new_program();
    disk
}

/// Returns `None` if a file changed before the transaction observed it. A later edit is detected by
/// the commit.
fn stage_and_commit(trees: &mut Trees) -> Result<Option<filetx::CommitReport>, filetx::Failure> {
    let is_old = |seen: &Observed| matches!(seen, Observed::File { fingerprint: Fingerprint::Whole(hash), .. } if *hash == Hash::of(b"old"));
    let mut tx = trees.begin();
    if !is_old(tx.observe("changed")?) {
        return Ok(None);
    }
    tx.put("changed", b"new")?;
    if *tx.observe("created")? != Observed::Absent {
        return Ok(None);
    }
    tx.put("created", b"new")?;
    if !is_old(tx.observe("removed")?) {
        return Ok(None);
    }
    tx.remove("removed")?;
    tx.commit().map(Some)
}

/// Ways in which an editor saves.
type Save = fn(&SimDisk, &str, &[u8]);

const SAVES: [Save; 2] = [
    |disk, path, bytes| disk.external_write("a", path, bytes),
    |disk, path, bytes| disk.external_replace("a", path, bytes),
];

/// Returns true if the edit is in place or preserved as reported.
fn is_safe(disk: &SimDisk, path: &str, bytes: &[u8], kept: &[filetx::Preserved]) -> bool {
    let in_place = disk.external_read("a", path).as_deref() == Some(bytes);
    let aside = disk.external_list("a", ".txn/kept").into_iter();
    let is_aside = aside
        .map(|name| disk.external_read("a", &format!(".txn/kept/{name}")))
        .any(|kept| kept.as_deref() == Some(bytes));
    in_place || (is_aside && !kept.is_empty())
}

/// Checks that every path has its target state, its state before, or the edit.
fn is_whole(disk: &SimDisk, saved: &str, kept: &[filetx::Preserved]) -> Result<(), String> {
    let read = |path| disk.external_read("a", path);
    let wanted = |path: &str| if path == "removed" { None } else { Some(b"new".to_vec()) };
    let old = |path: &str| if path == "created" { None } else { Some(b"old".to_vec()) };
    let others = || PATHS.into_iter().filter(|path| *path != saved);
    let all_new = others().all(|path| read(path) == wanted(path));
    let all_old = others().all(|path| read(path) == old(path));
    if all_new || all_old {
        return Ok(());
    }
    Err(format!(
        "half applied: {:?}, kept {kept:?}",
        others().map(|path| (path, read(path))).collect::<Vec<_>>()
    ))
}

/// Saves each path in each way just before each disk call of a commit, which continues; and again
/// with a crash after it.
pub(crate) fn editor_at_every_step() -> Result<u64, String> {
    let calls = {
        let disk = disk();
        let mut trees = open_trees(&disk, 1).map_err(|error| chain(&error))?;
        let committed = stage_and_commit(&mut trees).map_err(|error| chain(&error))?;
        let _ = committed.filter(|committed| committed.preserved.is_empty()).ok_or("kept")?;
        disk.calls()
    };
    let mut cases = 0;
    for path in PATHS {
        for save in SAVES {
            for call in 0..=calls {
                for crash in [None, Some(0), Some(1), Some(2), Some(4), Some(8)] {
                    editor_at(path, save, call, crash).map_err(|message| {
                        format!("{path} saved before call {call}, crash {crash:?}: {message}")
                    })?;
                    cases += 1;
                }
            }
        }
    }
    Ok(cases)
}

fn editor_at(path: &'static str, save: Save, call: u64, crash_after: Option<u64>) -> Result<(), String> {
    let disk = disk();
    disk.on_call(call, move |disk| save(disk, path, b"the person's"));
    if let Some(after) = crash_after {
        disk.crash_at(call + after);
    }
    let mut kept = Vec::new();
    let outcome = open_trees(&disk, 1)
        .map_err(filetx::Failure::from)
        .and_then(|mut trees| stage_and_commit(&mut trees));
    let saved = disk.calls() > call;
    match outcome {
        Ok(committed) => kept.extend(committed.into_iter().flat_map(|committed| committed.preserved)),
        Err(failure) if crash_after.is_none() => return Err(chain(&failure)),
        Err(_) => {}
    }
    let crashed = disk.is_crashed();
    disk.heal();
    let check = |disk: &SimDisk, kept: &[filetx::Preserved]| {
        let mut kept = kept.to_vec();
        let trees = open_trees(disk, 1).map_err(|error| chain(&error))?;
        kept.extend(trees.recovered().iter().flat_map(|recovered| recovered.preserved.clone()));
        drop(trees);
        is_whole(disk, path, &kept)?;
        if saved && !is_safe(disk, path, b"the person's", &kept) {
            return Err(format!("the person's content is gone, kept {kept:?}\n{}", disk.log().join("\n")));
        }
        Ok(())
    };
    if crashed {
        for cut in disk.sampled_crash_states(1, 20) {
            check(&cut.disk, &kept)?;
        }
        return check(&disk.kill(), &kept);
    }
    for cut in disk.sampled_crash_states(1, 50) {
        are_kept(&cut.disk, &kept)?;
    }
    check(&disk, &kept)
}

/// Preserved content of an acknowledged commit survives a power cut.
fn are_kept(disk: &SimDisk, kept: &[filetx::Preserved]) -> Result<(), String> {
    for aside in kept.iter().filter_map(|kept| kept.preserved_at.as_ref()) {
        let path = aside.strip_prefix("a").expect("it is in the root").to_str().expect("plain names");
        if disk.external_read("a", path).as_deref() != Some(b"new") {
            return Err(format!("{path} was kept aside and is lost"));
        }
    }
    Ok(())
}

/// A manual revert after an acknowledged commit survives a power cut.
pub(crate) fn edits_after_the_commit() -> Result<(), String> {
    let disk = disk();
    let mut trees = open_trees(&disk, 1).map_err(|error| chain(&error))?;
    let committed = stage_and_commit(&mut trees).map_err(|error| chain(&error))?;
    drop(trees);
    let committed = committed.expect("no other program changed a file");
    assert!(committed.pending.is_none() && committed.preserved.is_empty());
    disk.external_write("a", "changed", b"old");
    disk.external_remove("a", "created");
    for cut in disk.sampled_crash_states(1, 1000) {
        drop(open_trees(&cut.disk, 1).map_err(|error| chain(&error))?);
        let now = (cut.disk.external_read("a", "changed"), cut.disk.external_read("a", "created"));
        if now != (Some(b"old".to_vec()), None) {
            return Err(format!("the person's work was undone: {now:?}\n{}", cut.describe()));
        }
    }
    Ok(())
}

/// After an acknowledged commit no journal and no pointer returns with a power cut: its owner has
/// forgotten it, and would not vouch for it.
pub(crate) fn traces_after_the_commit() -> Result<(), String> {
    let disk = disk();
    let mut trees = open_trees(&disk, 2).map_err(|error| chain(&error))?;
    let mut tx = trees.begin();
    tx.put((0, "changed"), b"new").and_then(|()| tx.put((1, "f"), b"new")).map_err(|error| chain(&error))?;
    assert!(tx.commit().map_err(|error| chain(&error))?.pending.is_none());
    drop(trees);
    for cut in disk.sampled_crash_states(1, 1000) {
        for root in ["a", "b"] {
            let options = filetx::TreeOptions::default();
            let paths = [std::path::Path::new(root)];
            let opened = Trees::on_storage(&paths, finder(&cut.disk), options, &testkit::journals::distrust);
            drop(opened.map_err(|error| format!("{}\n{}", chain(&error), cut.describe()))?);
        }
    }
    Ok(())
}

#[test]
fn a_power_cut_brings_back_no_trace_of_a_commit() {
    traces_after_the_commit().unwrap_or_else(|message| panic!("{message}"));
}

#[test]
fn an_edit_at_any_step_is_not_lost() {
    let cases = editor_at_every_step().unwrap_or_else(|message| panic!("{message}"));
    testkit::report::figure("saves of an editor during a commit", cases);
}

#[test]
fn a_power_cut_does_not_undo_edits_after_a_commit() {
    edits_after_the_commit().unwrap_or_else(|message| panic!("{message}"));
}
