//! `agents changeset show`.

use api::{ChangeEntry, Operation, Plans};

use super::plural;
use crate::display;
use crate::error::Result;
use crate::output::{Answer, Output};
use crate::table::Table;

/// Show a changeset and its changes
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Id of the changeset, or a prefix of it
    id: String,
}

pub(super) fn run(args: &Args, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let shown = plans.changeset(&args.id)?;
    let changeset = &shown.changeset;
    let reason = changeset.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    output.print(format!(
        "{}: {}{reason}, {} by {} in plan {}",
        output.paint().strong(changeset.id),
        changeset.status.as_str(),
        plural(changeset.entries as usize, "change"),
        changeset.actor,
        changeset.plan
    ))?;
    let mut table = Table::new(["CHANGE", "KIND", "PATH", "SIZE", "MODE"], &[0, 3]);
    for entry in &shown.entries {
        table.row(row(entry));
    }
    output.print_table(&table)?;
    Ok(Answer::of(&shown))
}

fn row(entry: &ChangeEntry) -> [String; 5] {
    let path = match &entry.operation {
        Operation::Rename { to } => format!("{} => {}", entry.path.show(), to.show()),
        _ => entry.path.show().into_owned(),
    };
    let (size, mode) = match &entry.after {
        Some(after) => (display::bytes(after.bytes), format!("{:04o}", after.mode)),
        None => ("-".to_owned(), String::new()),
    };
    [entry.sequence.to_string(), entry.operation.as_str().to_owned(), path, size, mode]
}
