//! A plan of two actors over two folders: its apply is killed when some files are in place, the next command finishes it, one actor's changes
//! are taken back, and the audit trail is verified.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use api::{Agents, Doing, NewEntry, PartOf, Plans, Surroundings};

use super::make_folder;
use super::tree::{Content, Files, ROOTS, content_of, fill};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::output::Output;

/// Files in each of the two folders.
pub(super) const FILES: usize = 12;
/// Who changes the files of each folder.
const ACTORS: [&str; 2] = ["coder", "writer"];
/// How often to try: a kill may come too late to be in the middle.
const TRIES_MAX: u32 = 50;
/// How long an apply may take.
const APPLY_MAX: Duration = Duration::from_secs(20);
const NAME: &str = "demo";

/// How the two folders looked.
pub(super) struct Planned {
    /// Kills until one came in the middle.
    pub(super) tries: u32,
    pub(super) at_kill: Files,
    pub(super) after_next: Files,
    /// What the next command said about it.
    pub(super) told: Option<String>,
    /// When what the second actor changed was taken back.
    pub(super) after_undo: Files,
    /// Audit records, and whether they are sound.
    pub(super) records: u64,
    pub(super) is_sound: bool,
}

impl Planned {
    pub(super) fn held(&self) -> bool {
        let all = |root: &[Content], content| root.iter().all(|found| *found == content);
        self.after_next.iter().all(|root| all(root, Content::New))
            && self.told.is_some()
            && all(&self.after_undo[0], Content::New)
            && all(&self.after_undo[1], Content::Old)
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
        let plans = prepare(&place)?;
        let sign = random.usize(0..FILES);
        kill_when_new(&place, &place.join(ROOTS[0]).join(name(sign)))?;
        let at_kill = look(&place)?;
        let is_new = |content: &Content| *content == Content::New;
        if at_kill.iter().flatten().all(is_new) || !at_kill.iter().flatten().any(is_new) {
            continue;
        }
        // Any command that names the plan.
        plans.show(NAME)?;
        let told = plans.recovered().first().map(ToString::to_string);
        let after_next = look(&place)?;
        let part = PartOf { actors: vec![ACTORS[1].to_owned()], ..PartOf::default() };
        plans.undo(NAME, &part, false)?;
        let after_undo = look(&place)?;
        let verdict = plans.verify(&[])?;
        let is_sound = verdict.findings.is_empty();
        return Ok(Planned {
            tries,
            at_kill,
            after_next,
            told,
            after_undo,
            records: verdict.records,
            is_sound,
        });
    }
    Err(Error::NeverInTheMiddle { tries: TRIES_MAX })
}

fn name(index: usize) -> String {
    format!("file-{:02}.txt", index + 1)
}

fn home(place: &Path) -> PathBuf {
    place.join("home")
}

/// Two folders of old files, and a plan of two actors that is ready to make them new.
fn prepare(place: &Path) -> Result<Plans> {
    let mut roots = Vec::new();
    for root in ROOTS {
        let path = make_folder(place, root)?;
        fill(&path, (0..FILES).map(name))?;
        roots.push(path);
    }
    let user = Some("demo".to_owned());
    let agents = Agents::open(&Surroundings { home: Some(home(place)), user, ..Surroundings::default() })?;
    let plans = agents.plans()?;
    plans.create(Some(NAME), &roots)?;
    let mut changesets = Vec::new();
    for actor in ACTORS {
        changesets.push(plans.start_changeset(NAME, actor)?.id);
    }
    for (root, changeset) in roots.iter().zip(&changesets) {
        for index in 0..FILES {
            let doing = Doing::Bytes(super::tree::NEW.to_vec(), None);
            let (root, path) = (Some(root.clone()), name(index));
            plans.record(changeset, &NewEntry { root, path, doing, base: None, tool: None })?;
        }
    }
    for changeset in &changesets {
        plans.seal(changeset)?;
    }
    Ok(plans)
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
    // Looking again at once: what is waited for lasts less than a millisecond.
    while content_of(sign)? == Content::Old
        && matches!(child.try_wait(), Ok(None))
        && started.elapsed() < APPLY_MAX
    {}
    let end = |child: &mut std::process::Child| child.kill().and_then(|()| child.wait().map(drop));
    end(&mut child).map_err(|source| Error::EndChild { source })
}

/// The files as any program would see them.
fn look(place: &Path) -> Result<Files> {
    let of_root = |root: &str| {
        (0..FILES).map(|index| content_of(&place.join(root).join(name(index)))).collect::<Result<Vec<_>>>()
    };
    Ok([of_root(ROOTS[0])?, of_root(ROOTS[1])?])
}
