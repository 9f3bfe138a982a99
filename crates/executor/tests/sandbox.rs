//! Sandboxes, change detection, and confinement.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "plays people and actors that edit files")]

extern crate cleveragents_executor as executor;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use executor::{
    Confine, Confinement, CopyStrategy, Error, FileError, Ignored, Manifest, Sandbox, SandboxOptions,
    SandboxStrategy, TreeChange, TreeChangeKind, TreeChanges, spawn_confined,
};
use tempfile::TempDir;

static NEVER: AtomicBool = AtomicBool::new(false);
const COPY: CopyStrategy = CopyStrategy { threads: 2 };

struct Fixture {
    folder: TempDir,
}

impl Fixture {
    fn new() -> Self {
        let fixture = Self { folder: tempfile::tempdir().expect("the fixture is made") };
        fs::create_dir(fixture.root()).expect("the fixture is made");
        fixture
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("the fixture is made")).expect("the fixture is prepared");
        fs::write(path, content).expect("the fixture is made");
    }

    fn git(&self, words: &[&str]) {
        let status = Command::new("git")
            .arg("-C")
            .arg(self.root())
            .args(["-c", "user.name=n", "-c", "user.email=e@example.invalid", "-c", "commit.gpgsign=false"])
            .args(words)
            .status()
            .expect("the fixture is made");
        assert!(status.success(), "{words:?}");
    }

    fn sandbox(&self, ignored: Ignored) -> Sandbox {
        let excluded = [self.root().join("home")];
        let folder = self.folder.path().join("sandboxes/a");
        let wanted = SandboxOptions {
            root: &self.root(),
            folder: &folder,
            ignored,
            excluded: &excluded,
            file_bytes_max: u64::MAX,
            cancel: &NEVER,
        };
        COPY.make(&wanted).expect("the fixture is made")
    }
}

/// A repository with uncommitted, untracked and ignored files.
fn repository() -> Fixture {
    let fixture = Fixture::new();
    fixture.write("src/a.rs", "a");
    fixture.write(".gitignore", "target\n*.log\n");
    fixture.git(&["init", "-q"]);
    fixture.git(&["add", "."]);
    fixture.git(&["commit", "-qm", "first"]);
    fixture.write("src/a.rs", "uncommitted");
    fixture.write("untracked", "untracked");
    fixture.write("target/debug/big", "big");
    fixture.write("x.log", "log");
    fixture.write("home/sandboxes/old/tree/file", "not of the project");
    fixture.write(".cleveragents/.txn/journal", "ours");
    fixture.write(".git/index.lock", "held");
    fixture
}

#[test]
fn a_sandbox_has_the_present_tree_and_its_own_git() {
    let fixture = repository();
    let sandbox = fixture.sandbox(Ignored::Copy);
    assert_eq!(COPY.name(), "copy");
    let read = |path: &str| fs::read_to_string(sandbox.tree.join(path)).unwrap();
    assert_eq!(read("src/a.rs"), "uncommitted");
    assert_eq!(read("untracked"), "untracked");
    assert_eq!(read("target/debug/big"), "big");
    for path in ["home", ".cleveragents/.txn", ".git/index.lock"] {
        assert!(fixture.root().join(path).exists() && !sandbox.tree.join(path).exists(), "{path}");
    }
    for folder in [&sandbox.folder, &sandbox.tree, &sandbox.temporary] {
        assert_eq!(folder.metadata().unwrap().mode() & 0o7777, 0o700);
    }
    assert_eq!(sandbox.notes, [""; 0]);

    let manifest = Manifest::scan(&sandbox.tree).unwrap();
    let commit = Command::new("git")
        .arg("-C")
        .arg(&sandbox.tree)
        .args(["-c", "user.name=n", "-c", "user.email=e@example.invalid", "commit", "-qam", "by the actor"])
        .status();
    assert!(commit.unwrap().success());
    assert_eq!(
        manifest.changes(&sandbox.tree).unwrap().changes,
        [],
        "what an actor commits is its own business"
    );
    let head = |root: &Path| fs::read_to_string(root.join(".git/logs/HEAD")).unwrap();
    assert!(head(&sandbox.tree).contains("by the actor") && !head(&fixture.root()).contains("by the actor"));

    COPY.remove(&sandbox.folder, &NEVER).unwrap();
    assert!(!sandbox.folder.exists() && fixture.root().join("untracked").exists());
}

