//! Kills a writer of the conversation over and over, and counts what it leaves.

use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::child::{Child, Role};
use super::conversation::Found;
use super::{chat, control};
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::output::Output;

/// A writer lives at most this long after its first save.
const LIFE_MAX_US: u64 = 12_000;
/// Kills when nobody said how many: so many, or as many as fit into that time but some at least.
const USUAL_KILLS: u32 = 100;
const USUAL_TIME: Duration = Duration::from_secs(2);
const USUAL_KILLS_MIN: u32 = 10;

/// How often to kill.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Limit {
    Exactly(u32),
    /// As often as takes a few seconds.
    Usual,
}

impl Limit {
    fn kills_max(self) -> u32 {
        match self {
            Limit::Exactly(kills) => kills,
            Limit::Usual => USUAL_KILLS,
        }
    }

    fn is_reached(self, kills: u32, elapsed: Duration) -> bool {
        kills == self.kills_max() || self == Limit::Usual && kills >= USUAL_KILLS_MIN && elapsed > USUAL_TIME
    }
}

/// What many kills left.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub(super) struct Tally {
    /// How often the writer was killed.
    pub(super) kills: u32,
    /// Saves that it acknowledged.
    pub(super) acknowledged: u64,
    /// Kills that left files of different saves, or half of one, in the folder.
    pub(super) mixed_at_kill: u32,
    /// Kills after which a reader saw such a set.
    pub(super) mixed_for_reader: u32,
    /// Kills after which the set was such still in the files when the next writer had been there.
    pub(super) mixed_after_open: u32,
    /// Kills that lost an acknowledged save.
    pub(super) lost: u32,
    /// Files whose content the next open could not explain, and kept aside.
    pub(super) kept_aside: usize,
}

pub(super) fn kill_often(
    role: Role,
    folder: &Path,
    limit: Limit,
    random: &mut fastrand::Rng,
    interrupt: &Interrupt,
    output: &mut Output,
) -> Result<Tally> {
    match role {
        Role::Context => chat::prepare(folder)?,
        _ => control::prepare(folder)?,
    }
    let start = Instant::now();
    let mut tally = Tally::default();
    while !limit.is_reached(tally.kills, start.elapsed()) {
        interrupt.check()?;
        output.progress(format_args!("   kill {} of {}", tally.kills + 1, limit.kills_max()));
        let life = Duration::from_micros(random.u64(..LIFE_MAX_US));
        let killed = live_and_die(role, folder, life);
        // Ctrl-C reaches the child as well.
        interrupt.check()?;
        tally.count(killed?, role, folder)?;
    }
    Ok(tally)
}

/// The saves that a writer acknowledged from its start to its kill: the first and the last.
fn live_and_die(role: Role, folder: &Path, life: Duration) -> Result<(u64, u64)> {
    let child = Child::start(role, folder)?;
    let first = child.wait_for_save()?;
    std::thread::sleep(life);
    let last = child.kill()?.unwrap_or(first);
    Ok((first, last))
}

impl Tally {
    fn count(&mut self, (first, last): (u64, u64), role: Role, folder: &Path) -> Result<()> {
        let (at_kill, for_reader, after_open) = match role {
            Role::Context => {
                let (at_kill, for_reader) = (chat::in_files(folder)?, chat::read(folder)?);
                self.kept_aside = chat::go_on(folder)?;
                (at_kill, for_reader, chat::in_files(folder)?)
            }
            // Nothing could be done about it: there is nothing but the files.
            _ => {
                let at_kill = Found::in_folder(folder)?;
                (at_kill.clone(), at_kill.clone(), at_kill)
            }
        };
        self.kills += 1;
        self.acknowledged += last + 1 - first;
        self.mixed_at_kill += u32::from(at_kill.whole().is_none());
        self.mixed_for_reader += u32::from(for_reader.whole().is_none());
        self.mixed_after_open += u32::from(after_open.whole().is_none());
        self.lost += u32::from(for_reader.lacks(last) || after_open.lacks(last));
        Ok(())
    }

    /// Whether every set was whole and every acknowledged save was there.
    pub(super) fn held(&self) -> bool {
        self.mixed_for_reader == 0 && self.mixed_after_open == 0 && self.lost == 0
    }
}
