//! Plans: cases that are hard to reach from the command line.

#![expect(clippy::disallowed_methods, reason = "plays a person who edits files")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cleveragents::{
    Agents, Edit, Health, Invocation, Kind, NewEntry, Plan, PlanSelection, Plans, Remedy, Resolution,
};
use tempfile::TempDir;

fn agents(folder: &TempDir) -> Agents {
    let home = Some(folder.path().join("home"));
    let current = Some(folder.path().to_owned());
    Agents::open(&Invocation { home, current, ..Invocation::default() }).unwrap()
}

fn entry(root: &str, path: &str, edit: Edit) -> NewEntry {
    NewEntry { root: Some(PathBuf::from(root)), path: path.to_owned(), edit, base: None, tool: None }
}

/// Starts a changeset in the plan.
fn start(plans: &Plans, actor: &str) -> String {
    plans.start_changeset(&work(plans), &cleveragents::actor(actor).unwrap()).unwrap().id.to_string()
}

/// Two folders and a plan for them.
fn two_roots() -> (TempDir, Plans) {
    let folder = tempfile::tempdir().unwrap();
    for root in ["app", "site"] {
        fs::create_dir(folder.path().join(root)).unwrap();
        fs::write(folder.path().join(root).join("a.txt"), "old\n").unwrap();
    }
    let plans = agents(&folder).plans().unwrap();
    let made = plans.create(Some("work"), &["app".into(), "site".into()]).unwrap();
    assert_eq!(made.plan.created_by.as_str(), "unknown", "the invocation names no user");
    (folder, plans)
}

fn work(plans: &Plans) -> Plan {
    plans.open("work").unwrap().plan
}

#[test]
fn a_conflict_in_several_roots_needs_the_root() {
    let (folder, plans) = two_roots();
    for actor in ["coder", "writer"] {
        let changeset = start(&plans, actor);
        for root in ["app", "site"] {
            let edit = Edit::Bytes(format!("{actor}\n").into_bytes(), None);
            plans.record(&changeset, &entry(root, "a.txt", edit)).unwrap();
        }
        plans.seal(&changeset).unwrap();
    }
    let take = Resolution::Take(cleveragents::actor("coder").unwrap());
    let error = plans.resolve(&work(&plans), "a.txt", None, &take).unwrap_err();
    assert_eq!((error.kind(), error.code()), (Kind::Usage, "ambiguous-root"));
    for root in ["app", "site"] {
        plans.resolve(&work(&plans), "a.txt", Some(Path::new(root)), &take).unwrap();
    }
    let applied = plans.apply(&work(&plans), &cleveragents::ApplyOptions::default()).unwrap();
    assert!(!applied.has_drifted());
    assert_eq!(fs::read_to_string(folder.path().join("site/a.txt")).unwrap(), "coder\n");
}

#[test]
fn a_large_file_is_streamed() {
    let (folder, plans) = two_roots();
    let long: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8).collect();
    fs::write(folder.path().join("long"), &long).unwrap();
    let changeset = start(&plans, "coder");
    plans.record(&changeset, &entry("app", "long.bin", Edit::Content("long".into(), Some(0o600)))).unwrap();
    plans.seal(&changeset).unwrap();
    plans.apply(&work(&plans), &cleveragents::ApplyOptions::default()).unwrap();
    assert_eq!(fs::read(folder.path().join("app/long.bin")).unwrap(), long);
}