#[test]
fn ignored_files_are_linked_or_excluded_by_choice() {
    let fixture = repository();
    let sandbox = fixture.sandbox(Ignored::Link);
    let root = fixture.root().canonicalize().unwrap();
    assert_eq!(fs::read_link(sandbox.tree.join("target")).unwrap(), root.join("target"));
    assert_eq!(fs::read_link(sandbox.tree.join("x.log")).unwrap(), root.join("x.log"));
    assert!(sandbox.tree.join("untracked").is_file());
    COPY.remove(&sandbox.folder, &NEVER).unwrap();
    assert!(root.join("target/debug/big").exists());

    let sandbox = fixture.sandbox(Ignored::Exclude);
    assert!(!sandbox.tree.join("target").exists() && !sandbox.tree.join("x.log").exists());
    assert!(sandbox.tree.join("untracked").is_file());
}

#[test]
fn exclusions_are_noted() {
    let fixture = Fixture::new();
    fixture.write("file", "x");
    fixture.write(".git", "gitdir: /elsewhere\n");
    let _socket = std::os::unix::net::UnixListener::bind(fixture.root().join("socket")).unwrap();
    let sandbox = fixture.sandbox(Ignored::Exclude);
    assert_eq!(
        sandbox.notes,
        [
            "git does not read this folder (fatal: not a git repository: /elsewhere), so no file counts as ignored",
            "`.git` is a file that points outside the root, so it is excluded",
            "1 FIFOs, sockets or devices are excluded: socket",
        ]
    );
    assert!(!sandbox.tree.join(".git").exists() && sandbox.tree.join("file").exists());
}

#[test]
fn a_failed_make_leaves_nothing_and_replaces_nothing() {
    let fixture = Fixture::new();
    fixture.write("file", "x");
    let folder = fixture.folder.path().join("sandboxes/a");
    let cancelled = AtomicBool::new(true);
    let root = fixture.root();
    let wanted = SandboxOptions {
        root: &root,
        folder: &folder,
        ignored: Ignored::Copy,
        excluded: &[],
        file_bytes_max: u64::MAX,
        cancel: &cancelled,
    };
    let error = COPY.make(&wanted).unwrap_err();
    assert!(
        matches!(&error, Error::Sandbox { source, .. } if matches!(**source, FileError::Cancelled { .. }))
    );
    assert!(!folder.exists());
    let missing = fixture.folder.path().join("missing");
    assert!(COPY.make(&SandboxOptions { root: &missing, cancel: &NEVER, ..wanted }).is_err());
    assert!(!folder.exists());

    let wanted = SandboxOptions { cancel: &NEVER, ..wanted };
    COPY.make(&wanted).unwrap();
    fs::write(folder.join("tree/work"), "finished").unwrap();
    let error = COPY.make(&wanted).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot make sandbox `{}`", folder.display()));
    assert_eq!(fs::read(folder.join("tree/work")).unwrap(), b"finished");
    assert!(COPY.remove(&folder.join("tree/work"), &NEVER).is_err(), "not a folder");
}

