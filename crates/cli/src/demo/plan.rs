//! Four actors of a plan run at once, two of them in one file. The apply of what they did is killed when some files are in place, the next
//! command finishes it, one actor's changes are taken back, and the audit trail is verified.
#![expect(clippy::disallowed_methods, reason = "makes the project that the actors work in")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use api::{Agents, Cancel, Invocation, NodeOutcome, NodeReport, NodeState, PlanSelection, Plans, RunOptions};
use serde::Serialize;

use super::{Demo, LABEL, failed};
use crate::commands::run::phrases::{End, ended};
use crate::error::{Error, Result};

/// Files that one sign of the picture stands for, and signs of each folder: so many files that a kill comes in the middle even where all
/// share a core.
const FILES_PER_SIGN: usize = 8;
const SIGNS: usize = 12;
const FILES: usize = SIGNS * FILES_PER_SIGN;
/// The folders; the first two actors change one each.
const FOLDERS: [&str; 2] = ["code", "docs"];
/// How often to try: a kill may come too late to be in the middle.
const TRIES_MAX: u32 = 50;
/// How long an apply may take.
const APPLY_MAX: Duration = Duration::from_secs(20);
const NAME: &str = "demo";
/// Whose changes are taken back.
const UNDONE: &str = "writer";

/// What the actors do. The first two also edit one file, at its two ends.
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

/// The file that two actors edit: before, with both edits, and when one of them is taken back.
const NOTES: &str = "notes.txt";
const NOTES_BEFORE: &str = "first line\ntwo\nthree\nfour\nlast line\n";
const NOTES_MERGED: &str = "first line by coder\ntwo\nthree\nfour\nlast line by writer\n";
const NOTES_UNDONE: &str = "first line by coder\ntwo\nthree\nfour\nlast line\n";

/// The content of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Old,
    New,
    /// Neither: torn.
    Other,
}

/// The files of both folders.
type Files = [Vec<Content>; 2];

/// A plan whose apply was killed, finished and undone in part.
#[derive(Serialize)]
pub(super) struct Planned {
    pub(super) held: bool,
    nodes: Vec<NodeReport>,
    /// Kills until one came in the middle.
    tries: u32,
    new_at_kill: [usize; 2],
    new_after_next_command: [usize; 2],
    /// Whether both edits of the one file are in it then.
    merged: bool,
    /// What the next command said about it.
    told: Option<String>,
    new_after_undo_of_one_actor: [usize; 2],
    /// Whether the other's edit of the one file is there still, alone.
    other_edit_kept: bool,
    audit_records: u64,
    audit_sound: bool,
}

impl Demo<'_> {
    pub(super) fn kill_an_apply(&mut self) -> Result<Planned> {
        for tries in 1..=TRIES_MAX {
            self.interrupt.check()?;
            self.output.progress(format_args!("   kill {tries}"));
            let place = self.folder.join(format!("plan-{tries}"));
            let (plans, nodes) = run_actors(&place)?;
            self.interrupt.check()?;
            let sign = self.random.below(FILES as u64) as usize;
            kill_when_new(&place, &file(&place, FOLDERS[0], sign))?;
            let at_kill = look(&place)?;
            if !(1..2 * FILES).contains(&new(&at_kill).iter().sum()) {
                continue;
            }
            return self.go_on(&place, &plans, nodes, tries, &at_kill);
        }
        Err(Error::NeverInTheMiddle { tries: TRIES_MAX })
    }

    /// Finishes the apply by the next command that names the plan, takes one actor's changes back, and prints all of it.
    fn go_on(
        &mut self,
        place: &Path,
        plans: &Plans,
        nodes: Vec<NodeReport>,
        tries: u32,
        at_kill: &Files,
    ) -> Result<Planned> {
        let opened = plans.open(NAME)?;
        let told = opened.recovered.first().map(ToString::to_string);
        let (after_next, merged) = (look(place)?, notes(place)? == NOTES_MERGED);
        plans.undo(
            &opened.plan,
            &PlanSelection { actors: vec![api::actor(UNDONE)?], ..PlanSelection::default() },
            false,
        )?;
        let (after_undo, other_edit_kept) = (look(place)?, notes(place)? == NOTES_UNDONE);
        let verdict = plans.verify(&[])?;
        let succeeded = |node: &NodeReport| node.state == NodeState::Ended(NodeOutcome::Succeeded);
        let is_whole = new(&after_next) == [FILES; 2] && new(&after_undo) == [FILES, 0];
        let (audit_records, audit_sound) = (verdict.records, verdict.findings.is_empty());
        let are_done = nodes.len() == 4 && nodes.iter().all(succeeded);
        let held = are_done && is_whole && merged && other_edit_kept && told.is_some() && audit_sound;

        self.output.say("")?;
        for node in &nodes {
            if let Some(end) = End::of(node) {
                let told = ended(&end, node.seconds.unwrap_or_default(), node.files_changed);
                self.output.say(format_args!("   {:LABEL$}{told}", node.name))?;
            }
        }
        let paint = self.output.paint();
        let head = paint.strong(format_args!("{:SIGNS$}  {}", FOLDERS[0], FOLDERS[1]));
        self.output.say("")?;
        self.output.say(format_args!("   {:LABEL$}{head}", "`plan apply`, killed half-way"))?;
        self.picture("right after the kill", at_kill)?;
        self.picture("after the next command", &after_next)?;
        self.picture("after `plan undo --actor writer`", &after_undo)?;
        let judged =
            |is_so, text: &str| if is_so { paint.good(text) } else { paint.bad(format!("not {text}")) };
        let texts = [
            ("the file that two edited", judged(merged, "both edits are in it")),
            ("the same after the undo", judged(other_edit_kept, "the other's edit alone is in it")),
            ("`audit verify`", format!("{audit_records} records, {}", judged(audit_sound, "sound"))),
        ];
        for (label, text) in texts {
            self.output.say(format_args!("   {label:LABEL$}{text}"))?;
        }
        let [new_at_kill, new_after_next_command, new_after_undo_of_one_actor] =
            [at_kill, &after_next, &after_undo].map(new);
        Ok(Planned {
            held,
            nodes,
            tries,
            new_at_kill,
            new_after_next_command,
            merged,
            told,
            new_after_undo_of_one_actor,
            other_edit_kept,
            audit_records,
            audit_sound,
        })
    }

    /// The files of both folders, in a line.
    fn picture(&mut self, label: &str, files: &Files) -> Result<()> {
        let paint = self.output.paint();
        let sign = |files: &[Content]| match files {
            files if files.contains(&Content::Other) => paint.bad(paint.sign("✗", "?")),
            files if !files.contains(&Content::New) => paint.faint(paint.sign("○", ".")),
            files if !files.contains(&Content::Old) => paint.good(paint.sign("●", "#")),
            _ => paint.sign("◐", "+").to_owned(),
        };
        let [first, second] =
            files.each_ref().map(|folder| folder.chunks(FILES_PER_SIGN).map(sign).collect::<String>());
        self.output.say(format_args!("   {label:LABEL$}{first}  {second}"))
    }
}

