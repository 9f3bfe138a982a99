//! One process per set: 1, 2 and 8 at once.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use testkit::bench::{Report, Result, Side, Target, compare_all, timed};

use crate::peers::{KEYS, Peers, Way};

const ROUNDS: usize = 7;
/// Sets of each side in a round.
const OPS: usize = 24;
/// Maximum number of restarts of git for one set.
const RETRIES_MAX: usize = 10_000;

/// Peers, each with its target.
const OTHERS: [(Way, &str, Target); 4] = [
    (Way::Python, "Python, tomlkit", Target::SpeedAtLeast(15.0)),
    (Way::Minimal, "a minimal program", Target::SpeedAtLeast(0.6)),
    (Way::Git, "`git config` (syncs nothing)", Target::Shown),
    (Way::GitRetried, "`git config` until it works (syncs nothing)", Target::Shown),
];

pub(crate) fn measure(peers: &Peers, place: &Path, report: &mut Report) -> Result<()> {
    peers.prepare(place)?;
    for at_once in [1, 2, 8] {
        let failed = AtomicUsize::new(0);
        let mut ours = || sets(peers, Way::Agents, place, at_once, &failed);
        let mut python = || sets(peers, Way::Python, place, at_once, &failed);
        let mut minimal = || sets(peers, Way::Minimal, place, at_once, &failed);
        let git_failed = AtomicUsize::new(0);
        let mut git = || sets(peers, Way::Git, place, at_once, &git_failed);
        let mut retried = || sets(peers, Way::GitRetried, place, at_once, &failed);
        let mut sides: [Side<'_>; 5] = [&mut ours, &mut python, &mut minimal, &mut git, &mut retried];
        let outcomes = compare_all(ROUNDS, OPS, &mut sides)?;
        for ((_, other, target), outcome) in OTHERS.into_iter().zip(outcomes) {
            report.add(format!("set, {at_once} at once, beside {other}"), outcome.of_processes(), target);
        }
        if failed.into_inner() > 0 {
            return Err("a set failed that must not".into());
        }
        let (failed, all) = (git_failed.into_inner(), (ROUNDS + 1) * OPS);
        report.note(format!(
            "`git config`, {at_once} at once: {failed} of {all} sets failed; none of the others'."
        ));
    }
    Ok(())
}

/// Runs the sets of a round in so many threads; each set is a process.
fn sets(peers: &Peers, way: Way, place: &Path, at_once: usize, failed: &AtomicUsize) -> Result<Duration> {
    static VALUE: AtomicUsize = AtomicUsize::new(1);
    let set = |n: usize| -> Result<()> {
        let value = VALUE.fetch_add(1, Ordering::Relaxed) as u64;
        for _ in 0..RETRIES_MAX {
            if peers.set(way, place, n % KEYS, value).output()?.status.success() {
                return Ok(());
            }
            if way != Way::GitRetried {
                break;
            }
        }
        failed.fetch_add(1, Ordering::Relaxed);
        Ok(())
    };
    timed(|| {
        let next = AtomicUsize::new(0);
        let work = || -> Result<()> {
            loop {
                match next.fetch_add(1, Ordering::Relaxed) {
                    n if n < OPS => set(n)?,
                    _ => return Ok(()),
                }
            }
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..at_once).map(|_| scope.spawn(work)).collect();
            threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)
        })
    })
}
