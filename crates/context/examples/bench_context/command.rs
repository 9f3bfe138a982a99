//! One process per append.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use testkit::bench::{Report, Result, Target, compare, timed};

use crate::talk::{TEXT_BYTES, Talk};

const ROUNDS: usize = 7;
const OPS: usize = 30;
const LENGTHS: [usize; 2] = [10, 10_000];

/// Compares with one running process, which shows the cost of starting one.
pub(crate) fn measure(agents: &Path, place: &Path, report: &mut Report) -> Result<()> {
    for length in LENGTHS {
        let name = format!("by-command-{length}");
        drop(Talk::of(place, &name, length)?);
        let mut stays = Talk::of(place, &format!("in-process-{length}"), length)?;
        let ours = || appends(agents, place, &name);
        let outcome = compare(ROUNDS, OPS, ours, || timed(|| stays.saves(OPS)))?;
        report.add(
            format!("`agents context append` at {length}, beside a save in process"),
            outcome.of_processes(),
            Target::Shown,
        );
    }
    Ok(())
}

fn appends(agents: &Path, place: &Path, name: &str) -> Result<Duration> {
    let text = "m".repeat(TEXT_BYTES);
    timed(|| {
        for _ in 0..OPS {
            let mut append = Command::new(agents);
            append.args(["context", "append", name, "--role", "user", &text]);
            // Contexts are in the folder `contexts` of the home folder.
            append.current_dir(place).env("CLEVERAGENTS_HOME", place).stdout(Stdio::null());
            if !append.status()?.success() {
                return Err("an append failed".into());
            }
        }
        Ok(())
    })
}
