//! Hints for errors of the store.

use api::errors::{Outcome, Resource, StoreError as E};

pub(super) fn hint(error: &E) -> Option<String> {
    Some(match error {
        E::Ambiguous { candidates, .. } => format!("type more of the id: {}", candidates.join(" or ")),
        E::NotFound { what: "plan", .. } => "agents plan list".to_owned(),
        E::NotFound { what: "changeset", .. } => "agents plan list  # then agents changeset list".to_owned(),
        E::NameTaken { .. } => "agents plan list  # names in use; choose another, or none".to_owned(),
        E::Conflict { resource: Resource::Plan(plan), .. }
        | E::PlanChanged { plan }
        | E::WrongState { plan, .. } => format!("agents plan history {plan}"),
        E::Conflict { .. } => "agents plan list  # agents plan history shows who did what".to_owned(),
        E::ChangesetsOpen { plan, first, .. } => {
            format!("agents changeset seal {first}\nagents plan cancel {plan}  # abandons it")
        }
        E::Closed { .. } => "start another changeset: agents changeset start".to_owned(),
        E::Stale { .. } => "start another changeset for the rest; earlier changes are kept".to_owned(),
        E::Held { .. } => "agents doctor  # lists stale leases; else wait for the holder".to_owned(),
        E::MissingBlob { .. } => "store the content again, then record its entry".to_owned(),
        E::DamagedBlob { .. } | E::Damaged { .. } => {
            "agents doctor  # then restore the file from a backup, together with its -wal file".to_owned()
        }
        E::Busy { .. } => "try again, or look for a process that hangs".to_owned(),
        E::NewerSchema { .. } => "use the newer program; the store is unchanged".to_owned(),
        E::NotAStore { .. } => "move the file away, or name another store in store.url".to_owned(),
        E::Io { path, .. } => format!("ls -ld {}  # owner and permissions", path.display()),
        E::Removed { .. } => "put the file back, together with its -wal file".to_owned(),
        E::Full { path, .. } => format!("df -h {}  # make room, then try again", path.display()),
        E::Unwritable { path, .. } => {
            let folder = path.parent().unwrap_or(path).display();
            format!(
                "ls -ld {folder}  # who may write; reading needs it too\nfindmnt -T {folder}  # is it mounted read-only?"
            )
        }
        E::Engine { outcome: Outcome::Aborted, .. } => {
            "look for a full or failing disk, then try again".to_owned()
        }
        E::Engine { outcome: Outcome::Unknown, .. } | E::Stopped { .. } => {
            "look at what is there before you try again; the disk may be failing".to_owned()
        }
        E::Url { .. } => {
            "agents config set store.url 'postgres://USER@HOST/DATABASE?sslmode=verify-full' --scope global".to_owned()
        }
        E::Unreachable { .. } => "agents config get store.url  # check host and port".to_owned(),
        E::Denied { .. } => {
            "agents config get store.url  # check user and database; PGPASSWORD or PGPASSFILE has the password"
                .to_owned()
        }
        E::ReadOnly { .. } => {
            "name all servers in store.url: postgres://USER@ONE,TWO/DATABASE finds the writable one".to_owned()
        }
        E::NotACopy { .. } => {
            "agents store copy --from URL --to URL  # into an empty store, with no writers".to_owned()
        }
        _ => return None,
    })
}
