//! Recording without passing the handle: a scope names the changeset for the code that runs inside it, on this thread.
//!
//! Nothing else is ambient. A scope ends when its guard is dropped, so a pooled thread does not keep the last user's; a thread that is
//! started inside a scope is in none; and outside of any scope recording is an error, never a guess.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;

use crate::sync::thread_local;
use crate::{Change, Changeset, Error, Result};

thread_local! {
    static SCOPES: RefCell<Vec<(u64, Changeset)>> = const { RefCell::new(Vec::new()) };
    static NEXT: Cell<u64> = const { Cell::new(0) };
}

/// This thread is in a changeset's scope as long as this lives.
///
/// It cannot go to another thread. Scopes nest: the innermost one counts, and when it ends the one around it does again.
#[must_use = "the scope ends when this is dropped"]
#[derive(Debug)]
pub struct Scope<'a> {
    token: u64,
    _changeset: PhantomData<&'a Changeset>,
    // The guard belongs to the thread that made it.
    _thread: PhantomData<*const ()>,
}

impl Changeset {
    /// Makes this the changeset of [`record_change`] on this thread, until the guard is dropped.
    pub fn enter(&self) -> Scope<'_> {
        let token = NEXT.with(|next| next.replace(next.get() + 1));
        SCOPES.with(|scopes| scopes.borrow_mut().push((token, self.clone())));
        Scope { token, _changeset: PhantomData, _thread: PhantomData }
    }
}

impl Drop for Scope<'_> {
    fn drop(&mut self) {
        // Its own entry, wherever it is: guards may be dropped in any order. When the thread is ending there is nothing left to clear.
        let left = SCOPES.try_with(|scopes| {
            let mut scopes = scopes.borrow_mut();
            let place = scopes.iter().position(|(token, _)| *token == self.token);
            place.map(|place| scopes.remove(place))
        });
        drop(left);
    }
}

/// The changeset whose scope this thread is in.
pub fn current_changeset() -> Option<Changeset> {
    SCOPES.with(|scopes| scopes.borrow().last().map(|(_, changeset)| changeset.clone()))
}

/// Records a change into the changeset whose scope this thread is in, and gives its sequence number.
///
/// Outside of a scope this is an error, and nothing is recorded. Everything else is as [`Changeset::record`] has it.
pub fn record_change(change: Change) -> Result<u64> {
    match current_changeset() {
        Some(changeset) => changeset.record(change),
        None => Err(Error::OutsideScope { path: change.path.show().into_owned() }),
    }
}
