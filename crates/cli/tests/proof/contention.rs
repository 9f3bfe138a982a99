//! Concurrent `agents config set` processes, with the default lock timeout.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;
use testkit::contended_config::{self, name_of, value_of};
use testkit::folder::scratch;
use testkit::report::{figure, is_proof};
use testkit::seed;

use crate::{names, program};

const SETS: usize = 50;
/// Latest time of a kill after the start: about as long as a set takes, its wait for others included.
const KILL_WITHIN: Duration = Duration::from_millis(30);

struct Home {
    folder: TempDir,
}

impl Home {
    fn new(folder: TempDir) -> Self {
        std::fs::create_dir(folder.path().join("home")).unwrap();
        std::fs::write(folder.path().join("home/config.toml"), contended_config::text()).unwrap();
        Self { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn file(&self) -> PathBuf {
        self.path().join("config.toml")
    }

    fn set(&self, name: &str) -> Command {
        let value = value_of(name).to_string();
        program(&self.path(), self.folder.path(), &["config", "set", "--scope", "global", name, &value])
    }

    /// Runs all writers at once, each with its sets in turn, while a reader polls. Returns the outcome of each
    /// set, and the polls.
    fn contend<T: Send>(&self, writers: usize, set: impl Fn(u32, usize) -> T + Sync) -> (Vec<T>, usize) {
        let set = &set;
        contended_config::poll_during(&self.file(), || {
            thread::scope(|scope| {
                let writers: Vec<_> = (0..writers as u32)
                    .map(|writer| scope.spawn(move || (0..SETS).map(|n| set(writer, n)).collect::<Vec<_>>()))
                    .collect();
                writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
            })
        })
    }

    /// Checks that the next set does not wait, and that only the file and its lock are left.
    fn check_quiet(&self) {
        let next = self.set("x.w.w-next").output().unwrap();
        assert!(next.status.success(), "{next:?}");
        assert_eq!(names(&self.path()), [".config.toml.lock", "config.toml"]);
    }
}

fn all_sets_arrive(writers: usize, folder: TempDir) {
    let home = Home::new(folder);
    let (sets, polls) = home.contend(writers, |writer, n| {
        let name = name_of(writer, n);
        let output = home.set(&name).output().unwrap();
        (name, output)
    });
    let failed: Vec<_> = sets.iter().filter(|(_, output)| !output.status.success()).collect();
    assert!(failed.is_empty(), "{failed:?}");
    let set: Vec<_> = sets.into_iter().map(|(name, _)| name).collect();
    assert_eq!(contended_config::check(&home.file(), &set), writers * SETS);
    home.check_quiet();
    figure(&format!("`agents config set` by {writers} at once, none lost, none failed"), set.len());
    figure(&format!("whole files seen by a reader beside {writers} times `agents config set`"), polls);
}

#[test]
fn eight_at_once_lose_nothing() {
    all_sets_arrive(8, tempfile::tempdir().unwrap());
    // 64 take too long here; the tests of `config` run them with the library.
    if is_proof() {
        all_sets_arrive(64, tempfile::tempdir().unwrap());
    }
}

#[test]
fn what_was_acknowledged_before_a_kill_of_others_is_there() {
    let seed = seed::from_env_or(7106);
    let _replay = seed::Replay::new("cleveragents-cli", "what_was_acknowledged", seed);
    let writers = if is_proof() { 64 } else { 8 };
    let home = Home::new(scratch());
    let (sets, _) = home.contend(writers, |writer, n| {
        let name = name_of(writer, n);
        let mut random = fastrand::Rng::with_seed(seed ^ (u64::from(writer) << 32) ^ n as u64);
        let mut child = home.set(&name).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        // Every second one is killed at a random moment, unless it ends before.
        if random.bool() {
            thread::sleep(KILL_WITHIN.mul_f64(random.f64()));
            child.kill().unwrap();
        }
        let output = child.wait_with_output().unwrap();
        let was_killed = output.status.code().is_none();
        assert!(was_killed || output.status.success(), "{output:?}");
        (name, was_killed)
    });
    let (killed, acknowledged): (Vec<_>, Vec<_>) = sets.into_iter().partition(|(_, was_killed)| *was_killed);
    let acknowledged: Vec<_> = acknowledged.into_iter().map(|(name, _)| name).collect();
    assert!(killed.len() > writers, "too few were killed to show anything: {}", killed.len());
    let set = contended_config::check(&home.file(), &acknowledged);
    assert!((acknowledged.len()..=acknowledged.len() + killed.len()).contains(&set), "{set}");
    home.check_quiet();
    figure("`agents config set` killed at a random moment", killed.len());
    figure("`agents config set` acknowledged beside those, all there", acknowledged.len());
}
