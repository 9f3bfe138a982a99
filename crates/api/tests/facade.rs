//! The façade, as a frontend calls it.

#![expect(clippy::disallowed_methods, reason = "plays a person who edits files")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use cleveragents::{
    Agents, Assignment, ConfigEvent, EditOutcome, Error, Invocation, Key, Kind, ListFilter, Problem, Reveal,
    Scope, Value,
};
use tempfile::TempDir;

/// A user's home folder with a project below it.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(place.path("user/work/.cleveragents")).unwrap();
        fs::create_dir_all(place.path("user/work/src")).unwrap();
        fs::create_dir_all(place.path("user/.cleveragents")).unwrap();
        fs::create_dir_all(place.path("user/empty")).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn at(&self, current: &str) -> Invocation {
        Invocation {
            current: Some(self.path(current)),
            user_home: Some(self.path("user")),
            ..Invocation::default()
        }
    }
}

fn open(invocation: &Invocation) -> Agents {
    Agents::open(invocation).unwrap()
}

fn key(text: &str) -> Key {
    text.parse().unwrap()
}

fn check(error: Error, kind: Kind, code: &str) {
    let problem = Problem::of(&error);
    assert_eq!((problem.kind, problem.code.as_str()), (kind, code), "{}", problem.message);
}

#[test]
fn the_project_is_the_nearest_marked_folder_except_the_home_folder() {
    let place = Place::new();
    let project = |current: &str| open(&place.at(current)).project().map(Path::to_owned);
    assert_eq!(project("user/work/src"), Some(place.path("user/work")));
    assert_eq!(project("user/work"), Some(place.path("user/work")));
    assert_eq!(project("user/empty"), None);
    assert_eq!(project("user"), None);
    // Nor when another home folder is named.
    let elsewhere = Invocation { home: Some(place.path("elsewhere")), ..place.at("user/empty") };
    assert_eq!(open(&elsewhere).project(), None);
    let as_project = Invocation { project: Some(".".into()), ..place.at("user") };
    check(Agents::open(&as_project).unwrap_err(), Kind::Usage, "home-as-project");
    // Unless somebody says so, and keeps their home folder elsewhere.
    let by_name = Invocation { home: Some(place.path("elsewhere")), ..as_project };
    assert_eq!(open(&by_name).project(), Some(place.path("user/.").as_path()));
}

#[cfg(unix)]
#[test]
fn a_home_folder_behind_a_symlink_is_not_a_project() {
    let place = Place::new();
    std::os::unix::fs::symlink(place.path("user"), place.path("link")).unwrap();
    let invocation = Invocation { user_home: Some(place.path("link")), ..place.at("user/empty") };
    assert_eq!(open(&invocation).project(), None);
}

#[test]
fn relative_folders_start_from_the_current_folder() {
    let place = Place::new();
    let invocation =
        Invocation { home: Some("own".into()), project: Some("work".into()), ..place.at("user") };
    let agents = open(&invocation);
    assert_eq!(agents.home().unwrap(), place.path("user/own"));
    assert_eq!(agents.project(), Some(place.path("user/work").as_path()));
    let missing = Invocation { project: Some("none".into()), ..place.at("user") };
    check(Agents::open(&missing).unwrap_err(), Kind::NotFound, "no-project");
    let nowhere = Invocation { current: None, home: Some("own".into()), ..place.at("user") };
    check(Agents::open(&nowhere).unwrap_err(), Kind::NotFound, "no-current-folder");
}

#[test]
fn without_a_home_folder_only_calls_that_need_one_fail() {
    let place = Place::new();
    for (value, code) in [(None, "no-home"), (Some("relative"), "bad-home")] {
        let variables = value.map(|value| (OsString::from("CLEVERAGENTS_HOME"), OsString::from(value)));
        let invocation = Invocation {
            user_home: None,
            variables: variables.into_iter().collect(),
            values: vec!["core.format=json".to_owned()],
            ..place.at("user/work")
        };
        let agents = open(&invocation).with_wait(cleveragents::Wait::default());
        assert_eq!(agents.config_snapshot().preferences().unwrap().format, "json");
        assert!(agents.schema(None).is_object());
        assert_eq!(agents.project(), None);
        assert_eq!(agents.home().unwrap_err().code(), code);
        assert_eq!(agents.config_snapshot().get(&key("plan.merge"), Reveal::No).unwrap_err().code(), code);
        assert_eq!(agents.config_snapshot().list(&ListFilter::default()).unwrap_err().code(), code);
        assert_eq!(agents.config_snapshot().explain(&key("plan.merge")).unwrap_err().code(), code);
        assert_eq!(agents.set(None, &[Assignment::argument(key("x.a"), "1")]).unwrap_err().code(), code);
        assert_eq!(agents.watch(None).unwrap_err().code(), code);
    }
}

#[test]
fn answers_can_be_serialised() {
    let place = Place::new();
    let agents = open(&place.at("user/work"));
    let change = agents.set(Some(Scope::Local), &["x.a=[1, 2]".parse::<Assignment>().unwrap()]).unwrap();
    assert_eq!(serde_json::to_value(&change).unwrap()["scope"], "local");
    let got = serde_json::to_value(agents.config_snapshot().get(&key("x.a"), Reveal::No).unwrap()).unwrap();
    assert_eq!((&got["value"], &got["origin"]["line"]), (&serde_json::json!([1, 2]), &1.into()));
    let paths = serde_json::to_value(agents.paths().unwrap()).unwrap();
    assert_eq!(paths["files"][0]["exists"], true);
}

#[test]
fn an_edit_goes_through_the_facade() {
    let place = Place::new();
    let agents = open(&place.at("user/work"));
    let edit = agents.begin_edit(None).unwrap();
    assert_eq!((edit.scope, edit.original.as_slice()), (Scope::Global, &b""[..]));
    assert!(agents.check_edit(&edit, b"x.a = = 1").is_err());
    let outcome = agents.edit(&edit, b"x.a = 1\n").unwrap();
    assert_eq!((outcome.outcome, outcome.change.written.keys), (EditOutcome::Applied, vec![key("x.a")]));
    let error = agents.edit(&edit, b"x.a = 2\n").unwrap_err();
    assert!(error.edit_is_saved());
    check(error, Kind::Conflict, "conflict");
}

#[test]
fn changes_are_noticed_through_the_facade() {
    let place = Place::new();
    let agents = open(&place.at("user/work"));
    check(agents.watch(Some(&key("plam"))).unwrap_err(), Kind::Usage, "unknown-key");
    let mut watch = agents.watch(Some(&key("x"))).unwrap();
    agents.set(Some(Scope::Global), &[Assignment::argument(key("x.a"), "1")]).unwrap();
    let events = watch.wait().unwrap();
    let ConfigEvent::Change(changed) = &events[0] else { panic!("{events:?}") };
    assert_eq!((&changed.key, changed.old.is_none(), changed.is_secret), (&key("x.a"), true, false));
    assert_eq!(changed.new.as_ref().unwrap().value, Value::Integer(1));
    watch.stop_handle().stop();
    assert!(watch.wait().is_none());
}

#[test]
fn an_invocation_is_shown_without_secrets() {
    let variables = vec![(OsString::from("TOKEN"), OsString::from("hunter2"))];
    let invocation =
        Invocation { variables, values: vec!["x.a=hunter2".to_owned()], ..Invocation::default() };
    assert!(!format!("{invocation:?}").contains("hunter2"));
}
