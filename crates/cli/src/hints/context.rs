//! Hints for errors of contexts.

use std::path::Path;

use api::errors::{ContextError as E, FileError, MessageError};

/// Suggests a remedy for an error, as a command if there is one.
pub(super) fn hint(error: &E) -> Option<String> {
    Some(match error {
        E::NotFound { .. } => "`agents context list` shows the contexts there are".to_owned(),
        E::Exists { .. } => {
            "choose another name; an import with `--replace` puts itself in its place".to_owned()
        }
        E::Stale { current, .. } => format!("read it again, then use `--if-revision {current}`"),
        E::ModifiedExternally { file, .. } => format!(
            "`agents context verify {} --repair` takes over what is there; nothing is thrown away",
            context_of(file)
        ),
        E::Damaged { line: Some(_), file, .. } if file.ends_with("messages.jsonl") => {
            let name = context_of(file);
            format!("`agents context verify {name} --repair` sets bad lines aside and keeps the rest")
        }
        E::Damaged { file, .. } if file.ends_with("metadata.json") => format!(
            "correct the file by hand; it is left as it is until then, or until `agents context remove {}`",
            context_of(file)
        ),
        E::Damaged { .. } => "correct the file by hand; it is left as it is until then".to_owned(),
        E::AmbiguousLayout { .. } => {
            "an older tool wrote after this one: move one of the two files away by hand".to_owned()
        }
        E::Newer { .. } => "use the newer program that wrote it".to_owned(),
        E::IdNotIncreasing { .. } => "leave the id out, and the message gets one".to_owned(),
        E::Rewritten { .. } => "read it again".to_owned(),
        E::Message { source: MessageError::Id(_), .. } => {
            "leave the id out, or put it into another field".to_owned()
        }
        E::Files { source, .. } if matches!(**source, FileError::Busy { .. }) => {
            "try again when the other process is done".to_owned()
        }
        _ => return None,
    })
}

/// Returns the context of a file.
fn context_of(file: &Path) -> String {
    let name = file.parent().and_then(Path::file_name).unwrap_or_default();
    name.to_string_lossy().into_owned()
}
