//! Steps with many concurrent processes.

use std::fs;
use std::process::Command;
use std::thread;

use cucumber::{given, then, when};
use testkit::children;

use crate::world::{World, Writer, read};

#[given("the global file has 200 keys with comments")]
fn contended_config(world: &mut World) {
    fs::write(world.file("global"), testkit::contended_config::text()).unwrap();
}

#[when(expr = "{int} processes set {int} keys of their own each")]
fn own_keys(world: &mut World, processes: usize, each: usize) {
    let plan = (0..processes).map(|process| {
        (0..each).map(|n| (format!("x.w.w{process}-{n}"), (process * each + n) as i64)).collect()
    });
    all_at_once(world, plan.collect());
}

#[when(expr = "{int} processes set {string} {int} times each")]
fn same_key(world: &mut World, processes: usize, key: String, each: usize) {
    let plan = (0..processes)
        .map(|process| (0..each).map(|n| (key.clone(), (process * each + n) as i64)).collect::<Vec<_>>());
    let plan: Vec<_> = plan.collect();
    let last = plan.iter().filter_map(|sets| sets.last().map(|(_, value)| *value)).collect();
    all_at_once(world, plan);
    world.set.insert(key, last);
}

/// Every writer makes its planned sets in turn; each set is a process.
fn all_at_once(world: &mut World, plan: Vec<Vec<(String, i64)>>) {
    world.remember();
    let (world_now, everybody) = (&*world, &plan);
    let sets: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = everybody
            .iter()
            .map(|sets| {
                scope.spawn(move || {
                    sets.iter().map(|(key, value)| set(world_now, key, *value)).collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    world.sets = sets;
    for (key, value) in plan.into_iter().flatten() {
        world.set.insert(key, vec![value]);
    }
}

fn set(world: &World, key: &str, value: i64) -> Result<(), String> {
    if world.writer == Writer::Naive {
        children::start("child", &format!("{key}={value}"), world.home.as_ref().unwrap()).finish();
        return Ok(());
    }
    let mut command: Command = world.program();
    let output =
        command.args(["config", "set", "--scope", "global", key, &value.to_string()]).output().unwrap();
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

#[then("every set succeeded")]
fn all_succeeded(world: &mut World) {
    let failed: Vec<_> = world.sets.iter().filter_map(|set| set.as_ref().err()).collect();
    assert!(!world.sets.is_empty() && failed.is_empty(), "{failed:?}");
}

#[then("every key that was set has its value")]
fn all_there(world: &mut World) {
    let text = read(&world.file("global"));
    let lost: Vec<_> = world.set.iter().filter(|(key, values)| !has(&text, key, values)).collect();
    assert!(lost.is_empty(), "{} of {} are lost: {lost:?}", lost.len(), world.set.len());
}

#[then(expr = "{string} has the last value of some process")]
fn has_last_value(world: &mut World, key: String) {
    let text = read(&world.file("global"));
    assert!(has(&text, &key, &world.set[&key]), "{text}");
}

/// Returns true if a key of the last table has one of these values, once.
fn has(text: &str, key: &str, values: &[i64]) -> bool {
    let name = key.rsplit('.').next().unwrap();
    let lines: Vec<_> =
        text.lines().filter_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix('=')).collect();
    matches!(lines[..], [value] if value.trim().parse().is_ok_and(|value| values.contains(&value)))
}

#[then("everything else in the global file is as it was")]
fn rest_is_as_it_was(world: &mut World) {
    let file = world.file("global");
    let text = read(&file);
    let rest: String = text.split_inclusive('\n').filter(|line| !line.starts_with('w')).collect();
    assert_eq!(rest, world.before[&file]);
}
