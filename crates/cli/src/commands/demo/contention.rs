//! Many processes set keys of their own in one configuration file, all at once.
//!
//! The control does what most programs do: it reads the file, adds its line, writes a temporary file, syncs and renames it. Each file that it
//! writes is whole, and each lacks what others wrote since it read. Then the same with `agents config set`.
#![expect(clippy::disallowed_methods, reason = "the control does it the usual way")]

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use api::{Agents, Assignment, Scope, Surroundings};
use serde::Serialize;

use super::child::{Child, Role};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::output::Output;

/// How many processes.
pub(super) const PROCESSES: u32 = 8;
/// How many keys each of them sets.
pub(super) const SETS: u32 = 20;
/// What a person wrote into the file before.
const COMMENT: &str = "# How I like it. Please leave this line alone.";

/// What came of it.
#[derive(Serialize)]
pub(super) struct Tally {
    pub(super) processes: u32,
    pub(super) sets_per_process: u32,
    pub(super) acknowledged: u32,
    /// Acknowledged, and not in the file.
    pub(super) lost: u32,
    /// Whether what a person wrote is still there.
    pub(super) comment_kept: bool,
}

impl Tally {
    pub(super) fn held(&self) -> bool {
        self.acknowledged == PROCESSES * SETS && self.lost == 0 && self.comment_kept
    }
}

/// Lets processes of this role write one file, and counts.
pub(super) fn run(role: Role, folder: &Path, interrupt: &Interrupt, output: &mut Output) -> Result<Tally> {
    let file = file(folder);
    let prepared = fs::write(&file, format!("{COMMENT}\nplan.concurrency = 8 # eight\n"));
    prepared.map_err(|source| Error::File { act: "write", path: file.clone(), source })?;
    let mut children =
        (0..PROCESSES).map(|index| Child::start_held(role, folder, index)).collect::<Result<Vec<_>>>()?;
    // Nobody starts before everybody is there.
    children.iter_mut().for_each(Child::release);
    let (mut acknowledged, mut keys) = (0, Vec::new());
    for (index, child) in (0..).zip(&children) {
        output.progress(format_args!("process {} of {PROCESSES}", index + 1));
        for set in child.saves_to_the_end(interrupt)? {
            acknowledged += 1;
            keys.push(key(index, set as u32));
        }
    }
    let text = read(&file)?;
    let lost = keys.iter().filter(|key| !text.lines().any(|line| line.starts_with(&format!("{key} = "))));
    Ok(Tally {
        processes: PROCESSES,
        sets_per_process: SETS,
        acknowledged,
        lost: lost.count() as u32,
        comment_kept: text.starts_with(COMMENT),
    })
}

/// In a child: read, add, rename.
pub(super) fn set_the_usual_way(
    folder: &Path,
    index: u32,
    acknowledge: impl Fn(u64) -> Result<()>,
) -> Result<()> {
    wait_for_release()?;
    let file = file(folder);
    let temporary = folder.join(format!("config.toml.{index}.tmp"));
    let set = |line: &str| -> io::Result<()> {
        let mut content = fs::read_to_string(&file)?;
        content += line;
        let mut written = File::create(&temporary)?;
        written.write_all(content.as_bytes())?;
        written.sync_all()?;
        fs::rename(&temporary, &file)
    };
    for number in 0..SETS {
        let line = format!("{} = {number}\n", key(index, number));
        set(&line).map_err(|source| Error::File { act: "write", path: file.clone(), source })?;
        acknowledge(number.into())?;
    }
    Ok(())
}

/// In a child: as `agents config set` does.
pub(super) fn set_by_service(
    folder: &Path,
    index: u32,
    acknowledge: impl Fn(u64) -> Result<()>,
) -> Result<()> {
    wait_for_release()?;
    let agents = Agents::open(&Surroundings { home: Some(folder.to_owned()), ..Surroundings::default() })?;
    for number in 0..SETS {
        let assignment = Assignment::argument(key(index, number), number.to_string());
        agents.set(Some(Scope::Global), &[assignment])?;
        acknowledge(number.into())?;
    }
    Ok(())
}

fn key(index: u32, number: u32) -> String {
    format!("x.process-{index}.set-{number}")
}

fn file(folder: &Path) -> PathBuf {
    folder.join("config.toml")
}

fn read(file: &Path) -> Result<String> {
    let failed = |source| Error::File { act: "read", path: file.to_owned(), source };
    fs::read_to_string(file).map_err(failed)
}

/// The parent closes the other end when all are there.
fn wait_for_release() -> Result<()> {
    let end = io::stdin().read_to_end(&mut Vec::new());
    end.map(drop).map_err(|source| Error::Stdin { source })
}
