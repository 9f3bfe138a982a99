//! Hints for errors of file transactions.

use api::errors::FileError as E;

pub(super) fn hint(error: &E) -> Option<String> {
    let hint = match error {
        E::Busy { .. } => "try again when the other process is done",
        E::NetworkFileSystem { .. } => "use a folder on a local disk; set TMPDIR for temporary files",
        E::UnsupportedVersion { .. } => "use the newer program that wrote it",
        _ => return None,
    };
    Some(hint.to_owned())
}
