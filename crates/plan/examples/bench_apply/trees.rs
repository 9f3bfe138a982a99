//! Trees of files, changes to them, and the same with git.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use cleveragents_plan::{Actor, ApplyRequest, Change, Host, PathBytes, PlanId, Plans, State, UndoRequest};
use filetx::Wait;
use store::SqliteStore;
use testkit::bench::{Result, sync_file_system, timed};

/// Bytes per file.
const BYTES: usize = 4096;
/// Files per folder.
const PER_FOLDER: usize = 100;

/// The numbers of created, modified and deleted files.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub created: usize,
    pub modified: usize,
    pub deleted: usize,
}

impl Load {
    /// Two fifths created, two fifths modified, one fifth deleted.
    pub(crate) fn of(files: usize) -> Self {
        Self { created: files * 2 / 5, modified: files * 2 / 5, deleted: files / 5 }
    }
}

/// Lines of text that differ by file and version.
pub(crate) fn content(file: usize, version: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(BYTES + 64);
    let mut line = 0;
    while text.len() < BYTES {
        // Change one line of ten.
        let version = if line % 10 == 3 { version } else { 0 };
        text.extend(
            format!("file {file} line {line} version {version} {:08x}\n", file * 31 + line * 7).bytes(),
        );
        line += 1;
    }
    text.truncate(BYTES - 2);
    text.push(b'.');
    text.push(b'\n');
    text
}

pub(crate) fn name(file: usize) -> String {
    format!("src/part-{}/file-{file}.txt", file / PER_FOLDER)
}

/// Creates the files to modify and delete, and `others`.
pub(crate) fn make(root: &Path, load: Load, others: usize) -> Result<()> {
    fs::create_dir_all(root)?;
    let there = (load.created..load.created + load.modified + load.deleted).map(name);
    let beside = (0..others).map(|other| format!("other/part-{}/file-{other}.txt", other / PER_FOLDER));
    for (number, path) in there.chain(beside).enumerate() {
        let path = root.join(path);
        if number % PER_FOLDER == 0 || !path.parent().is_some_and(Path::exists) {
            fs::create_dir_all(path.parent().ok_or("a file is in a folder")?)?;
        }
        fs::write(path, content(load.created + number, 0))?;
    }
    Ok(())
}

/// Makes the same changes in the tree, for a patch.
pub(crate) fn change(root: &Path, load: Load) -> Result<()> {
    for file in 0..load.created + load.modified {
        let path = root.join(name(file));
        fs::create_dir_all(path.parent().ok_or("a file is in a folder")?)?;
        fs::write(path, content(file, 1))?;
    }
    for file in load.created + load.modified..load.created + load.modified + load.deleted {
        fs::remove_file(root.join(name(file)))?;
    }
    Ok(())
}

/// A plan over a tree.
pub(crate) struct Ours {
    pub plans: Plans,
    pub host: Host,
    pub plan: PlanId,
    place: PathBuf,
}

impl Ours {
    /// Creates a tree and a ready plan that changes it.
    pub(crate) fn new(place: &Path, load: Load, others: usize) -> Result<Self> {
        let root = place.join("root");
        make(&root, load, others)?;
        let plans = Plans::open(Arc::new(SqliteStore::open(&place.join("state.db"))?));
        let plan = plans.create(None, &[&root], &ana()?)?;
        let changeset = plans.context(plan.id)?.start_changeset(&ana()?)?;
        let path = |file| PathBytes::parse(name(file));
        let mut changes = Vec::new();
        for file in 0..load.created + load.modified {
            changes.push(Change::write(path(file)?, content(file, 1)));
        }
        for file in load.created + load.modified..load.created + load.modified + load.deleted {
            changes.push(Change::delete(path(file)?));
        }
        while !changes.is_empty() {
            let rest = changes.split_off(changes.len().min(500));
            changeset.record_many(std::mem::replace(&mut changes, rest))?;
        }
        changeset.seal()?;
        plans.mark_ready(plan.id, &ana()?)?;
        Ok(Self { plans, host: Host::local(Wait::default()), plan: plan.id, place: place.to_owned() })
    }

    /// Applies the plan.
    pub(crate) fn apply(&self) -> Result<Duration> {
        sync_file_system(&self.place)?;
        timed(|| {
            let report =
                self.plans.apply(&self.host, &self.plans.get(self.plan)?, &ApplyRequest::by(&ana()?))?;
            if report.plan.state != State::Applied {
                return Err("it was not applied".into());
            }
            Ok(())
        })
    }

    /// Undoes the plan, and records it again, to apply it once more.
    pub(crate) fn again(&mut self) -> Result<()> {
        let undo = self.plans.undo(&self.host, &self.plans.get(self.plan)?, &UndoRequest::by(&ana()?))?;
        let redo = self.plans.get(self.plan)?;
        let new = self.plans.create(None, &[&self.place.join("root")], &ana()?)?;
        let changeset = self.plans.context(new.id)?.start_changeset(&ana()?)?;
        let mut changes = Vec::new();
        for entry in self.plans.changesets_of_actors(redo.id)?.iter().map(|set| self.plans.entries(set.id)) {
            for entry in entry? {
                let change = match entry.after {
                    Some(after) => Change::new(
                        entry.path,
                        cleveragents_plan::Edit::Write {
                            content: cleveragents_plan::ContentSource::Stored(after.clone()),
                            mode: Some(after.mode),
                        },
                    ),
                    None => Change::delete(entry.path),
                };
                changes.push(change.with_base(entry.before.map(cleveragents_plan::ContentInput::stored)));
            }
        }
        while !changes.is_empty() {
            let rest = changes.split_off(changes.len().min(500));
            changeset.record_many(std::mem::replace(&mut changes, rest))?;
        }
        changeset.seal()?;
        self.plans.mark_ready(new.id, &ana()?)?;
        drop(undo);
        self.plan = new.id;
        Ok(())
    }
}

pub(crate) fn ana() -> Result<Actor> {
    Ok(Actor::parse("ana")?)
}

/// A repository with the same tree, and the same changes as a patch.
pub(crate) struct Git {
    root: PathBuf,
    patch: PathBuf,
}

impl Git {
    pub(crate) fn new(place: &Path, load: Load) -> Result<Self> {
        let root = place.join("git");
        make(&root, load, 0)?;
        let git = Self { patch: place.join("patch"), root };
        git.run(&["init", "--quiet"])?;
        git.run(&["add", "--all"])?;
        git.run(&["-c", "user.name=x", "-c", "user.email=x", "commit", "--quiet", "--message", "x"])?;
        change(&git.root, load)?;
        git.run(&["add", "--all"])?;
        let patch = git.command(&["diff", "--cached", "--binary"]).output()?;
        fs::write(&git.patch, patch.stdout)?;
        git.reset()?;
        Ok(git)
    }

    pub(crate) fn reset(&self) -> Result<()> {
        self.run(&["reset", "--quiet", "--hard"])?;
        self.run(&["clean", "-fdxq"])
    }

    /// Applies the patch, and waits for the disk.
    pub(crate) fn apply(&self) -> Result<Duration> {
        sync_file_system(&self.root)?;
        timed(|| {
            let patch = self.patch.to_str().ok_or("a plain path")?;
            self.run(&["apply", "--index", patch])?;
            let synced = Command::new("sync").status()?;
            if synced.success() { Ok(()) } else { Err("sync failed".into()) }
        })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.root).args(arguments).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Result<()> {
        let status = self.command(arguments).status()?;
        if status.success() { Ok(()) } else { Err(format!("git {arguments:?} failed").into()) }
    }
}