#[test]
fn patches_apply_to_new_and_renamed_files_but_not_to_symlinks() {
    let (folder, plans) = two_roots();
    let changeset = start(&plans, "coder");
    let record = |path: &str, edit| plans.record(&changeset, &entry("app", path, edit));
    let patch = |text: &str| Edit::Patch(text.as_bytes().to_vec());
    record("new.txt", patch("--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+fresh\n")).unwrap();
    record("a.txt", Edit::RenameTo("b.txt".to_owned())).unwrap();
    record("b.txt", patch("--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-old\n+new\n")).unwrap();
    let error = record("a.txt", patch("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n")).unwrap_err();
    assert_eq!((error.kind(), error.code()), (Kind::Conflict, "patch"), "it has gone: {error}");
    record("link", Edit::Symlink("b.txt".to_owned())).unwrap();
    assert_eq!(record("link", patch("@@ -1 +1 @@\n-b.txt\n+c.txt\n")).unwrap_err().code(), "patch");
    assert_eq!(record("b.txt", patch("no patch")).unwrap_err().code(), "patch");
    plans.seal(&changeset).unwrap();
    plans.apply(&work(&plans), &cleveragents::ApplyOptions::default()).unwrap();
    assert_eq!(fs::read_to_string(folder.path().join("app/b.txt")).unwrap(), "new\n");
    assert_eq!(fs::read_to_string(folder.path().join("app/new.txt")).unwrap(), "fresh\n");
    let part = PlanSelection { paths: vec!["[".to_owned()], ..PlanSelection::default() };
    assert_eq!(plans.diff(&work(&plans), &part).unwrap_err().kind(), Kind::Usage);
}

#[test]
fn a_patch_does_what_it_says_or_is_refused() {
    let (folder, plans) = two_roots();
    fs::write(folder.path().join("app/b.txt"), "old\n").unwrap();
    fs::write(folder.path().join("app/c.txt"), "old\n").unwrap();
    // Longer than texts that are merged or shown.
    let long = "line\n".repeat(2_000_000);
    fs::write(folder.path().join("app/long.txt"), &long).unwrap();
    let changeset = start(&plans, "coder");
    let record = |path: &str, text: &str| {
        plans.record(&changeset, &entry("app", path, Edit::Patch(text.as_bytes().to_vec())))
    };
    for refused in [
        "--- a/other.txt\n+++ b/other.txt\n@@ -1 +1 @@\n-old\n+new\n",
        "diff --git a/b.txt b/d.txt\nsimilarity index 100%\nrename from b.txt\nrename to d.txt\n",
        "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-old\n+new\n--- a/c.txt\n+++ b/c.txt\n@@ -1 +1 @@\n-old\n+new\n",
    ] {
        let error = record("b.txt", refused).unwrap_err();
        assert_eq!((error.kind(), error.code()), (Kind::Conflict, "patch"), "{error}");
    }
    record("b.txt", "--- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n").unwrap();
    record("c.txt", "diff --git a/c.txt b/c.txt\nold mode 100644\nnew mode 100755\n").unwrap();
    record("long.txt", "--- a/long.txt\n+++ b/long.txt\n@@ -1,3 +1,3 @@\n-line\n+first\n line\n line\n")
        .unwrap();
    plans.seal(&changeset).unwrap();
    plans.apply(&work(&plans), &cleveragents::ApplyOptions::default()).unwrap();
    assert!(!folder.path().join("app/b.txt").exists());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(folder.path().join("app/c.txt")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
    }
    let applied = fs::read_to_string(folder.path().join("app/long.txt")).unwrap();
    assert_eq!(applied, format!("first\n{}", &long[5..]));
}

/// So long that reading it would end the test.
#[test]
fn a_file_too_large_to_patch_is_not_read() {
    let (folder, plans) = two_roots();
    let file = fs::File::create(folder.path().join("app/long.txt")).unwrap();
    file.set_len(1 << 40).unwrap();
    let changeset = start(&plans, "coder");
    let patch = Edit::Patch(b"@@ -1 +1 @@\n-old\n+new\n".to_vec());
    let error = plans.record(&changeset, &entry("app", "long.txt", patch)).unwrap_err();
    assert_eq!((error.kind(), error.code()), (Kind::Conflict, "patch"), "{error}");
    assert!(error.to_string().contains("more than"), "{error}");
}

