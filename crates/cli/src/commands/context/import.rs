//! `agents context import`.

use std::path::PathBuf;

use api::{ContextName, Contexts};

use super::{IfRevision, counted};
use crate::error::Result;
use crate::output::{Answer, Output};

/// Make a context of an archive, a list of chat messages, or a folder of an older tool
///
/// What it is, is told by its content. Nothing is changed unless all of it is right: the checksum of an archive, every message of a list.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The file or folder
    #[arg(value_hint = clap::ValueHint::AnyPath)]
    file: PathBuf,
    /// The name of the context [default: that of the archive, or of the file]
    #[arg(long = "as", value_name = "NAME")]
    name: Option<ContextName>,
    /// Put it in the place of the context that has this name
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    if_revision: IfRevision,
}

pub(super) fn run(args: &Args, contexts: &Contexts, output: &mut Output) -> Result<Answer> {
    let revision = args.if_revision.if_revision;
    let made = contexts.import(&args.file, args.name.as_ref(), args.replace, revision)?;
    output.confirm(format!(
        "{} has {} now, revision {}",
        made.name,
        counted(made.message_count),
        made.revision
    ))?;
    for notice in &made.notices {
        output.warn("notice", notice.to_string(), None);
    }
    Ok(Answer::of(&made))
}
