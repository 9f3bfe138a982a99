//! Ctrl-C, kills and resumed runs.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::planned;
use crate::program::{Program, stderr_text, text};

/// Longest wait for anything: a guard against hanging.
const LONG: Duration = Duration::from_secs(120);

type Lines = BufReader<Box<dyn Read>>;

/// Starts the program and waits for this line: of a run on standard error, else on standard output.
fn started(mut command: Command, line: &str) -> (Child, Lines) {
    let is_run = command.get_args().next().is_some_and(|name| name == "run");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut lines: Lines = BufReader::new(match is_run {
        true => Box::new(child.stderr.take().expect("it is piped")),
        false => Box::new(child.stdout.take().expect("it is piped")),
    });
    let mut found = String::new();
    while found.trim_end() != line {
        found.clear();
        assert!(lines.read_line(&mut found).expect("it can be read") > 0, "`{line}` was not said");
    }
    (child, lines)
}

fn rest(mut lines: Lines) -> String {
    let mut text = String::new();
    lines.read_to_string(&mut text).expect("it can be read");
    text
}

/// Waits until the process with the pid in this file is gone.
fn check_gone(program: &Program, file: &str) {
    let pid = program.text(file);
    let is_there = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    };
    let start = Instant::now();
    while is_there() {
        assert!(start.elapsed() < LONG, "{file} lives");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A plan whose first actor ends, and whose second one then writes its pid and never ends.
fn endless(program: &Program, traps: &str) {
    program.write("out/here", "");
    let out = program.path("out").display().to_string();
    program.write(
        "plan.toml",
        format!(
            "name = 'work'\n[nodes.first]\nrun = 'echo one > one.txt; echo ran >> {out}/first'\n\
             [nodes.endless]\nneeds = ['first']\n\
             run = \"{traps}echo $$ > {out}/pid; echo ready; [ -e {out}/go ] || while :; do sleep 0.1; done; echo two > two.txt\"\n"
        ),
    );
}

#[test]
fn ctrl_c_ends_the_actors_and_keeps_finished_nodes() {
    let program = planned("");
    endless(&program, "");
    let (mut child, lines) = started(program.command("run plan.toml --allow-write out"), "endless | ready");
    kill_process(Pid::from_child(&child), Signal::INT).expect("it is there");
    let said = rest(lines);
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "{said}");
    assert!(said.contains("endless: cancelled"), "{said}");
    check_gone(&program, "out/pid");
    assert!(said.contains("cancelled, 1 of 2 nodes succeeded"), "{said}");
    let shown = text(&program.run("plan show work").success());
    assert!(shown.contains("first    succeeded") && shown.contains("endless  cancelled"), "{shown}");
    program.write("out/go", "");
    program.run("run --resume work --apply").success();
    assert_eq!(program.text("out/first"), "ran\n", "what had finished is not run again");
    assert_eq!((program.text("one.txt"), program.text("two.txt")), ("one\n".to_owned(), "two\n".to_owned()));
}

#[test]
fn a_second_ctrl_c_kills_actors_that_ignore_the_first() {
    let program = planned("");
    endless(&program, "trap '' TERM INT; ");
    let (mut child, lines) = started(program.command("run plan.toml --allow-write out"), "endless | ready");
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::INT).expect("it is there");
    // Two signals at the same time could be merged into one.
    std::thread::sleep(Duration::from_millis(300));
    kill_process(pid, Signal::INT).expect("it is there");
    let said = rest(lines);
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "{said}");
    check_gone(&program, "out/pid");
}

#[test]
fn quit_kills_the_actors_too() {
    let program = planned("");
    endless(&program, "trap '' TERM INT QUIT; ");
    let (mut child, lines) = started(program.command("run plan.toml --allow-write out"), "endless | ready");
    kill_process(Pid::from_child(&child), Signal::QUIT).expect("it is there");
    let said = rest(lines);
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "{said}");
    check_gone(&program, "out/pid");
    assert!(said.contains("cancelled, 1 of 2 nodes succeeded"), "{said}");
}

/// Another command cancels the plan: the run notices soon, and no node stays running.
#[test]
fn a_run_ends_soon_after_its_plan_is_cancelled() {
    let program = planned("");
    endless(&program, "");
    let (mut child, lines) = started(program.command("run plan.toml --allow-write out"), "endless | ready");
    program.run("plan cancel work").success();
    let start = Instant::now();
    let said = rest(lines);
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "{said}");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert!(said.contains("endless: cancelled") && !said.contains("--resume"), "{said}");
    check_gone(&program, "out/pid");
    let shown = text(&program.run("plan show work").success());
    assert!(shown.contains("): cancelled") && shown.contains("endless  cancelled"), "{shown}");
}

