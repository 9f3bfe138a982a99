//! The reports that the project started from, as features: `config/*.feature`, `context/*.feature`, `plan/*.feature`, `run/*.feature` and
//! `safety/*.feature`, one file per case, tagged with its name.
//!
//! Every feature is a test of its own, so that any test runner lists and runs it; the steps start the real program. A step that fails,
//! is not defined or is skipped fails the test.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "plays a person who edits the files")]

mod commands;
mod contention;
mod contexts;
mod files;
mod four_files;
mod kills;
mod library;
mod locks;
mod plans;
mod runs;
mod world;

use std::path::{Path, PathBuf};

use cucumber::World as _;
use cucumber::writer::Stats as _;
use futures::FutureExt as _;
use testkit::mount::SmallDisk;
use testkit::{children, report, strace, unlocked_edit};

use world::{World, Writer};

/// Attempts to make the control fail.
const CONTROLS_MAX: usize = 10;

/// Tag of scenarios that mount a disk, which needs root.
const NEEDS_MOUNT: &str = "needs_mount";
/// Tag of scenarios that kill the program, or make it fail, at system calls.
const NEEDS_STRACE: &str = "needs_strace";
/// Tag of the scenario whose save is killed; its controls must fail.
const KILLED: &str = "killed";

fn folder(of: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/features").join(of)
}

/// Runs the scenarios of a feature that have a tag, or all. Returns the numbers of passed and failed steps.
fn run(of: &str, name: &str, writer: Writer, tag: Option<&'static str>) -> (usize, usize) {
    let file = folder(of).join(format!("{name}.feature"));
    assert!(file.is_file(), "there is no {}", file.display());
    let cucumber = World::cucumber()
        .max_concurrent_scenarios(1)
        .with_default_cli()
        .before(move |_, _, _, world| {
            world.writer = writer;
            async {}.boxed_local()
        })
        .fail_on_skipped();
    let is_wanted = move |scenario: &cucumber::gherkin::Scenario| {
        let has = |tag: &str| scenario.tags.iter().any(|found| found == tag);
        tag.is_none_or(has)
            && (!has(NEEDS_MOUNT) || can_mount(&scenario.name))
            && (!has(NEEDS_STRACE) || can_trace(&scenario.name))
    };
    let done =
        futures::executor::block_on(cucumber.filter_run(file, move |_, _, scenario| is_wanted(scenario)));
    assert_eq!((done.parsing_errors(), done.hook_errors()), (0, 0), "{name}");
    (done.passed_steps(), done.failed_steps())
}

/// Returns true if disks can be mounted here; otherwise reports a skip.
fn can_mount(scenario: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let tried = SmallDisk::new(folder.path(), 4096);
    if let Err(reason) = &tried {
        skipped(scenario, reason);
    }
    tried.is_ok()
}

/// Returns true if programs can be traced here; otherwise reports a skip.
fn can_trace(scenario: &str) -> bool {
    let reason = strace::unusable();
    if let Some(reason) = &reason {
        skipped(scenario, reason);
    }
    reason.is_none()
}

fn skipped(scenario: &str, reason: &str) {
    report::skipped(&format!("features::{}", scenario.to_lowercase().replace(' ', "_")), reason);
}

fn check(of: &str, name: &str) {
    let (passed, failed) = run(of, name, Writer::Program, None);
    assert_eq!(failed, 0, "{failed} steps of {name} failed");
    assert!(passed > 0, "{name} has no steps");
}

macro_rules! features {
    ($of:ident, $prefix:literal: $($name:ident)*) => {
        mod $of {
            $(#[test]
            fn $name() {
                super::check(stringify!($of), stringify!($name));
            })*

            #[test]
            fn every_feature_is_run_and_tagged_with_its_case() {
                super::check_tags(stringify!($of), $prefix, &[$(stringify!($name)),*]);
            }
        }
    };
}

features! {
    config, "cfg-":
    batch cwd empty env_clash format interp nested origin race readonly secret stale symlink trust unknown
}

features! {
    context, "ctx-":
    cas clear export full import lost name tail torn
}

features! {
    plan, "":
    app_dirty app_drift app_empty app_ignored app_partial app_roots app_verify aud_chain chg_closed chg_content chg_foreign chg_persist chg_race cln_keep db_busy par_base par_conflict par_seq pln_illegal pln_swallow pln_twice sec_escape und_drift und_undo
}

features! {
    run, "":
    chg_closed chg_shell cln_keep par_base par_conflict par_failfast par_overlap par_queue par_retry par_seq par_timeout pln_resume run_again und_undo
}

features! {
    safety, "":
    lck_clean lck_disjoint lck_holder lck_kill sec_bomb sec_fifo sec_perm
}

fn check_tags(of: &str, prefix: &str, features: &[&str]) {
    for entry in std::fs::read_dir(folder(of)).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(features.contains(&name), "{name} is not in the list of features");
        let tag = format!("@case-{prefix}{}\n", name.replace('_', "-"));
        assert!(
            std::fs::read_to_string(&path).unwrap().starts_with(&tag),
            "{name} does not begin with {tag}"
        );
    }
}

/// The control: read, change and write back without a lock must fail the scenario of the original report.
#[test]
fn the_usual_way_fails_the_original_report() {
    let fails = |_| run("config", "race", Writer::Naive, Some("tdd_issue_7106")).1 > 0;
    assert!((0..CONTROLS_MAX).any(fails), "the race is too tame to show anything");
}

/// The controls: writing the four files in turn, and replacing each by a rename, must fail the scenario of the original report. Kills
/// come at every call, so one attempt is enough.
#[test]
fn the_usual_ways_to_save_fail_the_original_report() {
    if let Some(reason) = strace::unusable() {
        return report::skipped("features::controls", &reason);
    }
    for writer in [Writer::Naive, Writer::Renames] {
        let (_, failed) = run("context", "torn", writer, Some(KILLED));
        assert_eq!(failed, 1, "{writer:?} passes: the kills are too tame to show anything");
    }
}

/// A child process that saves in a common way. Without a role in its environment, this test does nothing.
#[test]
fn child() {
    match children::role() {
        None => {}
        Some((role, folder)) if role.contains(':') => four_files::play(&role, &folder),
        Some((role, home)) => {
            let (key, value) = role.split_once('=').unwrap();
            unlocked_edit::set(&home.join("config.toml"), key, value.parse().unwrap());
        }
    }
}
