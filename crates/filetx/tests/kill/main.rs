//! Real kills and real errors: a program is killed, or fails, at every system call of one commit.
//!
//! A reader and the next open find the old or the new state in all files: the new one if the commit
//! was acknowledged, the old one if it was aborted. The same holds if recovery itself is killed or
//! fails.
//!
//! A kill before a call that changes nothing leaves the same disk as a kill before the next call
//! that does, so only some of them are tried; `AGENTS_PROOF=1` tries all.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate cleveragents_filetx as filetx;

mod bench;
mod workload;

use bench::{Bench, errors_in_commit, errors_in_recovery, kills_in_commit, kills_in_recovery};
use testkit::report;
use workload::{Role, Workload};

/// Runs before `main`, so that a child has one thread and no test harness: strace counts calls by
/// thread.
#[expect(unsafe_code, reason = "a static in this section is a function that the loader calls")]
#[used]
// SAFETY: the loader calls what is listed here with C's calling convention; the function takes
// nothing and does not unwind.
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = {
    extern "C" fn start() {
        if let Some(role) = Role::of_this_process() {
            role.play();
        }
    }
    start
};

/// Runs a proof of a workload, and reports the number of points.
fn prove(workload: Workload, what: &str, proof: fn(&mut Bench)) {
    if let Some(reason) = testkit::strace::unusable() {
        report::skipped("kill", &reason);
        return;
    }
    let mut bench = Bench::new(workload);
    proof(&mut bench);
    report::figure(&format!("{what}, {}", workload.name()), bench.tried);
    bench.hold();
}

macro_rules! proofs {
    ($($module:ident $workload:ident),*) => {$(
        mod $module {
            use super::*;

            #[test]
            fn a_kill_leaves_all_old_or_all_new() {
                prove(Workload::$workload, "kill points", kills_in_commit);
            }

            #[test]
            fn an_error_reports_the_state_of_the_disk() {
                prove(Workload::$workload, "errors", errors_in_commit);
            }

            #[test]
            fn a_kill_during_recovery_does_not_change_the_outcome() {
                prove(Workload::$workload, "kill points of recovery", kills_in_recovery);
            }

            #[test]
            fn an_error_during_recovery_does_not_change_the_outcome() {
                prove(Workload::$workload, "errors in recovery", errors_in_recovery);
            }
        }
    )*};
}

proofs!(one_file OneFile, own_folder OwnFolder, first_use FirstUse, checkpoint Checkpoint, growth Growth, tree Tree);
