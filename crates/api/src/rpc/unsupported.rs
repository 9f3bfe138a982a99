//! Actors run on Linux only, so elsewhere nobody is in a sandbox.

use crate::{ContextName, Draft, Entered, Error, Got, Key, NewEntry, Reveal, Revision, Saved, Surroundings};

/// The run that this process is in a sandbox of: there is none.
#[derive(Clone, Copy)]
pub enum Inside {}

impl Inside {
    /// There is none.
    pub fn around(_surroundings: &Surroundings) -> Option<Inside> {
        None
    }

    /// Never called.
    pub fn record(&self, _changeset: &str, _entry: &NewEntry) -> Result<Entered, Error> {
        match *self {}
    }

    /// Never called.
    pub fn append(
        &self,
        _name: &ContextName,
        _drafts: &[Draft],
        _if_revision: Option<Revision>,
    ) -> Result<Saved, Error> {
        match *self {}
    }

    /// Never called.
    pub fn get(&self, _key: &Key, _reveal: Reveal) -> Result<Got, Error> {
        match *self {}
    }
}
