//! One process per get.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use testkit::bench::{Report, Result, Target, compare, timed};

use crate::peers::{Peers, Way, file_of, git};

const ROUNDS: usize = 20;
const OPS: usize = 25;

pub(crate) fn measure(peers: &Peers, place: &Path, report: &mut Report) -> Result<()> {
    peers.prepare(place)?;
    let ours = || {
        let mut command = peers.agents(place);
        command.args(["config", "get", "x.file.key-100"]);
        command
    };
    let gits = || {
        let mut command = git(&file_of(Way::Git, place));
        command.args(["--get", "file.key-100"]);
        command
    };
    // Both find the same value.
    for mut command in [ours(), gits()] {
        let found = command.output()?;
        if found.stdout != b"100\n" {
            return Err(format!("{command:?} printed something else: {found:?}").into());
        }
    }
    let outcome = compare(ROUNDS, OPS, || gets(&ours), || gets(&gits))?.of_processes();
    report.add("get beside `git config --get`", outcome, Target::RatioAtMost(1.5));
    Ok(())
}

fn gets(command: &dyn Fn() -> Command) -> Result<Duration> {
    timed(|| {
        for _ in 0..OPS {
            if !command().stdout(Stdio::null()).status()?.success() {
                return Err("a get failed".into());
            }
        }
        Ok(())
    })
}
