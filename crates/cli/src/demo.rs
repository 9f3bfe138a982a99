//! `agents demo`: kills writers at random moments and shows what they leave.
//!
//! The writers are child processes of this program. Each part has a control that saves the usual way: if no kill leaves a mixed set
//! there, the demo proves nothing. The other part goes through the library, as agents do.

mod conversation;
mod plan;
mod race;
mod writer;

use std::fmt::Display;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use tempfile::TempDir;

use crate::commands::schema::{Entry, of};
use crate::error::{Error, Exit, Result};
use crate::interrupt::Interrupt;
use crate::output::{Answer, Output};
use writer::Role;
pub(crate) use writer::{Args as WriterArgs, NAME as WRITER, run as run_writer};

/// Bound of random seeds, which keeps them short enough to type again.
const SEED_END: u64 = 1_000_000;
/// Columns of the labels, and of a figure.
const LABEL: usize = 34;
const FIGURE: usize = 14;

/// Kill writers at random moments and show what they leave
///
/// Saves the four files of a conversation repeatedly, first by four renames, then as a context in one commit, and kills the writer. Then
/// processes set keys in one configuration file at once, first the usual way, then as `agents config set` does. Last, four actors run at once,
/// their apply is killed half-way, the next command finishes it, and the changes of one actor are undone. All of it happens in a
/// temporary folder.
///
/// Exits with 0 if all files were whole and no acknowledged save was lost, with 70 otherwise.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Kill each writer this often [default: 100, fewer on a slow disk]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    kills: Option<u32>,
    /// Seed the random moments of the kills [default: random]
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Keep the temporary folder and print its path
    #[arg(long)]
    keep: bool,
}

pub(crate) const SCHEMAS: &[Entry] = &[("demo", of::<Figures>)];

/// The `data` of the envelope.
#[derive(JsonSchema, Serialize)]
struct Figures {
    passed: bool,
    kills: u32,
    seed: u64,
    control: conversation::Tally,
    commit: conversation::Tally,
    contention: Contention,
    /// Null where `agents run` does not work.
    plan: Option<plan::PlanFigures>,
    /// The temporary folder, if it was kept.
    kept: Option<PathBuf>,
}

/// Figures of processes that set keys at once.
#[derive(JsonSchema, Serialize)]
struct Contention {
    control: race::Tally,
    config_set: race::Tally,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Answer> {
    let interrupt = Interrupt::listen()?;
    let folder = tempfile::Builder::new().prefix("agents-demo-").tempdir();
    let folder = folder.map_err(|source| Error::TemporaryFolder { source })?;
    let seed = args.seed.unwrap_or_else(|| RandomState::new().build_hasher().finish() % SEED_END);
    let shown = Demo { folder: folder.path(), random: Random(seed), interrupt, output }.show(args, seed);
    let kept = if args.keep { Some(folder.keep()) } else { remove(folder, output) };
    let figures = Figures { kept, ..shown? };
    output.print("")?;
    if let Some(kept) = &figures.kept {
        output.print(format_args!("kept: {}", kept.display()))?;
    }
    print_verdict(figures.passed, seed, output)?;
    Ok(Answer { exit: if figures.passed { Exit::Ok } else { Exit::Bug }, ..Answer::of(&figures) })
}

/// A running demo.
struct Demo<'a> {
    folder: &'a Path,
    random: Random,
    interrupt: Interrupt,
    output: &'a mut Output,
}

