//! An actor with the terminal: it reads input in the foreground, and the terminal is taken back.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "opens a terminal")]

extern crate cleveragents_executor as executor;

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use executor::{ActorCommand, Confine, Exit, Limits, spawn};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::tcgetpgrp;

static NEVER: AtomicBool = AtomicBool::new(false);
const CHILD: &str = "AGENTS_TERMINAL_TEST";

/// The owner of the terminal: the leader of a new session.
#[test]
fn child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let line = "read word; echo \"got $word\"; kill -STOP $$; echo awake; exit 5";
    let running = spawn(
        &ActorCommand {
            argv: ["sh", "-c", line].map(Into::into).to_vec(),
            folder: Path::new("/"),
            env: Vec::new(),
            stdin: None,
            terminal: true,
            output: Path::new("/nowhere"),
            output_bytes_max: 0,
            confine: Confine::Auto,
            allow_write: &[],
            process_tag: &format!("terminal-{}", std::process::id()),
        },
        |_| panic!("nothing is captured"),
    )
    .expect("a shell starts");
    let terminal = File::open("/dev/tty").expect("there is a terminal");
    assert_ne!(tcgetpgrp(&terminal).unwrap(), rustix::process::getpgrp());
    let limits = Limits { timeout: None, grace: Default::default(), cancel: &NEVER, kill: &NEVER };
    let report = running.wait(&limits).expect("it ends");
    assert_eq!((report.exit, report.printed_bytes), (Exit::Exited(5), 0));
    assert_eq!(tcgetpgrp(&terminal).unwrap(), rustix::process::getpgrp(), "it came back");
    testkit::children::send("taken back");
}

#[test]
fn an_actor_may_have_the_terminal() {
    let main = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&main).unwrap();
    unlockpt(&main).unwrap();
    let name = ptsname(&main, Vec::new()).unwrap().into_string().unwrap();
    let other = || -> OwnedFd { OpenOptions::new().read(true).write(true).open(&name).unwrap().into() };
    let mut command = Command::new("setsid");
    command.args(["--ctty", "--wait"]).arg(std::env::current_exe().unwrap());
    command.args(["child", "--exact", "--nocapture"]).env(CHILD, "1");
    command.stdin(other()).stdout(other()).stderr(other());
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut terminal = File::from(main);
    terminal.write_all(b"hello\n").unwrap();
    let (mut printed, mut buffer) = (String::new(), [0; 4096]);
    // Reading ends with an error when the other end is closed.
    while let Ok(got @ 1..) = terminal.read(&mut buffer) {
        printed += &String::from_utf8_lossy(&buffer[..got]);
    }
    assert!(child.wait().unwrap().success(), "{printed}");
    for word in ["got hello", "awake", "@taken back"] {
        assert!(printed.contains(word), "{word}: {printed}");
    }
}
