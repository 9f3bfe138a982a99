//! `agents demo`: kills writers at random moments, for real, and shows what they leave.
//!
//! The writers are this program, started again as a child process. Each part has a control, which saves the usual way: where no kill
//! leaves a mixed set there, the demo shows nothing. All of it goes through the program and its façade, as agents do.

mod conversation;
mod plan;
mod race;
mod writer;

use std::fmt::Display;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;

use crate::error::{Error, Exit, Result};
use crate::interrupt::Interrupt;
use crate::output::{Answer, Output};
use writer::Role;
pub(crate) use writer::{Args as WriterArgs, NAME as WRITER, run as run_writer};

/// Random seeds are below this, so that they are short enough to type again.
const SEED_END: u64 = 1_000_000;
/// Width of the labels, and of a figure.
const LABEL: usize = 34;
const FIGURE: usize = 14;

/// Kill writers at random moments and show what they leave
///
/// Saves the four files of a conversation over and over, first one rename after the other, then as a context with one commit, and kills the
/// writer in the middle. Then many processes set keys in one configuration file at once, first the usual way, then as `agents config set`
/// does. At last four actors run at once, the apply of what they did is killed half-way, the next command finishes it, and one actor's
/// changes are taken back. All of it happens in a temporary folder that is removed again.
///
/// Ends with 0 when everything was whole and nothing acknowledged was lost, with 70 otherwise.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// How often each writer is killed [default: 100, fewer on a slow disk]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    kills: Option<u32>,
    /// Choose the moments of the kills by this number [default: a random one]
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Keep the temporary folder and print where it is
    #[arg(long)]
    keep: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Answer> {
    let interrupt = Interrupt::listen()?;
    let folder = tempfile::Builder::new().prefix("agents-demo-").tempdir();
    let folder = folder.map_err(|source| Error::TemporaryFolder { source })?;
    let seed = args.seed.unwrap_or_else(|| RandomState::new().build_hasher().finish() % SEED_END);
    let shown = Demo { folder: folder.path(), random: Random(seed), interrupt, output }.show(args, seed);
    let kept = if args.keep { Some(folder.keep()) } else { remove(folder, output) };
    let (held, mut data) = shown?;
    output.say("")?;
    if let Some(kept) = &kept {
        output.say(format_args!("Kept: {}", kept.display()))?;
    }
    data["kept"] = json!(kept);
    say_verdict(held, seed, output)?;
    Ok(Answer { exit: if held { Exit::Ok } else { Exit::Bug }, data: data.into() })
}

/// A demo that is under way.
struct Demo<'a> {
    folder: &'a Path,
    random: Random,
    interrupt: Interrupt,
    output: &'a mut Output,
}

impl Demo<'_> {
    /// Shows part after part. Returns whether everything held, and all of it as data.
    fn show(&mut self, args: &Args, seed: u64) -> Result<(bool, serde_json::Value)> {
        let paint = self.output.paint();
        let (title, number) =
            (paint.strong("What a kill leaves"), paint.faint(format_args!("(seed {seed})")));
        self.output.say(format_args!("{title} {number}"))?;
        self.output.say("Four files of a conversation belong together. A program saves them over and over, and is killed.")?;
        self.output.say("")?;

        self.step(1, "The usual way: each of the four files to a temporary file, synced, renamed.")?;
        let usual = self.kill_often(Role::Files, args.kills)?;
        self.step(
            2,
            "The same as a context, the same number of kills: each save is one commit of all four files.",
        )?;
        let ours = self.kill_often(Role::Context, Some(usual.kills))?;
        self.head(["four renames", "one commit"])?;
        self.row("kills", [usual.kills, ours.kills])?;
        self.row("saves acknowledged", [usual.acknowledged, ours.acknowledged])?;
        self.row("files mixed right after the kill", [usual.mixed_at_kill, ours.mixed_at_kill])?;
        self.judged("mixed for a reader", [usual.mixed_for_reader, ours.mixed_for_reader])?;
        self.judged("mixed after the next open", [usual.mixed_after_open, ours.mixed_after_open])?;
        self.judged("acknowledged saves lost", [usual.lost, ours.lost])?;

        self.output.say("")?;
        let (processes, sets) = (race::PROCESSES, race::SETS);
        self.step(
            3,
            format_args!(
                "{processes} processes set {sets} keys each in one configuration file, all at once."
            ),
        )?;
        let [usual_sets, our_sets] = [Role::SetUsual, Role::SetService].map(|role| self.race(role));
        let (usual_sets, our_sets) = (usual_sets?, our_sets?);
        self.head(["usual way", "config set"])?;
        self.row("sets acknowledged", [usual_sets.acknowledged, our_sets.acknowledged])?;
        self.judged("of these not in the file", [usual_sets.lost, our_sets.lost])?;

        self.output.say("")?;
        let plan = match cfg!(target_os = "linux") {
            true => {
                self.step(4, "`agents run` of four actors at once, each in a copy of its own, two of them in one file.")?;
                Some(self.kill_an_apply()?)
            }
            false => {
                self.step(4, "Left out: `agents run` is for Linux.")?;
                None
            }
        };

        let held = ours.held() && our_sets.held() && plan.as_ref().is_none_or(|plan| plan.held);
        let data = json!({
            "held": held,
            "kills": ours.kills,
            "seed": seed,
            "usual": usual,
            "commit": ours,
            "contention": { "usual": usual_sets, "config_set": our_sets },
            "plan": plan,
        });
        Ok((held, data))
    }

    fn step(&mut self, number: u32, text: impl Display) -> Result<()> {
        let number = self.output.paint().strong(format_args!("{number}."));
        self.output.say(format_args!("{number} {text}"))
    }

    fn head(&mut self, [first, second]: [&str; 2]) -> Result<()> {
        let head = format!("   {:LABEL$}{first:>FIGURE$}{second:>FIGURE$}", "");
        self.output.say("")?;
        self.output.say(self.output.paint().strong(head))
    }

    fn row(&mut self, label: &str, [first, second]: [u32; 2]) -> Result<()> {
        self.output.say(format_args!("   {label:LABEL$}{first:>FIGURE$}{second:>FIGURE$}"))
    }

    /// A row of figures that should be 0.
    fn judged(&mut self, label: &str, figures: [u32; 2]) -> Result<()> {
        let paint = self.output.paint();
        let [first, second] = figures.map(|figure| {
            let text = format!("{figure:>FIGURE$}");
            if figure == 0 { paint.good(text) } else { paint.bad(text) }
        });
        self.output.say(format_args!("   {label:LABEL$}{first}{second}"))
    }
}

/// The verdict, in the last line.
fn say_verdict(held: bool, seed: u64, output: &mut Output) -> Result<()> {
    let paint = output.paint();
    if !held {
        let verdict = paint.bad(format_args!("{}BROKEN", paint.sign("✗ ", "")));
        return output.say(format_args!("{verdict}: this is a bug, please report it with seed {seed}."));
    }
    let verdict = paint.good(format_args!("{}HELD", paint.sign("✓ ", "")));
    output.say(format_args!(
        "{verdict}: no kill left a mixed set or lost an acknowledged save, the half-done apply was finished, and no set and no actor's edit was lost."
    ))
}

/// Removes the folder. Returns it when that fails.
fn remove(folder: TempDir, output: &mut Output) -> Option<PathBuf> {
    let path = folder.path().to_owned();
    let error = folder.close().err()?;
    output.warn("left-behind", format!("cannot remove `{}`: {error}", path.display()), None);
    Some(path)
}

/// The generator splitmix64: the same numbers for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}

/// Says which file something failed at.
fn failed(act: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::File { act, path, source }
}
