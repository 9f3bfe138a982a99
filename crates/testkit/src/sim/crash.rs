//! The disks that a power cut may leave behind.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use fastrand::Rng;

use super::disk::{Inner, Rules, SimDisk};
use super::fault::Plan;
use super::hash::{Fingerprint, FingerprintSet};
use super::object::{Body, Inode, Object, Objects, Survey, assign, object_mut, survey};
use super::pending::{Fate, Operation, Pending};

/// How often a sample may draw a state that it has already, for each one it is asked for.
const DRAWS_PER_STATE: usize = 4;
/// The part of a sample that goes to states where a single piece of data is lost, or kept.
const SINGLES_PART: usize = 4;

impl SimDisk {
    /// All different disks that a power cut may leave now. See [`SimDisk::cut_count`] before asking for all of them.
    pub fn cuts(&self) -> Cuts {
        Cuts::all(Space::new(&self.lock()))
    }

    /// All of them if there are at most `limit` choices; else a sample of at most `limit`: first the extremes (nothing kept,
    /// all kept, every prefix of the operations on names, every single one lost or kept), then others drawn by `seed`.
    pub fn cuts_sampled(&self, seed: u64, limit: usize) -> Cuts {
        let space = Space::new(&self.lock());
        if space.choice_count() <= limit as u128 {
            Cuts::all(space)
        } else {
            Cuts::sample(space, seed, limit)
        }
    }

    /// How many ways there are to keep and lose what is pending. Several may lead to the same disk.
    pub fn cut_count(&self) -> u128 {
        Space::new(&self.lock()).choice_count()
    }
}

/// One disk after a power cut: booted anew, with no program yet.
pub struct Cut {
    /// The disk.
    pub disk: SimDisk,
    /// What [`SimDisk::fingerprint`] says of it.
    pub fingerprint: Fingerprint,
    space: Arc<Space>,
    choice: Choice,
}

impl Cut {
    /// What was kept and what was lost, in words.
    pub fn describe(&self) -> String {
        self.space.describe(&self.choice)
    }
}

/// The disks that a power cut may leave, each one once.
pub struct Cuts {
    space: Arc<Space>,
    order: Order,
    seen: FingerprintSet,
}

enum Order {
    /// Count through the subsets of operations and, for each set of names that they lead to, through the versions of all data
    /// that names reach then.
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

/// What becomes of everything pending.
#[derive(Clone)]
struct Choice {
    /// For each open operation, whether it is kept.
    kept: Vec<bool>,
    /// For each piece of data, which version: 0 is the durable one.
    versions: Vec<usize>,
}

/// Everything a power cut chooses from.
struct Space {
    pending: Pending,
    /// How many of the pending operations are kept or lost.
    open_count: usize,
    /// Only to name things in messages.
    live: Objects,
    pieces: Vec<Piece>,
    /// By inode, which pieces are in it.
    pieces_of: Vec<Range<usize>>,
    boot: u128,
    rules: Rules,
}

/// A piece of data with a fate of its own.
struct Piece {
    inode: Inode,
    what: What,
    /// How many versions there are besides the durable one.
    versions: usize,
}

#[derive(Clone, Copy)]
enum What {
    Len,
    Attributes,
    Sector(usize),
}

impl Cuts {
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

    /// Moves on, now that it is known what names reach with the choice just made.
    fn advance(&mut self, survey: &Survey, is_new: bool) {
        match &mut self.order {
            Order::All { choice, data, names_seen, done } => {
                let space = &self.space;
                // Names that an earlier subset led to have been through all versions of their data then.
                let reached = || match names_seen.insert(survey.names) {
                    true => space.reached(&survey.links),
                    false => Vec::new(),
                };
                if !space.next_versions(choice, data.get_or_insert_with(reached)) {
                    *done = !next_subset(choice);
                    choice.versions.fill(0);
                    *data = None;
                }
            }
            Order::Sample { left, .. } => *left -= usize::from(is_new),
        }
    }
}

impl Iterator for Cuts {
    type Item = Cut;

    fn next(&mut self) -> Option<Cut> {
        loop {
            let choice = self.next_choice()?;
            let (objects, survey) = self.space.build(&choice);
            let fingerprint = survey.fingerprint;
            let is_new = self.seen.insert(fingerprint);
            self.advance(&survey, is_new);
            if is_new {
                let disk = self.space.disk(objects, survey.links);
                return Some(Cut { disk, fingerprint, space: Arc::clone(&self.space), choice });
            }
        }
    }
}

impl Space {
    fn new(inner: &Inner) -> Self {
        let pending = inner.pending.clone();
        let mut named = vec![false; pending.base.len()];
        for folder in pending.base.iter().flatten() {
            folder.entries().unwrap_or_default().iter().for_each(|(_, inode)| named[*inode] = true);
        }
        for assignment in pending.operations.iter().flat_map(|operation| &operation.assignments) {
            assignment.to.into_iter().for_each(|inode| named[inode] = true);
        }
        let mut pieces = Vec::new();
        let mut pieces_of = vec![0..0; pending.base.len()];
        for (&inode, changes) in pending.inodes.iter().filter(|(inode, _)| named[**inode]) {
            let first = pieces.len();
            let mut add = |what, versions| {
                if versions > 0 {
                    pieces.push(Piece { inode, what, versions });
                }
            };
            add(What::Len, changes.lens.len());
            add(What::Attributes, changes.attributes.len());
            changes
                .sectors
                .iter()
                .for_each(|(index, versions)| add(What::Sector(*index), versions.list.len()));
            pieces_of[inode] = first..pieces.len();
        }
        Self {
            open_count: pending.open_operations().count(),
            pending,
            live: inner.live.clone(),
            pieces,
            pieces_of,
            boot: inner.boot,
            rules: inner.rules,
        }
    }