#[test]
fn the_doctor_finds_an_altered_blob() {
    let (folder, plans) = two_roots();
    let changeset = start(&plans, "coder");
    plans.record(&changeset, &entry("app", "b.txt", Edit::Bytes(b"unmistakable".to_vec(), None))).unwrap();
    plans.seal(&changeset).unwrap();
    let of_store = || {
        let checks = agents(&folder).doctor(false).into_iter().filter(|check| check.name == "store");
        checks.map(|check| check.health).collect::<Vec<_>>()
    };
    assert_eq!(of_store(), [Health::Ok]);
    // The last one to close the store leaves everything in its file.
    drop(plans);
    let file = folder.path().join("home/state.db");
    let mut bytes = fs::read(&file).unwrap();
    let place = bytes.windows(12).position(|found| found == b"unmistakable").unwrap();
    bytes[place] = b'U';
    fs::write(&file, bytes).unwrap();
    assert_eq!(of_store(), [Health::Problem]);
}

#[test]
fn the_doctor_reports_expired_leases() {
    let (folder, plans) = two_roots();
    let store = store::SqliteStore::open(&folder.path().join("home/state.db")).unwrap();
    let library = plan::Plans::open(Arc::new(store));
    let context = library.context(library.find("work").unwrap().id).unwrap();
    let options = plan::LeaseOptions { duration: Duration::ZERO, ..plan::LeaseOptions::default() };
    let held = context.start(&plan::Actor::parse("coder").unwrap(), None, &options).unwrap();
    let checks = agents(&folder).doctor(false);
    let lease = checks.iter().find(|check| check.name == "leases").unwrap();
    assert_eq!(lease.health, Health::Warning);
    assert_eq!(lease.remedy, Some(Remedy::CloseChangeset(held.id())));
    // The remedy works.
    plans.seal(&held.id().to_string()).unwrap();
    assert!(agents(&folder).doctor(true).iter().all(|check| check.health == Health::Ok));
}

#[test]
fn the_doctor_finds_interrupted_undos() {
    let (folder, _plans) = two_roots();
    let store = store::SqliteStore::open(&folder.path().join("home/state.db")).unwrap();
    let library = plan::Plans::open(Arc::new(store));
    let (of, who) = (library.find("work").unwrap().id, plan::Actor::parse("coder").unwrap());
    let root = folder.path().join("app");
    let undo = library.create_for(plan::Purpose::Undo { of }, None, &[&root], &who).unwrap();
    for fix in [false, true] {
        let checks = agents(&folder).doctor(fix);
        let found = checks.iter().find(|check| check.remedy == Some(Remedy::PrunePlan(undo.id))).unwrap();
        assert_eq!((found.name, found.health), ("applies", Health::Warning));
    }
    // The remedy works.
    library.remove(&undo, plan::Force::No, &who).unwrap();
    assert!(
        agents(&folder)
            .doctor(false)
            .iter()
            .all(|check| check.name != "applies" || check.health == Health::Ok)
    );
}

/// Checks of the doctor about applies.
fn applies(folder: &TempDir, fix: bool) -> Vec<(Health, String)> {
    let checks = agents(folder).doctor(fix).into_iter().filter(|check| check.name == "applies");
    checks.map(|check| (check.health, check.message)).collect()
}

#[test]
fn the_doctor_finds_interrupted_applies_of_unknown_plans() {
    use filetx::{RelPath, TreeOptions, Trees};
    let (folder, _plans) = two_roots();
    let root = folder.path().join("app");
    let home = || RelPath::new(plan::TXN_DIR).unwrap();
    let open = || {
        Trees::open(
            &[&root],
            TreeOptions { txn_dir: home(), ..TreeOptions::default() },
            &|_: &filetx::Claim<'_>| filetx::Verdict::Trusted,
        )
        .unwrap()
    };
    let journal = root.join(plan::TXN_DIR).join("journal");
    let trees = open();
    fs::write(&journal, "no journal").unwrap();
    let locked = std::thread::scope(|scope| {
        let look = |fix| applies(&folder, fix);
        [false, true].map(|fix| scope.spawn(move || look(fix)).join().unwrap())
    });
    for checks in locked {
        assert!(
            matches!(&checks[..], [(Health::Ok, text)] if text.contains("is being applied in")),
            "{checks:?}"
        );
    }
    drop(trees);
    for fix in [false, true] {
        let checks = applies(&folder, fix);
        assert!(matches!(&checks[..], [(Health::Problem, _)]), "{checks:?}");
    }
    fs::remove_file(&journal).unwrap();
    assert_eq!(applies(&folder, false), [(Health::Ok, "none was cut off".to_owned())]);
}

