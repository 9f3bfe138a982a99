//! Hints for errors of contexts.

use std::path::Path;

use api::errors::{ContextError as E, FileError, MessageError};

/// Suggests a remedy for an error, as a command if there is one.
pub(super) fn hint(error: &E) -> Option<String> {
    Some(match error {
        E::NotFound { .. } => "agents context list".to_owned(),
        E::Exists { .. } => "choose another name, or import with --replace".to_owned(),
        E::Stale { name, .. } => format!("agents context show {name} --last 1"),
        E::ModifiedExternally { file, .. } => {
            format!("agents context verify {} --repair  # accepts the changes", context_of(file))
        }
        E::Damaged { line: Some(_), file, .. } if file.ends_with("messages.jsonl") => {
            let name = context_of(file);
            format!("agents context verify {name} --repair  # moves invalid lines to another file")
        }
        E::Damaged { file, .. } if file.ends_with("metadata.json") => {
            format!("fix the file by hand, or agents context remove {}", context_of(file))
        }
        E::Damaged { .. } => "fix the file by hand".to_owned(),
        E::AmbiguousLayout { .. } => "move one of the two files away".to_owned(),
        E::Newer { .. } => "use the newer program".to_owned(),
        E::IdNotIncreasing { .. } => "leave out the id".to_owned(),
        E::Rewritten { .. } => "try again".to_owned(),
        E::Message { source: MessageError::Id(_), .. } => "leave out the id, or use another field".to_owned(),
        E::Files { source, .. } if matches!(**source, FileError::Busy { .. }) => {
            "try again, or add --lock-timeout 2m".to_owned()
        }
        _ => return None,
    })
}

/// Returns the context of a file.
fn context_of(file: &Path) -> String {
    let name = file.parent().and_then(Path::file_name).unwrap_or_default();
    name.to_string_lossy().into_owned()
}
