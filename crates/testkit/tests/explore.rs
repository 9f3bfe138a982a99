//! The explorer accepts correct protocols and rejects those that lack one step.

#![expect(clippy::unwrap_used, reason = "the helpers of a test may panic as the test itself may")]

extern crate cleveragents_testkit as testkit;

use std::io;

use filetx::{OpenMode, RelPath, RenameMode};
use testkit::explore::{Acks, Limits, Report, SecondCrash, Trouble, Workload, explore};
use testkit::sim::SimDisk;

const OLD: &[u8] = b"old";

/// More than one sector, so that it can tear.
fn new() -> Vec<u8> {
    vec![b'n'; 600]
}

fn path(text: &str) -> RelPath {
    RelPath::new(text).unwrap()
}

/// The steps of replacing a file that can be left out.
#[derive(Clone, Copy, PartialEq)]
enum Step {
    None,
    SyncFile,
    SyncFolder,
    Rename,
}

fn replace(disk: &SimDisk, left_out: Step) -> io::Result<()> {
    let root = disk.root("r");
    let temp = if left_out == Step::Rename { "a" } else { "a.tmp" };
    let file = match root.stat(&path(temp))? {
        None => root.open(&path(temp), OpenMode::Create { mode: 0o644 })?,
        Some(_) => root.open(&path(temp), OpenMode::Write)?,
    };
    file.write_at(&new(), 0)?;
    if left_out != Step::SyncFile {
        file.sync_all()?;
    }
    if left_out != Step::Rename {
        root.rename(&path(temp), &path("a"), RenameMode::Replace)?;
    }
    if left_out != Step::SyncFolder {
        root.sync_folder(&RelPath::root())?;
    }
    Ok(())
}

fn remove_temp(disk: &SimDisk) -> Result<(), String> {
    let root = disk.root("r");
    let removed = root.stat(&path("a.tmp")).and_then(|found| match found {
        Some(_) => root.remove_file(&path("a.tmp")),
        None => Ok(()),
    });
    removed.map_err(|error| error.to_string())
}

fn old_or_new(disk: &SimDisk, acknowledged: &bool) -> Result<(), String> {
    match disk.external_read("r", "a") {
        Some(content) if content == new() => {}
        Some(content) if content == OLD && !acknowledged => {}
        other => return Err(format!("a is {:?}", other.map(|bytes| bytes.len()))),
    }
    match disk.external_list("r", "").len() {
        1 => Ok(()),
        count => Err(format!("{count} names are left")),
    }
}

fn replace_all_but(left_out: Step) -> Report {
    let workload = Workload {
        name: "replace",
        setup: &|disk| {
            disk.make_root("r");
            disk.external_write("r", "a", OLD);
        },
        run: &|disk, acks: &Acks<bool>| {
            if replace(disk, left_out).is_ok() {
                acks.note(|acknowledged| *acknowledged = true);
            }
        },
        recover: &remove_temp,
        check: &old_or_new,
    };
    explore(&workload, &Limits { second_faults: true, ..Limits::default() })
}

#[test]
fn write_sync_rename_sync_is_accepted() {
    let report = replace_all_but(Step::None);
    report.assert_clean();
    // With `a` old and nothing acknowledged: no temp; an empty one; zeros, either sector or both; after half of a write
    // zeros or data. With `a` new: acknowledged or not.
    assert_eq!(report.states, 1 + 1 + 4 + 2 + 2, "{report}");
    assert!(report.second_points > 10, "{report}");
}

#[test]
fn a_rename_of_an_unsynced_file_is_rejected() {
    let report = replace_all_but(Step::SyncFile);
    let message = &report.failures[0].message;
    assert!(message.starts_with("a is Some(") && !message.starts_with("a is Some(3)"), "{message}");
}

#[test]
fn success_before_the_folder_sync_is_rejected() {
    let report = replace_all_but(Step::SyncFolder);
    assert!(report.failures[0].message.starts_with("a is Some(3) (acknowledged: true)"), "{report}");
}

