//! Power cuts, kills and errors at every disk call of every change, on a simulated disk that loses
//! unsynced data.
//!
//! After each, a reader and then the next writer find all of the old contexts or all of the new
//! ones: the new ones if the call was acknowledged, the old ones if it reported that nothing
//! changed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate cleveragents_context as context;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use context::{
    ContextManager, Contexts, Draft, Error, Format, Json, Name, OnExisting, Options, Outcome, Role,
};
use filetx::{FolderOptions, OwnFolder, Storage, StorageResolver};
use jiff::Timestamp;
use testkit::chain;
use testkit::explore::{Acks, Limits, SecondCrash, Workload, explore};
use testkit::report::{figure, is_proof};
use testkit::seed;
use testkit::sim::SimDisk;

const JOURNAL_BYTES: u64 = 16 * 1024;

/// One change.
type Step = Box<dyn Fn(&Contexts) -> Result<(), Error>>;

/// State of all contexts as a reader sees it: messages, state, global context, count.
type Seen = BTreeMap<String, (Vec<String>, String, String, u64)>;

/// Results of the steps.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
struct Outcomes {
    acknowledged: usize,
    /// True if the step after the acknowledged ones was aborted.
    aborted: bool,
}

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

fn contexts(disk: &SimDisk) -> Contexts {
    let find: StorageResolver = {
        let disk = disk.clone();
        Arc::new(move |path: &Path| -> std::io::Result<Arc<dyn Storage>> {
            let root = path.to_str().and_then(|path| disk.try_root(path));
            root.ok_or_else(|| std::io::ErrorKind::NotFound.into())
        })
    };
    let clock = Arc::new(|| "2026-11-15T12:00:00Z".parse::<Timestamp>().unwrap());
    let options = Options { journal_bytes: JOURNAL_BYTES, clock, ..Options::default() };
    Contexts::on_storage(Path::new("contexts"), find, options)
}

fn see(disk: &SimDisk) -> Result<Seen, Error> {
    let contexts = contexts(disk);
    let mut seen = Seen::new();
    for listed in contexts.list()? {
        let context = contexts.open(&listed.name)?;
        let texts = context.messages(..).map(|one| Ok(one?.message.content().text()));
        let texts = texts.collect::<Result<Vec<_>, Error>>()?;
        let (state, global) = (context.state().to_string(), context.global_context().to_string());
        let count = context.metadata().message_count();
        assert_eq!(listed.metadata?.message_count(), count);
        seen.insert(listed.name.to_string(), (texts, state, global, count));
    }
    Ok(seen)
}

/// Reads, recovers by writing, and compares the two states.
fn recover(disk: &SimDisk) -> Result<(), String> {
    let seen = see(disk).map_err(|error| format!("reading: {}", chain(&error)))?;
    for name in seen.keys() {
        let path = format!("contexts/{name}");
        let options = FolderOptions { journal_bytes: JOURNAL_BYTES, ..FolderOptions::default() };
        let opened = OwnFolder::on_storage(disk.root(&path), Path::new(&path), options);
        let kept = opened.map_err(|error| chain(&error))?.take_preserved();
        if !kept.is_empty() {
            return Err(format!("nobody else was here, but {kept:?} was kept"));
        }
    }
    let now = see(disk).map_err(|error| format!("reading again: {}", chain(&error)))?;
    if seen == now { Ok(()) } else { Err(format!("a reader saw {seen:?}, recovery left {now:?}")) }
}

fn check(title: &str, steps: &[Step]) {
    let setup = |disk: &SimDisk| {
        disk.make_root("contexts");
        let contexts = contexts(disk);
        let mut chat = contexts.create(&name("chat")).unwrap();
        save(&mut chat, 3).unwrap();
    };
    let disk = SimDisk::new();
    setup(&disk);
    let mut states = vec![see(&disk).unwrap()];
    for step in steps {
        step(&contexts(&disk)).unwrap();
        states.push(see(&disk).unwrap());
        assert!(
            states.len() < 2 || states[states.len() - 1] != states[states.len() - 2],
            "a step changes something"
        );
    }
    let run = |disk: &SimDisk, acks: &Acks<Outcomes>| {
        for step in steps {
            match step(&contexts(disk)) {
                Ok(()) => acks.note(|outcomes| outcomes.acknowledged += 1),
                Err(error) => {
                    return acks.note(|outcomes| outcomes.aborted = error.outcome() == Outcome::Aborted);
                }
            }
        }
    };
    let check = |disk: &SimDisk, outcomes: &Outcomes| {
        let now = see(disk).map_err(|error| chain(&error))?;
        let least = outcomes.acknowledged;
        let most = if outcomes.aborted { least } else { (least + 1).min(states.len() - 1) };
        match states[least..=most].contains(&now) {
            true => Ok(()),
            false => Err(format!("expected {least} to {most} steps of {states:#?}, found {now:#?}")),
        }
    };
    let limits = Limits {
        cuts_per_point: if is_proof() { 150 } else { 25 },
        second_crash: if is_proof() { SecondCrash::OneIn(20) } else { SecondCrash::OneIn(400) },
        second_cuts_per_point: 5,
        seed: seed::from_env_or(4),
        ..Limits::default()
    };
    let report = explore(
        &Workload { name: title, setup: &setup, run: &run, recover: &recover, check: &check },
        &limits,
    );
    figure(&format!("context states, {title}"), report.checked);
    assert!(
        report.failures.is_empty(),
        "{report}\nagain: AGENTS_SEED={} cargo test -p cleveragents-context --test power",
        limits.seed
    );
    assert!(report.points > 20, "{report}");
}

