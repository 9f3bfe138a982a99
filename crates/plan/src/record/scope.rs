//! Scopes: record changes without passing the changeset. A scope sets the changeset of the code
//! that runs inside it, on this thread.
//!
//! Nothing else is ambient. A scope ends when its guard is dropped, so a pooled thread does not
//! keep the scope of its last task. A new thread starts outside of any scope. Recording outside of
//! a scope is an error.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;

use crate::sync::thread_local;
use crate::{Change, Changeset, Error, Result};

thread_local! {
    static SCOPES: RefCell<Vec<(u64, Changeset)>> = const { RefCell::new(Vec::new()) };
    static NEXT: Cell<u64> = const { Cell::new(0) };
}

/// Keeps this thread in the scope of a changeset.
///
/// The guard is not `Send`. Scopes nest: the innermost scope applies.
#[must_use = "the scope ends when this is dropped"]
#[derive(Debug)]
pub struct Scope<'a> {
    token: u64,
    _changeset: PhantomData<&'a Changeset>,
    // The guard belongs to the thread that created it.
    _thread: PhantomData<*const ()>,
}

impl Changeset {
    /// Sets the changeset of [`record_change`] on this thread, until the guard is dropped.
    pub fn enter(&self) -> Scope<'_> {
        let token = NEXT.with(|next| next.replace(next.get() + 1));
        SCOPES.with(|scopes| scopes.borrow_mut().push((token, self.clone())));
        Scope { token, _changeset: PhantomData, _thread: PhantomData }
    }
}

impl Drop for Scope<'_> {
    fn drop(&mut self) {
        // Guards may be dropped in any order. The list is gone while the thread ends.
        let removed = SCOPES.try_with(|scopes| {
            let mut scopes = scopes.borrow_mut();
            let index = scopes.iter().position(|(token, _)| *token == self.token);
            index.map(|index| scopes.remove(index))
        });
        drop(removed);
    }
}

/// Returns the changeset of the current scope of this thread.
pub fn current_changeset() -> Option<Changeset> {
    SCOPES.with(|scopes| scopes.borrow().last().map(|(_, changeset)| changeset.clone()))
}

/// Records a change into the changeset of the current scope, as [`Changeset::record`] does, and
/// returns its sequence number.
///
/// Outside of a scope this fails with [`Error::OutsideScope`] and records nothing.
pub fn record_change(change: Change) -> Result<u64> {
    match current_changeset() {
        Some(changeset) => changeset.record(change),
        None => Err(Error::OutsideScope { path: change.path.show().into_owned() }),
    }
}
