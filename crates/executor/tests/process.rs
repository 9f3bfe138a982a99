//! Actors as processes: output, end, and no remaining processes.
#![cfg(target_os = "linux")]

extern crate cleveragents_executor as executor;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use executor::{
    ActorCommand, ActorIdentity, ActorProcess, Confine, Confinement, Error, Exit, ExitReport, LINE_BYTES_MAX,
    Limits, spawn,
};
use tempfile::TempDir;

static NEVER: AtomicBool = AtomicBool::new(false);
/// Guards against hanging.
const LONG: Duration = Duration::from_secs(120);

struct Actor {
    folder: TempDir,
    tag: String,
    output_bytes_max: u64,
}

impl Actor {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder is made"),
            tag: format!("test-{:x}", fastrand::u128(..)),
            output_bytes_max: 1 << 20,
        }
    }

    fn output(&self) -> PathBuf {
        self.folder.path().join("output")
    }

    fn start(&self, line: &str) -> (ActorProcess, mpsc::Receiver<String>) {
        let argv = ["sh", "-c", line].map(Into::into).to_vec();
        self.start_argv(argv, None).expect("a shell starts")
    }

    fn start_argv(
        &self,
        argv: Vec<std::ffi::OsString>,
        stdin: Option<&Path>,
    ) -> executor::Result<(ActorProcess, mpsc::Receiver<String>)> {
        let (lines, received) = mpsc::channel();
        let started = spawn(
            &ActorCommand {
                argv,
                folder: self.folder.path(),
                env: vec![("GIVEN".into(), Some("given".into())), ("HOME".into(), None)],
                stdin,
                output: &self.output(),
                output_bytes_max: self.output_bytes_max,
                confine: Confine::Auto,
                allow_write: &[self.folder.path().to_owned()],
                process_tag: &self.tag,
                terminal: false,
            },
            move |line| drop(lines.send(String::from_utf8_lossy(line).into_owned())),
        )?;
        Ok((started, received))
    }
}

fn wait(running: ActorProcess) -> ExitReport {
    running.wait(&Limits { timeout: Some(LONG), grace: LONG, cancel: &NEVER, kill: &NEVER }).expect("it ends")
}

#[test]
fn output_and_exit_code_are_kept() {
    let actor = Actor::new();
    let (running, lines) = actor.start("echo one; echo two >&2; printf '%s' \"$GIVEN${HOME-none}\"; exit 3");
    let report = wait(running);
    assert_eq!(
        report,
        ExitReport { exit: Exit::Exited(3), printed_bytes: 17, kept_bytes: 17, write_error: None }
    );
    assert_eq!(lines.iter().collect::<Vec<_>>(), ["one", "two", "givennone"]);
    assert_eq!(fs::read_to_string(actor.output()).unwrap(), "one\ntwo\ngivennone");
    let (running, _lines) = Actor::new().start("kill -9 $$");
    assert_eq!(wait(running).exit, Exit::Signalled(9));
}

#[test]
fn output_is_bounded_and_never_blocks_the_actor() {
    let actor = Actor { output_bytes_max: 1000, ..Actor::new() };
    let (running, lines) = actor.start("head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end");
    let report = wait(running);
    assert_eq!((report.exit, report.printed_bytes), (Exit::Exited(0), 3_000_005));
    assert_eq!((report.kept_bytes, report.write_error), (1000, None));
    assert_eq!(fs::metadata(actor.output()).unwrap().len(), 1000);
    let lines: Vec<_> = lines.iter().collect();
    assert!(lines.iter().all(|line| line.len() <= LINE_BYTES_MAX));
    assert_eq!(lines.iter().map(String::len).sum::<usize>(), 3_000_003);
    assert_eq!(lines.last().unwrap(), "end");
}

#[test]
fn input_comes_from_a_file() {
    let actor = Actor::new();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let (running, _lines) = actor.start_argv(vec!["cat".into()], Some(&file)).unwrap();
    assert_eq!(wait(running).exit, Exit::Exited(0));
    assert_eq!(fs::read(actor.output()).unwrap(), fs::read(file).unwrap());
}

