//! Watching: changes by any process, saved in any way, are reported.
//!
//! Polling is off, so every event comes from the system. No test depends on timing: it waits for
//! the expected event, and fails after [`PATIENCE`] instead of hanging.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use config::{ConfigService, Error, KeyChange, Origin, Scope, Watch, WatchEvent};

use crate::support::{Fixture, key};

const PATIENCE: Duration = Duration::from_secs(120);
const NEVER: Duration = Duration::from_secs(3600);

/// A watch with a timeout, so that a missing event fails the test.
struct Watching {
    watch: Option<Watch>,
    noticed: Vec<WatchEvent>,
    is_over: Option<Sender<()>>,
    guard: Option<JoinHandle<()>>,
}

impl Watching {
    fn start(service: &ConfigService, prefix: Option<&str>) -> Self {
        let watch = service.watch(prefix.map(key).as_ref()).unwrap().with_poll_interval(NEVER);
        let stop_handle = watch.stop_handle();
        let (is_over, over) = channel::<()>();
        let guard = std::thread::spawn(move || {
            let _ = over.recv_timeout(PATIENCE);
            stop_handle.stop();
        });
        Self { watch: Some(watch), noticed: Vec::new(), is_over: Some(is_over), guard: Some(guard) }
    }

    /// Returns the next event.
    fn next(&mut self) -> WatchEvent {
        while self.noticed.is_empty() {
            self.noticed = self.watch.as_mut().unwrap().wait().expect("it is noticed in the end");
        }
        self.noticed.remove(0)
    }

