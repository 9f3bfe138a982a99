//! Roles of the child processes.

use std::path::Path;

use context::{ContextManager, Contexts, Draft, Json, Name, Options, Role};
use testkit::children::{self, Process};

use super::controls;

pub(crate) fn contexts(folder: &Path) -> Contexts {
    Contexts::at(&folder.join("contexts"), Options::default())
}

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

pub(crate) fn start(role: &str, folder: &Path) -> Process {
    children::start("child", role, folder)
}

/// A role is `WHAT:CONTEXT:NUMBER`.
pub(crate) fn play(role: &str, folder: &Path) {
    let mut parts = role.split(':');
    let mut part = || parts.next().unwrap_or_default();
    let (what, context, number) = (part(), part(), part());
    match what {
        "append" => append(&mut contexts(folder).open(&name(context)).unwrap(), number),
        "save" => {
            let mut context = contexts(folder).open(&name(context)).unwrap();
            let first = context.metadata().message_count() + 1;
            for next in first.. {
                save(&mut context, next);
                // A parent that does not read would block the child when the pipe is full.
                if number != "quiet" {
                    children::send(&next.to_string());
                }
            }
        }
        "plain" | "renames" => controls::save_for_ever(folder, what == "renames"),
        what => panic!("{what} is no role"),
    }
}

/// Appends messages one by one, and prints the number of each.
fn append(context: &mut ContextManager, tag: &str) {
    children::send("ready");
    children::wait_for_parent();
    for number in 0..super::appends::EACH {
        context.append(Draft::text(Role::User, &format!("{tag}-{number}"))).unwrap();
        let saved = context.save().unwrap();
        assert!(saved.pending.is_none());
        children::send(&format!("{} {}", saved.message_count, saved.ids[0]));
    }
}

/// Saves a number in all four files.
pub(crate) fn save(context: &mut ContextManager, number: u64) {
    context
        .append(Draft::text(Role::User, &format!("{number} {}", "x".repeat(number as usize % 300))))
        .unwrap();
    let json = |padding: u64| {
        let padding = "y".repeat(padding as usize % 200);
        Json::parse(&format!(r#"{{"number":{number},"padding":"{padding}"}}"#)).unwrap()
    };
    context.set_state(json(number * 7)).unwrap();
    context.set_global(json(number * 11)).unwrap();
    let _ = context.save().unwrap();
}

/// Returns the number in all four files; an error if they differ.
pub(crate) fn number(context: &ContextManager) -> Result<u64, String> {
    let of =
        |json: &Json| json.pointer("/number").map_or(0, |number| number.as_str().parse::<u64>().unwrap());
    let last = context.last(1).next().map(|one| one.map_err(|error| error.to_string())).transpose()?;
    let last = last.map_or(0, |one| {
        let text = one.message.content().text();
        text.split_once(' ').unwrap().0.parse::<u64>().unwrap()
    });
    let all = [context.metadata().message_count(), last, of(context.state()), of(context.global_context())];
    if all.iter().all(|number| *number == all[0]) { Ok(all[0]) } else { Err(format!("mixed: {all:?}")) }
}