fn show(changes: &TreeChanges) -> Vec<String> {
    let line = |TreeChange { path, kind }: &TreeChange| match kind {
        TreeChangeKind::Create(state) => {
            format!("create {path} {:?} {:o} {}", state.kind, state.mode, state.bytes)
        }
        TreeChangeKind::Modify { before, after } => {
            format!("modify {path} {:?} {} -> {:?} {}", before.kind, before.bytes, after.kind, after.bytes)
        }
        TreeChangeKind::Mode { before, after } => {
            format!("mode {path} {:o} -> {:o}", before.mode, after.mode)
        }
        TreeChangeKind::Delete(state) => format!("delete {path} {:?}", state.kind),
        TreeChangeKind::Rename { to, .. } => format!("rename {path} -> {to}"),
    };
    changes.changes.iter().map(line).collect()
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the fixture is made");
}

#[test]
fn every_kind_of_change_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    fs::create_dir_all(at("moved/inner")).unwrap();
    for name in [
        "same",
        "edited",
        "mode",
        "gone",
        "renamed",
        "to-link",
        "to-folder",
        "rewritten",
        "moved/inner/one",
        "to-fifo",
    ] {
        fs::write(at(name), format!("content of {name}")).unwrap();
        set_mode(&at(name), 0o644);
    }
    fs::write(at("empty"), "").unwrap();
    symlink("same", at("link")).unwrap();
    let manifest = Manifest::scan(folder.path()).unwrap();
    let same = filetx::RelPath::new("same").unwrap();
    assert_eq!(manifest.get(&same).unwrap().bytes, 15);
    assert_eq!(manifest.changes(folder.path()).unwrap().changes, []);

    fs::write(at("new"), "new").unwrap();
    set_mode(&at("new"), 0o755);
    fs::write(at("edited"), "edited").unwrap();
    set_mode(&at("mode"), 0o755);
    fs::remove_file(at("gone")).unwrap();
    fs::rename(at("renamed"), at("another")).unwrap();
    fs::remove_file(at("to-link")).unwrap();
    symlink("elsewhere", at("to-link")).unwrap();
    fs::remove_file(at("to-folder")).unwrap();
    fs::create_dir(at("to-folder")).unwrap();
    fs::write(at("to-folder/in"), "in").unwrap();
    // As editors and formatters do: another inode with the same content is not a change.
    fs::write(at("rewritten.tmp"), "content of rewritten").unwrap();
    set_mode(&at("rewritten.tmp"), 0o644);
    fs::rename(at("rewritten.tmp"), at("rewritten")).unwrap();
    fs::rename(at("moved"), at("away")).unwrap();
    fs::rename(at("empty"), at("empty-too")).unwrap();
    fs::remove_file(at("link")).unwrap();
    symlink("other", at("link")).unwrap();
    fs::remove_file(at("to-fifo")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, at("to-fifo"), rustix::fs::Mode::RUSR).unwrap();
    let changes = manifest.changes(folder.path()).unwrap();
    assert_eq!(
        show(&changes),
        [
            "modify edited File 17 -> File 6",
            "delete empty File",
            "create empty-too File 644 0",
            "delete gone File",
            "modify link Symlink 4 -> Symlink 5",
            "mode mode 644 -> 755",
            "rename moved/inner/one -> away/inner/one",
            "create new File 755 3",
            "rename renamed -> another",
            "delete to-fifo File",
            "delete to-folder File",
            "create to-folder/in File 644 2",
            "modify to-link File 18 -> Symlink 9",
        ]
    );
    assert_eq!(changes.special_files.iter().map(ToString::to_string).collect::<Vec<_>>(), ["to-fifo"]);
    assert!(Manifest::scan(&at("missing")).is_err() && manifest.changes(&at("missing")).is_err());
}

/// An edit that keeps the length and sets the time of modification back. The control, which goes by that time as many tools do, misses it.
#[test]
fn an_edit_that_hides_its_time_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "one").unwrap();
    let manifest = Manifest::scan(folder.path()).unwrap();
    let seen = file.metadata().unwrap();
    fs::write(&file, "two").unwrap();
    let times = fs::FileTimes::new().set_modified(seen.modified().unwrap());
    fs::File::options().write(true).open(&file).unwrap().set_times(times).unwrap();
    let now = file.metadata().unwrap();
    assert_eq!(
        (now.len(), now.modified().unwrap(), now.ino()),
        (seen.len(), seen.modified().unwrap(), seen.ino())
    );
    assert_eq!(show(&manifest.changes(folder.path()).unwrap()), ["modify file File 3 -> File 3"]);
}

