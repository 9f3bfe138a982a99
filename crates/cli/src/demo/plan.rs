//! Four actors of a plan run at once, two of them in one file. Their apply is killed when some files are in dir, the next command finishes
//! it, the changes of one actor are undone, and the audit chains are verified.
#![expect(clippy::disallowed_methods, reason = "makes the project that the actors work in")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use api::{Agents, Cancel, Invocation, NodeOutcome, NodeReport, NodeState, PlanSelection, Plans, RunOptions};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Demo, LABEL, failed};
use crate::commands::run::phrases::{End, ended};
use crate::error::{Error, Result};

/// Files per symbol of the picture, and symbols per folder: enough files for a kill in the middle even on one core.
const FILES_PER_SYMBOL: usize = 8;
const SYMBOLS: usize = 12;
const FILES: usize = SYMBOLS * FILES_PER_SYMBOL;
/// Folders of the project; each of the first two actors changes one.
const FOLDERS: [&str; 2] = ["code", "docs"];
/// Attempts: a kill may miss the middle of the apply.
const TRIES_MAX: u32 = 50;
/// Longest time of an apply.
const APPLY_MAX: Duration = Duration::from_secs(20);
const NAME: &str = "demo";
/// The actor whose changes are undone.
const UNDONE: &str = "writer";

/// The plan file. The first two actors also edit one file, at its two ends.
const PLAN: &str = r#"
name = "demo"
concurrency = 4

[roots.project]
path = "project"

[nodes.coder]
run = "for file in code/*; do echo new > $file; done; sed -i '1s/.*/first line by coder/' notes.txt"
paths = ["code/**", "notes.txt"]

[nodes.writer]
run = "for file in docs/*; do echo new > $file; done; sed -i '$s/.*/last line by writer/' notes.txt"

[nodes.tester]
run = "ls code docs > tests.txt"
paths = ["tests.txt"]

[nodes.linter]
run = ["sh", "-c", "wc -l notes.txt > lint.txt"]
paths = ["lint.txt"]
"#;

/// The file that two actors edit: before, with both edits, and with one of them undone.
const NOTES: &str = "notes.txt";
const NOTES_BEFORE: &str = "first line\ntwo\nthree\nfour\nlast line\n";
const NOTES_MERGED: &str = "first line by coder\ntwo\nthree\nfour\nlast line by writer\n";
const NOTES_UNDONE: &str = "first line by coder\ntwo\nthree\nfour\nlast line\n";

/// The content of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Old,
    New,
    Torn,
}

/// The files of both folders.
type Files = [Vec<Content>; 2];

/// Figures of a plan whose apply was killed, finished and undone in part.
#[derive(JsonSchema, Serialize)]
pub(super) struct PlanFigures {
    pub(super) passed: bool,
    nodes: Vec<NodeReport>,
    /// Kills until one interrupted the apply.
    tries: u32,
    new_at_kill: [usize; 2],
    new_after_next_command: [usize; 2],
    /// The shared file has both edits then.
    merged: bool,
    /// The message of the next command.
    recovery: Option<String>,
    new_after_undo_of_one_actor: [usize; 2],
    /// After the undo the shared file has the edit of the other actor alone.
    other_edit_kept: bool,
    audit_records: u64,
    audit_sound: bool,
}

