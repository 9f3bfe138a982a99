//! Steps that kill a save at every system call that changes something.

use std::path::PathBuf;
use std::process::Command;

use cucumber::{given, then, when};
use serde_json::Value;
use testkit::strace::{self, BEGIN, Call, Inject};
use testkit::{children, folder};

use crate::contexts::strays;
use crate::four_files;
use crate::world::{World, Writer};

/// The context that is saved and killed.
const NAME: &str = "chat";

/// The state that one kill left.
#[derive(Debug)]
#[expect(dead_code, reason = "`at` is for the failure message")]
pub(crate) struct Killed {
    /// The system call at which it came.
    at: String,
    /// True if the save had been acknowledged.
    acknowledged: bool,
    /// The number in all four files, or the reason why there is none.
    said: Result<u64, String>,
    /// Leftovers after the next save, or the reason why it failed.
    left: Result<Vec<String>, String>,
}

/// Saves a number in all four files with the scenario's writer.
fn save(world: &World, number: u64) -> Command {
    let mut command = match world.writer {
        Writer::Program => {
            let from = world.path("numbers").join(number.to_string());
            four_files::write(&from, number);
            let mut command = world.program();
            command.args(["context", "import", "--as", NAME, "--replace"]).arg(from);
            command
        }
        Writer::Naive => children::command("child", &format!("plain:{number}"), &world.context(NAME)),
        Writer::Renames => children::command("child", &format!("renames:{number}"), &world.context(NAME)),
    };
    // A killed process would leave a broken coverage profile.
    command.env("LLVM_PROFILE_FILE", "/dev/null");
    command
}

/// The number in all four files, as the program reads them.
fn said(world: &World) -> Result<u64, String> {
    let output = world.ask(&["context", "export", NAME]);
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |line: &Value, field: &str| line["value"][field].as_u64();
    let all = [
        of(&lines[1], "number"),
        of(&lines[1], "message_count").or(of(&lines[1], "number")),
        of(&lines[2], "number"),
        of(&lines[3], "number"),
        Some(lines.len() as u64 - 5),
    ];
    match all[0] {
        Some(number) if all == [Some(number); 5] => Ok(number),
        _ => Err(format!("they say different numbers: {all:?}")),
    }
}

#[given(expr = "a context whose four files all say {int}")]
fn context_that_says(world: &mut World, number: u64) {
    world.current = world.path(BEGIN);
    std::fs::create_dir(&world.current).unwrap();
    if world.writer == Writer::Program {
        let made = save(world, number).output().unwrap();
        assert!(made.status.success(), "{made:?}");
    } else {
        four_files::write(&world.context(NAME), number);
    }
    assert_eq!(said(world), Ok(number));
}

#[when(expr = "a save of {int} is killed at every call that changes something")]
fn killed_everywhere(world: &mut World, number: u64) {
    let home: PathBuf = world.home.clone().unwrap();
    let start = world.path("start");
    folder::copy(&home, &start);
    let calls = strace::calls(&save(world, number), &world.path("log"));
    let changing: Vec<Call> = calls.into_iter().filter(Call::changes).collect();
    for call in changing {
        folder::copy(&start, &home);
        let ended = strace::run(&save(world, number), &call, Inject::Kill);
        let said = said(world);
        let next = save(world, number + 1).output().unwrap();
        let left = match next.status.success() {
            true => Ok(strays(world, NAME)),
            false => Err(format!("{next:?}")),
        };
        world.kills.push(Killed {
            at: strace::describe(&call, Inject::Kill),
            // Acknowledged: it was not killed, or had printed its result before.
            acknowledged: !ended.killed || ended.output.contains("saved") || ended.output.contains("now"),
            said,
            left,
        });
    }
    assert!(world.kills.len() > 4, "it changes something: {:?}", world.kills);
}

#[then(expr = "every kill left four files that say {int} or four that say {int}")]
fn old_or_new(world: &mut World, old: u64, new: u64) {
    let mixed: Vec<_> =
        world.kills.iter().filter(|kill| kill.said != Ok(old) && kill.said != Ok(new)).collect();
    assert!(mixed.is_empty(), "{} of {} kills: {mixed:#?}", mixed.len(), world.kills.len());
    // The kills came before and after the commit point.
    for number in [old, new] {
        assert!(world.kills.iter().any(|kill| kill.said == Ok(number)), "none left {number}");
    }
}

#[then("no save that was acknowledged is lost")]
fn none_lost(world: &mut World) {
    let newest = world.kills.iter().filter_map(|kill| kill.said.clone().ok()).max();
    let lost: Vec<_> =
        world.kills.iter().filter(|kill| kill.acknowledged && kill.said.clone().ok() != newest).collect();
    assert!(lost.is_empty(), "{lost:#?}");
}

#[then("nothing is left behind after the next save")]
fn nothing_behind(world: &mut World) {
    let left: Vec<_> = world.kills.iter().filter(|kill| kill.left != Ok(Vec::new())).collect();
    assert!(left.is_empty(), "{left:#?}");
}