#[test]
fn writing_in_place_is_rejected() {
    let report = replace_all_but(Step::Rename);
    assert_eq!(report.failures.len(), Limits::default().failures_max);
    // Even a kill before the last call shows the failed check, never a panic of the explorer.
    assert!(report.failures.iter().all(|failure| failure.message.starts_with("a is ")), "{report}");
}

/// Writes a file in place, with or without a retry of a failed sync.
fn write_in_place(retry_sync: bool) -> Report {
    let work = move |disk: &SimDisk| -> io::Result<()> {
        let root = disk.root("r");
        let file = root.open(&path("a"), OpenMode::Write)?;
        file.write_at(b"new", 0)?;
        match file.sync_data() {
            Err(_) if retry_sync => file.sync_data(),
            result => result,
        }
    };
    let workload = Workload {
        name: "retry",
        setup: &|disk| {
            disk.make_root("r");
            disk.external_write("r", "a", OLD);
        },
        run: &|disk, acks: &Acks<bool>| {
            let done = work(disk).is_ok();
            acks.note(|acknowledged| *acknowledged = done);
        },
        recover: &|_| Ok(()),
        check: &|disk, acknowledged| match disk.external_read("r", "a") {
            Some(content) if content == OLD && *acknowledged => Err("acknowledged and lost".to_owned()),
            Some(_) => Ok(()),
            None => Err("a is gone".to_owned()),
        },
    };
    explore(&workload, &Limits::default())
}

#[test]
fn a_retried_sync_is_rejected() {
    write_in_place(false).assert_clean();
    let report = write_in_place(true);
    assert!(matches!(report.failures[0].first, Trouble::Fault { .. }), "{report}");
    assert!(report.failures[0].message.starts_with("acknowledged and lost"));
}

/// Mistakes of a recovery of two files.
#[derive(Clone, Copy, PartialEq)]
enum Flaw {
    None,
    /// It acts on a mark that a killed program may have left unsynced.
    TrustsTheMark,
    /// It removes the mark before the work is done.
    ForgetsTooEarly,
    /// It does not sync its own work.
    LeavesAllUnsynced,
}

/// Two files are staged, then a mark is synced; recovery renames both if it finds the mark.
fn two_files(flaw: Flaw, second_crash: SecondCrash) -> Report {
    let run = |disk: &SimDisk| -> io::Result<()> {
        let root = disk.root("r");
        for name in ["a.new", "b.new"] {
            let file = root.open(&path(name), OpenMode::Create { mode: 0o644 })?;
            file.write_at(b"new", 0)?;
            file.sync_all()?;
        }
        root.sync_folder(&RelPath::root())?;
        root.open(&path("mark"), OpenMode::Create { mode: 0o644 })?;
        root.sync_folder(&RelPath::root())
    };
    let recover = move |disk: &SimDisk| -> io::Result<()> {
        let root = disk.root("r");
        if flaw != Flaw::TrustsTheMark {
            root.sync_folder(&RelPath::root())?;
        }
        let is_marked = root.stat(&path("mark"))?.is_some();
        if is_marked && flaw == Flaw::ForgetsTooEarly {
            root.remove_file(&path("mark"))?;
        }
        for name in ["a", "b"] {
            let staged = path(&format!("{name}.new"));
            match (root.stat(&staged)?, is_marked) {
                (Some(_), true) => root.rename(&staged, &path(name), RenameMode::Replace)?,
                (Some(_), false) => root.remove_file(&staged)?,
                (None, _) => {}
            }
        }
        if flaw == Flaw::LeavesAllUnsynced {
            return if is_marked { root.remove_file(&path("mark")) } else { Ok(()) };
        }
        root.sync_folder(&RelPath::root())?;
        if is_marked && flaw != Flaw::ForgetsTooEarly {
            root.remove_file(&path("mark"))?;
            root.sync_folder(&RelPath::root())?;
        }
        Ok(())
    };
    let workload = Workload {
        name: "two files",
        setup: &|disk| {
            disk.make_root("r");
            disk.external_write("r", "a", OLD);
            disk.external_write("r", "b", OLD);
        },
        run: &|disk, acks: &Acks<bool>| {
            if run(disk).is_ok() {
                acks.note(|acknowledged| *acknowledged = true);
            }
        },
        recover: &move |disk| recover(disk).map_err(|error| error.to_string()),
        check: &|disk, acknowledged| {
            let (a, b) = (disk.external_read("r", "a"), disk.external_read("r", "b"));
            match a == b && (!acknowledged || a.as_deref() == Some(b"new")) {
                true => Ok(()),
                false => Err(format!("a is {a:?}, b is {b:?}")),
            }
        },
    };
    explore(&workload, &Limits { second_crash, ..Limits::default() })
}

