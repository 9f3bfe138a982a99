//! `agents demo`: kills writers at random moments, for real, and shows what they leave.
//!
//! The writers are this program, started again as a child process. First the usual way to save, which is the control: if no
//! kill leaves a mixed set there, the demo shows nothing. Then the same with a context, and the same for many writers of
//! one configuration file, none of them killed. At last a run of four actors, whose apply is killed half-way.

mod chat;
mod child;
mod contention;
mod control;
mod conversation;
mod kills;
mod plan;
mod report;
mod tree;

use std::path::{Path, PathBuf};

use filetx::{Disk, RelPath, Storage};
use tempfile::TempDir;

use crate::error::{Error, Exit, Result};
use crate::interrupt::Interrupt;
use crate::output::{Answer, Output};
use child::Role;
pub(crate) use child::{Args as WriterArgs, NAME as WRITER, run as run_writer};
use kills::Limit;
use report::{Contention, Report};

/// Random seeds are below this, so that they are short enough to type again.
const SEED_END: u64 = 1_000_000;

/// Kill writers at random moments and show what they leave
///
/// Saves the four files of a conversation over and over, first one rename after the other, then as a context with one commit, and kills the
/// writer in the middle. Then kills a commit over two folders half-way and lets the next open finish it. Then many processes set keys in
/// one configuration file at once, first the usual way, then as `agents config set` does. At last four actors run at once, the apply of what they
/// did is killed half-way, the next command finishes it, and one actor's changes are taken back. All of it happens in a temporary folder that
/// is removed again.
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
    let folder = tempfile::Builder::new()
        .prefix("agents-demo-")
        .tempdir()
        .map_err(|source| Error::TemporaryFolder { source })?;
    let seed = args.seed.unwrap_or_else(|| fastrand::u64(..SEED_END));
    let result = show(args, seed, folder.path(), &interrupt, output);
    let kept = if args.keep { Some(folder.keep()) } else { remove(folder, output) };
    let report = Report { kept, ..result? };
    report.print_end(output)?;
    let exit = if report.held() { Exit::Ok } else { Exit::Bug };
    Ok(Answer { exit, data: report.data().into() })
}

/// Does all of it, step by step.
fn show(args: &Args, seed: u64, folder: &Path, interrupt: &Interrupt, output: &mut Output) -> Result<Report> {
    let mut random = fastrand::Rng::with_seed(seed);
    report::print_start(output, seed)?;

    report::print_step(
        output,
        1,
        "The usual way: each of the four files to a temporary file, synced, renamed.",
    )?;
    let place = make_folder(folder, "usual")?;
    let limit = args.kills.map_or(Limit::Usual, Limit::Exactly);
    let usual = kills::kill_often(Role::Control, &place, limit, &mut random, interrupt, output)?;

    report::print_step(
        output,
        2,
        "The same as a context, the same number of kills: each save is one commit of all four files.",
    )?;
    let place = make_folder(folder, "contexts")?;
    let limit = Limit::Exactly(usual.kills);
    let ours = kills::kill_often(Role::Context, &place, limit, &mut random, interrupt, output)?;
    report::print_tallies(output, &usual, &ours)?;

    let text = format!("One commit over two folders of {} files each, killed half-way.", tree::FILES);
    report::print_step(output, 3, &text)?;
    let place = make_folder(folder, "trees")?;
    let tree = tree::kill_in_the_middle(&place, &mut random, interrupt, output)?;
    report::print_tree(output, &tree)?;

    let text = format!(
        "{} processes set {} keys each in one configuration file, all at once.",
        contention::PROCESSES,
        contention::SETS
    );
    output.say("")?;
    report::print_step(output, 4, &text)?;
    let place = make_folder(folder, "config-usual")?;
    let usual_sets = contention::run(Role::SetUsual, &place, interrupt, output)?;
    let place = make_folder(folder, "config-set")?;
    let our_sets = contention::run(Role::SetService, &place, interrupt, output)?;
    let contention = Contention { usual: usual_sets, ours: our_sets };
    report::print_contention(output, &contention)?;

    output.say("")?;
    let plan = match cfg!(target_os = "linux") {
        true => {
            let text =
                "`agents run` of four actors at once, each in a copy of its own, two of them in one file.";
            report::print_step(output, 5, text)?;
            let place = make_folder(folder, "plan")?;
            let plan = plan::kill_in_the_middle(&place, &mut random, interrupt, output)?;
            report::print_plan(output, &plan)?;
            Some(plan)
        }
        false => {
            report::print_step(output, 5, "Left out: `agents run` is for Linux.")?;
            None
        }
    };

    Ok(Report { seed, usual, ours, tree, contention, plan, kept: None })
}

/// Removes the folder. Where it is, when that fails.
fn remove(folder: TempDir, output: &mut Output) -> Option<PathBuf> {
    let path = folder.path().to_owned();
    let error = folder.close().err()?;
    output.warn("left-behind", format!("cannot remove `{}`: {error}", path.display()), None);
    Some(path)
}

/// Makes a folder in one that exists.
fn make_folder(parent: &Path, name: &str) -> Result<PathBuf> {
    let path = parent.join(name);
    let make = || Disk::open(parent)?.make_folder(&RelPath::root().join(name), 0o700);
    make().map_err(|source| Error::File { act: "make the folder", path: path.clone(), source })?;
    Ok(path)
}
