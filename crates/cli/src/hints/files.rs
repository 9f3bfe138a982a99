//! Hints for errors of file transactions.

use std::path::Path;

use api::errors::{FileError as E, Obstacle};

pub(super) fn hint(error: &E) -> Option<String> {
    let hint = match error {
        E::UntrustedJournal { path, .. } => return Some(decide_journal(path)),
        // A context has a journal too, which is not decided about.
        E::CorruptJournal { path, .. } if path.parent()?.ends_with(api::TXN_DIR) => {
            return Some(decide_journal(path));
        }
        E::OtherUser { path, .. } => {
            let path = path.display();
            return Some(format!(
                "sudo chown -R \"$(id -u)\" {path}  # if no other user applies plans there"
            ));
        }
        E::CannotReplace { path, obstacle } => return Some(remove_obstacle(path, *obstacle)),
        E::Busy { .. } => "try again when the other process is done",
        E::NetworkFileSystem { .. } => "use a folder on a local disk; set TMPDIR for temporary files",
        E::CannotVouch { .. } => "try again when the store answers",
        E::UnsupportedVersion { .. } => "use the newer program that wrote it",
        _ => return None,
    };
    Some(hint.to_owned())
}

/// The command that lists a journal and decides about it.
fn decide_journal(journal: &Path) -> String {
    let root = journal.ancestors().nth(3).unwrap_or(journal);
    format!("agents plan recover --root {}", root.display())
}

/// A command that lets this user replace a path.
fn remove_obstacle(path: &Path, obstacle: Obstacle) -> String {
    match obstacle {
        Obstacle::Immutable => format!("sudo chattr -i {}", path.display()),
        Obstacle::AppendOnly => format!("sudo chattr -a {}", path.display()),
        Obstacle::FolderAppendOnly => {
            format!("sudo chattr -a {}", path.parent().unwrap_or(path).display())
        }
        Obstacle::StickyFolder { .. } | Obstacle::OtherOwner { .. } => {
            format!("sudo chown \"$(id -u)\" {}", path.display())
        }
    }
}
