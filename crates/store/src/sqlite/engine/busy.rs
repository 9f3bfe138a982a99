//! Waiting for other processes: with a limit, and without SQLite's pauses of up to 100 ms.

use std::cell::Cell;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode};

/// Pauses grow by this much, so that a short wait is short.
const STEP: Duration = Duration::from_micros(200);
/// No pause is longer.
const PAUSE_MAX: Duration = Duration::from_millis(5);
/// How often a file that cannot be opened is tried again: some 40 ms.
const OPEN_TRIES_MAX: i32 = 20;

thread_local! {
    /// Until when this thread waits. SQLite calls back with a number only.
    static DEADLINE: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Makes a connection wait as [`within`] says.
pub(crate) fn install(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.busy_handler(Some(wait))
}

/// Does something that may wait for at most this long, in all.
pub(crate) fn within<T>(limit: Duration, work: impl FnOnce() -> T) -> T {
    DEADLINE.set(Instant::now().checked_add(limit));
    let result = work();
    DEADLINE.set(None);
    result
}

/// Waits for what SQLite does not wait for by itself.
pub(crate) fn retry<T>(mut work: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let mut tries = 0;
    loop {
        match work() {
            Err(error) if may_pass(&error, tries) && wait(tries) => tries += 1,
            result => return result,
        }
    }
}

/// A file beside the store may come or go just when it is looked for, as others open the store first or close it last. What cannot be
/// opened for another reason stays so.
fn may_pass(error: &rusqlite::Error, tries: i32) -> bool {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy) => true,
        Some(ErrorCode::CannotOpen) => tries < OPEN_TRIES_MAX,
        _ => false,
    }
}

/// Whether to try once more, after a pause.
fn wait(tries: i32) -> bool {
    let now = Instant::now();
    let Some(left) = DEADLINE.get().and_then(|deadline| deadline.checked_duration_since(now)) else {
        return false;
    };
    let tries = u32::try_from(tries).unwrap_or(0).saturating_add(1);
    // The clock's last digits keep two that wait from doing it in step.
    let jitter = Duration::from_nanos(u64::from(now.elapsed().subsec_nanos() % 256));
    std::thread::sleep(STEP.saturating_mul(tries).min(PAUSE_MAX).min(left) + jitter);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_busy_is_tried_until_the_limit() {
        let busy =
            || rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY), None);
        let mut left = 3;
        let result = within(Duration::from_secs(60), || {
            retry(|| {
                left -= 1;
                if left == 0 { Ok(()) } else { Err(busy()) }
            })
        });
        assert!(result.is_ok());
        assert!(within(Duration::ZERO, || retry(|| Err::<(), _>(busy()))).is_err());
    }

    #[test]
    fn what_cannot_be_opened_is_tried_again_a_few_times() {
        let gone = || {
            rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CANTOPEN), None)
        };
        let mut tries = 0;
        let result = within(Duration::from_secs(60), || {
            retry(|| {
                tries += 1;
                Err::<(), _>(gone())
            })
        });
        assert!(result.is_err());
        assert_eq!(tries, OPEN_TRIES_MAX + 1);
    }

    #[test]
    fn nobody_waits_without_a_limit_or_beyond_it() {
        assert!(!wait(0));
        within(Duration::ZERO, || assert!(!wait(0) || !wait(1)));
        within(Duration::from_secs(60), || assert!(wait(0) && wait(1)));
        assert!(!wait(0));
    }
}
