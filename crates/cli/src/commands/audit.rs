//! `agents audit`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use api::errors::PlanId;
use api::{AuditRecord, AuditReport, Checkpointed, Finding, PlanSelector, Plans};
use clap::Subcommand;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::schema::{Entry, of};
use super::{existing_plans, open, plural};
use crate::display;
use crate::error::{Error, Exit, Result};
use crate::output::{Answer, Output};
use crate::session::Session;
use crate::time;

/// Verify who did what
///
/// Every step of a plan, start and end of a changeset, apply, undo and lease is a record that holds the hash of the record before it. `verify` finds
/// the first record of each plan that was altered, removed or moved, or contradicts the store; a checkpoint shows whether the end of a
/// chain was cut off.
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

/// Print audit records, plan by plan
#[derive(clap::Args, Debug)]
struct LogArgs {
    #[command(flatten)]
    select: Select,
}

/// Options that select records.
#[derive(clap::Args, Debug)]
struct Select {
    /// Select the records of this plan; name a removed plan by its full id
    #[arg(long, value_name = "PLAN")]
    plan: Option<PlanSelector>,
    /// Select records from this time on, such as 2026-01-31, 2026-01-31T09:30:00Z or 1h (ago)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
}

/// Verify every audit chain
///
/// Compares each chain with its plan, nodes, changesets and entries, and with the last checkpoint. Exits with 1 if a chain is broken.
#[derive(clap::Args, Debug)]
struct VerifyArgs {
    /// Compare with this checkpoint (repeatable) [default: audit.checkpoint in the home folder]
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    checkpoint: Vec<PathBuf>,
}

/// Print audit records as JSON Lines, with their hashes
#[derive(clap::Args, Debug)]
struct ExportArgs {
    #[command(flatten)]
    select: Select,
}

/// Write the head of every chain to a file, which reveals truncation
#[derive(clap::Args, Debug)]
struct CheckpointArgs {
    /// Write to this file [default: audit.checkpoint in the home folder]
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    out: Option<PathBuf>,
}

pub(super) const SCHEMAS: &[Entry] = &[
    ("audit log", of::<Log>),
    ("audit verify", of::<AuditReport>),
    ("audit export", of::<AuditRecord>),
    ("audit checkpoint", of::<Checkpointed>),
];

/// The `data` of `audit log`.
#[derive(JsonSchema, Serialize)]
struct Log {
    records: Vec<AuditRecord>,
}

impl Select {
    /// The time of the first record.
    fn since(&self) -> Result<Option<Timestamp>> {
        self.since.as_deref().map(time::parse).transpose()
    }

    /// The id of the selected plan.
    fn plan(&self, plans: &Plans, output: &mut Output) -> Result<Option<PlanId>> {
        Ok(match self.plan.as_ref().map(|plan| (plan, plan.to_string().parse())) {
            None => None,
            // A removed plan is named by its full id.
            Some((_, Ok(id))) => Some(id),
            Some((plan, Err(_))) => Some(open(plans, plan, output)?.id),
        })
    }
}

impl Args {
    /// The `command` of the envelope.
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
    let plans = &existing_plans(session)?;
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
    for record in plans.audit(plan, args.select.since()?) {
        let record = record?;
        let paint = output.paint();
        output.print(format!(
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
    Ok(Answer::of(&Log { records }))
}

fn verify(args: &VerifyArgs, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let verdict = plans.verify(&args.checkpoint)?;
    let (paint, chains) = (output.paint(), verdict.chains as usize);
    let Some(first) = verdict.findings.first() else {
        let records = plural(verdict.records as usize, "record");
        output.print(format!("{}: {records} in {}", paint.good("sound"), plural(chains, "chain")))?;
        return Ok(Answer::of(&verdict));
    };
    let broken = verdict.findings.iter().map(|finding| finding.plan).collect::<BTreeSet<_>>().len();
    output.print(format!("{}: {broken} of {}", paint.bad("broken"), plural(chains, "chain")))?;
    for Finding { plan, sequence, fault, resource } in &verdict.findings {
        let fault = serde_json::to_value(fault).expect("a fault is a word");
        let fault = fault.as_str().unwrap_or_default();
        let resource = resource.map_or_else(String::new, |resource| format!(" ({resource})"));
        output.print(format!("  plan {plan}, record {sequence}: {fault}{resource}"))?;
    }
    output.hint(&format!("agents audit log --plan {}", first.plan));
    Ok(Answer { exit: Exit::Error, ..Answer::of(&verdict) })
}

fn export(args: &ExportArgs, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let plan = args.select.plan(plans, output)?;
    for record in plans.audit(plan, args.select.since()?) {
        let line = serde_json::to_string(&record?).expect("a record is made of text and numbers");
        writeln!(output.bytes(), "{line}").map_err(|source| Error::Print { source })?;
    }
    output.bytes().flush().map_err(|source| Error::Print { source })?;
    // The lines are the output; no envelope follows.
    Ok(Answer::ok(Value::Null))
}

fn checkpoint(args: &CheckpointArgs, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let written = plans.checkpoint(args.out.as_deref())?;
    let heads = plural(written.chains, "chain head");
    output.done(format!("wrote {heads} to {}", display::path(&written.file.to_string())));
    Ok(Answer::of(&written))
}
