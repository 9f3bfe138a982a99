//! Actors run on Linux only, so elsewhere nobody is in a sandbox.

use crate::{
    ContextName, Draft, Error, Invocation, Key, Lookup, NewEntry, RecordedEntry, Reveal, Revision,
    SaveSummary,
};

/// The run that this process is in a sandbox of: there is none.
#[derive(Clone, Copy)]
pub enum RunClient {}

impl RunClient {
    /// There is none.
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
