//! Waiting for other processes: with a deadline, and without SQLite's pauses of up to 100 ms.

use std::cell::Cell;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode};

/// Each pause is longer by this much, so that a short wait stays short.
const STEP: Duration = Duration::from_micros(200);
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_millis(5);
/// Attempts to open a file before giving up: about 40 ms.
const OPEN_TRIES_MAX: i32 = 20;

thread_local! {
    /// The deadline of this thread. SQLite's busy callback gets only a number.
    static DEADLINE: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Makes a connection wait until the deadline of [`within`].
pub(crate) fn install(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.busy_handler(Some(wait))
}

/// Runs something that may wait for at most this long in total.
pub(crate) fn within<T>(limit: Duration, work: impl FnOnce() -> T) -> T {
    DEADLINE.set(Instant::now().checked_add(limit));
    let result = work();
    DEADLINE.set(None);
    result
}

/// Retries an operation that SQLite's busy handler does not cover.
pub(crate) fn retry<T>(mut work: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let mut tries = 0;
    loop {
        match work() {
            Err(error) if is_temporary(&error, tries) && wait(tries) => tries += 1,
            result => return result,
        }
    }
}

/// Tells whether an error may be temporary. A -wal or -shm file may appear or vanish while another
/// process opens or closes the store.
fn is_temporary(error: &rusqlite::Error, tries: i32) -> bool {
    match error.sqlite_error_code() {
        // SQLite gives up after 10 s while another process opens or recovers the file.
        Some(ErrorCode::DatabaseBusy | ErrorCode::FileLockingProtocolFailed) => true,
        Some(ErrorCode::CannotOpen) => tries < OPEN_TRIES_MAX,
        _ => false,
    }
}

/// Pauses before the next attempt; returns false after the deadline.
fn wait(tries: i32) -> bool {
    let now = Instant::now();
    let Some(left) = DEADLINE.get().and_then(|deadline| deadline.checked_duration_since(now)) else {
        return false;
    };
    let tries = u32::try_from(tries).unwrap_or(0).saturating_add(1);
    // Jitter keeps two waiting processes from running in step.
    let jitter = Duration::from_nanos(u64::from(now.elapsed().subsec_nanos() % 256));
    std::thread::sleep(STEP.saturating_mul(tries).min(PAUSE_MAX).min(left) + jitter);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_operation_is_retried_until_the_deadline() {
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
    fn opening_is_retried_a_few_times() {
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
    fn no_wait_is_without_or_beyond_a_deadline() {
        assert!(!wait(0));
        within(Duration::ZERO, || assert!(!wait(0) || !wait(1)));
        within(Duration::from_secs(60), || assert!(wait(0) && wait(1)));
        assert!(!wait(0));
    }
}
