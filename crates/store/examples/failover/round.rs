//! A round: eight processes record, the primary is killed, they continue.

#![expect(clippy::disallowed_methods, reason = "gives the processes their task")]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cleveragents_store::PostgresStore;
use tempfile::TempDir;
use testkit::history::now_ns;
use testkit::store_conformance::fixtures::{make_plan, start};

use crate::Result;
use crate::cluster::Cluster;
use crate::verdict::{Verdict, judge};

const CLIENTS: usize = 8;
/// Calls of each process before the primary is killed, and after.
const EACH: usize = 40;
/// Time for which replication is stopped before the kill.
const FROZEN: Duration = Duration::from_secs(3);
/// Number of stops in this time.
const FREEZES: u32 = 60;
/// Guard against waiting for ever for the processes.
const ROUND_MAX: Duration = Duration::from_secs(240);

/// Tells whether replication is stopped before the primary is killed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freeze {
    Never,
    BeforeTheKill,
}

/// The log of a round.
pub(crate) struct Round(TempDir);

pub(crate) fn play(cluster: &mut Cluster, freeze: Freeze) -> Result<(Round, Verdict)> {
    let primary = cluster.wait_until_whole()?;
    let folder = TempDir::new()?;
    let store = PostgresStore::open(&cluster.url())?;
    let plan = make_plan(&store).id;
    let (shared, epoch) = start(&store, plan, "shared");
    let task = format!("{}\n{plan}\n{shared}\n{}\n", cluster.url(), epoch.0);
    fs::write(folder.path().join("task"), task)?;
    let mut clients = (0..CLIENTS).map(|_| client(folder.path())).collect::<Result<Vec<Child>>>()?;
    wait_for(folder.path(), |done| done >= EACH)?;
    let mut frozen = None;
    if freeze == Freeze::BeforeTheKill {
        cluster.nodes[primary].freeze_replication()?;
        let since = now_ns();
        // A standby whose stream is stopped opens another one.
        for _ in 0..FREEZES {
            thread::sleep(FROZEN / FREEZES);
            cluster.nodes[primary].freeze_replication()?;
        }
        frozen = Some((since, now_ns()));
    }
    cluster.nodes[primary].kill()?;
    let before = answers(folder.path())?;
    wait_for_each(folder.path(), |client, done| done >= before[client] + EACH)?;
    for client in &mut clients {
        drop(client.stdin.take());
    }
    for mut client in clients {
        if !client.wait()?.success() {
            return Err("a client failed".into());
        }
    }
    let verdict = judge(&store, plan, folder.path(), frozen)?;
    cluster.nodes[primary].start()?;
    Ok((Round(folder), verdict))
}

/// Counts the records of these rounds that are lost by now.
pub(crate) fn replay(cluster: &Cluster, rounds: &[Round]) -> Result<usize> {
    cluster.wait_until_whole()?;
    let store = PostgresStore::open(&cluster.url())?;
    let lost = rounds.iter().map(|round| crate::verdict::lost(&store, round.0.path()).len());
    let lost = lost.sum();
    if !cleveragents_store::verify(&store, &[])?.findings.is_empty() {
        return Err("an audit chain does not verify at the end".into());
    }
    Ok(lost)
}

fn client(folder: &Path) -> Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    Ok(command.arg("client").arg(folder).stdin(Stdio::piped()).spawn()?)
}

/// Returns the number of answers that each process has logged, by name.
fn answers(folder: &Path) -> Result<Vec<usize>> {
    let mut files: Vec<_> = fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("notes-")));
    files.sort();
    files.iter().map(|file| Ok(fs::read_to_string(file)?.matches("\nreturn ").count())).collect()
}

fn wait_for(folder: &Path, enough: impl Fn(usize) -> bool) -> Result<()> {
    wait_for_each(folder, |_, done| enough(done))
}

fn wait_for_each(folder: &Path, enough: impl Fn(usize, usize) -> bool) -> Result<()> {
    let started = Instant::now();
    loop {
        let done = answers(folder)?;
        if done.len() == CLIENTS && done.iter().enumerate().all(|(client, done)| enough(client, *done)) {
            return Ok(());
        }
        if started.elapsed() > ROUND_MAX {
            return Err(format!("the clients do not go on: {done:?}").into());
        }
        thread::sleep(Duration::from_millis(50));
    }
}
