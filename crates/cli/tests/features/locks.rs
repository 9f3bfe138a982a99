//! Steps of locks, permissions, special files and limits.

use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;

use cucumber::{given, then, when};
use filetx::{RelPath, TreeOptions, Trees};
use testkit::strace::{self, Call, Inject};

use crate::commands::run;
use crate::plans::{contents, file};
use crate::world::{Bounds, World};

#[given(expr = "a folder {string}")]
fn folder(world: &mut World, name: String) {
    fs::create_dir_all(file(world, &name)).unwrap();
}

/// The test process acts as the other process.
#[given(expr = "somebody holds the folder {string}")]
fn hold(world: &mut World, name: String) {
    let root = file(world, &name);
    let (release, released) = channel();
    let (ready, is_ready) = channel();
    let holder = thread::spawn(move || {
        let home = RelPath::new(".cleveragents/.txn").unwrap();
        let trees = Trees::open(
            &[&root],
            TreeOptions { txn_dir: home, ..TreeOptions::default() },
            &testkit::journals::trust,
        )
        .unwrap();
        ready.send(()).unwrap();
        // Also at the end of the scenario.
        let _ = released.recv();
        drop(trees);
    });
    is_ready.recv().unwrap();
    world.holder = Some((release, holder));
}

#[when("they let go")]
fn let_go(world: &mut World) {
    let (release, holder) = world.holder.take().unwrap();
    drop(release);
    holder.join().unwrap();
}

#[when(expr = "somebody removes {string} from the 2 folders")]
fn remove(world: &mut World, name: String) {
    for root in ["app", "site"] {
        fs::remove_dir_all(file(world, root).join(&name)).unwrap();
    }
}

#[when(expr = "an apply of {string} waits")]
fn apply_waits(world: &mut World, plan: String) {
    use std::io::{BufRead, BufReader};
    let mut command = world.program();
    command.args(["plan", "apply", &plan]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let line = lines.next().unwrap().unwrap();
    assert!(line.contains("waiting for lock"), "{line}");
    world.waiting = Some((child, lines));
}

/// Returns true if the command continued, or noticed that its lock was gone.
#[then(expr = "the apply that waited left all {int} files old or all new")]
fn waited(world: &mut World, files: usize) {
    let (mut child, lines) = world.waiting.take().unwrap();
    let said: Vec<String> = lines.map(Result::unwrap).collect();
    let status = child.wait().unwrap();
    let expected = if status.success() { "new\n" } else { "old\n" };
    assert_eq!(contents(world), vec![expected; files], "{status:?}: {said:?}");
    run(world, "agents plan apply work".to_owned());
    assert_eq!(contents(world), vec!["new\n"; files], "the next one does it");
}

/// A record makes a few syncs: acquire the lease, write the entry, release the lease. The lease alone would last 10 s.
#[then(expr = "wherever a record of {string} is killed the next one waits for nobody")]
fn killed_records(world: &mut World, actor: String) {
    const SYNCS_MIN: usize = 3;
    const SYNCS_MAX: usize = 40;
    let record = |world: &World| {
        let mut command = world.program();
        let words = ["changeset", "record", &world.changesets[&actor], "--path", "a.txt", "--symlink", "b"];
        command.args(words).args(["--lock-timeout", "0s"]);
        command
    };
    let mut kills = 0;
    // SQLite's build decides which of the two it calls.
    for name in ["fsync", "fdatasync"] {
        for nth in 1.. {
            let call = Call { name: name.to_owned(), nth, arguments: String::new() };
            if !strace::run(&record(world), &call, Inject::Kill).killed {
                break;
            }
            let next = record(world).output().unwrap();
            assert!(next.status.success(), "after a kill at {name} {nth}: {next:?}");
            kills += 1;
            assert!(kills < SYNCS_MAX, "a record makes more syncs than that");
        }
    }
    assert!(kills >= SYNCS_MIN, "it was killed {kills} times");
}

#[given("a umask that takes nothing away")]
fn umask(world: &mut World) {
    // The program creates it.
    world.home = Some(world.path("user/made"));
    world.bounds = Bounds { shell: "umask 000".to_owned() };
}

#[given(expr = "{int} MiB of memory")]
fn memory(world: &mut World, mebibytes: u64) {
    world.bounds = Bounds { shell: format!("ulimit -d {}", mebibytes * 1024) };
}

#[then("everything of ours is for its owner alone")]
fn private(world: &mut World) {
    let mut seen = 0;
    let mut folders: Vec<PathBuf> = vec![world.home.clone().unwrap()];
    folders.extend(["app", "site"].map(|root| file(world, root).join(".cleveragents/.txn")));
    for folder in folders {
        seen += check_private(&folder);
    }
    assert!(seen > 10, "only {seen} were looked at");
}

fn check_private(path: &Path) -> usize {
    let found = fs::symlink_metadata(path).unwrap();
    let mode = found.permissions().mode() & 0o777;
    let is_staged = path.parent().unwrap().ends_with(".txn/stage");
    let expected = match found.is_dir() {
        true => 0o700,
        // A staged file has its final mode already; its folder is private.
        false if is_staged && mode == 0o644 => 0o644,
        false => 0o600,
    };
    assert_eq!(mode, expected, "{} is {mode:o}", path.display());
    let inside = found.is_dir().then(|| fs::read_dir(path).unwrap()).into_iter().flatten();
    1 + inside.map(|entry| check_private(&entry.unwrap().path())).sum::<usize>()
}

#[given(expr = "a FIFO {string}")]
fn fifo(world: &mut World, name: String) {
    assert!(Command::new("mkfifo").arg(file(world, &name)).status().unwrap().success());
}

#[then(expr = "{string} is still a FIFO")]
fn is_fifo(world: &mut World, name: String) {
    assert!(fs::symlink_metadata(file(world, &name)).unwrap().file_type().is_fifo());
}

#[when(expr = "{string} records a path through {int} folders")]
fn deep(world: &mut World, actor: String, folders: usize) {
    let path = "a/".repeat(folders) + "b";
    run(world, format!("agents changeset record {{{actor}}} --path {path} --symlink x"));
}

#[given(expr = "a file {string} of {int} MiB")]
fn large(world: &mut World, name: String, mebibytes: u64) {
    let large = fs::File::create(file(world, &name)).unwrap();
    large.set_len(mebibytes << 20).unwrap();
}

#[then(expr = "{string} is the same as {string}")]
fn same(world: &mut World, one: String, other: String) {
    let status = Command::new("cmp").args([file(world, &one), file(world, &other)]).status();
    assert!(status.unwrap().success());
}