impl Demo<'_> {
    pub(super) fn kill_an_apply(&mut self) -> Result<PlanFigures> {
        for tries in 1..=TRIES_MAX {
            self.interrupt.check()?;
            self.output.progress(format_args!("   kill {tries}"));
            let folder = self.folder.join(format!("plan-{tries}"));
            let (plans, nodes) = run_actors(&folder)?;
            self.interrupt.check()?;
            let index = self.random.below(FILES as u64) as usize;
            kill_when_new(&folder, &file(&folder, FOLDERS[0], index))?;
            let at_kill = read_all(&folder)?;
            if !(1..2 * FILES).contains(&new_files(&at_kill).iter().sum()) {
                continue;
            }
            return self.finish(&folder, &plans, nodes, tries, &at_kill);
        }
        Err(Error::KillMissed { tries: TRIES_MAX })
    }

    /// Opens the plan, which finishes the apply, undoes the changes of one actor, and prints the figures.
    fn finish(
        &mut self,
        dir: &Path,
        plans: &Plans,
        nodes: Vec<NodeReport>,
        tries: u32,
        at_kill: &Files,
    ) -> Result<PlanFigures> {
        let opened = plans.open(NAME)?;
        let recovery = opened.recovered.first().map(ToString::to_string);
        let (after_next, merged) = (read_all(dir)?, notes(dir)? == NOTES_MERGED);
        plans.undo(
            &opened.plan,
            &PlanSelection { actors: vec![api::actor(UNDONE)?], ..PlanSelection::default() },
            false,
        )?;
        let (after_undo, other_edit_kept) = (read_all(dir)?, notes(dir)? == NOTES_UNDONE);
        let verdict = plans.verify(&[])?;
        let succeeded = |node: &NodeReport| node.state == NodeState::Ended(NodeOutcome::Succeeded);
        let is_whole = new_files(&after_next) == [FILES; 2] && new_files(&after_undo) == [FILES, 0];
        let (audit_records, audit_sound) = (verdict.records, verdict.findings.is_empty());
        let are_done = nodes.len() == 4 && nodes.iter().all(succeeded);
        let passed = are_done && is_whole && merged && other_edit_kept && recovery.is_some() && audit_sound;

        self.output.print("")?;
        for node in &nodes {
            if let Some(end) = End::of(node) {
                let outcome = ended(&end, node.seconds.unwrap_or_default(), node.files_changed);
                self.output.print(format_args!("   {:LABEL$}{outcome}", node.name))?;
            }
        }
        let paint = self.output.paint();
        let head = paint.strong(format_args!("{:SYMBOLS$}  {}", FOLDERS[0], FOLDERS[1]));
        self.output.print("")?;
        self.output.print(format_args!("   {:LABEL$}{head}", "`plan apply`, killed half-way"))?;
        self.picture("right after the kill", at_kill)?;
        self.picture("after the next command", &after_next)?;
        self.picture("after `plan undo --actor writer`", &after_undo)?;
        let judged =
            |is_so, text: &str| if is_so { paint.good(text) } else { paint.bad(format!("not {text}")) };
        let texts = [
            ("file that two actors edited", judged(merged, "has both edits")),
            ("the same after the undo", judged(other_edit_kept, "has the other edit alone")),
            ("`audit verify`", format!("{}: {audit_records} records", judged(audit_sound, "sound"))),
        ];
        for (label, text) in texts {
            self.output.print(format_args!("   {label:LABEL$}{text}"))?;
        }
        let [new_at_kill, new_after_next_command, new_after_undo_of_one_actor] =
            [at_kill, &after_next, &after_undo].map(new_files);
        Ok(PlanFigures {
            passed,
            nodes,
            tries,
            new_at_kill,
            new_after_next_command,
            merged,
            recovery,
            new_after_undo_of_one_actor,
            other_edit_kept,
            audit_records,
            audit_sound,
        })
    }

    /// Prints the files of both folders as a line of symbols.
    fn picture(&mut self, label: &str, files: &Files) -> Result<()> {
        let paint = self.output.paint();
        let symbol = |files: &[Content]| match files {
            files if files.contains(&Content::Torn) => paint.bad(paint.symbol("✗", "?")),
            files if !files.contains(&Content::New) => paint.faint(paint.symbol("○", ".")),
            files if !files.contains(&Content::Old) => paint.good(paint.symbol("●", "#")),
            _ => paint.symbol("◐", "+").to_owned(),
        };
        let [first, second] =
            files.each_ref().map(|folder| folder.chunks(FILES_PER_SYMBOL).map(symbol).collect::<String>());
        self.output.print(format_args!("   {label:LABEL$}{first}  {second}"))
    }
}

/// Creates a project of old files and runs four actors in it.
fn run_actors(dir: &Path) -> Result<(Plans, Vec<NodeReport>)> {
    let project = dir.join("project");
    let write = |path: PathBuf, text: &str| fs::write(&path, text).map_err(failed("write", &path));
    for folder in FOLDERS {
        let path = project.join(folder);
        fs::create_dir_all(&path).map_err(failed("make the folder", &path))?;
        (0..FILES).try_for_each(|index| write(file(dir, folder, index), "old\n"))?;
    }
    write(project.join(NOTES), NOTES_BEFORE)?;
    write(dir.join("plan.toml"), PLAN)?;
    let (home, user) = (Some(dir.join("home")), Some("demo".to_owned()));
    let agents = Agents::open(&Invocation { home, user, ..Invocation::default() })?;
    let options = RunOptions { file: Some(dir.join("plan.toml")), ..RunOptions::default() };
    let (checked, plans) = (agents.check_plan_file(&options)?, agents.plans()?);
    let summary = plans.run(checked, &options, &Cancel::default(), &|_| {})?;
    Ok((plans, summary.nodes))
}

/// Starts `agents plan apply` and kills it as soon as a file is new.
fn kill_when_new(dir: &Path, watched: &Path) -> Result<()> {
    let start = || {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("--home").arg(dir.join("home")).args(["plan", "apply", NAME]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
    };
    let mut child = start().map_err(|source| Error::StartChild { source })?;
    let started = Instant::now();
    let is_running = |child: &mut Child| matches!(child.try_wait(), Ok(None));
    // Poll without a pause: the apply lasts a few milliseconds.
    while content(watched)? == Content::Old && is_running(&mut child) && started.elapsed() < APPLY_MAX {}
    child.kill().and_then(|()| child.wait()).map(drop).map_err(|source| Error::EndChild { source })
}

fn file(dir: &Path, folder: &str, index: usize) -> PathBuf {
    dir.join("project").join(folder).join(format!("file-{:03}.txt", index + 1))
}

/// Reads the files, as any program does.
fn read_all(dir: &Path) -> Result<Files> {
    let of = |folder| (0..FILES).map(|index| content(&file(dir, folder, index))).collect::<Result<Vec<_>>>();
    Ok([of(FOLDERS[0])?, of(FOLDERS[1])?])
}

fn content(path: &Path) -> Result<Content> {
    Ok(match &*fs::read(path).map_err(failed("read", path))? {
        b"old\n" => Content::Old,
        b"new\n" => Content::New,
        _ => Content::Torn,
    })
}

fn notes(dir: &Path) -> Result<String> {
    let path = dir.join("project").join(NOTES);
    fs::read_to_string(&path).map_err(failed("read", &path))
}

/// Counts the new files of each folder.
fn new_files(files: &Files) -> [usize; 2] {
    files.each_ref().map(|folder| folder.iter().filter(|content| **content == Content::New).count())
}