impl Demo<'_> {
    /// Runs all parts.
    fn show(&mut self, args: &Args, seed: u64) -> Result<Figures> {
        let paint = self.output.paint();
        let (title, number) =
            (paint.strong("Files after a kill"), paint.faint(format_args!("(seed {seed})")));
        self.output.print(format_args!("{title} {number}"))?;
        self.output.print(
            "Four files of a conversation belong together. A program saves them repeatedly and is killed.",
        )?;
        self.output.print("")?;

        self.step(1, "The usual way: write each of the four files to a temporary file, sync and rename it.")?;
        let usual = self.kill_often(Role::Files, args.kills)?;
        self.step(
            2,
            "As a context, with the same number of kills: each save is one commit of all four files.",
        )?;
        let ours = self.kill_often(Role::Context, Some(usual.kills))?;
        self.head(["four renames", "one commit"])?;
        self.row("kills", [usual.kills, ours.kills])?;
        self.row("saves acknowledged", [usual.acknowledged, ours.acknowledged])?;
        self.row("mixed in the folder after the kill", [usual.mixed_at_kill, ours.mixed_at_kill])?;
        self.judged("mixed for a reader", [usual.mixed_for_reader, ours.mixed_for_reader])?;
        self.judged("mixed after the next open", [usual.mixed_after_open, ours.mixed_after_open])?;
        self.judged("acknowledged saves lost", [usual.lost, ours.lost])?;

        self.output.print("")?;
        let (processes, sets) = (race::PROCESSES, race::SETS);
        self.step(
            3,
            format_args!("{processes} processes set {sets} keys each in one configuration file at once."),
        )?;
        let [usual_sets, our_sets] = [Role::SetUsual, Role::SetService].map(|role| self.race(role));
        let (usual_sets, our_sets) = (usual_sets?, our_sets?);
        self.head(["usual way", "config set"])?;
        self.row("sets acknowledged", [usual_sets.acknowledged, our_sets.acknowledged])?;
        self.judged("acknowledged sets lost", [usual_sets.lost, our_sets.lost])?;

        self.output.print("")?;
        let plan = match cfg!(target_os = "linux") {
            true => {
                self.step(4, "`agents run` of four actors at once, each in its own sandbox; two of them edit one file.")?;
                Some(self.kill_an_apply()?)
            }
            false => {
                self.step(4, "Skipped: `agents run` needs Linux.")?;
                None
            }
        };

        let passed = ours.passed() && our_sets.passed() && plan.as_ref().is_none_or(|plan| plan.passed);
        Ok(Figures {
            passed,
            kills: ours.kills,
            seed,
            control: usual,
            commit: ours,
            contention: Contention { control: usual_sets, config_set: our_sets },
            plan,
            kept: None,
        })
    }

    fn step(&mut self, number: u32, text: impl Display) -> Result<()> {
        let number = self.output.paint().strong(format_args!("{number}."));
        self.output.print(format_args!("{number} {text}"))
    }

    fn head(&mut self, [first, second]: [&str; 2]) -> Result<()> {
        let head = format!("   {:LABEL$}{first:>FIGURE$}{second:>FIGURE$}", "");
        self.output.print("")?;
        self.output.print(self.output.paint().strong(head))
    }

    fn row(&mut self, label: &str, [first, second]: [u32; 2]) -> Result<()> {
        self.output.print(format_args!("   {label:LABEL$}{first:>FIGURE$}{second:>FIGURE$}"))
    }

    /// Prints a row of figures that should be 0.
    fn judged(&mut self, label: &str, figures: [u32; 2]) -> Result<()> {
        let paint = self.output.paint();
        let [first, second] = figures.map(|figure| {
            let text = format!("{figure:>FIGURE$}");
            if figure == 0 { paint.good(text) } else { paint.bad(text) }
        });
        self.output.print(format_args!("   {label:LABEL$}{first}{second}"))
    }
}

/// Prints the verdict, in the last line.
fn print_verdict(passed: bool, seed: u64, output: &mut Output) -> Result<()> {
    let paint = output.paint();
    if !passed {
        let verdict = paint.bad(format_args!("{}failed", paint.symbol("✗ ", "")));
        return output.print(format_args!("{verdict}: this is a bug; please report it with seed {seed}"));
    }
    let verdict = paint.good(format_args!("{}passed", paint.symbol("✓ ", "")));
    output.print(format_args!(
        "{verdict}: no kill left mixed files, no acknowledged save, set or edit was lost, and the interrupted apply was finished"
    ))
}

/// Removes the folder. Returns its path if that fails.
fn remove(folder: TempDir, output: &mut Output) -> Option<PathBuf> {
    let path = folder.path().to_owned();
    let error = folder.close().err()?;
    output.warn("left-behind", format!("cannot remove `{}`: {error}", path.display()), None);
    Some(path)
}

/// The generator splitmix64: reproducible from its seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}

/// Adds the action and the file to an I/O error.
fn failed(act: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::File { act, path, source }
}
