//! Asking again when it is not known how a call ended. Every write of the store happens once for one id, so this is safe.

use store::Outcome;

/// How often a call is asked whose outcome is unknown, before the caller is told so.
const ATTEMPTS_MAX: usize = 3;

/// Calls until the outcome is known, a few times.
pub(crate) fn retry<T>(mut call: impl FnMut() -> store::Result<T>) -> store::Result<T> {
    let mut attempts = 1;
    loop {
        match call() {
            Err(error) if error.outcome() == Outcome::Unknown && attempts < ATTEMPTS_MAX => attempts += 1,
            ended => return ended,
        }
    }
}

#[cfg(test)]
mod tests {
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
}
