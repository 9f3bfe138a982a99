//! Steps of runs: waiting for actors, and checking their files.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Output, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use cucumber::{given, then, when};

use crate::commands::{said, stdout};
use crate::world::{World, read};

/// Longest wait for anything: a guard against hanging.
const LONG: Duration = Duration::from_secs(120);
/// Interval between two checks.
const LOOK: Duration = Duration::from_millis(20);

/// A run in the background.
#[derive(Debug)]
pub(crate) struct Started {
    child: Child,
    /// Lines of standard output and standard error as they arrive.
    lines: Mutex<Receiver<String>>,
    heard: String,
}

impl Drop for Started {
    fn drop(&mut self) {
        // The scenario failed and left it running.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The folder OUT.
fn out(world: &World, name: &str) -> PathBuf {
    world.path("elsewhere").join(name)
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < LONG, "waited too long: {what}");
        thread::sleep(LOOK);
    }
}

#[given("a project")]
fn project(world: &mut World) {
    fs::create_dir(world.path("project/.cleveragents")).unwrap();
}

#[given("actors may write to a folder OUT")]
fn writable(world: &mut World) {
    let folder = world.path("elsewhere");
    world.variables.insert("OUT".to_owned(), folder.display().to_string());
    let key = "CLEVERAGENTS_SANDBOX_ALLOW_WRITE";
    world.variables.insert(key.to_owned(), format!("[{:?}]", folder.display().to_string()));
}

#[given(expr = "actors may write to a folder OUT, in which there is {string}")]
fn writable_with(world: &mut World, name: String) {
    writable(world);
    fs::write(out(world, &name), "").unwrap();
}

#[given(expr = "a plan file with {int} nodes that each make a file of their own")]
fn many_nodes(world: &mut World, count: usize) {
    let node = |n: usize| format!("[nodes.n{n}]\nrun = \"echo $AGENTS_NODE > made-$AGENTS_NODE.txt\"\n");
    fs::write(world.path("project/plan.toml"), (0..count).map(node).collect::<String>()).unwrap();
}

#[when(expr = "I start {string}")]
fn start(world: &mut World, words: String) {
    let mut command = world.program();
    command.args(words.split_whitespace().skip(1));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (sender, lines) = mpsc::channel();
    let streams: [Box<dyn Read + Send>; 2] =
        [Box::new(child.stdout.take().unwrap()), Box::new(child.stderr.take().unwrap())];
    for stream in streams {
        let sender = sender.clone();
        thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
    }
    world.started = Some(Started { child, lines: Mutex::new(lines), heard: String::new() });
}

#[when(expr = "I wait for {string} in OUT")]
fn wait_for(world: &mut World, name: String) {
    let file = out(world, &name);
    wait_until(&format!("{name} in OUT"), || file.exists());
}

#[when(expr = "I put {string} into OUT")]
fn put(world: &mut World, name: String) {
    fs::write(out(world, &name), "").unwrap();
}

#[when(expr = "I wait until it says {string}")]
fn wait_until_said(world: &mut World, text: String) {
    let started = world.started.as_mut().unwrap();
    while !started.heard.contains(&text) {
        let line = started.lines.get_mut().unwrap().recv_timeout(LONG);
        started.heard += &line.unwrap_or_else(|_| panic!("not said: {text}; this was: {}", started.heard));
    }
}

#[when("it ends")]
fn ends(world: &mut World) {
    let mut started = world.started.take().unwrap();
    let start = Instant::now();
    let status = loop {
        if let Some(status) = started.child.try_wait().unwrap() {
            break status;
        }
        assert!(start.elapsed() < LONG, "it does not end");
        thread::sleep(LOOK);
    };
    let rest: Vec<String> = started.lines.get_mut().unwrap().iter().collect();
    let said = format!("{}\n{}\n", started.heard, rest.join("\n"));
    world.output = Some(Output { status, stdout: said.into_bytes(), stderr: Vec::new() });
}

#[when("it is killed")]
fn killed(world: &mut World) {
    let mut started = world.started.take().unwrap();
    started.child.kill().unwrap();
    started.child.wait().unwrap();
}

#[then(expr = "said contains {string}")]
fn said_contains(world: &mut World, expected: String) {
    assert!(said(world).contains(&expected), "{}", said(world));
}

#[then(expr = "the file {string} in OUT is {string}")]
fn out_is(world: &mut World, name: String, text: String) {
    assert_eq!(read(&out(world, &name)), format!("{}\n", text.replace(',', "\n")));
}

#[then(expr = "there is no file {string}")]
fn no_file(world: &mut World, name: String) {
    assert!(!world.path("project").join(&name).exists(), "there is {name}");
}

#[then(expr = "no process of {string} in OUT is left")]
fn no_process(world: &mut World, names: String) {
    for name in names.split(", ") {
        let pid = read(&out(world, name));
        let state = format!("/proc/{}/stat", pid.trim());
        // A zombie does not count.
        let is_gone = || fs::read_to_string(&state).map_or(true, |stat| stat.contains(") Z "));
        wait_until(&format!("{name} ends"), is_gone);
    }
}

#[then(expr = "{int} nodes succeeded, and at most {int} ran at once")]
fn at_once(world: &mut World, count: usize, most: usize) {
    let (mut running, mut succeeded) = (BTreeSet::new(), 0);
    for line in stdout(world).lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        let node = event["node"].as_str().unwrap_or_default().to_owned();
        match event["event"].as_str().unwrap() {
            "node-started" => assert!(running.insert(node), "{line}"),
            "node-ended" => {
                assert!(running.remove(&node), "{line}");
                succeeded += usize::from(event["outcome"] == "succeeded");
            }
            _ => {}
        }
        assert!(running.len() <= most, "{line}");
    }
    assert_eq!(succeeded, count);
}

#[then(expr = "each of the {int} nodes has made its file")]
fn all_made(world: &mut World, count: usize) {
    for n in 0..count {
        assert_eq!(read(&world.path(&format!("project/made-n{n}.txt"))), format!("n{n}\n"));
    }
}

#[then("no copies of actors are left")]
fn no_copies(world: &mut World) {
    let runs = world.home.clone().unwrap().join("runs");
    let left = fs::read_dir(&runs).map_or(0, Iterator::count);
    assert_eq!(left, 0, "{}", runs.display());
}
