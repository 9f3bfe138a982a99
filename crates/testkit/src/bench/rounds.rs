//! Alternating rounds of two or more sides, and their statistics.

use std::time::{Duration, Instant};

use super::Result;

/// A figure over many rounds.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// The minimum.
    pub least: f64,
    /// The maximum.
    pub most: f64,
}

impl Spread {
    fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        Self { median: values[values.len() / 2], least: values[0], most: values[values.len() - 1] }
    }
}

/// The outcome of two sides.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Seconds per operation of ours.
    pub ours_s: Spread,
    /// Seconds per operation of the baseline.
    pub baseline_s: Spread,
    /// Ratio of ours to the baseline, per round.
    pub ratio: Spread,
    /// Syncs of this process per operation of ours; unknown for other processes.
    pub syncs_per_op: Option<f64>,
}

impl Outcome {
    /// For operations that are processes: their syncs are not counted.
    pub fn of_processes(self) -> Self {
        Self { syncs_per_op: None, ..self }
    }
}

/// A side: runs the operations of a round and returns their duration.
pub type Side<'a> = &'a mut dyn FnMut() -> Result<Duration>;

/// Alternates two sides, like [`compare_all`].
pub fn compare(
    rounds: usize,
    ops: usize,
    mut ours: impl FnMut() -> Result<Duration>,
    mut baseline: impl FnMut() -> Result<Duration>,
) -> Result<Outcome> {
    Ok(compare_all(rounds, ops, &mut [&mut ours, &mut baseline])?[0])
}

/// Alternates all sides; each round starts with the next one. The first side is ours; returns its
/// outcome beside each of the others, in their order. Each side runs `ops` operations per round.
/// The first round is a warm-up.
pub fn compare_all(rounds: usize, ops: usize, sides: &mut [Side<'_>]) -> Result<Vec<Outcome>> {
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); sides.len()];
    let mut syncs = 0;
    for round in 0..=rounds {
        for turn in 0..sides.len() {
            let side = (round + turn) % sides.len();
            let before = filetx::sync_count();
            let took = sides[side]()?.as_secs_f64() / ops as f64;
            if round > 0 {
                times[side].push(took);
                syncs += if side == 0 { filetx::sync_count() - before } else { 0 };
            }
        }
    }
    let (ours, others) = times.split_first().expect("there is a side of ours");
    let outcome = |other: &Vec<f64>| Outcome {
        ours_s: Spread::of(ours.clone()),
        baseline_s: Spread::of(other.clone()),
        ratio: Spread::of(ours.iter().zip(other).map(|(ours, other)| ours / other).collect()),
        syncs_per_op: Some(syncs as f64 / (rounds * ops) as f64),
    };
    Ok(others.iter().map(outcome).collect())
}

/// Measures the duration of `work`.
pub fn timed(work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let begun = Instant::now();
    work()?;
    Ok(begun.elapsed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_taken_within_a_round_and_the_first_does_not_count() {
        let mut seconds = [100, 2, 4, 6].into_iter();
        let mut ours = || Ok(Duration::from_secs(seconds.next().expect("four rounds")));
        let mut slow = || Ok(Duration::from_secs(2));
        let mut fast = || Ok(Duration::from_secs(1));
        let outcomes = compare_all(3, 2, &mut [&mut ours, &mut slow, &mut fast]).expect("nothing fails");
        let ratios: Vec<_> = outcomes.iter().map(|outcome| outcome.ratio.median).collect();
        assert_eq!(ratios, [2.0, 4.0]);
        assert_eq!((outcomes[0].ratio.least, outcomes[0].ratio.most), (1.0, 3.0));
        assert_eq!(outcomes[1].ours_s.median, 2.0);
    }
}