#[test]
fn a_program_that_cannot_start_is_named() {
    let actor = Actor::new();
    let missing = actor.folder.path().join("missing");
    let error = actor.start_argv(vec!["cat".into()], Some(&missing)).unwrap_err();
    assert!(matches!(&error, Error::Output { file, .. } if *file == missing), "{error}");
    let error = actor.start_argv(vec!["true".into()], None).unwrap_err();
    assert!(
        error.to_string().starts_with("cannot use `"),
        "the output of another is not overwritten: {error}"
    );
    let error = Actor::new().start_argv(Vec::new(), None).unwrap_err();
    assert!(matches!(error, Error::CommandNotFound { .. }), "{error}");
    let still = Error::StillRunning { pids: vec![1, 2] };
    assert!(still.to_string().contains("[1, 2]"));
}

/// Ignores TERM, has a child in its group and one that left it, and prints when all are there.
const STUBBORN: &str = "trap '' TERM; sleep 600 & setsid sh -c \"trap '' TERM; echo away; sleep 600\" & \
                        echo ready; while :; do sleep 600; done";

fn wait_for_lines(lines: &mpsc::Receiver<String>, count: usize) {
    (0..count).for_each(|_| drop(lines.recv_timeout(LONG).expect("the actor gets going")));
}

fn check_gone(identity: &ActorIdentity, actor: &Actor) {
    assert!(!identity.is_running());
    // Independently of the code under test: no process has the tag.
    for entry in fs::read_dir("/proc").expect("it lists").flatten() {
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&environment).contains(&actor.tag), "{:?}", entry.path());
    }
}

#[test]
fn a_timeout_ends_everything_the_actor_started() {
    let actor = Actor::new();
    let (running, lines) = actor.start(STUBBORN);
    wait_for_lines(&lines, 2);
    let identity = running.identity().clone();
    assert!(identity.is_running());
    assert_ne!(running.confinement(), Confinement::Partial);
    let limits = Limits {
        timeout: Some(Duration::ZERO),
        grace: Duration::from_millis(50),
        cancel: &NEVER,
        kill: &NEVER,
    };
    assert_eq!(running.wait(&limits).unwrap().exit, Exit::TimedOut);
    check_gone(&identity, &actor);
}

#[test]
fn a_cancelled_actor_may_clean_up_first() {
    let actor = Actor::new();
    let (running, lines) =
        actor.start("trap 'echo cleaned; exit 7' TERM; echo ready; while :; do sleep 0.01; done");
    wait_for_lines(&lines, 1);
    let identity = running.identity().clone();
    let cancel = AtomicBool::new(false);
    cancel.store(true, Ordering::Relaxed);
    let report = running.wait(&Limits { timeout: None, grace: LONG, cancel: &cancel, kill: &NEVER }).unwrap();
    assert_eq!(report.exit, Exit::Cancelled);
    // Some shells say as well that what they ran was ended.
    assert_eq!(lines.iter().last().as_deref(), Some("cleaned"));
    check_gone(&identity, &actor);
}

/// Children that outlive the actor, in its group and out of it, hold the pipe: they are ended, and waiting does not hang.
#[test]
fn background_processes_of_an_actor_are_ended() {
    let actor = Actor::new();
    let (running, lines) =
        actor.start("sleep 600 & setsid sh -c 'echo away; exec sleep 600' & read x; exit 0");
    wait_for_lines(&lines, 1);
    let identity = running.identity().clone();
    assert_eq!(wait(running).exit, Exit::Exited(0));
    check_gone(&identity, &actor);
}

/// As the next run after a kill, which has only the record.
#[test]
fn another_process_finds_an_actor_and_ends_it() {
    let actor = Actor::new();
    let (running, lines) = actor.start(STUBBORN);
    wait_for_lines(&lines, 2);
    let recorded = running.identity().clone();
    let recorded = ActorIdentity { pid: recorded.pid, ..recorded };
    recorded.end(Duration::from_millis(50)).unwrap();
    check_gone(&recorded, &actor);
    assert_eq!(wait(running).exit, Exit::Signalled(9));
    recorded.end(LONG).unwrap();
}
