//! `agents audit`.

use std::path::PathBuf;

use api::errors::PlanId;
use api::{Finding, PlanSelector, Plans};
use clap::Subcommand;

use super::{known_plans, open, plural};
use crate::error::{Error, Exit, Result};
use crate::output::{Answer, Output};
use crate::session::Session;

/// Read and verify the trail of who did what
///
/// Every step of a plan, every changeset that is started or closed, every apply, undo and taken lease is a record with the hash of the one
/// before. `verify` finds the first record of a plan that was changed, removed or moved, or is not true of what is there; a checkpoint shows
/// whether the end was cut off.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Log(LogArgs),
    Verify(VerifyArgs),
    Export(ExportArgs),
    Checkpoint(CheckpointArgs),
}

/// Print records, plan by plan, in order
#[derive(clap::Args, Debug)]
struct LogArgs {
    #[command(flatten)]
    select: Select,
}

/// Which records.
#[derive(clap::Args, Debug)]
struct Select {
    /// Only those of this plan; one that was removed is named by its whole id
    #[arg(long, value_name = "PLAN")]
    plan: Option<PlanSelector>,
    /// Only those from this time on, such as 2026-01-31T09:30:00Z
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
}

/// Read every chain and tell what is wrong, and where
///
/// Ends with 1 when something is. Compares each chain with its plan, nodes, changesets and entries, and with the last checkpoint, where
/// there is one.
#[derive(clap::Args, Debug)]
struct VerifyArgs {
    /// Compare with this checkpoint instead; may be repeated
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    checkpoint: Vec<PathBuf>,
}

/// Print records as JSON Lines, with their hashes
#[derive(clap::Args, Debug)]
struct ExportArgs {
    #[command(flatten)]
    select: Select,
}

/// Write down the end of every chain outside of the store, so that cutting one off is seen
#[derive(clap::Args, Debug)]
struct CheckpointArgs {
    /// The file [default: audit.checkpoint in the home folder]
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    out: Option<PathBuf>,
}

impl Select {
    /// The plan that is named.
    fn plan(&self, plans: &Plans, output: &mut Output) -> Result<Option<PlanId>> {
        Ok(match self.plan.as_ref().map(|plan| (plan, plan.to_string().parse())) {
            None => None,
            // A plan that was removed is named by its whole id.
            Some((_, Ok(id))) => Some(id),
            Some((plan, Err(_))) => Some(open(plans, plan, output)?.id),
        })
    }
}

impl Args {
    /// As the JSON envelope names it.
    pub(crate) fn name(&self) -> &'static str {
        match &self.command {
            Command::Log(_) => "audit log",
            Command::Verify(_) => "audit verify",
            Command::Export(_) => "audit export",
            Command::Checkpoint(_) => "audit checkpoint",
        }
    }
}

pub(crate) fn run(args: &Args, session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    let plans = &known_plans(session)?;
    match &args.command {
        Command::Log(args) => log(args, plans, output),
        Command::Verify(args) => verify(args, plans, output),
        Command::Export(args) => export(args, plans, output),
        Command::Checkpoint(args) => checkpoint(args, plans, output),
    }
}

fn log(args: &LogArgs, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let mut records = Vec::new();
    let plan = args.select.plan(plans, output)?;
    for record in plans.audit(plan, args.select.since.as_deref())? {
        let record = record?;
        let paint = output.paint();
        output.say(format!(
            "{}  {}  {:>4}  {}  {}",
            paint.faint(record.at),
            record.plan,
            record.sequence,
            paint.strong(&record.kind),
            record.actor
        ))?;
        if output.is_json() {
            records.push(record);
        }
    }
    Ok(Answer::ok(serde_json::json!({ "records": records })))
}

fn verify(args: &VerifyArgs, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let verdict = plans.verify(&args.checkpoint)?;
    for Finding { plan, sequence, fault, resource } in &verdict.findings {
        let fault = serde_json::to_value(fault).expect("a fault is a word");
        let fault = fault.as_str().unwrap_or_default().to_owned();
        let resource = resource.map_or_else(String::new, |resource| format!(", {resource}"));
        output.say(format!("plan {plan}, record {sequence}: {}{resource}", output.paint().bad(fault)))?;
    }
    let (records, chains) =
        (plural(verdict.records as usize, "record"), plural(verdict.chains as usize, "chain"));
    let is_sound = verdict.findings.is_empty();
    let state = if is_sound { "sound".to_owned() } else { format!("{} bad", verdict.findings.len()) };
    output.confirm(format!("{records} in {chains}: {state}"))?;
    let exit = if is_sound { Exit::Ok } else { Exit::Error };
    Ok(Answer { exit, ..Answer::of(&verdict) })
}

fn export(args: &ExportArgs, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let mut count = 0;
    let plan = args.select.plan(plans, output)?;
    for record in plans.audit(plan, args.select.since.as_deref())? {
        let line = serde_json::to_string(&record?).expect("a record is made of text and numbers");
        writeln!(output.bytes(), "{line}").map_err(|source| Error::Print { source })?;
        count += 1;
    }
    output.bytes().flush().map_err(|source| Error::Print { source })?;
    Ok(Answer::ok(serde_json::json!({ "records": count })))
}

fn checkpoint(args: &CheckpointArgs, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let written = plans.checkpoint(args.out.as_deref())?;
    let chains = plural(written.chains, "chain");
    output.confirm(format!("wrote the ends of {chains} to {}", written.file))?;
    Ok(Answer::of(&written))
}
