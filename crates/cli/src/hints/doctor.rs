//! Hints for problems that the doctor finds.

use api::Remedy;

/// Returns the command that fixes a problem, or advice.
pub(crate) fn remedy(remedy: &Remedy) -> String {
    match remedy {
        Remedy::VerifyContext(name) => format!("agents context verify {name}"),
        Remedy::MergePreserved => "copy what you need from that file, then remove it".to_owned(),
        Remedy::RestoreStore { is_sqlite: true } => {
            "restore the file from a backup, together with its -wal file".to_owned()
        }
        Remedy::RestoreStore { is_sqlite: false } => "restore the database from a backup".to_owned(),
        Remedy::VerifyAudit => "agents audit verify".to_owned(),
        Remedy::FinishApplies => "agents doctor --fix".to_owned(),
        Remedy::DecideJournal(root) => {
            format!("agents plan recover --root {}", root.display())
        }
        Remedy::CloseChangeset(id) => {
            format!("agents changeset seal {id}\nagents changeset abandon {id}")
        }
        Remedy::PrunePlan(id) => format!("agents plan prune {id}"),
        Remedy::ShowPlan(id) => format!("agents plan show {id}"),
        Remedy::RestrictPermissions(folder) => format!("chmod 700 {}", folder.display()),
        Remedy::MoveAway => "move the file away".to_owned(),
        Remedy::UseOtherFileSystem => "keep folders that people edit on ext4, xfs, btrfs or tmpfs".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_lease_names_the_commands_that_close_its_changeset() {
        let id = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().expect("an id");
        let hint = remedy(&Remedy::CloseChangeset(id));
        assert!(hint.contains(&format!("agents changeset seal {id}")), "{hint}");
        assert!(hint.contains(&format!("agents changeset abandon {id}")), "{hint}");
    }
}
