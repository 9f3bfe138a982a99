//! Hints for errors of the store.

use api::errors::{Outcome, StoreError as E};

/// Gives what to do about an error; names a command where one helps.
pub(super) fn hint(error: &E) -> Option<String> {
    let hint = match error {
        E::Ambiguous { candidates, .. } => {
            return Some(format!("give more of the id; it may be {}", candidates.join(" or ")));
        }
        E::NotFound { what: "plan", .. } => "`agents plan list` shows the plans there are",
        E::NotFound { what: "changeset", .. } => {
            "`agents changeset list PLAN` shows the changesets of a plan"
        }
        E::NameTaken { .. } => "give another name, or none; `agents plan list` shows the names in use",
        E::Conflict { .. } | E::PlanChanged { .. } | E::WrongState { .. } => {
            "`agents plan log PLAN` shows who did what; look at the plan again, then decide"
        }
        E::ChangesetsOpen { .. } => "seal them with `agents changeset seal ID`, or cancel the plan",
        E::Closed { .. } => "start another changeset with `agents changeset start PLAN --actor NAME`",
        E::Stale { .. } => "what was recorded before is kept; start another changeset for the rest",
        E::Held { .. } => "wait until it is sealed or its holder is gone; `agents doctor` lists stale leases",
        E::MissingBlob { .. } => "store the content again, then record its entry",
        E::DamagedBlob { .. } | E::Damaged { .. } => {
            "`agents doctor` checks the store; restore the file from a backup, together with its -wal file"
        }
        E::Busy { .. } => "try again; if it stays so, look for a process that hangs",
        E::NewerSchema { .. } => "use the newer program; the store was not touched",
        E::NotAStore { .. } => "move it away, or name another store with store.url",
        E::Io { .. } => "check the folder's owner and permissions; `agents doctor` looks at both",
        E::Removed { .. } => "put the file back, together with its -wal file, or start again with a new one",
        E::Full { path, .. } => {
            return Some(format!(
                "make room, `df -h {}` shows how much there is; then try again",
                path.display()
            ));
        }
        E::Unwritable { path, .. } => {
            let folder = path.parent().unwrap_or(path).display();
            return Some(format!(
                "reading needs files beside it too: `ls -ld {folder}` shows who may write, `findmnt -T {folder}` whether it is mounted read-only; or use another home folder with `--home DIR`"
            ));
        }
        E::Engine { outcome: Outcome::Aborted, .. } => {
            "nothing was changed; look for a full or failing disk, then try again"
        }
        E::Engine { outcome: Outcome::Unknown, .. } | E::Stopped { .. } => {
            "look at what is there before trying again; the disk may be failing"
        }
        E::Url { .. } => {
            "write it like `postgres://USER@HOST/DATABASE`; `agents config set store.url URL` keeps it"
        }
        E::Unreachable { .. } => {
            "nothing was changed; check host and port (`agents config get store.url`), and whether the server runs"
        }
        E::Denied { .. } => {
            "check user and database (`agents config get store.url`); the password comes from PGPASSWORD or PGPASSFILE"
        }
        E::ReadOnly { .. } => {
            "name all servers of the cluster in store.url, `postgres://USER@ONE,TWO/DATABASE`: the one that takes writes is found"
        }
        E::NotACopy { .. } => {
            "let nobody write to either, and copy again into an empty store: `agents store copy --from URL --to URL`"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}