#[test]
fn a_rename_prefers_the_same_file_name() {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    for path in ["a", "b", "c"] {
        fs::create_dir(at(path)).unwrap();
        fs::write(at(path).join(format!("name-{path}")), "alike").unwrap();
    }
    let manifest = Manifest::scan(folder.path()).unwrap();
    for (from, to) in [("a/name-a", "x"), ("b/name-b", "y"), ("c/name-c", "name-b")] {
        fs::rename(at(from), at(to)).unwrap();
    }
    let changes = manifest.changes(folder.path()).unwrap();
    assert_eq!(show(&changes), ["rename a/name-a -> x", "rename b/name-b -> name-b", "rename c/name-c -> y"]);
}

/// Runs a line in a shell that may write only to `allow_write`. Returns true if it succeeded.
fn confined(line: &str, confine: Confine, allow_write: &[PathBuf]) -> (bool, Confinement) {
    let mut command = Command::new("sh");
    command.args(["-c", line]).stderr(std::process::Stdio::null());
    let (mut child, confinement) =
        spawn_confined(&mut command, confine, allow_write).expect("the fixture is made");
    (child.wait().expect("the fixture is made").success(), confinement)
}

#[test]
fn a_confined_actor_writes_only_in_its_sandbox() {
    let folder = tempfile::tempdir().unwrap();
    let [inside, outside] = ["inside", "outside"].map(|name| folder.path().join(name));
    fs::create_dir(&inside).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("precious"), "precious").unwrap();
    symlink(&outside, inside.join("out")).unwrap();
    let allow_write = [inside.clone()];
    let run =
        |line: &str, confine| confined(&format!("cd {} && {line}", inside.display()), confine, &allow_write);
    let (wrote, confinement) =
        run("echo x > new && mkdir -p a/b && mv new a/b && echo x > /dev/null", Confine::Auto);
    assert!(wrote && inside.join("a/b/new").exists());
    if confinement == Confinement::None {
        testkit::report::skipped("landlock", "this kernel has no Landlock");
        let error = spawn_confined(&mut Command::new("true"), Confine::Require, &allow_write).unwrap_err();
        assert!(matches!(error, Error::NotConfined { .. }), "{error}");
        return;
    }
    for line in [
        "echo x > ../outside/new",
        "echo x > out/new",
        "echo x >> out/precious",
        "rm out/precious",
        "mkdir ../outside/folder",
        "mv a ../outside/a",
        "ln -s x ../outside/link",
        "sh -c 'echo x > ../outside/by-a-child'",
        "(cd / && echo x > agents-confined-test)",
    ] {
        assert!(!run(line, Confine::Require).0, "{line}");
    }
    assert!(run("test -s out/precious", Confine::Require).0, "reading is free");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    assert_eq!(fs::read(outside.join("precious")).unwrap(), b"precious");

    // The control: without confinement the same line gets through. And this process was not confined on the way.
    assert_eq!(run("echo x > ../outside/new", Confine::Off), (true, Confinement::None));
    fs::write(outside.join("by-us"), "x").unwrap();
    assert_eq!(run("true", Confine::Require), (true, Confinement::Full));
}

#[test]
fn missing_folders_and_programs_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = [folder.path().join("missing")];
    let error = spawn_confined(&mut Command::new("true"), Confine::Auto, &missing).unwrap_err();
    let text = format!("cannot allow actors to write to `{}`", missing[0].display());
    assert_eq!(error.to_string(), text);
    for confine in [Confine::Auto, Confine::Off] {
        let error = spawn_confined(&mut Command::new("no-such-program"), confine, &[]).unwrap_err();
        assert_eq!(error.to_string(), "no-such-program: command not found");
    }
}
