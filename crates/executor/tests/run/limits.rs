//! Actors that use too much: all of the disk, much output, many files. Bounded, contained, reported.

use std::fs;
use std::path::Path;

use executor::CHANGES_MAX;
use executor::run::{Cancel, NodeReport, Outcome};
use plan::{PlanId, Plans, State, Status};
use tempfile::TempDir;
use testkit::children::{Process, role, send, start};
use testkit::mount::{FileSystem, Image};
use testkit::report::{figure, is_proof, skipped};

use crate::fixture::{Ground, node, options, outcome, plans, who};

/// More than a run of any kind takes, and much less than what actors print here.
const OUTPUT_MIB_MAX: u64 = 100;
/// What a file that an actor made may take in memory until the run has ended, beyond what every run takes.
const FILE_KIB_MAX: usize = 4;
const RUN_MIB_MAX: u64 = 100;

/// A process of its own that runs `plan.toml`, or resumes the newest plan, and says how that ended and how much memory it took.
#[test]
fn child() {
    let Some((role, folder)) = role() else { return };
    let text = fs::read_to_string(folder.join("plan.toml")).unwrap();
    let mut options = options(&folder, &text);
    options.allow_write = vec![folder.join("elsewhere")];
    let runs = executor::run::Runs::new(plans(&folder.join("home")), &folder.join("home/runs"));
    let ended = match &*role {
        "resume" => {
            let plan = plans(&folder.join("home")).find("@latest").unwrap();
            runs.resume(plan.id, &who(), &[], &Cancel::default(), &|_| {})
        }
        _ => runs.start(&options, &Cancel::default(), &|_| {}),
    };
    send(&match ended {
        Ok(summary) => summary.state.as_str().to_owned(),
        Err(error) => error.to_string(),
    });
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.strip_suffix("kB"));
    send(peak.unwrap().trim());
}

/// How a run of its own ended, and how many MiB it took at most.
fn run_apart(folder: &Path, role: &str) -> (String, u64) {
    let mut child: Process = start("limits::child", role, folder);
    let (ended, peak_kib) = (child.receive(), child.receive());
    child.finish();
    (ended, peak_kib.parse::<u64>().unwrap() / 1024)
}

fn write_plan(ground: &Ground, text: &str) {
    fs::create_dir_all(ground.folder.path().join("elsewhere")).unwrap();
    fs::write(ground.folder.path().join("plan.toml"), text).unwrap();
}

#[test]
fn much_output_is_bounded() {
    let bytes: u64 = if is_proof() { 1 << 30 } else { 256 << 20 };
    let ground = Ground::new(&[]);
    write_plan(
        &ground,
        &format!(
            "[nodes.a]\nrun = \"yes $(printf '%01000d' 7) | head -c {bytes}; echo; echo last; exit 7\"\n"
        ),
    );
    let (ended, peak_mib) = run_apart(ground.folder.path(), "run");
    assert_eq!(ended, "failed");
    figure("bytes that one actor printed", bytes);
    figure("memory of a run whose actor printed them, MiB", peak_mib);
    assert!(peak_mib < OUTPUT_MIB_MAX, "{peak_mib} MiB");
    let plan = ground.plans.find("@latest").unwrap().id;
    let report = &ground.runs().nodes(plan).unwrap()[0];
    assert_eq!((report.code, report.last_lines.len()), (Some(7), 20));
    assert_eq!(report.last_lines[19], "last");
    let said = format!("it printed {} bytes, of which 67108864 are kept", bytes + 6);
    assert!(report.notes.contains(&said), "{report:?}");
    let output = ground.runs().output(plan, "a").unwrap().file.unwrap();
    assert_eq!(fs::metadata(output).unwrap().len(), 64 << 20);
}

/// Runs an actor that makes so many files beside one that makes one; how it ended, and how many MiB it took at most.
fn make_files(ground: &Ground, files: usize) -> (NodeReport, u64) {
    write_plan(
        ground,
        &format!(
            "[nodes.many]\nrun = \"mkdir many; cd many; seq {files} | split -l 1 -a 5 -\"\n\
             [nodes.one]\nrun = 'echo 1 > one'\n"
        ),
    );
    let (_, peak_mib) = run_apart(ground.folder.path(), "run");
    let plan = ground.plans.find("@latest").unwrap().id;
    let mut nodes = ground.runs().nodes(plan).unwrap();
    assert_eq!(nodes.pop().unwrap().state.outcome(), Some(Outcome::Succeeded), "the other");
    let many = nodes.pop().unwrap();
    figure(
        &format!("seconds for an actor that made {files} files"),
        many.seconds.unwrap_or_default().round(),
    );
    figure(&format!("memory of a run whose actor made {files} files, MiB"), peak_mib);
    (many, peak_mib)
}

