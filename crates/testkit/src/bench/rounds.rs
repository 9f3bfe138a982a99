//! Taking turns: ours, a peer, ours, a peer; and what the rounds come to.

use std::time::{Duration, Instant};

use super::Result;

/// One figure over many rounds.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    /// The middle one.
    pub median: f64,
    /// The least.
    pub least: f64,
    /// The most.
    pub most: f64,
}

impl Spread {
    fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        Self { median: values[values.len() / 2], least: values[0], most: values[values.len() - 1] }
    }
}

/// What rounds of two sides came to.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Seconds for one operation of ours.
    pub ours_s: Spread,
    /// Seconds for one operation of the other side.
    pub baseline_s: Spread,
    /// Ours over the baseline, within a round.
    pub ratio: Spread,
    /// Syncs of this process, counted over all operations of ours. Unknown for other processes.
    pub syncs_per_op: Option<f64>,
}

impl Outcome {
    /// For operations that are processes: their syncs are not counted here.
    pub fn of_processes(self) -> Self {
        Self { syncs_per_op: None, ..self }
    }
}

/// One side: does the operations of a round and says how long they took.
pub type Side<'a> = &'a mut dyn FnMut() -> Result<Duration>;

/// Runs two sides in turn, as [`compare_all`] does.
pub fn compare(
    rounds: usize,
    ops: usize,
    mut ours: impl FnMut() -> Result<Duration>,
    mut baseline: impl FnMut() -> Result<Duration>,
) -> Result<Outcome> {
    Ok(compare_all(rounds, ops, &mut [&mut ours, &mut baseline])?[0])
}

/// Runs all sides in turn, each round beginning with the next one. The first side is ours; what it came to beside each of the others is
/// returned in their order. Each side does `ops` operations a round. The first round warms up and does not count.
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

/// How long `work` takes.
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
