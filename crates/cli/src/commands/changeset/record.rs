//! `agents changeset record`.

use std::path::PathBuf;

use api::{Edit, NewEntry, RecordedEntry};

use crate::error::{Error, Result};
use crate::input::read;
use crate::output::{Answer, Output};

/// Record a change of one path
///
/// The base of the change is the present content of the path, or the content that this changeset gave it before; `--base FILE` names another,
/// `--base /dev/null` none. The folder does not change before `agents plan apply`.
///
/// An actor of `agents run` records into its own changeset, $AGENTS_CHANGESET; its base is the content it started from.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("act").required(true).multiple(true)
    .args(["content", "patch", "delete", "rename_to", "mode", "symlink"]))]
pub(super) struct Args {
    /// Id of the changeset, or a prefix of it
    id: String,
    /// Path relative to the root
    #[arg(long, value_name = "PATH")]
    path: String,
    /// Set the content to that of this file; `-` reads standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["patch", "delete", "rename_to", "symlink"], value_hint = clap::ValueHint::FilePath)]
    content: Option<PathBuf>,
    /// Apply this unified diff; `-` reads standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["delete", "rename_to", "mode", "symlink"], value_hint = clap::ValueHint::FilePath)]
    patch: Option<PathBuf>,
    /// Delete the path
    #[arg(long, conflicts_with_all = ["rename_to", "mode", "symlink"])]
    delete: bool,
    /// Rename to this path of the same root
    #[arg(long, value_name = "PATH", conflicts_with_all = ["mode", "symlink"])]
    rename_to: Option<String>,
    /// Set permission bits in octal; also with --content
    #[arg(long, value_name = "MODE", conflicts_with = "symlink")]
    mode: Option<String>,
    /// Make the path a symlink to this target
    #[arg(long, value_name = "TARGET")]
    symlink: Option<String>,
    /// Folder that holds the path [default: the only root of the plan]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    root: Option<PathBuf>,
    /// Take the base from this file [default: the present content]
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    base: Option<PathBuf>,
    /// Record this tool as the one that made the change
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  agents changeset record $CHANGESET --path src/main.rs --content new.rs
  agents changeset record $CHANGESET --path src/main.rs --patch fix.patch
  agents changeset record $CHANGESET --path old.rs --rename-to new.rs";

/// `record` records in the store, or through the run of a sandbox.
pub(super) fn run(
    args: &Args,
    record: impl FnOnce(&str, &NewEntry) -> std::result::Result<RecordedEntry, api::Error>,
    output: &mut Output,
) -> Result<Answer> {
    let entry = NewEntry {
        root: args.root.clone(),
        path: args.path.clone(),
        edit: edit(args)?,
        base: args.base.clone(),
        tool: args.tool.clone(),
    };
    let entered = record(&args.id, &entry)?;
    output.done(format!("{}: recorded change {}", entered.changeset, entered.sequence));
    Ok(Answer::of(&entered))
}

fn edit(args: &Args) -> Result<Edit> {
    let mode = args.mode.as_deref().map(mode).transpose()?;
    Ok(if let Some(file) = &args.content {
        match file.as_os_str() == "-" {
            true => Edit::Bytes(read(file)?, mode),
            false => Edit::Content(file.clone(), mode),
        }
    } else if let Some(file) = &args.patch {
        Edit::Patch(read(file)?)
    } else if let Some(to) = &args.rename_to {
        Edit::RenameTo(to.clone())
    } else if let Some(target) = &args.symlink {
        Edit::Symlink(target.clone())
    } else if let Some(mode) = mode {
        Edit::Mode(mode)
    } else {
        Edit::Delete
    })
}

/// Parses permission bits in octal, as `chmod` does.
fn mode(text: &str) -> Result<u32> {
    let bits = u32::from_str_radix(text, 8).ok().filter(|bits| *bits <= 0o7777);
    bits.ok_or_else(|| Error::InvalidValue { value: text.to_owned(), expected: "a mode such as 755" })
}
