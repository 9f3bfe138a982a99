//! How the demo is told: to people line by line, to programs as data.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::contention;
use super::kills::Tally;
use super::plan::Planned;
use super::tree::{Content, FILES, FILES_PER_SIGN, Files, Killed, ROOTS, SIGNS};
use crate::commands::run::telling::{End, ended};
use crate::error::Result;
use crate::look::Paint;
use crate::output::Output;

/// Width of what stands before the figures.
const LABEL_WIDTH: usize = 34;
/// Width of a figure.
const FIGURE_WIDTH: usize = 14;

/// All that the demo found.
pub(super) struct Report {
    pub(super) seed: u64,
    pub(super) usual: Tally,
    pub(super) ours: Tally,
    pub(super) tree: Killed,
    pub(super) contention: Contention,
    /// Nothing where actors cannot be run.
    pub(super) plan: Option<Planned>,
    /// Where the folder is, when it was kept.
    pub(super) kept: Option<PathBuf>,
}

/// Many processes that set keys in one file.
pub(super) struct Contention {
    pub(super) usual: contention::Tally,
    pub(super) ours: contention::Tally,
}

impl Report {
    pub(super) fn held(&self) -> bool {
        self.ours.held() && self.tree.held() && self.contention.ours.held() && self.plan_held()
    }

    fn plan_held(&self) -> bool {
        self.plan.as_ref().is_none_or(Planned::held)
    }

    pub(super) fn data(&self) -> Value {
        json!({
            "held": self.held(),
            "kills": self.ours.kills,
            "seed": self.seed,
            "usual": self.usual,
            "commit": self.ours,
            "tree": {
                "held": self.tree.held(),
                "tries": self.tree.tries,
                "roots": ROOTS,
                "files_per_root": FILES,
                "new_before": count(&self.tree.before),
                "new_at_kill": count(&self.tree.at_kill),
                "new_for_reader": count(&self.tree.for_reader),
                "new_after_open": count(&self.tree.after_open),
                "recovered": self.tree.recovered,
            },
            "contention": { "usual": self.contention.usual, "config_set": self.contention.ours },
            "plan": self.plan.as_ref().map(plan_data),
            "kept": self.kept,
        })
    }

    /// The verdict, in the last line.
    pub(super) fn print_end(&self, output: &mut Output) -> Result<()> {
        let paint = output.paint();
        output.say("")?;
        if let Some(folder) = &self.kept {
            output.say(format_args!("Kept: {}", folder.display()))?;
        }
        let Tally { kills, mixed_after_open, lost, .. } = self.ours;
        if !self.held() {
            let verdict = paint.bad(format_args!("{}BROKEN", paint.sign("✗ ", "")));
            return output.say(format_args!(
                "{verdict}: {mixed_after_open} of {kills} kills left a mixed set, {lost} lost an acknowledged save, the tree is {}, {} sets are lost, the plan is {}. \
                 This is a bug: please report it with seed {}.",
                if self.tree.held() { "whole" } else { "mixed" },
                self.contention.ours.lost,
                if self.plan_held() { "whole" } else { "mixed" },
                self.seed,
            ));
        }
        let verdict = paint.good(format_args!("{}HELD", paint.sign("✓ ", "")));
        output.say(format_args!(
            "{verdict}: 0 of {kills} kills left a mixed set or lost an acknowledged save, the half-done commit and the half-done apply were finished, and no set and no actor's edit was lost."
        ))
    }
}

pub(super) fn print_start(output: &mut Output, seed: u64) -> Result<()> {
    let paint = output.paint();
    let title = paint.strong("What a kill leaves");
    let seed = paint.faint(format_args!("(seed {seed})"));
    output.say(format_args!("{title} {seed}"))?;
    output.say_text(
        "Four files of a conversation belong together. A program saves them over and over, and is killed.\n",
    )
}

pub(super) fn print_step(output: &mut Output, number: u32, text: &str) -> Result<()> {
    let number = output.paint().strong(format_args!("{number}."));
    output.say(format_args!("{number} {text}"))
}

pub(super) fn print_tallies(output: &mut Output, usual: &Tally, ours: &Tally) -> Result<()> {
    let paint = output.paint();
    let head =
        format!("   {:LABEL_WIDTH$}{:>FIGURE_WIDTH$}{:>FIGURE_WIDTH$}", "", "four renames", "one commit");
    output.say_text(format_args!("\n{}", paint.strong(head)))?;
    let counted = |count: u64| format!("{count:>FIGURE_WIDTH$}");
    let judged = |count: u32| {
        let text = counted(count.into());
        if count == 0 { paint.good(text) } else { paint.bad(text) }
    };
    let mut row = |label: &str, usual: String, ours: String| {
        output.say(format_args!("   {label:LABEL_WIDTH$}{usual}{ours}"))
    };
    row("kills", counted(usual.kills.into()), counted(ours.kills.into()))?;
    row("saves acknowledged", counted(usual.acknowledged), counted(ours.acknowledged))?;
    row(
        "files mixed right after the kill",
        counted(usual.mixed_at_kill.into()),
        counted(ours.mixed_at_kill.into()),
    )?;
    row("mixed for a reader", judged(usual.mixed_for_reader), judged(ours.mixed_for_reader))?;
    row("mixed after the next open", judged(usual.mixed_after_open), judged(ours.mixed_after_open))?;
    row("acknowledged saves lost", judged(usual.lost), judged(ours.lost))?;
    output.say("")
}