    /// Waits until a key has this value, ignoring other events: a file that is saved in place is
    /// empty for a moment.
    #[track_caller]
    fn until(&mut self, name: &str, value: Option<&str>) -> KeyChange {
        loop {
            if let WatchEvent::Changed(changed) = self.next()
                && changed.key == key(name)
                && changed.new.as_ref().map(|held| held.value.to_string()).as_deref() == value
            {
                return changed;
            }
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.is_over = None;
        self.guard.take().unwrap().join().unwrap();
    }
}

/// Changes files in another process.
fn shell(folder: &Path, script: &str) {
    assert!(Command::new("sh").args(["-euc", script]).current_dir(folder).status().unwrap().success());
}

#[test]
fn a_change_has_old_and_new_value_with_origins() {
    let fixture = Fixture::new();
    let service = fixture.service();
    let mut watching = Watching::start(&service, None);
    service.set_value(Scope::Global, &key("plan.concurrency"), "8").unwrap();
    let changed = watching.until("plan.concurrency", Some("8"));
    assert_eq!(changed.old.unwrap().origin, Origin::Default);
    assert!(matches!(changed.new.unwrap().origin, Origin::File { scope: Scope::Global, line: 1, .. }));
    service.set_value(Scope::Local, &key("plan.concurrency"), "9").unwrap();
    watching.until("plan.concurrency", Some("9"));
    // The effective value stays; another key is next.
    service.set_value(Scope::Global, &key("plan.concurrency"), "7").unwrap();
    service.set_value(Scope::Global, &key("x.next"), "1").unwrap();
    let WatchEvent::Changed(changed) = watching.next() else { panic!("no problem") };
    assert_eq!(changed.key, key("x.next"));
    assert!(changed.old.is_none());
    service.unset(Scope::Local, &key("plan.concurrency")).unwrap();
    watching.until("plan.concurrency", Some("7"));
    service.unset(Scope::Global, &key("x.next")).unwrap();
    watching.until("x.next", None);
}

#[test]
fn changes_of_other_processes_are_reported() {
    let fixture = Fixture::new();
    fixture.write(Scope::Global, "x.a = 0\n");
    let mut watching = Watching::start(&fixture.service(), None);
    let ways = [
        // In place.
        "printf 'x.a = 1\\n' > config.toml",
        // By rename, like this program.
        "printf 'x.a = 2\\n' > new; mv new config.toml",
        // Like vim: the old file becomes the backup, and a new one is written.
        "mv config.toml config.toml~; printf 'x.a = 3\\n' > config.toml; rm config.toml~",
        // Appended.
        "printf '# more\\nx.b = 1\\n' >> config.toml; printf 'x.a = 4\\n' > config.toml",
        // By a hard link.
        "printf 'x.a = 5\\n' > new; ln -f new config.toml; rm new",
    ];
    for (index, script) in ways.iter().enumerate() {
        shell(&fixture.dirs.home, script);
        watching.until("x.a", Some(&(index + 1).to_string()));
    }
    shell(&fixture.dirs.home, "rm config.toml");
    watching.until("x.a", None);
}

#[test]
fn later_changes_of_folders_are_reported() {
    let fixture = Fixture::new();
    fs::remove_dir(fixture.dirs.project.as_ref().unwrap()).unwrap();
    let mut watching = Watching::start(&fixture.service(), None);
    let folder = fixture.folder.path();
    shell(folder, "mkdir home; printf 'x.a = 1\\n' > home/config.toml");
    watching.until("x.a", Some("1"));
    shell(folder, "mkdir -p project/.cleveragents; printf 'x.a = 2\\n' > project/.cleveragents/config.toml");
    watching.until("x.a", Some("2"));
    shell(folder, "mv project elsewhere");
    watching.until("x.a", Some("1"));
    shell(
        folder,
        "mkdir -p project/.cleveragents; printf 'x.a = 3\\n' > project/.cleveragents/config.local.toml",
    );
    watching.until("x.a", Some("3"));
    shell(folder, "rm -r project; mv elsewhere project");
    watching.until("x.a", Some("2"));
    shell(folder, "printf 'x.a = 4\\n' > project/.cleveragents/config.toml");
    watching.until("x.a", Some("4"));
}

#[test]
fn symlinks_and_their_targets_are_watched() {
    let fixture = Fixture::new();
    let folder = fixture.folder.path();
    shell(
        folder,
        "mkdir home dotfiles other; printf 'x.a = 1\\n' > dotfiles/agents.toml; ln -s ../dotfiles/agents.toml home/config.toml",
    );
    let mut watching = Watching::start(&fixture.service(), None);
    shell(folder, "printf 'x.a = 2\\n' > dotfiles/new; mv dotfiles/new dotfiles/agents.toml");
    watching.until("x.a", Some("2"));
    shell(
        folder,
        "printf 'x.a = 3\\n' > other/agents.toml; ln -sfn ../other/agents.toml home/new; mv home/new home/config.toml",
    );
    watching.until("x.a", Some("3"));
    shell(folder, "printf 'x.a = 4\\n' > other/agents.toml");
    watching.until("x.a", Some("4"));
}

#[test]
fn a_broken_file_is_reported_once_and_keeps_its_last_values() {
    let fixture = Fixture::new();
    fixture.write(Scope::Global, "x.a = 1\nplan.concurrency = 8\n");
    let mut watching = Watching::start(&fixture.service(), None);
    shell(&fixture.dirs.home, "printf 'x.a = = 1\\n' > new; mv new config.toml");
    let WatchEvent::Problem(error) = watching.next() else { panic!("values count until it is mended") };
    assert!(matches!(error, Error::Parse(_)), "{error}");
    shell(&fixture.dirs.home, "printf 'x.a = 1\\nplan.concurrency = 0\\n' > new; mv new config.toml");
    let WatchEvent::Problem(error) = watching.next() else { panic!("a bad value is none") };
    assert!(matches!(error, Error::OutOfRange { .. }), "{error}");
    shell(&fixture.dirs.home, "printf 'x.a = 1\\nplan.concurrency = 9\\n' > new; mv new config.toml");
    let WatchEvent::Changed(changed) = watching.next() else { panic!("it is mended") };
    assert_eq!(format!("{changed:?}"), "plan.concurrency: 8 (global) -> 9 (global)");
    // A problem that returns is reported again.
    shell(&fixture.dirs.home, "printf 'x.a = = 1\\n' > new; mv new config.toml");
    assert!(matches!(watching.next(), WatchEvent::Problem(Error::Parse(_))));
}

#[test]
fn problems_at_the_start_are_reported_first() {
    let fixture = Fixture::new();
    fixture.write(Scope::Global, "x.a = = 1\n");
    let mut watching = Watching::start(&fixture.service(), None);
    assert!(matches!(watching.next(), WatchEvent::Problem(Error::Parse(_))));
    // Defaults that become visible are not changes.
    fixture.write(Scope::Global, "x.a = 1\n");
    let WatchEvent::Changed(changed) = watching.next() else { panic!("it is mended") };
    assert_eq!(changed.key, key("x.a"));
}

#[test]
fn a_prefix_filters_and_secrets_are_redacted() {
    let fixture = Fixture::new();
    let service = fixture.service();
    let mut watching = Watching::start(&service, Some("server"));
    service.set_value(Scope::Global, &key("plan.concurrency"), "8").unwrap();
    service.set_value(Scope::Global, &key("server.token"), "hunter2").unwrap();
    let noticed = format!("{:?}", watching.next());
    assert_eq!(noticed, "Changed(server.token: nothing -> [REDACTED] (global))");
    let watch = watching.watch.as_ref().unwrap();
    assert_eq!(format!("{watch:?} {:?}", watch.stop_handle()), "Watch of 1 keys Stopper");
}

#[test]
fn polling_finds_unreported_changes() {
    let fixture = Fixture::new();
    fixture.write(Scope::Global, "x.a = 1\n");
    let folder = fixture.folder.path();
    shell(folder, "mkdir other; ln home/config.toml other/same");
    let mut watching = Watching::start(&fixture.service(), None);
    // Through another name of the file: nothing on its path changes. The watch keeps waiting.
    shell(folder, "printf 'x.a = 2\n' > other/same");
    watching.watch = watching.watch.take().map(|watch| watch.with_poll_interval(Duration::from_millis(1)));
    watching.until("x.a", Some("2"));
}

#[test]
fn a_stopped_watch_ends() {
    let fixture = Fixture::new();
    let mut watch = fixture.service().watch(None).unwrap().with_poll_interval(NEVER);
    let stop_handle = watch.stop_handle();
    let waiting = std::thread::spawn(move || watch.wait().is_none());
    stop_handle.stop();
    assert!(waiting.join().unwrap());
}