/// Makes a project of old files, and a plan that four actors have made ready.
fn run_actors(place: &Path) -> Result<(Plans, Vec<NodeReport>)> {
    let project = place.join("project");
    let write = |path: PathBuf, text: &str| fs::write(&path, text).map_err(failed("write", &path));
    for folder in FOLDERS {
        let path = project.join(folder);
        fs::create_dir_all(&path).map_err(failed("make the folder", &path))?;
        (0..FILES).try_for_each(|index| write(file(place, folder, index), "old\n"))?;
    }
    write(project.join(NOTES), NOTES_BEFORE)?;
    write(place.join("plan.toml"), PLAN)?;
    let (home, user) = (Some(place.join("home")), Some("demo".to_owned()));
    let agents = Agents::open(&Invocation { home, user, ..Invocation::default() })?;
    let options = RunOptions { file: Some(place.join("plan.toml")), ..RunOptions::default() };
    let (checked, plans) = (agents.check_plan_file(&options)?, agents.plans()?);
    let summary = plans.run(checked, &options, &Cancel::default(), &|_| {})?;
    Ok((plans, summary.nodes))
}

/// Starts `agents plan apply` and kills it as soon as a file is in place.
fn kill_when_new(place: &Path, sign: &Path) -> Result<()> {
    let start = || {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("--home").arg(place.join("home")).args(["plan", "apply", NAME]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
    };
    let mut child = start().map_err(|source| Error::StartChild { source })?;
    let started = Instant::now();
    let is_running = |child: &mut Child| matches!(child.try_wait(), Ok(None));
    // Looking again at once: what is waited for lasts some milliseconds.
    while content(sign)? == Content::Old && is_running(&mut child) && started.elapsed() < APPLY_MAX {}
    child.kill().and_then(|()| child.wait()).map(drop).map_err(|source| Error::EndChild { source })
}

fn file(place: &Path, folder: &str, index: usize) -> PathBuf {
    place.join("project").join(folder).join(format!("file-{:03}.txt", index + 1))
}

/// The files as any program sees them.
fn look(place: &Path) -> Result<Files> {
    let of =
        |folder| (0..FILES).map(|index| content(&file(place, folder, index))).collect::<Result<Vec<_>>>();
    Ok([of(FOLDERS[0])?, of(FOLDERS[1])?])
}

fn content(path: &Path) -> Result<Content> {
    Ok(match &*fs::read(path).map_err(failed("read", path))? {
        b"old\n" => Content::Old,
        b"new\n" => Content::New,
        _ => Content::Other,
    })
}

fn notes(place: &Path) -> Result<String> {
    let path = place.join("project").join(NOTES);
    fs::read_to_string(&path).map_err(failed("read", &path))
}

/// How many files of each folder are new.
fn new(files: &Files) -> [usize; 2] {
    files.each_ref().map(|folder| folder.iter().filter(|content| **content == Content::New).count())
}
