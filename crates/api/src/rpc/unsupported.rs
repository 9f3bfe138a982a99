//! The client on systems without runs.

use crate::{
    ContextName, Draft, Error, Invocation, Key, Lookup, NewEntry, RecordedEntry, Reveal, Revision,
    SaveSummary,
};

/// A client of the run in whose sandbox this process is. Has no values: actors run on Linux only.
#[derive(Clone, Copy)]
pub enum RunClient {}

impl RunClient {
    /// Returns `None`.
    pub fn from_env(_invocation: &Invocation) -> Option<RunClient> {
        None
    }

    /// Never called.
    pub fn record(&self, _changeset: &str, _entry: &NewEntry) -> Result<RecordedEntry, Error> {
        match *self {}
    }

    /// Never called.
    pub fn append(
        &self,
        _name: &ContextName,
        _drafts: &[Draft],
        _if_revision: Option<Revision>,
    ) -> Result<SaveSummary, Error> {
        match *self {}
    }

    /// Never called.
    pub fn get(&self, _key: &Key, _reveal: Reveal) -> Result<Lookup, Error> {
        match *self {}
    }
}
