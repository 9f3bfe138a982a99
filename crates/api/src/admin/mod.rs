//! Administration: the audit trail, the store, the doctor.

pub(crate) mod audit;
pub(crate) mod doctor;
pub(crate) mod stores;
