//! The reports that the project started from, as features: `config/*.feature`, one file per case, tagged with its name.
//!
//! Every feature is a test of its own, so that any test runner lists and runs it; the steps start the real program. A step that fails,
//! is not defined or is skipped fails the test.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "plays a person who edits the files")]

mod commands;
mod contention;
mod files;
mod library;
mod world;

use std::path::{Path, PathBuf};

use cucumber::World as _;
use cucumber::writer::Stats as _;
use futures::FutureExt as _;
use testkit::mount::SmallDisk;
use testkit::{children, naive, notes};

use world::{World, Writer};

/// How often the control is tried before we say that it cannot fail.
const CONTROLS_MAX: usize = 10;

/// The tag of scenarios that mount a disk, which only root may.
const NEEDS_MOUNT: &str = "needs_mount";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/features/config")
}

/// Runs the scenarios of a feature that have a tag, or all. Says how many steps passed and how many failed.
fn run(name: &str, writer: Writer, tag: Option<&'static str>) -> (usize, usize) {
    let file = folder().join(format!("{name}.feature"));
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
        tag.is_none_or(has) && (!has(NEEDS_MOUNT) || can_mount(&scenario.name))
    };
    let done =
        futures::executor::block_on(cucumber.filter_run(file, move |_, _, scenario| is_wanted(scenario)));
    assert_eq!((done.parsing_errors(), done.hook_errors()), (0, 0), "{name}");
    (done.passed_steps(), done.failed_steps())
}

/// Whether disks can be mounted here. If not, that is reported.
fn can_mount(scenario: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let tried = SmallDisk::new(folder.path(), 4096);
    if let Err(reason) = &tried {
        notes::skipped(&format!("features::{}", scenario.to_lowercase().replace(' ', "_")), reason);
    }
    tried.is_ok()
}

fn check(name: &str) {
    let (passed, failed) = run(name, Writer::Program, None);
    assert_eq!(failed, 0, "{failed} steps of {name} failed");
    assert!(passed > 0, "{name} has no steps");
}

macro_rules! features {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            check(stringify!($name));
        })*

        const FEATURES: &[&str] = &[$(stringify!($name)),*];
    };
}

features! {
    batch cwd empty env_clash format interp nested origin race readonly secret stale symlink trust unknown
}

#[test]
fn every_feature_is_run_and_tagged_with_its_case() {
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(FEATURES.contains(&name), "{name} is not in the list of features");
        let tag = format!("@case-cfg-{}\n", name.replace('_', "-"));
        assert!(
            std::fs::read_to_string(&path).unwrap().starts_with(&tag),
            "{name} does not begin with {tag}"
        );
    }
}

/// The control: reading, changing and writing back without a lock must fail the scenario of the original report.
#[test]
fn the_usual_way_fails_the_original_report() {
    let fails = |_| run("race", Writer::Naive, Some("tdd_issue_7106")).1 > 0;
    assert!((0..CONTROLS_MAX).any(fails), "the race is too tame to show anything");
}

/// A process that sets one key in the usual way. A plain test run passes here without a role.
#[test]
fn child() {
    let Some((role, home)) = children::role() else { return };
    let (key, value) = role.split_once('=').unwrap();
    naive::set(&home.join("config.toml"), key, value.parse().unwrap());
}
