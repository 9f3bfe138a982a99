//! Four actors of a plan run at once, two of them in one file. The apply of what they did is killed when some files are in place, the next
//! command finishes it, one actor's changes are taken back, and the audit trail is verified.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use api::{Agents, Cancel, NodeOutcome, NodeReport, NodeState, PartOf, Plans, RunOptions, Surroundings};

use super::make_folder;
use super::tree::{Content, FILES_PER_SIGN, Files, content_of, fill, name};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::output::Output;

/// Signs of each of the two folders.
pub(super) const SIGNS: usize = 12;
/// Files in each of the two folders.
const FILES: usize = SIGNS * FILES_PER_SIGN;
/// The folders; the first two actors change one each.
pub(super) const FOLDERS: [&str; 2] = ["code", "docs"];
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
writes = ["code/**", "notes.txt"]

[nodes.writer]
run = "for file in docs/*; do echo new > $file; done; sed -i '$s/.*/last line by writer/' notes.txt"

[nodes.tester]
run = "ls code docs > tests.txt"
writes = ["tests.txt"]

[nodes.linter]
run = ["sh", "-c", "wc -l notes.txt > lint.txt"]
writes = ["lint.txt"]
"#;

/// The file that two actors edit, in the end and when one of them is taken back.
const NOTES: &str = "notes.txt";
const NOTES_BEFORE: &str = "first line\ntwo\nthree\nfour\nlast line\n";
const NOTES_MERGED: &str = "first line by coder\ntwo\nthree\nfour\nlast line by writer\n";
const NOTES_UNDONE: &str = "first line by coder\ntwo\nthree\nfour\nlast line\n";

/// What came of it.
pub(super) struct Planned {
    /// The actors.
    pub(super) nodes: Vec<NodeReport>,
    /// Kills until one came in the middle.
    pub(super) tries: u32,
    pub(super) at_kill: Files,
    pub(super) after_next: Files,
    /// Whether both edits of the one file are in it then.
    pub(super) is_merged: bool,
    /// What the next command said about it.
    pub(super) told: Option<String>,
    /// When what one actor changed was taken back.
    pub(super) after_undo: Files,
    /// Whether the other's edit of the one file is there still, alone.
    pub(super) is_undone: bool,
    /// Audit records, and whether they are sound.
    pub(super) records: u64,
    pub(super) is_sound: bool,
}

impl Planned {
    pub(super) fn held(&self) -> bool {
        let all = |root: &[Content], content| root.iter().all(|found| *found == content);
        let succeeded = |node: &NodeReport| node.state == NodeState::Ended(NodeOutcome::Succeeded);
        self.nodes.len() == 4
            && self.nodes.iter().all(succeeded)
            && self.after_next.iter().all(|root| all(root, Content::New))
            && self.is_merged
            && self.told.is_some()
            && all(&self.after_undo[0], Content::New)
            && all(&self.after_undo[1], Content::Old)
            && self.is_undone
            && self.is_sound
    }
}

pub(super) fn kill_in_the_middle(
    folder: &Path,
    random: &mut fastrand::Rng,
    interrupt: &Interrupt,
    output: &mut Output,
) -> Result<Planned> {
    for tries in 1..=TRIES_MAX {
        interrupt.check()?;
        output.progress(format_args!("   kill {tries}"));
        let place = make_folder(folder, &format!("try-{tries}"))?;
        let (plans, nodes) = run_actors(&place)?;
        interrupt.check()?;
        let sign = random.usize(0..FILES);
        kill_when_new(&place, &project(&place).join(FOLDERS[0]).join(name(sign)))?;
        let at_kill = look(&place)?;
        let is_new = |content: &Content| *content == Content::New;
        if at_kill.iter().flatten().all(is_new) || !at_kill.iter().flatten().any(is_new) {
            continue;
        }
        // Any command that names the plan.
        plans.show(NAME)?;
        let told = plans.recovered().first().map(ToString::to_string);
        let (after_next, is_merged) = (look(&place)?, notes(&place)? == NOTES_MERGED);
        let part = PartOf { actors: vec![UNDONE.to_owned()], ..PartOf::default() };
        plans.undo(NAME, &part, false)?;
        let (after_undo, is_undone) = (look(&place)?, notes(&place)? == NOTES_UNDONE);
        let verdict = plans.verify(&[])?;
        return Ok(Planned {
            nodes,
            tries,
            at_kill,
            after_next,
            is_merged,
            told,
            after_undo,
            is_undone,
            records: verdict.records,
            is_sound: verdict.findings.is_empty(),
        });
    }
    Err(Error::NeverInTheMiddle { tries: TRIES_MAX })
}

fn home(place: &Path) -> PathBuf {
    place.join("home")
}

fn project(place: &Path) -> PathBuf {
    place.join("project")
}

/// A project of old files, and a plan that four actors have made ready.
fn run_actors(place: &Path) -> Result<(Plans, Vec<NodeReport>)> {
    let project = make_folder(place, "project")?;
    for folder in FOLDERS {
        fill(&make_folder(&project, folder)?, (0..FILES).map(name))?;
    }
    let put = |path: &Path, text: &str| {
        filetx::replace_file(path, text.as_bytes(), &filetx::ReplaceOptions::default())
    };
    put(&project.join(NOTES), NOTES_BEFORE)?;
    put(&place.join("plan.toml"), PLAN)?;
    let user = Some("demo".to_owned());
    let agents = Agents::open(&Surroundings { home: Some(home(place)), user, ..Surroundings::default() })?;
    let options = RunOptions { file: Some(place.join("plan.toml")), ..RunOptions::default() };
    let (checked, plans) = (agents.check_plan_file(&options)?, agents.plans()?);
    let summary = plans.run(checked, &options, &Cancel::default(), &|_| {})?;
    Ok((plans, summary.nodes))
}

/// Starts `agents plan apply` and kills it as soon as a file is in place.
fn kill_when_new(place: &Path, sign: &Path) -> Result<()> {
    let start = || {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("--home").arg(home(place)).args(["plan", "apply", NAME]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
    };
    let mut child = start().map_err(|source| Error::StartChild { source })?;
    let started = Instant::now();
    // Looking again at once: what is waited for lasts some milliseconds.
    while content_of(sign)? == Content::Old
        && matches!(child.try_wait(), Ok(None))
        && started.elapsed() < APPLY_MAX
    {}
    let end = |child: &mut std::process::Child| child.kill().and_then(|()| child.wait().map(drop));
    end(&mut child).map_err(|source| Error::EndChild { source })
}

/// The files as any program would see them.
fn look(place: &Path) -> Result<Files> {
    let of_folder = |folder: &str| {
        (0..FILES)
            .map(|index| content_of(&project(place).join(folder).join(name(index))))
            .collect::<Result<Vec<_>>>()
    };
    Ok([of_folder(FOLDERS[0])?, of_folder(FOLDERS[1])?])
}

fn notes(place: &Path) -> Result<String> {
    let path = project(place).join(NOTES);
    std::fs::read_to_string(&path).map_err(|source| Error::File { act: "read", path, source })
}