    fn choice_count(&self) -> u128 {
        let subsets = 1u128.checked_shl(self.open_count as u32).unwrap_or(u128::MAX);
        self.pieces.iter().fold(subsets, |count, piece| count.saturating_mul(piece.versions as u128 + 1))
    }

    fn uniform(&self, kept: bool, newest: bool) -> Choice {
        let versions = self.pieces.iter().map(|piece| if newest { piece.versions } else { 0 }).collect();
        Choice { kept: vec![kept; self.open_count], versions }
    }

    /// The state that a choice leads to, with some that no name reaches.
    fn build(&self, choice: &Choice) -> (Objects, Survey) {
        let mut objects = self.pending.base.clone();
        for operation in self.kept_operations(choice) {
            for assignment in &operation.assignments {
                assign(&mut objects, assignment);
            }
        }
        let survey = survey(&mut objects, |objects, inode| {
            let pieces = self.pieces_of[inode].clone();
            if pieces.clone().any(|piece| choice.versions[piece] > 0) {
                self.apply_data(object_mut(objects, inode), inode, pieces, choice);
            }
        });
        (objects, survey)
    }

    fn kept_operations(&self, choice: &Choice) -> impl Iterator<Item = &Operation> {
        let mut open = choice.kept.iter();
        self.pending.operations.iter().filter(move |operation| {
            operation.fate == Fate::Settled || *open.next().expect("one choice per open operation")
        })
    }

    fn apply_data(&self, object: &mut Object, inode: Inode, pieces: Range<usize>, choice: &Choice) {
        let changes = &self.pending.inodes[&inode];
        let mut cut_to = None;
        for place in pieces {
            // Version 0 is the durable one, which is there already.
            let Some(version) = choice.versions[place].checked_sub(1) else { continue };
            match (self.pieces[place].what, &mut object.body) {
                (What::Attributes, _) => object.attributes = changes.attributes[version],
                (What::Len, Body::File(content)) => {
                    let len = changes.lens[version];
                    // The length comes first in the list, so longer files have room for their sectors; shorter ones
                    // are cut at the end.
                    if len > content.len() {
                        content.set_len(len);
                    } else {
                        cut_to = Some(len);
                    }
                }
                (What::Sector(index), Body::File(content)) if index < content.sector_count() => {
                    content.set_sector(index, changes.sectors[&index].list[version].clone());
                }
                (What::Len | What::Sector(_), _) => {}
            }
        }
        if let (Some(len), Body::File(content)) = (cut_to, &mut object.body) {
            content.set_len(len);
        }
    }

    fn disk(&self, mut objects: Objects, links: Vec<u32>) -> SimDisk {
        for (object, _) in objects.iter_mut().zip(&links).filter(|(_, links)| **links == 0) {
            *object = None;
        }
        SimDisk::from_inner(Inner {
            live: objects.clone(),
            links,
            pending: Pending::new(objects),
            boot: self.boot + 1,
            rules: self.rules,
            plan: Plan::default(),
        })
    }

    /// The pieces whose object has a name.
    fn reached(&self, links: &[u32]) -> Vec<usize> {
        (0..self.pieces.len()).filter(|place| links[self.pieces[*place].inode] > 0).collect()
    }

    /// Counts on through the versions of some pieces; `false` after the last combination.
    fn next_versions(&self, choice: &mut Choice, data: &[usize]) -> bool {
        for place in data {
            if choice.versions[*place] < self.pieces[*place].versions {
                choice.versions[*place] += 1;
                return true;
            }
            choice.versions[*place] = 0;
        }
        false
    }

    /// A random choice. Most losses in practice are few or almost all, so not every coin is fair.
    fn draw(&self, rng: &mut Rng) -> Choice {
        let mut odds = || [0.5, 0.5, 0.1, 0.9][rng.usize(..4)];
        let (keep, newest) = (odds(), odds());
        let kept = (0..self.open_count).map(|_| rng.f64() < keep).collect();
        let versions = self.pieces.iter().map(|piece| match rng.f64() < newest {
            true => piece.versions,
            false => rng.usize(..=piece.versions),
        });
        Choice { versions: versions.collect(), kept }
    }

    fn describe(&self, choice: &Choice) -> String {
        let mut text = String::new();
        for (operation, kept) in self.pending.open_operations().zip(&choice.kept) {
            let _ = writeln!(text, "{} {}", if *kept { "kept" } else { "lost" }, operation.text);
        }
        for (piece, version) in self.pieces.iter().zip(&choice.versions) {
            let what = match piece.what {
                What::Len => "length".to_owned(),
                What::Attributes => "attributes".to_owned(),
                What::Sector(index) => format!("sector {index}"),
            };
            let name = self.any_name(piece.inode);
            let _ = writeln!(text, "{what} of {name}: version {version} of {}", piece.versions);
        }
        text
    }

    /// Some name of an object, for messages.
    fn any_name(&self, inode: Inode) -> String {
        let folders = self.live.iter().chain(&self.pending.base).flatten();
        let mut entries = folders.flat_map(|folder| folder.entries().unwrap_or_default());
        match entries.find(|(_, other)| *other == inode) {
            Some((name, _)) => name.text.to_string_lossy().into_owned(),
            None => format!("unnamed inode {inode}"),
        }
    }
}

/// Counts on through the subsets; `false` after the last one.
fn next_subset(choice: &mut Choice) -> bool {
    for kept in &mut choice.kept {
        *kept = !*kept;
        if *kept {
            return true;
        }
    }
    false
}

/// The choices worth looking at before drawing any.
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