#[test]
fn an_unusable_home_folder_is_a_problem() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("home"), "a file").unwrap();
    let checks = agents(&folder).doctor(false);
    assert_eq!((checks[0].name, checks[0].health), ("home", Health::Problem));
    let nowhere = Agents::open(&Invocation::default()).unwrap();
    assert_eq!(nowhere.doctor(false)[0].health, Health::Problem);
    assert_eq!(nowhere.plans().unwrap_err().code(), "no-home");
}

/// Plans that a clean-up removed and kept, by id.
fn cleaned(plans: &Plans, dry_run: bool) -> [Vec<cleveragents::errors::PlanId>; 2] {
    let cleaned = plans.clean(None, false, dry_run).unwrap().plans;
    [cleaned.removed, cleaned.kept].map(|plans| plans.into_iter().map(|plan| plan.id).collect())
}

#[test]
fn a_dry_run_of_clean_up_lists_what_the_real_run_removes() {
    let (_folder, plans) = two_roots();
    let changeset = start(&plans, "coder");
    for path in ["a.txt", "b.txt", "c.txt"] {
        plans.record(&changeset, &entry("app", path, Edit::Bytes(b"new\n".to_vec(), None))).unwrap();
    }
    plans.seal(&changeset).unwrap();
    let only = |path: &str| PlanSelection { paths: vec![path.to_owned()], ..PlanSelection::default() };
    let part =
        cleveragents::ApplyOptions { selection: only("[ab].txt"), ..cleveragents::ApplyOptions::default() };
    plans.apply(&work(&plans), &part).unwrap();
    // The plan, which is not applied in full, tells by this undo what is left of it.
    plans.undo(&work(&plans), &only("a.txt"), false).unwrap();
    let expected = cleaned(&plans, true);
    assert_eq!(cleaned(&plans, false), expected);
    // Once the plan may go, its undo goes with it.
    plans.apply(&work(&plans), &cleveragents::ApplyOptions::default()).unwrap();
    plans.undo(&work(&plans), &only("b.txt"), false).unwrap();
    let expected = cleaned(&plans, true);
    assert_eq!(cleaned(&plans, false), expected);
    assert!(plans.list(&[], None).unwrap().is_empty());
}

/// Makes the store refuse an update, as a full disk would.
fn refuse(folder: &TempDir, name: &str, update: &str) -> rusqlite::Connection {
    let store = rusqlite::Connection::open(folder.path().join("home/state.db")).unwrap();
    store
        .execute_batch(&format!(
            "CREATE TRIGGER {name} BEFORE UPDATE {update} BEGIN SELECT RAISE(ABORT, 'refused'); END"
        ))
        .unwrap();
    store
}

#[test]
fn a_started_changeset_is_named_although_its_lease_cannot_be_released() {
    let (folder, plans) = two_roots();
    refuse(&folder, "leases", "OF owner ON changesets WHEN new.owner IS NULL");
    let changeset = start(&plans, "coder");
    assert_eq!(plans.changesets(&work(&plans)).unwrap()[0].id.to_string(), changeset);
}

#[test]
fn a_sealed_changeset_whose_plan_is_not_ready_is_no_unchanged_store() {
    let (folder, plans) = two_roots();
    let changeset = start(&plans, "coder");
    let store = refuse(&folder, "steps", "OF state ON plans");
    let error = plans.seal(&changeset).unwrap_err();
    assert_eq!((error.kind(), error.code()), (Kind::Error, "changeset-incomplete"));
    let shown = format!("{error} {}", std::error::Error::source(&error).unwrap());
    assert!(
        shown.contains(&format!("changeset {changeset} is sealed, but its plan is not ready")),
        "{shown}"
    );
    assert!(shown.contains("refused") && !shown.contains("nothing was changed"), "{shown}");
    store.execute_batch("DROP TRIGGER steps").unwrap();
    plans.seal(&changeset).unwrap();
    assert_eq!(work(&plans).state.to_string(), "ready");
}
