//! Taking turns: ours, the baseline, ours, the baseline; and what the rounds come to.

use std::time::{Duration, Instant};

use crate::Result;

/// One figure over many rounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl Spread {
    fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        Self { median: values[values.len() / 2], least: values[0], most: values[values.len() - 1] }
    }
}

/// What rounds of two sides came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// Seconds for one operation.
    pub(crate) ours_s: Spread,
    pub(crate) baseline_s: Spread,
    /// Ours over the baseline, within a round.
    pub(crate) ratio: Spread,
    /// Counted over all operations of ours.
    pub(crate) syncs_per_op: f64,
}

/// Runs both sides in turn, each time with the other one first. Each side does `ops` operations a round and says how long they took.
/// The first round warms up and does not count.
pub(crate) fn compare(
    rounds: usize,
    ops: usize,
    mut ours: impl FnMut() -> Result<Duration>,
    mut baseline: impl FnMut() -> Result<Duration>,
) -> Result<Outcome> {
    let (mut ours_s, mut baseline_s, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let mut syncs = 0;
    for round in 0..=rounds {
        let mut run_ours = || -> Result<(f64, u64)> {
            let before = filetx::sync_count();
            let took = ours()?;
            Ok((took.as_secs_f64() / ops as f64, filetx::sync_count() - before))
        };
        let mut run_baseline = || -> Result<f64> { Ok(baseline()?.as_secs_f64() / ops as f64) };
        let ((one, synced), other) = if round % 2 == 0 {
            let one = run_ours()?;
            (one, run_baseline()?)
        } else {
            let other = run_baseline()?;
            (run_ours()?, other)
        };
        if round > 0 {
            ours_s.push(one);
            baseline_s.push(other);
            ratios.push(one / other);
            syncs += synced;
        }
    }
    Ok(Outcome {
        ours_s: Spread::of(ours_s),
        baseline_s: Spread::of(baseline_s),
        ratio: Spread::of(ratios),
        syncs_per_op: syncs as f64 / (rounds * ops) as f64,
    })
}

/// How long `work` takes.
pub(crate) fn timed(work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let begun = Instant::now();
    work()?;
    Ok(begun.elapsed())
}
