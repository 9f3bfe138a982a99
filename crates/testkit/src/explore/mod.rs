//! Crashes a workload everywhere and checks every disk that may be left.
//!
//! For each of the calls that the workload makes to change the disk:
//!
//! 1. The program dies just before it. What it finds next is the live disk (a kill) or any disk that a power cut may leave.
//! 2. The call fails, once or for good, and the program goes on as it will. Then the same: next program, or power cut.
//!
//! On each disk found so recovery must succeed, the check must hold, and recovering again must change nothing. Recovery
//! itself is crashed (and, if asked for, failed) at each of its calls in the same way. The explorer knows nothing of what it
//! tests: it sees a [`SimDisk`](crate::sim::SimDisk) and four functions.
//!
//! The calling thread's `fastrand` generator is seeded before each run, so a workload that uses it runs the same every time.

mod explorer;
mod report;
mod workload;

pub use explorer::explore;
pub use report::{Failure, Report, Trouble};
pub use workload::{Acks, Limits, SecondCrash, Workload};