#[test]
fn many_files_are_recorded_in_bounded_memory() {
    let files = if is_proof() { CHANGES_MAX } else { CHANGES_MAX / 10 };
    let ground = Ground::new(&[]);
    let (many, peak_mib) = make_files(&ground, files);
    assert_eq!((many.state.outcome(), many.files_changed), (Some(Outcome::Succeeded), files), "{many:?}");
    let limit = RUN_MIB_MAX + (files * FILE_KIB_MAX / 1024) as u64;
    assert!(peak_mib < limit, "{peak_mib} MiB of {limit}");
    let changesets = ground.plans.changesets(ground.plans.find("@latest").unwrap().id).unwrap();
    assert_eq!(changesets.iter().map(|changeset| changeset.entries).sum::<u64>(), files as u64 + 1);
    if is_proof() {
        a_million_files_fail_the_node_alone();
    }
}

/// A million files, which are more than are recorded. That a few too many are refused is tested beside the limit, so this is for the proof only.
fn a_million_files_fail_the_node_alone() {
    let files = 1_000_000;
    let ground = Ground::new(&[]);
    let (many, peak_mib) = make_files(&ground, files);
    assert_eq!((many.state.outcome(), many.files_changed), (Some(Outcome::Failed), 0), "{many:?}");
    let reason = many.reason.unwrap();
    assert!(reason.contains("more than 200000 paths"), "{reason}");
    let limit = RUN_MIB_MAX + files as u64 / 1024;
    assert!(peak_mib < limit, "{peak_mib} MiB of {limit}");
    // Whoever cleans up gets rid of all of them.
    let plan = ground.plans.find("@latest").unwrap().id;
    ground.runs().remove_files(plan).unwrap();
    assert_eq!(fs::read_dir(ground.home().join("runs")).unwrap().count(), 0);
}

/// A project and its home on a disk of their own, which is soon full. They go in the order from the last to the first.
fn small_ground() -> Result<(TempDir, Image, Ground), String> {
    let scratch = tempfile::tempdir().unwrap();
    let image = Image::new(scratch.path(), FileSystem::Ext4)?;
    let ground = Ground::inside(image.point(), &[("file", "1\n")]);
    Ok((scratch, image, ground))
}

/// What must hold of the store, whatever happened.
fn check_whole(plans: &Plans, plan: PlanId) {
    assert_eq!(plans.store().check().unwrap(), []);
    assert_eq!(store::verify(plans.store().as_ref(), &[]).unwrap().findings, []);
    let open = plans.changesets(plan).unwrap().iter().filter(|one| one.status == Status::Open).count();
    assert_eq!(open, 0);
}

/// The node that fills the disk fails, whichever way it goes about it; the others go on, and what they changed is whole.
#[test]
fn an_actor_that_fills_the_disk_harms_nobody() {
    let (_scratch, _image, ground) = match small_ground() {
        Ok(made) => made,
        Err(reason) => return skipped("executor::full_disk", &reason),
    };
    let flag = ground.folder.path().join("elsewhere/room");
    // Room is made by hand when the flag is there.
    let fill = |to: &str| format!("[ -e {} ] || head -c 200M /dev/urandom > {to}", flag.display());
    write_plan(
        &ground,
        &format!(
            "concurrency = 1\n\
             [nodes.a]\nrun = 'echo a > a'\n\
             [nodes.fails]\nrun = '{} || exit 3; echo done > fails'\n\
             [nodes.b]\nrun = 'echo b > b'\n\
             [nodes.passes]\nrun = '({}) 2> /dev/null; echo done > passes'\n\
             [nodes.c]\nrun = 'echo c > c'\n\
             [nodes.hides]\nrun = '({}) 2> /dev/null; true'\n\
             [nodes.again]\nretries = 1\nrun = 'echo again; ({}) 2> /dev/null; echo done > again'\n\
             [nodes.d]\nrun = 'echo d > d'\n",
            fill("big"),
            fill("big"),
            fill("\\\"$TMPDIR/big\\\"").replace('\\', ""),
            fill("big"),
        ),
    );
    let text = fs::read_to_string(ground.folder.path().join("plan.toml")).unwrap();
    let summary = ground.run(&text);
    for name in ["a", "b", "c", "d"] {
        assert_eq!(outcome(&summary, name), Outcome::Succeeded, "{summary:#?}");
    }
    for name in ["fails", "passes", "again"] {
        let report = node(&summary, name);
        assert_eq!(outcome(&summary, name), Outcome::Failed, "{report:?}");
        assert!(report.reason.as_ref().unwrap().contains("its disk is full"), "{report:?}");
        assert!(report.notes.iter().any(|note| note.contains("sandbox was removed")), "{report:?}");
    }
    assert_eq!(node(&summary, "again").attempts, 2);
    // Nothing that is recorded was in the way, so this one is done.
    assert_eq!(outcome(&summary, "hides"), Outcome::Succeeded);
    assert_eq!(summary.state, State::Failed);
    check_whole(&ground.plans, summary.plan);
    fs::write(&flag, "").unwrap();
    let (summary, _) = ground.resume(summary.plan).unwrap();
    assert_eq!((summary.state, summary.files_changed), (State::Ready, 7), "{summary:?}");
    assert_eq!(node(&summary, "a").attempts, 1, "what is done is not run again");
    let _ = ground.apply(summary.plan).unwrap();
    assert_eq!((ground.file("d"), ground.file("passes")), ("d\n".to_owned(), "done\n".to_owned()));
    check_whole(&ground.plans, summary.plan);
}

