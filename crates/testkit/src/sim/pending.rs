//! The durable state, and the pending effects.

use std::collections::BTreeMap;

use super::content::{self, Sector};
use super::hash::mix;
use super::object::{Assignment, Attributes, Body, Inode, Object, Objects, assign, object, object_mut};

/// The durable state and all later effects.
#[derive(Clone)]
pub(super) struct Pending {
    /// The durable state, apart from synced operations that wait for an earlier one.
    pub(super) base: Objects,
    pub(super) operations: Vec<Operation>,
    pub(super) inodes: BTreeMap<Inode, Changes>,
}

/// An operation on names: all of its assignments, or none.
#[derive(Clone)]
pub(super) struct Operation {
    pub(super) text: String,
    pub(super) assignments: Vec<Assignment>,
    pub(super) fate: Fate,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// Kept or lost at a power cut.
    Open,
    /// Like `Open`, and no later sync makes it durable.
    Forgotten,
    /// Synced. It stays in the list only behind an open one that changed the same entry.
    Settled,
}

/// Changes of one object besides its entries; each list starts with the first change after the
/// durable value.
#[derive(Clone, Default)]
pub(super) struct Changes {
    pub(super) lens: Vec<u64>,
    pub(super) attributes: Vec<Attributes>,
    pub(super) sectors: BTreeMap<usize, Versions>,
}

/// The contents that one sector may have after a power cut, besides the durable one.
#[derive(Clone)]
pub(super) struct Versions {
    pub(super) list: Vec<Sector>,
    /// Tells whether the next sync writes the last one. False after a failed sync.
    dirty: bool,
}

impl Pending {
    pub(super) fn new(base: Objects) -> Self {
        Self { base, operations: Vec::new(), inodes: BTreeMap::new() }
    }

    /// Adds an operation on names.
    pub(super) fn name(&mut self, text: String, assignments: Vec<Assignment>, fate: Fate) {
        self.operations.push(Operation { text, assignments, fate });
        if fate == Fate::Settled {
            self.fold();
        }
    }

    /// Adds the changes of a file's content and length to `live`, where `touched` are the sectors
    /// to compare.
    pub(super) fn content(&mut self, inode: Inode, live: &Object, touched: impl Iterator<Item = usize>) {
        let (Body::File(new), Body::File(durable)) = (&live.body, &object(&self.base, inode).body) else {
            panic!("only files have content");
        };
        let changes = self.inodes.entry(inode).or_default();
        push(&mut changes.lens, new.len(), durable.len());
        for index in touched {
            let sector = new.sector(index);
            match changes.sectors.get_mut(&index) {
                None if content::same(sector, durable.sector(index)) => {}
                None => {
                    changes.sectors.insert(index, Versions { list: vec![sector.clone()], dirty: true });
                }
                Some(versions) => {
                    versions.dirty = true;
                    if !versions.list.last().is_some_and(|last| content::same(last, sector)) {
                        versions.list.push(sector.clone());
                    }
                }
            }
        }
    }

    pub(super) fn attributes(&mut self, inode: Inode, live: Attributes) {
        let durable = object(&self.base, inode).attributes;
        push(&mut self.inodes.entry(inode).or_default().attributes, live, durable);
    }

    /// Makes content and length of a file durable, except for pages that an earlier failed sync
    /// dropped.
    pub(super) fn sync_content(&mut self, inode: Inode) {
        let Some(changes) = self.inodes.get_mut(&inode) else { return };
        let Body::File(durable) = &mut object_mut(&mut self.base, inode).body else { return };
        if let Some(len) = changes.lens.pop() {
            changes.lens.clear();
            durable.set_len(len);
        }
        let count = durable.sector_count();
        changes.sectors.retain(|index, versions| {
            if versions.dirty && *index < count {
                durable.set_sector(*index, versions.list.pop().expect("a list is never empty"));
            }
            !versions.dirty && *index < count
        });
        self.tidy(inode);
    }

    pub(super) fn sync_attributes(&mut self, inode: Inode) {
        let Some(changes) = self.inodes.get_mut(&inode) else { return };
        if let Some(last) = changes.attributes.pop() {
            changes.attributes.clear();
            object_mut(&mut self.base, inode).attributes = last;
        }
        self.tidy(inode);
    }

    /// Marks all pages as clean, after a failed sync.
    pub(super) fn forget_content(&mut self, inode: Inode) {
        for versions in
            self.inodes.get_mut(&inode).into_iter().flat_map(|changes| changes.sectors.values_mut())
        {
            versions.dirty = false;
        }
    }

    /// Makes every operation on an entry of this folder durable, or drops it.
    pub(super) fn sync_names(&mut self, folder: Inode, fate: Fate) {
        for operation in &mut self.operations {
            let touches = operation.assignments.iter().any(|assignment| assignment.folder == folder);
            if touches && operation.fate == Fate::Open {
                operation.fate = fate;
            }
        }
        self.fold();
    }

    /// Returns the operations that a power cut keeps or loses.
    pub(super) fn open_operations(&self) -> impl Iterator<Item = &Operation> {
        self.operations.iter().filter(|operation| operation.fate != Fate::Settled)
    }

    /// Returns a number that distinguishes the futures of two disks that look alike.
    pub(super) fn fingerprint(&self) -> u128 {
        let mut all: u128 = 0;
        let mut add = |value: u128| all = mix(all, value);
        for operation in &self.operations {
            add(operation.fate as u128);
            for assignment in &operation.assignments {
                add(assignment.folder as u128);
                add(assignment.name.hash());
                add(assignment.to.map_or(u128::MAX, |inode| inode as u128));
            }
        }
        for (inode, changes) in &self.inodes {
            add(*inode as u128);
            changes.lens.iter().for_each(|len| add(u128::from(*len)));
            add(7);
            for attributes in &changes.attributes {
                add(u128::from(attributes.mode) << 64 | u128::from(attributes.owner));
            }
            for (index, versions) in &changes.sectors {
                add((*index as u128) << 1 | u128::from(versions.dirty));
                versions.list.iter().for_each(|sector| add(content::fingerprint(sector)));
            }
        }
        all
    }

    /// Moves synced operations into the base, unless an earlier one that stays changed the same
    /// entry: order matters then.
    fn fold(&mut self) {
        let mut stays: Vec<Operation> = Vec::new();
        for operation in self.operations.drain(..) {
            if operation.fate != Fate::Settled || stays.iter().any(|earlier| earlier.shares_entry(&operation))
            {
                stays.push(operation);
                continue;
            }
            for assignment in &operation.assignments {
                assign(&mut self.base, assignment);
            }
        }
        self.operations = stays;
    }

    fn tidy(&mut self, inode: Inode) {
        let empty = |changes: &Changes| {
            changes.lens.is_empty() && changes.attributes.is_empty() && changes.sectors.is_empty()
        };
        if self.inodes.get(&inode).is_some_and(empty) {
            self.inodes.remove(&inode);
        }
    }
}

impl Operation {
    fn shares_entry(&self, other: &Operation) -> bool {
        self.assignments.iter().any(|ours| {
            other
                .assignments
                .iter()
                .any(|theirs| ours.folder == theirs.folder && ours.name.text == theirs.name.text)
        })
    }
}

/// Adds a version unless it equals the newest one.
fn push<T: PartialEq>(list: &mut Vec<T>, value: T, durable: T) {
    if *list.last().unwrap_or(&durable) != value {
        list.push(value);
    }
}
