//! `agents doctor`.

use api::{Check, Health};
use schemars::JsonSchema;
use serde::Serialize;

use super::plural;
use super::schema::{Entry, of};
use crate::error::{Exit, Result};
use crate::hints::remedy;
use crate::output::{Answer, Output};
use crate::session::Session;
use crate::style::Paint;

/// Find problems and their fixes
///
/// Checks the home folder and its permissions, the file system, contexts, the store and its blobs, audit chains, interrupted applies and stale
/// leases. `--verbose` also lists the checks that passed. Exits with 1 if there is a problem.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Finish interrupted applies
    #[arg(long)]
    fix: bool,
}

pub(super) const SCHEMAS: &[Entry] = &[("doctor", of::<Data<'_>>)];

/// The `data` of the envelope.
#[derive(JsonSchema, Serialize)]
struct Data<'a> {
    checks: &'a [Check],
}

pub(crate) fn run(args: &Args, session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    let mut checks = session.writer().doctor(args.fix);
    for check in &mut checks {
        let remedy = check.remedy.as_ref().map(remedy);
        check.hint.extend(remedy.iter().flat_map(|hint| hint.lines()).map(str::to_owned));
    }
    output.print(summary(&checks))?;
    let is_shown = |check: &&Check| check.health != Health::Ok || output.is_verbose();
    for check in checks.iter().filter(is_shown).collect::<Vec<_>>() {
        for line in lines(check, output.paint()) {
            output.print(line)?;
        }
    }
    let is_sound = checks.iter().all(|check| check.health != Health::Problem);
    let exit = if is_sound { Exit::Ok } else { Exit::Error };
    Ok(Answer { exit, ..Answer::of(&Data { checks: &checks }) })
}

/// `2 problems, 12 checks passed`.
fn summary(checks: &[Check]) -> String {
    let count = |health| checks.iter().filter(|check| check.health == health).count();
    let mut parts = Vec::new();
    for (health, unit) in [(Health::Problem, "problem"), (Health::Warning, "warning")] {
        if count(health) > 0 {
            parts.push(plural(count(health), unit));
        }
    }
    parts.push(format!("{} passed", plural(count(Health::Ok), "check")));
    parts.join(", ")
}

/// A check, with its hints below the text.
fn lines(check: &Check, paint: Paint) -> Vec<String> {
    let Check { name, health, message, hint, .. } = check;
    let word = match health {
        Health::Ok => paint.good("ok     "),
        Health::Warning => paint.strong("warning"),
        Health::Problem => paint.bad("problem"),
    };
    let mut lines = vec![format!("{word}  {name:<8}  {message}")];
    for (index, hint) in hint.iter().enumerate() {
        let label = if index == 0 { "hint:" } else { "" };
        lines.push(format!("{:19}{label:<5} {hint}", ""));
    }
    lines
}