/// What an actor prints while the disk is full is read all the same, and it is said that it is not kept.
#[test]
fn output_that_a_full_disk_does_not_take_stops_nobody() {
    let (_scratch, _image, ground) = match small_ground() {
        Ok(made) => made,
        Err(reason) => return skipped("executor::full_disk", &reason),
    };
    let summary = ground.run(
        "[nodes.a]\nrun = 'echo first; head -c 200M /dev/urandom > big 2> /dev/null; yes | head -c 1000000; rm big; echo last > file'\n",
    );
    let report = node(&summary, "a");
    assert_eq!((summary.state, summary.files_changed), (State::Ready, 1), "{report:?}");
    let note = report.notes.iter().find(|note| note.starts_with("it printed 1000006 bytes")).unwrap();
    assert!(note.ends_with(" are kept: no storage space"), "{note}");
    let kept = ground.runs().output(summary.plan, "a").unwrap().file.unwrap();
    let kept = fs::read_to_string(kept).unwrap();
    assert!(note.contains(&format!("of which {} are", kept.len())), "{note} {}", kept.len());
    assert!(kept.starts_with("first\n") && kept.len() < 1_000_000);
}

/// A disk that stays full ends the run with an error that says so; nothing is lost, and with room it goes on.
#[test]
fn a_disk_that_stays_full_ends_the_run_and_with_room_it_goes_on() {
    let (_scratch, _image, ground) = match small_ground() {
        Ok(made) => made,
        Err(reason) => return skipped("executor::full_disk", &reason),
    };
    let big = ground.folder.path().join("elsewhere/big");
    let flag = ground.folder.path().join("elsewhere/room");
    write_plan(
        &ground,
        &format!(
            "concurrency = 1\n[nodes.a]\nrun = 'echo a > a'\n\
             [nodes.b]\nrun = '[ -e {} ] || head -c 200M /dev/urandom > {} 2> /dev/null; head -c 3M /dev/urandom > b'\n\
             [nodes.c]\nneeds = [\"b\"]\nrun = 'echo c > c'\n",
            flag.display(),
            big.display()
        ),
    );
    let (ended, _) = run_apart(ground.folder.path(), "run");
    assert!(ended.contains("its disk is full; nothing was changed"), "{ended}");
    let plan = ground.plans.find("@latest").unwrap().id;
    assert_eq!(ground.plans.store().check().unwrap(), []);
    let first = &ground.runs().nodes(plan).unwrap()[0];
    assert_eq!((&*first.name, first.state.outcome()), ("a", Some(Outcome::Succeeded)));
    fs::remove_file(&big).unwrap();
    fs::write(&flag, "").unwrap();
    let (ended, _) = run_apart(ground.folder.path(), "resume");
    assert_eq!(ended, "ready");
    check_whole(&ground.plans, plan);
    let nodes = ground.runs().nodes(plan).unwrap();
    assert_eq!((nodes[0].attempts, nodes[1].attempts), (1, 2), "what is done is not run again");
    let _ = ground.apply(plan).unwrap();
    assert_eq!((ground.file("a"), ground.file("c")), ("a\n".to_owned(), "c\n".to_owned()));
    ground.runs().remove_files(plan).unwrap();
    assert_eq!(fs::read_dir(ground.home().join("runs")).unwrap().count(), 0);
}