#[test]
fn two_files_behind_a_synced_mark_are_accepted() {
    two_files(Flaw::None, SecondCrash::Every).assert_clean();
}

#[test]
fn recovery_that_forgets_too_early_is_rejected_by_the_second_crash_only() {
    two_files(Flaw::ForgetsTooEarly, SecondCrash::Off).assert_clean();
    let report = two_files(Flaw::ForgetsTooEarly, SecondCrash::Every);
    let failure = &report.failures[0];
    assert!(failure.second.is_some() && failure.cuts.len() == 2, "{report}");
}

#[test]
fn recovery_that_trusts_an_unsynced_mark_after_a_kill_is_rejected() {
    two_files(Flaw::TrustsTheMark, SecondCrash::Off).assert_clean();
    let report = two_files(Flaw::TrustsTheMark, SecondCrash::Every);
    assert_eq!(report.failures[0].cuts[0], "killed, no power cut", "{report}");
}

#[test]
fn recovery_that_syncs_nothing_is_rejected_by_a_crash_after_its_last_call() {
    let report = two_files(Flaw::LeavesAllUnsynced, SecondCrash::Every);
    // After the sync, two renames and the removal of the mark, the disk is complete.
    assert_eq!(report.failures[0].second, Some(Trouble::Crash { call: 4 }), "{report}");
}

#[test]
fn recovery_that_changes_something_each_time_is_rejected() {
    let workload = Workload {
        name: "never done",
        setup: &|disk| drop(disk.make_root("r")),
        run: &|disk, _: &Acks<()>| drop(disk.root("r").make_folder(&path("f"), 0o755)),
        recover: &|disk| {
            let count = disk.external_list("r", "").len();
            disk.root("r").make_folder(&path(&count.to_string()), 0o755).map_err(|error| error.to_string())
        },
        check: &|_, _| Ok(()),
    };
    let report = explore(&workload, &Limits::default());
    assert!(report.failures[0].message.starts_with("recovering again changed something"), "{report}");
}

#[test]
fn a_panic_and_a_workload_without_calls_are_failures() {
    let with = |run: &dyn Fn(&SimDisk, &Acks<()>)| {
        let setup = |disk: &SimDisk| drop(disk.make_root("r"));
        let workload =
            Workload { name: "bad", setup: &setup, run, recover: &|_| Ok(()), check: &|_, _| Ok(()) };
        explore(&workload, &Limits::default()).failures.remove(0).message
    };
    assert!(with(&|_, _| panic!("out of luck")).starts_with("panic: out of luck"));
    assert!(with(&|_, _| ()).starts_with("the workload changes nothing"));
}

#[test]
fn the_same_seed_finds_the_same() {
    let count = || {
        let report = two_files(Flaw::None, SecondCrash::OneIn(2));
        (report.states, report.checked, report.points, report.second_points)
    };
    assert_eq!(count(), count());
    assert!(count().0 > 0);
}
