//! `agents doctor`.

use api::{Check, Health};

use crate::error::{Exit, Result};
use crate::hints::remedy;
use crate::output::{Answer, Output};
use crate::session::Session;

/// Look at everything and tell what is wrong, with the command that helps
///
/// Home folder and permissions, what the file system can do, contexts, the store with all its contents, the audit trail, applies that were cut off,
/// stale leases. Ends with 1 when there is a problem. With `--fix` applies that were cut off are finished.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Finish applies that were cut off
    #[arg(long)]
    fix: bool,
}

pub(crate) fn run(args: &Args, session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    let mut checks = session.writer().doctor(args.fix);
    for check in &mut checks {
        check.hint.extend(check.remedy.as_ref().map(remedy));
        let Check { name, health, message, hint, .. } = check;
        let paint = output.paint();
        let word = match health {
            Health::Ok => paint.good("ok     "),
            Health::Warning => paint.strong("warning"),
            Health::Problem => paint.bad("problem"),
        };
        output.say(format!("{word}  {name:<8}  {message}"))?;
        for hint in hint {
            output.say(format!("         hint: {hint}"))?;
        }
    }
    let is_sound = checks.iter().all(|check| check.health != Health::Problem);
    let exit = if is_sound { Exit::Ok } else { Exit::Error };
    Ok(Answer { exit, data: serde_json::json!({ "checks": checks }).into() })
}
