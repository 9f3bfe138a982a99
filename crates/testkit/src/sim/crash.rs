//! The disks that a power cut may leave.

use std::sync::Arc;

use fastrand::Rng;

use super::disk::SimDisk;
use super::hash::{Fingerprint, FingerprintSet};
use super::object::Survey;
use super::space::{Choice, Space};

/// Draws of an already sampled state that are allowed per requested state.
const DRAWS_PER_STATE: usize = 4;
/// The fraction of a sample with a single piece of data lost, or kept.
const SINGLES_PART: usize = 4;

impl SimDisk {
    /// Returns all distinct disks that a power cut may leave now. Check
    /// [`SimDisk::crash_state_count`] first.
    pub fn crash_states(&self) -> CrashStates {
        CrashStates::all(Space::new(&self.lock()))
    }

    /// Returns all of them if there are at most `limit` choices; else a sample of at most `limit`:
    /// first the extremes (nothing kept, all kept, every prefix of the operations on names, every
    /// single one lost or kept), then others drawn by `seed`.
    pub fn sampled_crash_states(&self, seed: u64, limit: usize) -> CrashStates {
        let space = Space::new(&self.lock());
        if space.choice_count() <= limit as u128 {
            CrashStates::all(space)
        } else {
            CrashStates::sample(space, seed, limit)
        }
    }

    /// Returns the number of ways to keep and lose pending effects. Several may lead to the same
    /// disk.
    pub fn crash_state_count(&self) -> u128 {
        Space::new(&self.lock()).choice_count()
    }
}

/// A disk after a power cut and a new boot, without a program.
pub struct CrashState {
    /// The disk.
    pub disk: SimDisk,
    /// Its [`SimDisk::fingerprint`].
    pub fingerprint: Fingerprint,
    space: Arc<Space>,
    choice: Choice,
}

impl CrashState {
    /// Describes the kept and lost effects.
    pub fn describe(&self) -> String {
        self.space.describe(&self.choice)
    }
}

/// The distinct disks that a power cut may leave.
pub struct CrashStates {
    space: Arc<Space>,
    order: Order,
    seen: FingerprintSet,
}

enum Order {
    /// Iterates over the subsets of operations and, for each resulting set of names, over the
    /// versions of all data that these names reach.
    All {
        choice: Choice,
        data: Option<Vec<usize>>,
        names_seen: FingerprintSet,
        done: bool,
    },
    Sample {
        extremes: Box<dyn Iterator<Item = Choice> + Send>,
        rng: Rng,
        draws_left: usize,
        left: usize,
    },
}

impl CrashStates {
    fn all(space: Space) -> Self {
        let choice = space.uniform(false, false);
        Self::new(
            space,
            Order::All { choice, data: None, names_seen: FingerprintSet::default(), done: false },
        )
    }

    fn sample(space: Space, seed: u64, limit: usize) -> Self {
        let space = Arc::new(space);
        let order = Order::Sample {
            extremes: Box::new(extremes(Arc::clone(&space), limit)),
            rng: Rng::with_seed(seed),
            draws_left: limit.saturating_mul(DRAWS_PER_STATE),
            left: limit,
        };
        Self { space, order, seen: FingerprintSet::default() }
    }

    fn new(space: Space, order: Order) -> Self {
        Self { space: Arc::new(space), order, seen: FingerprintSet::default() }
    }

    fn next_choice(&mut self) -> Option<Choice> {
        match &mut self.order {
            Order::All { done: true, .. } => None,
            Order::All { choice, .. } => Some(choice.clone()),
            Order::Sample { left: 0, .. } => None,
            Order::Sample { extremes, rng, draws_left, .. } => {
                if let Some(choice) = extremes.next() {
                    return Some(choice);
                }
                *draws_left = draws_left.checked_sub(1)?;
                Some(self.space.draw(rng))
            }
        }
    }

    /// Advances, given the names that the last choice reaches.
    fn advance(&mut self, survey: &Survey, is_new: bool) {
        match &mut self.order {
            Order::All { choice, data, names_seen, done } => {
                let space = &self.space;
                // The data versions of these names were already enumerated for an earlier subset.
                let reached = || match names_seen.insert(survey.names) {
                    true => space.reached(&survey.links),
                    false => Vec::new(),
                };
                if !space.next_versions(choice, data.get_or_insert_with(reached)) {
                    *done = !choice.next_subset();
                    choice.versions.fill(0);
                    *data = None;
                }
            }
            Order::Sample { left, .. } => *left -= usize::from(is_new),
        }
    }
}

impl Iterator for CrashStates {
    type Item = CrashState;

    fn next(&mut self) -> Option<CrashState> {
        loop {
            let choice = self.next_choice()?;
            let (objects, survey) = self.space.build(&choice);
            let fingerprint = survey.fingerprint;
            let is_new = self.seen.insert(fingerprint);
            self.advance(&survey, is_new);
            if is_new {
                let disk = self.space.disk(objects, survey.links);
                return Some(CrashState { disk, fingerprint, space: Arc::clone(&self.space), choice });
            }
        }
    }
}

/// Returns the choices to try before drawing any.
fn extremes(space: Arc<Space>, limit: usize) -> impl Iterator<Item = Choice> + Send {
    let count = space.open_count;
    let singles: Vec<(usize, usize)> = (0..space.pieces.len())
        .flat_map(|place| (0..=space.pieces[place].versions).map(move |version| (place, version)))
        .collect();
    let step = (singles.len() * SINGLES_PART).div_ceil(limit.max(1)).max(1);
    let singles: Vec<_> = singles.into_iter().step_by(step).collect();

    let with = move |kept: &dyn Fn(usize) -> bool, newest: bool| {
        let mut choice = space.uniform(false, newest);
        choice.kept.iter_mut().enumerate().for_each(|(place, is_kept)| *is_kept = kept(place));
        choice
    };
    let with = Arc::new(with);
    let (prefix, one_lost, one_kept, single) = (with.clone(), with.clone(), with.clone(), with);
    let prefixes = (0..=count)
        .rev()
        .flat_map(move |end| [true, false].map(|newest| prefix(&|place| place < end, newest)));
    let one_lost = (0..count).map(move |lost| one_lost(&|place| place != lost, true));
    let one_kept =
        (0..count).flat_map(move |kept| [true, false].map(|newest| one_kept(&|place| place == kept, newest)));
    let singles = singles.into_iter().flat_map(move |(place, version)| {
        [true, false].map(|newest| {
            let mut choice = single(&|_| true, newest);
            choice.versions[place] = version;
            choice
        })
    });
    prefixes.chain(one_lost).chain(one_kept).chain(singles)
}
