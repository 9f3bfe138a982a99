//! Processes set different keys in one configuration file at once.
//!
//! The control does as most programs do: it reads the file, adds a line, writes a temporary file, syncs and renames it. Each file is whole,
//! but lacks what others wrote since it was read. Then the same with `agents config set`.
#![expect(clippy::disallowed_methods, reason = "the control does it the usual way")]

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use api::{Agents, Assignment, Invocation, Scope};
use schemars::JsonSchema;
use serde::Serialize;

use super::writer::{Child, Role};
use super::{Demo, failed};
use crate::error::Result;

pub(super) const PROCESSES: u32 = 8;
/// Keys that each process sets.
pub(super) const SETS: u32 = 20;
const FILE: &str = "config.toml";
/// A line that a person wrote before.
const COMMENT: &str = "# How I like it. Please leave this line alone.";

/// Counts of a race.
#[derive(JsonSchema, Serialize)]
pub(super) struct Tally {
    processes: u32,
    sets_per_process: u32,
    pub(super) acknowledged: u32,
    /// Acknowledged sets that are not in the file.
    pub(super) lost: u32,
    /// The comment is still in the file.
    comment_kept: bool,
}

impl Tally {
    pub(super) fn passed(&self) -> bool {
        self.acknowledged == PROCESSES * SETS && self.lost == 0 && self.comment_kept
    }
}

impl Demo<'_> {
    /// Races processes of a role for one file, and counts.
    pub(super) fn race(&mut self, role: Role) -> Result<Tally> {
        let name = if role == Role::SetUsual { "config-usual" } else { "config-set" };
        let folder = self.folder.join(name);
        fs::create_dir(&folder).map_err(failed("make the folder", &folder))?;
        let file = folder.join(FILE);
        let before = format!("{COMMENT}\nplan.concurrency = 8 # eight\n");
        fs::write(&file, before).map_err(failed("write", &file))?;
        let children = (0..PROCESSES).map(|index| Child::start(role, &folder, index));
        let mut children = children.collect::<Result<Vec<_>>>()?;
        // All start together.
        children.iter_mut().for_each(Child::release);
        let mut keys = Vec::new();
        for (index, child) in (0..).zip(&children) {
            self.output.progress(format_args!("process {} of {PROCESSES}", index + 1));
            keys.extend(child.saves_until_exit(&self.interrupt)?.into_iter().map(|set| key(index, set)));
        }
        let text = fs::read_to_string(&file).map_err(failed("read", &file))?;
        let is_there = |key: &String| text.lines().any(|line| line.starts_with(&format!("{key} = ")));
        Ok(Tally {
            processes: PROCESSES,
            sets_per_process: SETS,
            acknowledged: keys.len() as u32,
            lost: keys.iter().filter(|key| !is_there(key)).count() as u32,
            comment_kept: text.starts_with(COMMENT),
        })
    }
}

/// The control, in a child: read, add, rename.
pub(super) fn set_by_rename(
    folder: &Path,
    index: u32,
    acknowledge: impl Fn(u32) -> Result<()>,
) -> Result<()> {
    let (file, temporary) = (folder.join(FILE), folder.join(format!("{FILE}.{index}.tmp")));
    let set = |line: &str| -> io::Result<()> {
        let content = fs::read_to_string(&file)? + line;
        let mut written = File::create(&temporary)?;
        written.write_all(content.as_bytes())?;
        written.sync_all()?;
        fs::rename(&temporary, &file)
    };
    for number in 0..SETS {
        set(&format!("{} = {number}\n", key(index, number))).map_err(failed("write", &file))?;
        acknowledge(number)?;
    }
    Ok(())
}

/// In a child: as `agents config set` does.
pub(super) fn set_by_service(
    folder: &Path,
    index: u32,
    acknowledge: impl Fn(u32) -> Result<()>,
) -> Result<()> {
    let agents = Agents::open(&Invocation { home: Some(folder.to_owned()), ..Invocation::default() })?;
    for number in 0..SETS {
        let assignment = format!("{}={number}", key(index, number)).parse::<Assignment>()?;
        agents.set(Some(Scope::Global), &[assignment])?;
        acknowledge(number)?;
    }
    Ok(())
}

fn key(index: u32, number: u32) -> String {
    format!("x.process-{index}.set-{number}")
}
