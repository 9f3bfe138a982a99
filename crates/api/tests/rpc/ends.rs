//! The end of an actor, of an attempt, and of a run, with requests in flight.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;

use cleveragents::{Edit, Error, Kind, Reveal};

use crate::fixture::{Actor, Fixture, WAITS, answer, code, entry, key};

#[test]
fn a_token_ends_with_its_actor_and_the_socket_with_the_run() {
    let fixture = Fixture::new();
    let first = Mutex::new(None);
    // The second starts when the first has ended.
    let text = format!(
        "[nodes.first]\ntimeout = '230s'\nrun = \"{WAITS}\"\n[nodes.second]\ntimeout = '230s'\nneeds = ['first']\nrun = \"{WAITS}\"\n"
    );
    let file = Mutex::new(None);
    let summary = fixture.play_plan(&text, 2, |actor| {
        if actor.node == "first" {
            actor.record_text("file", "first\n").unwrap();
            *first.lock().unwrap() =
                Some((actor.client.clone(), actor.variable("AGENTS_CHANGESET").to_owned()));
            return;
        }
        let (client, changeset) = first.lock().unwrap().take().unwrap();
        let late = entry("late", Edit::Bytes(b"late".to_vec(), None));
        assert_eq!(code(client.record(&changeset, &late)), ("invalid-token", Kind::Conflict));
        assert_eq!(code(client.get(&key("plan.concurrency"), Reveal::No)), ("invalid-token", Kind::Conflict));
        // Nor does it help to name the changeset of another node.
        assert_eq!(code(actor.client.record(&changeset, &late)), ("foreign-changeset", Kind::Conflict));
        // It sees what the first recorded.
        assert_eq!(fs::read_to_string(actor.tree("file")).unwrap(), "first\n");
        *file.lock().unwrap() = Some((actor.client.clone(), changeset));
    });
    assert_eq!(fixture.entries(&summary, "first"), ["modify file 8 6"]);
    assert!(fixture.entries(&summary, "second").is_empty());
    let (client, changeset) = file.lock().unwrap().take().unwrap();
    let late = client.record(&changeset, &entry("late", Edit::Delete));
    assert_eq!(code(late), ("run-gone", Kind::NotFound));
    let folder = fixture.path("home/runs").join(summary.plan.to_string());
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.filter(|name| name.to_string_lossy().starts_with("socket")).count() == 0);
}

/// Lets an actor end while it sends, and then sends the rest.
#[test]
fn an_actor_that_ends_while_sending_records_nothing() {
    let fixture = Fixture::new();
    let late = Mutex::new(None);
    let summary = fixture.play(&["work"], "", |actor| {
        actor.record_text("whole", "whole").unwrap();
        let mut stream = actor.connect();
        stream.write_all(format!("{}half", actor.request("late", 8)).as_bytes()).unwrap();
        *late.lock().unwrap() = Some(stream);
    });
    assert_eq!(fixture.entries(&summary, "work"), ["create whole - 5"]);
    let mut stream = late.lock().unwrap().take().unwrap();
    drop(stream.write_all(b"half"));
    let answer = answer(&stream);
    assert!(answer.is_none_or(|answer| answer["error"].is_object()), "never acknowledged");
}

#[test]
fn records_of_a_failed_attempt_do_not_count() {
    let fixture = Fixture::new();
    let text =
        format!("[nodes.work]\ntimeout = '230s'\nretries = 1\nrun = \"{WAITS}; [ -e $TMPDIR/good ]\"\n");
    let seen = Mutex::new(Vec::new());
    let summary = fixture.play_plan(&text, 2, |actor| {
        let attempt = seen.lock().unwrap().len() + 1;
        actor.record_text(&format!("made-{attempt}"), "new").unwrap();
        let mut seen = seen.lock().unwrap();
        seen.push((actor.variable("AGENTS_TOKEN").to_owned(), actor.variable("AGENTS_CHANGESET").to_owned()));
        if attempt == 2 {
            fs::write(Path::new(actor.variable("TMPDIR")).join("good"), "").unwrap();
        }
    });
    assert_eq!(summary.nodes[0].attempts, 2);
    let seen = seen.into_inner().unwrap();
    assert!(seen[0].0 != seen[1].0 && seen[0].1 != seen[1].1, "{seen:?}");
    assert_eq!(fixture.entries(&summary, "work"), ["create made-2 - 3"]);
    assert_eq!(summary.files_changed, 1);
}

#[test]
fn a_socket_path_may_have_any_length() {
    let home = format!("{}/home", "long-".repeat(30));
    let fixture = Fixture::with_home(&home);
    let work = |actor: &Actor| {
        assert!(actor.variable("AGENTS_SOCKET").len() > 150);
        actor.record_text("new", "new").unwrap();
    };
    let summary = fixture.play(&["work"], "", work);
    assert_eq!(fixture.entries(&summary, "work"), ["create new - 3"]);
}

#[test]
fn a_run_without_a_socket_does_not_start() {
    let fixture = Fixture::new();
    fs::write(fixture.path("home/runs"), "in the way").unwrap();
    let options =
        cleveragents::RunOptions { command: vec!["true".to_owned()], ..cleveragents::RunOptions::default() };
    let (checked, plans) =
        (fixture.agents.check_plan_file(&options).unwrap(), fixture.agents.plans().unwrap());
    let refused = plans.run(checked, &options, &cleveragents::Cancel::default(), &|_| {}).unwrap_err();
    assert!(matches!(refused, Error::Run(_)), "{refused:?}");
    assert!(refused.to_string().contains("/socket-"), "{refused}");
    assert_eq!((refused.kind(), refused.code()), (Kind::Error, "io"));
}
