//! `agents changeset record`.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use api::{Edit, NewEntry, RecordedEntry};

use crate::error::{Error, Result};
use crate::output::{Answer, Output};

/// The most that is read from standard input, or of a patch.
const INPUT_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Record one change of a path
///
/// The base of the change is what the path holds now, or what this changeset made of it before; `--base FILE` says otherwise, `--base /dev/null`
/// that nothing was there. Nothing in the folder is touched: that is for `agents plan apply`.
///
/// An actor of `agents run` records into its own changeset, $AGENTS_CHANGESET, and the base is what it started from.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("act").required(true).multiple(true)
    .args(["content", "patch", "delete", "rename_to", "mode", "symlink"]))]
pub(super) struct Args {
    /// The changeset: its id, or the beginning of it
    id: String,
    /// The path, below the root
    #[arg(long, value_name = "PATH")]
    path: String,
    /// It gets the content of this file; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["patch", "delete", "rename_to", "symlink"], value_hint = clap::ValueHint::FilePath)]
    content: Option<PathBuf>,
    /// It is changed by this unified diff; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["delete", "rename_to", "mode", "symlink"], value_hint = clap::ValueHint::FilePath)]
    patch: Option<PathBuf>,
    /// It goes
    #[arg(long, conflicts_with_all = ["rename_to", "mode", "symlink"])]
    delete: bool,
    /// It gets this path, below the same root
    #[arg(long, value_name = "PATH", conflicts_with_all = ["mode", "symlink"])]
    rename_to: Option<String>,
    /// It gets these permission bits; also together with --content
    #[arg(long, value_name = "MODE", conflicts_with = "symlink")]
    mode: Option<String>,
    /// It becomes a symlink that points here
    #[arg(long, value_name = "TARGET")]
    symlink: Option<String>,
    /// The folder [default: the plan's, where it has only one]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    root: Option<PathBuf>,
    /// A file with what was at the path before
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    base: Option<PathBuf>,
    /// With what it is done, for the record
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  agents changeset record $CHANGESET --path src/main.rs --content new.rs
  agents changeset record $CHANGESET --path src/main.rs --patch fix.patch
  agents changeset record $CHANGESET --path old.rs --rename-to new.rs";

/// `record` is done by the store, or by the run around.
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
    output.confirm(format!("recorded {} of {}", entered.sequence, entered.changeset))?;
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

/// Permission bits in octal, as `chmod` takes them.
fn mode(text: &str) -> Result<u32> {
    let bits = u32::from_str_radix(text, 8).ok().filter(|bits| *bits <= 0o777);
    bits.ok_or_else(|| Error::Value { value: text.to_owned(), expected: "a mode such as 755" })
}

/// All of a file, or of standard input for `-`.
fn read(file: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let is_stdin = file.as_os_str() == "-";
    let read = if is_stdin {
        io::stdin().take(INPUT_BYTES_MAX + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file).and_then(|file| file.take(INPUT_BYTES_MAX + 1).read_to_end(&mut bytes))
    };
    match read {
        Ok(_) if bytes.len() as u64 > INPUT_BYTES_MAX => {
            Err(Error::StdinTooLong { limit_bytes: INPUT_BYTES_MAX })
        }
        Ok(_) => Ok(bytes),
        Err(source) if is_stdin => Err(Error::Stdin { source }),
        Err(source) => Err(Error::File { act: "read", path: file.to_owned(), source }),
    }
}
