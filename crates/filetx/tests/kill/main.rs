//! Real kills and real errors: a program that makes one commit is killed, or fails, at every system call of it.
//!
//! Whatever happens, a reader and then the next open find all of the old state or all of the new in every file, the new one when the commit was
//! acknowledged, the old one when it said that nothing changed. The same when the recovery itself is killed or fails.
//!
//! Killing before a call that changes nothing leaves the same disk as killing before the next one that does, so of those
//! only some are tried; with `AGENTS_PROOF=1` all.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate cleveragents_filetx as filetx;

mod bench;
mod workload;

use bench::{Bench, errors_in_commit, errors_in_recovery, kills_in_commit, kills_in_recovery};
use testkit::report;
use workload::{Role, Workload};

/// Runs before `main`, so that a child has one thread and no test harness: strace counts calls by thread.
#[expect(unsafe_code, reason = "a static in this section is a function that the loader calls")]
#[used]
// SAFETY: the loader calls what is listed here with C's calling convention; the function takes nothing and does not unwind.
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = {
    extern "C" fn start() {
        if let Some(role) = Role::of_this_process() {
            role.play();
        }
    }
    start
};

/// Runs a proof of a workload, and reports how many points it tried.
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
            fn an_error_is_told_as_what_it_left() {
                prove(Workload::$workload, "errors", errors_in_commit);
            }

            #[test]
            fn a_kill_of_recovery_changes_nothing_about_the_outcome() {
                prove(Workload::$workload, "kill points of recovery", kills_in_recovery);
            }

            #[test]
            fn an_error_in_recovery_changes_nothing_about_the_outcome() {
                prove(Workload::$workload, "errors in recovery", errors_in_recovery);
            }
        }
    )*};
}

proofs!(one_file OneFile, own_folder OwnFolder, first_use FirstUse, checkpoint Checkpoint, growth Growth, tree Tree);