pub(super) fn print_tree(output: &mut Output, killed: &Killed) -> Result<()> {
    let paint = output.paint();
    let label = LABEL_WIDTH - 10;
    let [old, some, new] = [&[Content::Old][..], &[Content::Old, Content::New], &[Content::New]]
        .map(|files| picture(paint, files));
    output.say_text(format_args!(
        "\n   A sign is {FILES_PER_SIGN} files: {old} old, {some} some new, {new} new.\n"
    ))?;
    let head = paint.strong(format_args!("{:SIGNS$}  {}", ROOTS[0], ROOTS[1]));
    output.say(format_args!("   {:label$}{head}", ""))?;
    let mut row = |text: &str, files: &Files| say_files(output, label, text, files);
    row("before", &killed.before)?;
    row("right after the kill", &killed.at_kill)?;
    row("for a reader", &killed.for_reader)?;
    row("after the next open", &killed.after_open)
}

pub(super) fn print_plan(output: &mut Output, planned: &Planned) -> Result<()> {
    let paint = output.paint();
    let label = LABEL_WIDTH;
    output.say("")?;
    for node in &planned.nodes {
        if let Some(end) = End::of(node) {
            let told = ended(&end, node.seconds.unwrap_or_default(), node.files);
            output.say(format_args!("   {:label$}{told}", node.name))?;
        }
    }
    let width = super::plan::SIGNS;
    let head = paint.strong(format_args!("{:width$}  {}", super::plan::FOLDERS[0], super::plan::FOLDERS[1]));
    output.say_text(format_args!("\n   {:label$}{head}", "`plan apply`, killed half-way"))?;
    let mut row = |text: &str, files: &Files| say_files(output, label, text, files);
    row("right after the kill", &planned.at_kill)?;
    row("after the next command", &planned.after_next)?;
    row("after `plan undo --actor writer`", &planned.after_undo)?;
    let judged = |is_so, text: &str| if is_so { paint.good(text) } else { paint.bad(format!("not {text}")) };
    let merged = judged(planned.is_merged, "both edits are in it");
    output.say(format_args!("   {:label$}{merged}", "the file that two edited"))?;
    let undone = judged(planned.is_undone, "the other's edit alone is in it");
    output.say(format_args!("   {:label$}{undone}", "the same after the undo"))?;
    let state = judged(planned.is_sound, "sound");
    output.say(format_args!("   {:label$}{} records, {state}", "`audit verify`", planned.records))
}

pub(super) fn print_contention(output: &mut Output, contention: &Contention) -> Result<()> {
    let paint = output.paint();
    let Contention { usual, ours } = contention;
    let head = format!("   {:LABEL_WIDTH$}{:>FIGURE_WIDTH$}{:>FIGURE_WIDTH$}", "", "usual way", "config set");
    output.say_text(format_args!("\n{}", paint.strong(head)))?;
    let judged = |count: u32| {
        let text = format!("{count:>FIGURE_WIDTH$}");
        if count == 0 { paint.good(text) } else { paint.bad(text) }
    };
    let label = format!("{:LABEL_WIDTH$}", "sets acknowledged");
    output.say(format_args!(
        "   {label}{:>FIGURE_WIDTH$}{:>FIGURE_WIDTH$}",
        usual.acknowledged, ours.acknowledged
    ))?;
    let label = format!("{:LABEL_WIDTH$}", "of these not in the file");
    output.say(format_args!("   {label}{}{}", judged(usual.lost), judged(ours.lost)))
}

/// The files of both folders, in a line.
fn say_files(output: &mut Output, label: usize, text: &str, files: &Files) -> Result<()> {
    let paint = output.paint();
    let [first, second] = files
        .each_ref()
        .map(|root| root.chunks(FILES_PER_SIGN).map(|files| picture(paint, files)).collect::<String>());
    output.say(format_args!("   {text:label$}{first}  {second}"))
}

/// The one sign of some files.
fn picture(paint: Paint, files: &[Content]) -> String {
    let all = |content| files.iter().all(|found| *found == content);
    match () {
        () if files.contains(&Content::Other) => paint.bad(paint.sign("✗", "?")),
        () if all(Content::Old) => paint.faint(paint.sign("○", ".")),
        () if all(Content::New) => paint.good(paint.sign("●", "#")),
        () => paint.sign("◐", "+").to_owned(),
    }
}

/// How many files of each folder are new.
fn count(files: &Files) -> [usize; 2] {
    files.each_ref().map(|root| root.iter().filter(|content| **content == Content::New).count())
}

fn plan_data(plan: &Planned) -> Value {
    json!({
        "held": plan.held(),
        "nodes": plan.nodes,
        "tries": plan.tries,
        "new_at_kill": count(&plan.at_kill),
        "new_after_next_command": count(&plan.after_next),
        "merged": plan.is_merged,
        "told": plan.told,
        "new_after_undo_of_one_actor": count(&plan.after_undo),
        "other_edit_kept": plan.is_undone,
        "audit_records": plan.records,
        "audit_sound": plan.is_sound,
    })
}
