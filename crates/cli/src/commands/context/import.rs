//! `agents context import`.

use std::path::PathBuf;

use api::{ContextName, Contexts};

use super::{IfRevision, plural};
use crate::error::Result;
use crate::output::{Answer, Output};

/// Import an archive, a list of chat messages, or a folder of an older tool
///
/// The content determines the format. Changes nothing unless all of it is valid: the checksum of an
/// archive, every message of a list.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// File or folder to import
    #[arg(value_hint = clap::ValueHint::AnyPath)]
    file: PathBuf,
    /// Context name [default: from the archive, or the file name]
    #[arg(long = "as", value_name = "NAME")]
    name: Option<ContextName>,
    /// Replace the context of this name
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    if_revision: IfRevision,
}

pub(super) fn run(args: &Args, contexts: &Contexts, output: &mut Output) -> Result<Answer> {
    let revision = args.if_revision.if_revision;
    let imported = contexts.import(&args.file, args.name.as_ref(), args.replace, revision)?;
    output.done(format!(
        "{}: imported {}, revision {}",
        imported.name,
        plural(imported.message_count),
        imported.revision
    ));
    for notice in &imported.notices {
        output.warn("notice", notice.to_string(), None);
    }
    Ok(Answer::of(&imported))
}
