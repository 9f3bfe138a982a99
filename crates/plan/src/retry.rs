//! Repeats calls whose outcome is unknown. This is safe: every write of the store is idempotent by
//! its request id.

use store::Outcome;

/// Attempts of a call whose outcome stays unknown.
const ATTEMPTS_MAX: usize = 3;

/// Repeats a call until its outcome is known, at most three times.
///
/// An attempt that fails before it reads the store says nothing about an earlier attempt, whose
/// outcome stays unknown. A refusal of the store is the outcome of all attempts, because the store
/// looks for the request id first.
pub fn retry<T>(mut call: impl FnMut() -> store::Result<T>) -> store::Result<T> {
    let mut unknown = None;
    for _ in 0..ATTEMPTS_MAX {
        match call() {
            Err(error) if error.outcome() == Outcome::Unknown => unknown = Some(error),
            Err(error) if !error.is_refusal() => return Err(unknown.unwrap_or(error)),
            ended => return ended,
        }
    }
    Err(unknown.expect("the loop goes on only after a failure whose outcome is unknown"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_call_with_an_unknown_outcome_is_repeated_three_times() {
        let stopped = || store::Error::Stopped { path: "state.db".into() };
        let mut attempts = 0;
        let ended = retry(|| {
            attempts += 1;
            if attempts < 3 { Err(stopped()) } else { Ok(attempts) }
        });
        assert_eq!(ended.unwrap(), 3);
        let mut attempts = 0;
        let ended: store::Result<()> = retry(|| {
            attempts += 1;
            Err(stopped())
        });
        assert_eq!((ended.unwrap_err().code(), attempts), ("store-stopped", ATTEMPTS_MAX));
        let mut attempts = 0;
        let ended: store::Result<()> = retry(|| {
            attempts += 1;
            Err(store::Error::Removed { path: "state.db".into() })
        });
        assert_eq!((ended.unwrap_err().code(), attempts), ("store-removed", 1));
    }

    /// The error of a call whose first attempt is unknown and whose second attempt fails like this.
    fn unknown_then(second: store::Error) -> store::Error {
        let stopped = store::Error::Stopped { path: "state.db".into() };
        let mut failures = vec![second, stopped];
        let ended: store::Result<()> = retry(|| Err(failures.pop().unwrap()));
        ended.unwrap_err()
    }

    #[test]
    fn an_unknown_outcome_stays_unknown_when_a_later_attempt_fails() {
        let cause = || Arc::new(std::io::Error::other("no room"));
        let path = || "state.db".into();
        for second in [
            store::Error::Full { path: path(), action: "record entries", source: cause() },
            store::Error::Busy { path: path(), action: "record entries", waited: Duration::ZERO },
            store::Error::Removed { path: path() },
            store::Error::Unreachable { path: path(), source: cause() },
            // The changeset may have been removed after the first attempt recorded into it.
            store::Error::NotFound { what: "changeset", name: "x".into() },
        ] {
            assert_eq!(second.outcome(), Outcome::Aborted);
            assert_eq!(unknown_then(second).outcome(), Outcome::Unknown);
        }
    }

    #[test]
    fn a_refusal_is_the_outcome_of_all_attempts() {
        let (changeset, status) = (store::ChangesetId::new(), store::Status::Sealed);
        let ended = unknown_then(store::Error::Closed { changeset, status });
        assert_eq!((ended.code(), ended.outcome()), ("changeset-closed", Outcome::Aborted));
    }
}
