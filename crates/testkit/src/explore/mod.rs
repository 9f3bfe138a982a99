//! Crashes a workload everywhere and checks every possible disk.
//!
//! For each call of the workload that changes the disk:
//!
//! 1. The program dies before it. Its successor finds the live disk (a kill) or any disk that a
//!    power cut may leave.
//! 2. The call fails, once or forever, and the program continues. Then as above: a successor, or a
//!    power cut.
//!
//! On each such disk, recovery must succeed, the check must hold, and another recovery must change
//! nothing. Recovery itself is crashed (and optionally failed) at each of its calls in the same
//! way. The explorer knows nothing of the tested program: it sees a
//! [`SimDisk`](crate::sim::SimDisk) and four functions.
//!
//! The `fastrand` generator of the calling thread is seeded before each run, so that a workload
//! which uses it is deterministic.

mod explorer;
mod report;
mod workload;

pub use explorer::explore;
pub use report::{Failure, Report, Trouble};
pub use workload::{Acks, Limits, SecondCrash, Workload};
