//! Steps of plans and changesets.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::thread;

use cucumber::gherkin::Step;
use cucumber::{given, then, when};
use testkit::strace::{self, Call, Inject};

use crate::commands::{run, said, stdout};
use crate::world::{World, read, text_of};

/// Folders and files of the plan with two roots.
const ROOTS: [&str; 2] = ["app", "site"];
const FILES: usize = 6;

/// A file of the project.
pub(crate) fn file(world: &World, name: &str) -> PathBuf {
    world.path("project").join(name)
}

/// Text from lines separated by commas.
fn lines(text: &str) -> String {
    format!("{}\n", text.replace(',', "\n"))
}

/// Runs the program, which must succeed, and returns its standard output.
fn done(world: &World, words: &[&str]) -> String {
    let output = world.program().args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[given(expr = "the file {string} says:")]
fn file_says(world: &mut World, step: &Step, name: String) {
    fs::write(file(world, &name), text_of(step)).unwrap();
}

#[given(expr = "the file {string} is changed to {string}")]
#[when(expr = "the file {string} is changed to {string}")]
fn file_changed(world: &mut World, name: String, text: String) {
    fs::write(file(world, &name), lines(&text)).unwrap();
}

#[given(expr = "the folder {string} is a symlink to {string}")]
fn folder_is_symlink(world: &mut World, name: String, target: String) {
    symlink(target, file(world, &name)).unwrap();
}

#[given(expr = "a plan {string} for the project")]
fn plan(world: &mut World, name: String) {
    done(world, &["plan", "create", "--name", &name, "--root", "."]);
}

#[when(expr = "{string} starts a changeset of {string}")]
fn starts(world: &mut World, actor: String, plan: String) {
    let id = done(world, &["changeset", "start", &plan, "--actor", &actor]);
    world.changesets.insert(actor, id);
}

#[when(expr = "{string} records {string} as {string}")]
fn records(world: &mut World, actor: String, path: String, text: String) {
    let content = world.path("content");
    fs::write(&content, lines(&text)).unwrap();
    let content = content.display().to_string();
    done(world, &["changeset", "record", &world.changesets[&actor], "--path", &path, "--content", &content]);
}

#[when(expr = "{string} seals")]
fn seals(world: &mut World, actor: String) {
    done(world, &["changeset", "seal", &world.changesets[&actor]]);
}

#[given(expr = "{string} has changed {string} to {string}")]
fn has_changed(world: &mut World, actor: String, path: String, text: String) {
    starts(world, actor.clone(), "work".to_owned());
    records(world, actor.clone(), path, text);
    seals(world, actor);
}

#[given(expr = "{string} has changed {string} to bytes")]
fn has_changed_to_bytes(world: &mut World, actor: String, path: String) {
    starts(world, actor.clone(), "work".to_owned());
    let content = world.path("content");
    fs::write(&content, [0, 1, 0xff, 0]).unwrap();
    let content = content.display().to_string();
    done(world, &["changeset", "record", &world.changesets[&actor], "--path", &path, "--content", &content]);
    seals(world, actor);
}

#[then(expr = "the file {string} is {string}")]
fn file_is(world: &mut World, name: String, text: String) {
    assert_eq!(read(&file(world, &name)), lines(&text));
}

#[then(expr = "there is nothing in {string}")]
fn nothing_in(world: &mut World, folder: String) {
    assert_eq!(fs::read_dir(file(world, &folder)).unwrap().count(), 0);
}

#[when(expr = "{int} processes run {string} at once")]
fn run_at_once(world: &mut World, processes: usize, words: String) {
    let words: Vec<&str> = words.split_whitespace().skip(1).collect();
    let children: Vec<_> = (0..processes)
        .map(|_| {
            let mut command = world.program();
            command.args(&words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    world.outputs = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
}

#[then(expr = "one of them ended with {int} and the others with {int}")]
fn one_of_them(world: &mut World, one: i32, others: i32) {
    let codes: Vec<_> = world.outputs.iter().map(|output| output.status.code().unwrap()).collect();
    let winners = codes.iter().filter(|code| **code == one).count();
    assert!(winners == 1 && codes.iter().all(|code| *code == one || *code == others), "{:?}", world.outputs);
}

#[when(expr = "{int} actors of {string} record {int} files of their own each, all at once")]
fn record_at_once(world: &mut World, actors: usize, plan: String, each: usize) {
    let content = world.path("content");
    fs::write(&content, "same\n").unwrap();
    let (here, plan, content) = (&*world, &plan, &content.display().to_string());
    let outputs: Vec<Output> = thread::scope(|scope| {
        let one = |actor: usize| {
            let run = |words: &[&str]| here.program().args(words).output().unwrap();
            let name = format!("actor-{actor}");
            let started = run(&["changeset", "start", plan, "--actor", &name]);
            let id = String::from_utf8(started.stdout.clone()).unwrap().trim().to_owned();
            let mut outputs = vec![started];
            for n in 0..each {
                let path = format!("{name}/{n}.txt");
                outputs.push(run(&["changeset", "record", &id, "--path", &path, "--content", content]));
            }
            outputs.push(run(&["changeset", "seal", &id]));
            outputs
        };
        let threads: Vec<_> = (0..actors).map(|actor| scope.spawn(move || one(actor))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    world.outputs = outputs;
}

#[then(expr = "every changeset of {string} holds {int} files of its own actor and no others")]
fn own_files(world: &mut World, plan: String, each: usize) {
    nobody_saw_a_lock(world);
    let json = |words: &[&str]| -> serde_json::Value {
        serde_json::from_str(&done(world, &[words, &["--format", "json"]].concat())).unwrap()
    };
    let listed = json(&["changeset", "list", &plan]);
    let changesets = listed["data"]["changesets"].as_array().unwrap();
    assert!(!changesets.is_empty());
    for changeset in changesets {
        let actor = changeset["actor"].as_str().unwrap();
        let shown = json(&["changeset", "show", changeset["id"].as_str().unwrap()]);
        let entries = shown["data"]["changes"].as_array().unwrap();
        assert_eq!(entries.len(), each, "{actor}");
        for entry in entries {
            assert!(entry["path"].as_str().unwrap().starts_with(&format!("{actor}/")), "{entry}");
        }
    }
}

#[then("nobody was told that the database is locked")]
fn nobody_saw_a_lock(world: &mut World) {
    let failed: Vec<_> = world.outputs.iter().filter(|output| !output.status.success()).collect();
    assert!(failed.is_empty() && !world.outputs.is_empty(), "{failed:?}");
}

#[given(expr = "the plan {string} changes {int} files over 2 folders")]
fn two_folders(world: &mut World, name: String, files: usize) {
    assert_eq!(files, ROOTS.len() * FILES);
    for root in ROOTS {
        fs::create_dir_all(file(world, root)).unwrap();
        for n in 0..FILES {
            fs::write(file(world, &format!("{root}/file-{n}.txt")), "old\n").unwrap();
        }
    }
    done(world, &["plan", "create", "--name", &name, "--root", ROOTS[0], "--root", ROOTS[1]]);
    starts(world, "coder".to_owned(), name);
    let content = world.path("content");
    fs::write(&content, "new\n").unwrap();
    let (id, content) = (&world.changesets["coder"], content.display().to_string());
    for root in ROOTS {
        for n in 0..FILES {
            let path = format!("file-{n}.txt");
            let words = ["changeset", "record", id, "--root", root, "--path", &path, "--content", &content];
            done(world, &words);
        }
    }
    seals(world, "coder".to_owned());
}

pub(crate) fn contents(world: &World) -> Vec<String> {
    let names = ROOTS.into_iter().flat_map(|root| (0..FILES).map(move |n| format!("{root}/file-{n}.txt")));
    names.map(|name| read(&file(world, &name))).collect()
}

#[when(expr = "{string} is killed in the middle")]
fn killed_in_the_middle(world: &mut World, words: String) {
    let mut command = world.program();
    command.args(words.split_whitespace().skip(1));
    // Renames publish the files; at the fifth, some are published and some are not.
    let call = Call { name: "renameat2".to_owned(), nth: 5, arguments: String::new() };
    let ended = strace::run(&command, &call, Inject::Kill);
    let new = contents(world).iter().filter(|content| *content == "new\n").count();
    assert!(ended.killed && (1..ROOTS.len() * FILES).contains(&new), "{new} files are new: {ended:?}");
}

#[then(expr = "all {int} files are new")]
fn all_new(world: &mut World, files: usize) {
    assert_eq!(contents(world), vec!["new\n"; files]);
}

#[then(expr = "the other {int} files are old")]
fn others_old(world: &mut World, files: usize) {
    assert_eq!(contents(world).iter().filter(|content| *content == "old\n").count(), files);
}

#[when("the last undo is undone")]
fn undo_of_undo(world: &mut World) {
    run(world, "agents plan list --limit 1 --format json".to_owned());
    let listed: serde_json::Value = serde_json::from_str(&stdout(world)).unwrap();
    let id = listed["data"]["plans"][0]["id"].as_str().unwrap().to_owned();
    run(world, format!("agents plan undo {id}"));
    assert!(world.last().status.success(), "{}", said(world));
}

#[when("the checkpoint has seen more than there is")]
fn checkpoint_ahead(world: &mut World) {
    let file = world.home.clone().unwrap().join("audit.checkpoint");
    fs::write(&file, read(&file).replace("\"sequence\":", "\"sequence\":9")).unwrap();
}
