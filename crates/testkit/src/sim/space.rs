//! The choices of a power cut, and the resulting disks.

use std::fmt::Write as _;
use std::ops::Range;

use fastrand::Rng;

use super::disk::{Inner, Rules, SimDisk};
use super::fault::Plan;
use super::object::{Body, Inode, Object, Objects, Survey, assign, object_mut, survey};
use super::pending::{Fate, Operation, Pending};

/// A choice for every pending effect.
#[derive(Clone)]
pub(super) struct Choice {
    /// For each open operation, true if it is kept.
    pub(super) kept: Vec<bool>,
    /// For each piece of data, its version: 0 is the durable one.
    pub(super) versions: Vec<usize>,
}

/// The space of all choices.
pub(super) struct Space {
    pending: Pending,
    /// Number of pending operations that are kept or lost.
    pub(super) open_count: usize,
    /// Only for names in messages.
    live: Objects,
    pub(super) pieces: Vec<Piece>,
    /// The pieces of each inode.
    pieces_of: Vec<Range<usize>>,
    boot: u128,
    rules: Rules,
}

/// A piece of data that is kept or lost independently.
pub(super) struct Piece {
    inode: Inode,
    what: What,
    /// Number of versions besides the durable one.
    pub(super) versions: usize,
}

#[derive(Clone, Copy)]
enum What {
    Len,
    Attributes,
    Sector(usize),
}

impl Space {
    pub(super) fn new(inner: &Inner) -> Self {
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

    pub(super) fn choice_count(&self) -> u128 {
        let subsets = 1u128.checked_shl(self.open_count as u32).unwrap_or(u128::MAX);
        self.pieces.iter().fold(subsets, |count, piece| count.saturating_mul(piece.versions as u128 + 1))
    }

    pub(super) fn uniform(&self, kept: bool, newest: bool) -> Choice {
        let versions = self.pieces.iter().map(|piece| if newest { piece.versions } else { 0 }).collect();
        Choice { kept: vec![kept; self.open_count], versions }
    }

    /// Builds the state of a choice, which may contain unreachable objects.
    pub(super) fn build(&self, choice: &Choice) -> (Objects, Survey) {
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
        for place in pieces {
            // Version 0 is the durable one, which is in place.
            let Some(version) = choice.versions[place].checked_sub(1) else { continue };
            match (self.pieces[place].what, &mut object.body) {
                (What::Attributes, _) => object.attributes = changes.attributes[version],
                // The length is the first piece of a file, so it determines the sectors.
                (What::Len, Body::File(content)) => drop(content.set_len(changes.lens[version])),
                (What::Sector(index), Body::File(content)) if index < content.sector_count() => {
                    content.set_sector(index, changes.sectors[&index].list[version].clone());
                }
                (What::Len | What::Sector(_), _) => {}
            }
        }
    }

    pub(super) fn disk(&self, mut objects: Objects, links: Vec<u32>) -> SimDisk {
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

    /// Returns the pieces of reachable objects.
    pub(super) fn reached(&self, links: &[u32]) -> Vec<usize> {
        (0..self.pieces.len()).filter(|place| links[self.pieces[*place].inode] > 0).collect()
    }

    /// Advances to the next combination of versions; `false` after the last one.
    pub(super) fn next_versions(&self, choice: &mut Choice, data: &[usize]) -> bool {
        for place in data {
            if choice.versions[*place] < self.pieces[*place].versions {
                choice.versions[*place] += 1;
                return true;
            }
            choice.versions[*place] = 0;
        }
        false
    }

    /// Draws a random choice. Most real losses are few or almost all, so the coins are biased.
    pub(super) fn draw(&self, rng: &mut Rng) -> Choice {
        let mut odds = || [0.5, 0.5, 0.1, 0.9][rng.usize(..4)];
        let (keep, newest) = (odds(), odds());
        let kept = (0..self.open_count).map(|_| rng.f64() < keep).collect();
        let versions = self.pieces.iter().map(|piece| match rng.f64() < newest {
            true => piece.versions,
            false => rng.usize(..=piece.versions),
        });
        Choice { versions: versions.collect(), kept }
    }

    pub(super) fn describe(&self, choice: &Choice) -> String {
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

    /// Returns a name of an object, for messages.
    fn any_name(&self, inode: Inode) -> String {
        let folders = self.live.iter().chain(&self.pending.base).flatten();
        let mut entries = folders.flat_map(|folder| folder.entries().unwrap_or_default());
        match entries.find(|(_, other)| *other == inode) {
            Some((name, _)) => name.text.to_string_lossy().into_owned(),
            None => format!("unnamed inode {inode}"),
        }
    }
}

impl Choice {
    /// Advances to the next subset; `false` after the last one.
    pub(super) fn next_subset(&mut self) -> bool {
        for kept in &mut self.kept {
            *kept = !*kept;
            if *kept {
                return true;
            }
        }
        false
    }
}
