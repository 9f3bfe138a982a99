//! Refusal of plans that something else altered in the store.
//!
//! The audit chain has every row of a plan that decides what is applied, and for each closed
//! changeset the digest of its entries. An apply or undo compares the rows with the chain, and the
//! entries that it reads with the digests.

use store::{ChangeEntry, PlanId, Resource, matches_digest, verify_plan};

use crate::{Error, Plans, Result};

impl Plans {
    /// Refuses a plan whose rows contradict its audit chain. Reads the rows and the chain, and no
    /// entries.
    pub(crate) fn check_untampered(&self, plan: PlanId) -> Result<()> {
        match verify_plan(self.store().as_ref(), plan)? {
            None => Ok(()),
            Some(finding) => Err(Error::Tampered { plan, resource: finding.resource }),
        }
    }

    /// Reads the entries of a closed changeset, and compares them with its digest.
    pub(crate) fn closed_entries(&self, changeset: &store::Changeset) -> Result<Vec<ChangeEntry>> {
        let entries = self.entries(changeset.id)?;
        if matches_digest(changeset, &entries) {
            return Ok(entries);
        }
        Err(Error::Tampered { plan: changeset.plan, resource: Some(Resource::Changeset(changeset.id)) })
    }
}