fn save(context: &mut ContextManager, count: usize) -> Result<(), Error> {
    let number = context.metadata().message_count();
    context.append_all((0..count).map(|at| Draft::text(Role::User, &format!("{}", number as usize + at))))?;
    let seen = Json::from(&serde_json::json!({ "messages": number as usize + count }));
    context.set_state(seen.clone())?;
    context.set_global(seen)?;
    context.save().map(drop)
}

fn on_chat(work: fn(&mut ContextManager) -> Result<(), Error>) -> Step {
    Box::new(move |contexts| work(&mut contexts.open(&name("chat"))?))
}

#[test]
fn saves() {
    check("two saves", &[on_chat(|chat| save(chat, 1)), on_chat(|chat| save(chat, 70))]);
}

#[test]
fn saves_over_a_checkpoint() {
    let large = |chat: &mut ContextManager| {
        chat.append(Draft::text(Role::Tool, &"x".repeat(9_000)))?;
        chat.set_state(Json::from(&serde_json::json!({ "messages": chat.metadata().message_count() + 1 })))?;
        chat.save().map(drop)
    };
    check("saves over a checkpoint", &[on_chat(large), on_chat(large), on_chat(|chat| save(chat, 1))]);
}

#[test]
fn rewind_and_clear() {
    let steps = [
        on_chat(|chat| chat.rewind(1, None).map(drop)),
        on_chat(|chat| save(chat, 1)),
        on_chat(|chat| chat.clear(None).map(drop)),
    ];
    check("rewind, save, clear", &steps);
}

#[test]
fn create_and_fork() {
    let steps: [Step; 2] = [
        Box::new(|contexts| contexts.create(&name("new")).map(drop)),
        on_chat(|chat| chat.fork(&name("fork"), Some(2)).map(drop)),
    ];
    check("create, fork", &steps);
}

#[test]
fn import_and_replace() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("archive");
    let disk = SimDisk::new();
    disk.make_root("contexts");
    let mut other = contexts(&disk).create(&name("other")).unwrap();
    save(&mut other, 5).unwrap();
    other.export_to(Format::Archive, &file).unwrap();
    let [one, two] = [file.clone(), file];
    let steps: [Step; 2] = [
        Box::new(move |contexts| contexts.import(&one, None, OnExisting::Fail, None).map(drop)),
        Box::new(move |contexts| {
            contexts.import(&two, Some(&name("chat")), OnExisting::Replace, None).map(drop)
        }),
    ];
    check("import, import over", &steps);
}

#[test]
fn rename_and_remove() {
    let steps: [Step; 3] = [
        Box::new(|contexts| contexts.rename(&name("chat"), &name("talk"), None)),
        Box::new(|contexts| contexts.remove(&name("talk"), None).map(drop)),
        Box::new(|contexts| contexts.create(&name("chat")).map(drop)),
    ];
    check("rename, remove, create", &steps);
}

#[test]
fn conversion_of_the_legacy_layout() {
    let old: fn(&SimDisk) = |disk| {
        for (file, text) in [
            ("messages.json", r#"[{"role":"user","content":"a"},{"role":"user","content":"b"}]"#),
            ("metadata.json", r#"{"message_count":2}"#),
            ("state.json", r#"{"messages":2}"#),
            ("global_context.json", "{}"),
        ] {
            disk.external_write("contexts", &format!("old/{file}"), text.as_bytes());
        }
    };
    let disk = SimDisk::new();
    disk.make_root("contexts");
    disk.external_make_folder("contexts", "old");
    old(&disk);
    let states: Vec<Seen> = {
        let before = see(&disk).unwrap();
        save(&mut contexts(&disk).open(&name("old")).unwrap(), 1).unwrap();
        vec![before, see(&disk).unwrap()]
    };
    let setup = |disk: &SimDisk| {
        disk.make_root("contexts");
        disk.external_make_folder("contexts", "old");
        old(disk);
    };
    let run = |disk: &SimDisk, acks: &Acks<Outcomes>| {
        let saved = contexts(disk).open(&name("old")).and_then(|mut old| save(&mut old, 1));
        match saved {
            Ok(()) => acks.note(|outcomes| outcomes.acknowledged = 1),
            Err(error) => acks.note(|outcomes| outcomes.aborted = error.outcome() == Outcome::Aborted),
        }
    };
    let check = |disk: &SimDisk, outcomes: &Outcomes| {
        let now = see(disk).map_err(|error| chain(&error))?;
        let which = states.iter().position(|state| *state == now).ok_or(format!("a mixture: {now:?}"))?;
        let is_right = if outcomes.acknowledged == 1 { which == 1 } else { !outcomes.aborted || which == 0 };
        let tree = disk.tree_without("contexts", ".txn");
        let has = |file: &str| tree.contains_key(&format!("old/{file}"));
        let is_whole =
            if which == 0 { has("messages.json") } else { has("messages.json.old") && !has("messages.json") };
        if is_right && is_whole {
            Ok(())
        } else {
            Err(format!("{which} after {outcomes:?}: {:?}", tree.keys()))
        }
    };
    let limits = Limits {
        cuts_per_point: if is_proof() { 150 } else { 25 },
        second_crash: SecondCrash::OneIn(400),
        second_cuts_per_point: 5,
        seed: seed::from_env_or(4),
        ..Limits::default()
    };
    let workload =
        Workload { name: "conversion", setup: &setup, run: &run, recover: &recover, check: &check };
    let report = explore(&workload, &limits);
    figure("context states, conversion", report.checked);
    assert!(report.failures.is_empty() && report.points > 20, "{report}");
}
