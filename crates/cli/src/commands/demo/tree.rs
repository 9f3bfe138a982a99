//! A commit over two folders, killed when some of its files are in place, and finished by the next open.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use filetx::{Disk, Open, RelPath, Snapshot, Storage, TreeOptions, Trees, Wait};
use serde::Serialize;

use super::child::{Child, Role};
use super::make_folder;
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::output::Output;

/// Files that one sign of the picture stands for: so many that a kill comes in the middle even where all share a core.
pub(super) const FILES_PER_SIGN: usize = 8;
/// Signs of each of the two folders.
pub(super) const SIGNS: usize = 24;
/// Files in each of the two folders.
pub(super) const FILES: usize = SIGNS * FILES_PER_SIGN;
pub(super) const ROOTS: [&str; 2] = ["project-a", "project-b"];
/// How often to try: a kill may come too late to be in the middle.
const TRIES_MAX: u32 = 100;
/// How long a commit may take.
const COMMIT_MAX: Duration = Duration::from_secs(20);

const OLD: &[u8] = b"old\n";
pub(super) const NEW: &[u8] = b"new\n";

/// What is in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Content {
    Old,
    New,
    /// Neither: torn.
    Other,
}

/// The files of both folders.
pub(super) type Files = [Vec<Content>; 2];

/// How the two folders looked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Killed {
    /// Kills until one came in the middle.
    pub(super) tries: u32,
    pub(super) before: Files,
    pub(super) at_kill: Files,
    pub(super) for_reader: Files,
    pub(super) after_open: Files,
    /// Whether the next open said that it finished a commit.
    pub(super) recovered: bool,
}

impl Killed {
    pub(super) fn held(&self) -> bool {
        let all_new = |files: &Files| files.iter().flatten().all(|content| *content == Content::New);
        all_new(&self.for_reader) && all_new(&self.after_open) && self.recovered
    }
}

/// Runs in the child: all files of both folders, in one commit.
pub(super) fn commit(folder: &Path) -> Result<()> {
    let roots = ROOTS.map(|root| folder.join(root));
    let mut trees = Trees::open(&roots.each_ref().map(PathBuf::as_path), TreeOptions::default())?;
    let mut tx = trees.begin();
    for root in 0..ROOTS.len() {
        for index in 0..FILES {
            tx.put((root, name(index)), NEW)?;
        }
    }
    match tx.commit()?.pending {
        Some(error) => Err(error.into()),
        None => Ok(()),
    }
}

pub(super) fn kill_in_the_middle(
    folder: &Path,
    random: &mut fastrand::Rng,
    interrupt: &Interrupt,
    output: &mut Output,
) -> Result<Killed> {
    for tries in 1..=TRIES_MAX {
        interrupt.check()?;
        output.progress(format_args!("   kill {tries}"));
        let folder = make_folder(folder, &format!("try-{tries}"))?;
        prepare(&folder)?;
        let before = look(&folder)?;
        // Its being new is the sign to kill: one of the middle half.
        let all = ROOTS.len() * FILES;
        let sign = random.usize(all / 4..all * 3 / 4);
        let killed = kill_when_new(&folder, sign);
        interrupt.check()?;
        killed?;
        let at_kill = look(&folder)?;
        let is_new = |content: &Content| *content == Content::New;
        if at_kill.iter().flatten().all(is_new) || !at_kill.iter().flatten().any(is_new) {
            continue;
        }
        let for_reader = read(&folder)?;
        let recovered = open_again(&folder)?;
        let after_open = look(&folder)?;
        return Ok(Killed { tries, before, at_kill, for_reader, after_open, recovered });
    }
    Err(Error::NeverInTheMiddle { tries: TRIES_MAX })
}

/// The name of a file.
pub(super) fn name(index: usize) -> String {
    format!("file-{:03}.txt", index + 1)
}

fn prepare(folder: &Path) -> Result<()> {
    for root in ROOTS {
        let path = make_folder(folder, root)?;
        fill(&path, (0..FILES).map(name))?;
    }
    Ok(())
}

/// Makes old files in a folder.
pub(super) fn fill(folder: &Path, names: impl Iterator<Item = String>) -> Result<()> {
    let failed = |source| Error::File { act: "fill the folder", path: folder.to_owned(), source };
    let disk = Disk::open(folder).map_err(failed)?;
    for name in names {
        let made = disk.open(&RelPath::root().join(name), Open::Create { mode: 0o600 });
        made.and_then(|file| file.write_at(OLD, 0)).map_err(failed)?;
    }
    Ok(())
}

/// Starts the commit and kills it as soon as a file is in place.
fn kill_when_new(folder: &Path, sign: usize) -> Result<()> {
    let sign = folder.join(ROOTS[sign / FILES]).join(name(sign % FILES));
    let mut child = Child::start(Role::Tree, folder)?;
    let start = Instant::now();
    // Looking again at once: what is waited for lasts some milliseconds.
    while content_of(&sign)? == Content::Old && child.is_running() && start.elapsed() < COMMIT_MAX {}
    child.kill().map(drop)
}

/// The files as any program would see them.
fn look(folder: &Path) -> Result<Files> {
    files(|root, name| content_of(&folder.join(root).join(name)))
}

/// The files as a reader of the file transaction sees them, without writing anything.
fn read(folder: &Path) -> Result<Files> {
    let home = TreeOptions::default().home;
    let open = |root| Snapshot::of_tree(&folder.join(root), &home, &Wait::default());
    let snapshots = [open(ROOTS[0])?, open(ROOTS[1])?];
    files(|root, name| {
        let index = ROOTS.iter().position(|listed| *listed == root).expect("it is one of them");
        let bytes = snapshots[index].read(name)?;
        Ok(classify(&bytes.unwrap_or_default()))
    })
}

/// Opens the folders, which finishes what was killed. Whether it says so.
fn open_again(folder: &Path) -> Result<bool> {
    let roots = ROOTS.map(|root| folder.join(root));
    let trees = Trees::open(&roots.each_ref().map(PathBuf::as_path), TreeOptions::default())?;
    Ok(trees.recovered().len() == 1 && trees.recovered()[0].kept.is_empty())
}

fn files(content: impl Fn(&str, &str) -> Result<Content>) -> Result<Files> {
    let of_root = |root| (0..FILES).map(|index| content(root, &name(index))).collect::<Result<Vec<_>>>();
    Ok([of_root(ROOTS[0])?, of_root(ROOTS[1])?])
}

pub(super) fn content_of(path: &Path) -> Result<Content> {
    let bytes = std::fs::read(path);
    let bytes = bytes.map_err(|source| Error::File { act: "read", path: path.to_owned(), source })?;
    Ok(classify(&bytes))
}

fn classify(bytes: &[u8]) -> Content {
    match bytes {
        OLD => Content::Old,
        NEW => Content::New,
        _ => Content::Other,
    }
}
