//! `agents run`, beside copying the tree and starting the actor by hand.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use testkit::bench::{Report, Result, Target, compare, timed};

use crate::trees;

const ROUNDS: usize = 10;
/// Nodes of one run on a tree of 1,000 files, two at once.
const NODES: usize = 16;
const AT_ONCE: usize = 2;
/// Nodes that only have to finish.
const MANY: usize = 1_000;
const MANY_MIB_MAX: f64 = 200.0;

pub(crate) fn measure_one(agents: &Path, place: &Path, report: &mut Report) -> Result<()> {
    let root = place.join("root");
    trees::make(&root, 100)?;
    let home = place.join("home");
    let one = || {
        let mut command = program(agents, &home, &root);
        command.args(["run", "--no-tty", "--", "true"]);
        command
    };
    trees::run(&mut one())?;
    let syncs = count_syncs(place, &one())?;
    let ours = || timed(|| trees::run(&mut one()));
    let by_hand = place.join("by-hand");
    let bare = || {
        let took = timed(|| {
            copy(&root, &by_hand)?;
            trees::run(&mut Command::new("true"))?;
            sync_often(place, syncs)
        })?;
        fs::remove_dir_all(&by_hand)?;
        Ok(took)
    };
    let outcome = compare(ROUNDS, 1, ours, bare)?.of_processes();
    let what = format!("`agents run -- true`, 100 files, beside `cp -r`, `true` and {syncs} syncs");
    report.add(what, outcome, Target::RatioAtMost(2.0));
    Ok(())
}

pub(crate) fn measure_nodes(agents: &Path, place: &Path, report: &mut Report) -> Result<()> {
    let root = place.join("root");
    trees::make(&root, 1_000)?;
    let (home, file) = (place.join("home"), place.join("plan.toml"));
    fs::write(&file, plan(NODES))?;
    let ours = || {
        let took = timed(|| {
            let mut command = program(agents, &home, &root);
            command.args(["run", "--concurrency", "2"]).arg(&file);
            trees::run(&mut command)
        })?;
        // Sandboxes of earlier rounds do not count.
        trees::run(program(agents, &home, &root).args(["plan", "clean", "@latest", "--force", "--yes"]))?;
        Ok(took)
    };
    let bare = || {
        let took = timed(|| {
            thread::scope(|scope| {
                let workers: Vec<_> = (0..AT_ONCE)
                    .map(|worker| {
                        let (root, place) = (&root, &place);
                        scope.spawn(move || by_hand(root, place, worker).map_err(|error| error.to_string()))
                    })
                    .collect();
                workers.into_iter().try_for_each(|worker| match worker.join() {
                    Ok(done) => done.map_err(Into::into),
                    Err(_) => Err("a worker panicked".into()),
                })
            })
        })?;
        for number in 0..NODES {
            fs::remove_dir_all(place.join(format!("by-hand-{number}")))?;
        }
        Ok(took)
    };
    let outcome = compare(ROUNDS, NODES, ours, bare)?.of_processes();
    report.add(
        "a trivial node on 1,000 files, 2 at once, beside `cp -r` and `true`",
        outcome,
        Target::RatioAtMost(1.5),
    );
    Ok(())
}

pub(crate) fn measure_many(agents: &Path, place: &Path, report: &mut Report) -> Result<()> {
    let root = place.join("root");
    trees::make(&root, 10)?;
    let (home, file) = (place.join("home"), place.join("plan.toml"));
    fs::write(&file, plan(MANY))?;
    let mut command = program(agents, &home, &root);
    command.args(["run", "--concurrency", "2"]).arg(&file).stdout(Stdio::null()).stderr(Stdio::null());
    let mut peak_kib = 0.0_f64;
    let took = timed(|| {
        let mut child = command.spawn()?;
        let status = PathBuf::from(format!("/proc/{}/status", child.id()));
        let ended = loop {
            if let Some(ended) = child.try_wait()? {
                break ended;
            }
            let text = fs::read_to_string(&status).unwrap_or_default();
            let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.strip_suffix("kB"));
            peak_kib = peak.and_then(|peak| peak.trim().parse().ok()).unwrap_or(peak_kib);
            thread::sleep(Duration::from_millis(20));
        };
        if ended.success() { Ok(()) } else { Err(format!("a run of {MANY} nodes ended with {ended}").into()) }
    })?;
    report.add_limit(format!("memory for a run of {MANY} nodes"), peak_kib / 1024.0, MANY_MIB_MAX, "MiB");
    report.note(format!("A run of {MANY} trivial nodes on 10 files took {:.1} s.", took.as_secs_f64()));
    Ok(())
}

fn program(agents: &Path, home: &Path, root: &Path) -> Command {
    let mut command = Command::new(agents);
    command.arg("--home").arg(home).current_dir(root);
    command
}

/// Nodes without work and without needs.
fn plan(nodes: usize) -> String {
    let mut text = String::new();
    for number in 0..nodes {
        let _ = write!(text, "[nodes.node-{number}]\nrun = [\"true\"]\n\n");
    }
    text
}

/// Every second of the copies, and its actor.
fn by_hand(root: &Path, place: &Path, worker: usize) -> Result<()> {
    for number in (worker..NODES).step_by(AT_ONCE) {
        copy(root, &place.join(format!("by-hand-{number}")))?;
        trees::run(&mut Command::new("true"))?;
    }
    Ok(())
}

fn copy(root: &Path, to: &Path) -> Result<()> {
    trees::run(Command::new("cp").arg("-r").arg(root).arg(to))
}

/// Number of syncs of a command, by strace.
fn count_syncs(place: &Path, command: &Command) -> Result<usize> {
    let log = place.join("strace.log");
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq", "-e", "trace=fsync,fdatasync,syncfs,sync", "-o"]).arg(&log);
    traced.arg("--").arg(command.get_program()).args(command.get_args());
    traced.current_dir(command.get_current_dir().unwrap_or(place));
    trees::run(&mut traced)?;
    Ok(fs::read_to_string(&log)?
        .lines()
        .filter(|line| line.contains("sync(") || line.contains("syncfs("))
        .count())
}

/// As many small appends, each synced.
fn sync_often(place: &Path, times: usize) -> Result<()> {
    let mut file = File::options().create(true).append(true).open(place.join("synced"))?;
    for _ in 0..times {
        file.write_all(&[0; 512])?;
        file.sync_data()?;
    }
    Ok(())
}