#[test]
fn cancelling_a_plan_ends_the_nodes_of_its_killed_run() {
    let program = planned("");
    endless(&program, "");
    let (mut child, lines) = started(program.command("run plan.toml --allow-write out"), "endless | ready");
    child.kill().expect("it is there");
    child.wait().expect("it ends");
    drop(lines);
    program.run("plan cancel work").success();
    let shown = text(&program.run("plan show work").success());
    assert!(shown.contains("first    succeeded") && shown.contains("endless  cancelled"), "{shown}");
    check_gone(&program, "out/pid");
}

#[test]
fn output_is_followed_while_actors_run() {
    let program = planned("");
    program.write("out/here", "");
    let out = program.path("out").display().to_string();
    program.write(
        "plan.toml",
        format!(
            "name = 'work'\n[nodes.slow]\ntimeout = '300s'\n\
             run = \"echo first; printf be; until [ -e {out}/go ]; do sleep 0.05; done; echo gun; echo last\"\n\
             [nodes.next]\nneeds = ['slow']\nrun = 'echo next'\n"
        ),
    );
    let (mut run, lines) = started(program.command("run plan.toml --allow-write out"), "slow | first");
    let (mut one, of_one) = started(program.command("logs work slow --follow"), "first");
    let (mut all, of_all) = started(program.command("logs work --follow"), "slow | first");
    let (mut latest, of_latest) = started(program.command("logs @latest slow --follow"), "first");
    // A newer plan does not replace it.
    program.run("plan create --name newer").success();
    let (mut stopped, of_stopped) = started(program.command("logs work slow -f"), "first");
    kill_process(Pid::from_child(&stopped), Signal::INT).expect("it is there");
    assert_eq!(stopped.wait().expect("it ends").code(), Some(130));
    drop(of_stopped);
    program.write("out/go", "");
    assert_eq!(rest(of_one), "begun\nlast\n");
    assert_eq!(rest(of_latest), "begun\nlast\n");
    // The order of nodes is not specified.
    let mut said: Vec<String> = rest(of_all).lines().map(str::to_owned).collect();
    said.sort();
    assert_eq!(said, ["next | next", "slow | begun", "slow | last"]);
    drop(rest(lines));
    for child in [&mut run, &mut one, &mut all, &mut latest] {
        assert!(child.wait().expect("it ends").success());
    }
    let followed = text(&program.run("logs work slow --follow --format json").success());
    let events: Vec<&str> = followed.lines().collect();
    assert!(events[0].contains("following") && events[events.len() - 1].contains("\"end\""), "{followed}");
}

#[test]
fn a_killed_run_is_reported_and_can_be_resumed() {
    let program = planned("");
    endless(&program, "");
    let (mut child, lines) = started(program.command("run plan.toml --allow-write out"), "endless | ready");
    let busy = program.run("run --resume work").code(5);
    let pid = format!("is being run by process {} ", child.id());
    assert!(stderr_text(&busy).contains(&pid), "{}", stderr_text(&busy));
    child.kill().expect("it is there");
    child.wait().expect("it ends");
    drop(lines);
    let other = program.run("run --name other -- true").success();
    let warning = "warning: the run of plan work was interrupted\n  hint: agents run --resume work\n";
    assert!(stderr_text(&other).starts_with(warning), "{}", stderr_text(&other));
    program.write("out/go", "");
    let resumed = program.run("run --resume work").success();
    let said = stderr_text(&resumed);
    assert!(said.contains("endless: succeeded"), "{said}");
    assert!(said.contains("warning: endless: "), "recovery is reported: {said}");
    check_gone(&program, "out/pid");
    assert_eq!(program.text("out/first"), "ran\n");
    let stderr_text = stderr_text(&program.run("run --resume work").code(4));
    assert!(stderr_text.contains("is ready: nothing to resume"), "{stderr_text}");
    assert!(stderr_text.contains("hint: agents plan apply "), "{stderr_text}");
}

/// As after a kill between the last step of a run and its `--apply`.
#[test]
fn a_run_that_ended_before_its_apply_is_applied() {
    let program = planned("name = 'work'\n[nodes.a]\nrun = 'echo one > one.txt'\n");
    program.run("run plan.toml").success();
    assert!(!program.path("one.txt").exists());
    let applied = program.run("run --resume work --apply").success();
    assert!(stderr_text(&applied).contains("applied 1 file"), "{}", stderr_text(&applied));
    assert_eq!(program.text("one.txt"), "one\n");
    program.run("run --resume work --apply").code(4);
}
