//! An uncontended acquire and release of a lock. The baseline is the bare system calls on an open
//! file.

use std::fs::File;
use std::path::Path;

use cleveragents_filetx::{Lock, LockMode, Wait};
use testkit::bench::{Report, Result, Target, compare, timed};

const ROUNDS: usize = 60;
const OPS: usize = 2000;

pub(crate) fn measure(place: &Path, report: &mut Report) -> Result<()> {
    let lock = Lock::open(&place.join("ours"))?;
    let file = File::create_new(place.join("bare"))?;
    let wait = Wait::default();
    let outcome = compare(
        ROUNDS,
        OPS,
        || {
            timed(|| {
                for _ in 0..OPS {
                    drop(lock.acquire(LockMode::Exclusive, &wait)?);
                }
                Ok(())
            })
        },
        || {
            timed(|| {
                for _ in 0..OPS {
                    file.lock()?;
                    file.unlock()?;
                }
                Ok(())
            })
        },
    )?;
    report.add("lock and unlock, exclusive", outcome, Target::RatioAtMost(5.0));
    Ok(())
}
