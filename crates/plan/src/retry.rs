//! Asking again when it is not known how a call ended. Every write of the store happens once for one id, so this is safe.

use store::Outcome;

/// How often a call is asked whose outcome is unknown, before the caller is told so.
const ATTEMPTS_MAX: usize = 3;

/// Calls until the outcome is known, a few times.
///
/// A later attempt that failed before it could look says nothing about an earlier one: that stays unknown. One that the store refuses
/// answers for all of them, since the store looks for the id first.
pub fn retry<T>(mut call: impl FnMut() -> store::Result<T>) -> store::Result<T> {
    let mut doubt = None;
    for _ in 0..ATTEMPTS_MAX {
        match call() {
            Err(error) if error.outcome() == Outcome::Unknown => doubt = Some(error),
            Err(error) if !error.is_refusal() => return Err(doubt.unwrap_or(error)),
            ended => return ended,
        }
    }
    Err(doubt.expect("the loop goes on only after a failure whose outcome is unknown"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_unknown_is_asked_again_a_few_times() {
        let stopped = || store::Error::Stopped { path: "state.db".into() };
        let mut asked = 0;
        let ended = retry(|| {
            asked += 1;
            if asked < 3 { Err(stopped()) } else { Ok(asked) }
        });
        assert_eq!(ended.unwrap(), 3);
        let mut asked = 0;
        let ended: store::Result<()> = retry(|| {
            asked += 1;
            Err(stopped())
        });
        assert_eq!((ended.unwrap_err().code(), asked), ("store-stopped", ATTEMPTS_MAX));
        let mut asked = 0;
        let ended: store::Result<()> = retry(|| {
            asked += 1;
            Err(store::Error::Gone { path: "state.db".into() })
        });
        assert_eq!((ended.unwrap_err().code(), asked), ("store-gone", 1));
    }

    /// The end of a call whose first attempt is unknown, and whose second one fails like this.
    fn unknown_then(second: store::Error) -> store::Error {
        let stopped = store::Error::Stopped { path: "state.db".into() };
        let mut failures = vec![second, stopped];
        let ended: store::Result<()> = retry(|| Err(failures.pop().unwrap()));
        ended.unwrap_err()
    }

    #[test]
    fn what_was_unknown_stays_so_when_a_later_attempt_changes_nothing() {
        let cause = || Arc::new(std::io::Error::other("no room"));
        let path = || "state.db".into();
        for second in [
            store::Error::Full { path: path(), doing: "record entries", source: cause() },
            store::Error::Busy { path: path(), doing: "record entries", waited: Duration::ZERO },
            store::Error::Gone { path: path() },
            store::Error::Unreachable { path: path(), source: cause() },
            // Who had recorded may have removed it since.
            store::Error::NotFound { what: "changeset", name: "x".into() },
        ] {
            assert_eq!(second.outcome(), Outcome::Aborted);
            assert_eq!(unknown_then(second).outcome(), Outcome::Unknown);
        }
    }

    #[test]
    fn a_refusal_answers_for_the_attempts_before_it() {
        let (changeset, status) = (store::ChangesetId::new(), store::Status::Sealed);
        let ended = unknown_then(store::Error::Closed { changeset, status });
        assert_eq!((ended.code(), ended.outcome()), ("changeset-closed", Outcome::Aborted));
    }
}
