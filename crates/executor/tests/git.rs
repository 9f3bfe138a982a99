//! Reading a hostile repository with git runs nothing of it and follows nothing out of it. Each case has
//! a control: plain git does.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "plays people that make repositories")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate cleveragents_executor as executor;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::AtomicBool;

use executor::sandbox::git_reader;
use executor::{CopyStrategy, Ignored, SandboxOptions, SandboxStrategy};
use tempfile::TempDir;

const IGNORED: [&str; 6] = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];

/// A repository, and a script that leaves a mark when it runs.
struct Hostile {
    folder: TempDir,
}

impl Hostile {
    fn new() -> Self {
        let hostile = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(hostile.root().join("sub")).unwrap();
        fs::write(hostile.script(), format!("#!/bin/sh\ntouch {}\n", hostile.mark().display())).unwrap();
        fs::set_permissions(hostile.script(), fs::Permissions::from_mode(0o755)).unwrap();
        hostile.write("file", "one\n");
        hostile.write("sub/.gitignore", "*.log\n");
        hostile.git(&["init", "-q"]);
        hostile.git(&["add", "."]);
        hostile.git(&["-c", "user.name=n", "-c", "user.email=e@example.invalid", "commit", "-qm", "first"]);
        hostile.write("sub/new.log", "ignored");
        hostile
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    fn script(&self) -> PathBuf {
        self.folder.path().join("script")
    }

    fn mark(&self) -> PathBuf {
        self.folder.path().join("mark")
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.root().join(path), text).unwrap();
    }

    fn git(&self, words: &[&str]) -> Output {
        let output = Command::new("git").arg("-C").arg(self.root()).args(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        output
    }

    fn config(&self, key: &str, value: &str) {
        self.git(&["config", key, value]);
    }

    /// Removes an object, which git then fetches from the promised remote.
    fn lose(&self, name: &str, url: &str) {
        let id = String::from_utf8(self.git(&["rev-parse", name]).stdout).unwrap();
        let (folder, file) = id.trim().split_at(2);
        fs::remove_file(self.root().join(".git/objects").join(folder).join(file)).unwrap();
        self.config("core.repositoryFormatVersion", "1");
        self.config("extensions.partialClone", "origin");
        self.config("remote.origin.promisor", "true");
        self.config("remote.origin.url", url);
    }

    /// Leaves an ignore file in the index only, so that git reads it from there.
    fn lose_ignore_file(&self, url: &str) {
        self.git(&["update-index", "--skip-worktree", "sub/.gitignore"]);
        fs::remove_file(self.root().join("sub/.gitignore")).unwrap();
        self.lose(":sub/.gitignore", url);
    }

    /// Lets git compare the content of a file that has another time.
    fn touch(&self) {
        fs::remove_file(self.root().join("file")).unwrap();
        self.write("file", "one\n");
    }

    /// Returns true if a call leaves the mark, and removes it.
    fn runs(&self, mut git: Command) -> bool {
        drop(git.current_dir(self.root()).output().unwrap());
        fs::remove_file(self.mark()).is_ok()
    }

    #[track_caller]
    fn check(&self, prepare: impl Fn(&Self), words: &[&str]) {
        prepare(self);
        let mut plain = Command::new("git");
        plain.args(words);
        assert!(self.runs(plain), "the control: plain git runs it");
        prepare(self);
        let mut reader = git_reader(&self.root(), words[0]).unwrap();
        reader.args(&words[1..]);
        assert!(!self.runs(reader), "{words:?}");
    }
}

#[test]
fn a_sandbox_of_a_hostile_repository_runs_nothing() {
    let hostile = Hostile::new();
    let script = hostile.script().display().to_string();
    hostile.config("protocol.ext.allow", "always");
    hostile.lose_ignore_file(&format!("ext::{script}"));
    let mut plain = Command::new("git");
    plain.args(IGNORED);
    assert!(hostile.runs(plain), "the control: plain git fetches");
    let folder = hostile.folder.path().join("sandbox");
    let options = SandboxOptions {
        root: &hostile.root(),
        folder: &folder,
        ignored: Ignored::Exclude,
        excluded: &[],
        file_bytes_max: u64::MAX,
        cancel: &AtomicBool::new(false),
    };
    let sandbox = CopyStrategy { threads: 1 }.make(&options).unwrap();
    assert!(!hostile.mark().exists());
    assert_eq!(sandbox.notes, [""; 0]);
}

#[test]
fn nothing_is_fetched() {
    let hostile = Hostile::new();
    let script = hostile.script().display().to_string();
    hostile.config("protocol.ext.allow", "always");
    hostile.lose_ignore_file(&format!("ext::{script}"));
    hostile.check(|_| {}, &IGNORED);
    let hostile = Hostile::new();
    hostile.config("core.sshCommand", &hostile.script().display().to_string());
    hostile.lose_ignore_file("ssh://host.invalid/repository");
    hostile.check(|_| {}, &IGNORED);
}

#[test]
fn monitors_and_hooks_do_not_run() {
    let hostile = Hostile::new();
    let script = hostile.script().display().to_string();
    hostile.config("core.fsmonitor", &script);
    hostile.check(|_| {}, &["status", "--porcelain"]);
    let hostile = Hostile::new();
    let hooks = hostile.root().join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    fs::copy(hostile.script(), hooks.join("post-index-change")).unwrap();
    hostile.check(Hostile::touch, &["status", "--porcelain"]);
}

#[test]
fn filters_do_not_run() {
    for key in ["clean", "process"] {
        let hostile = Hostile::new();
        hostile.write(".gitattributes", "file filter=a.b\n");
        hostile.config(&format!("filter.a.b.{key}"), &hostile.script().display().to_string());
        hostile.check(Hostile::touch, &["status", "--porcelain"]);
        hostile.config("filter.a.b.required", "true");
        hostile.check(Hostile::touch, &["diff"]);
    }
}

#[test]
fn external_diffs_and_conversions_do_not_run() {
    for key in ["diff.external", "diff.a.command", "diff.a.textconv"] {
        let hostile = Hostile::new();
        hostile.write(".gitattributes", "file diff=a\n");
        hostile.write("file", "two\n");
        hostile.config(key, &hostile.script().display().to_string());
        hostile.check(|_| {}, &["diff"]);
    }
    let hostile = Hostile::new();
    hostile.write(".gitattributes", "file diff=a\n");
    hostile.config("diff.a.textconv", &hostile.script().display().to_string());
    hostile.check(|_| {}, &["log", "-p"]);
}

#[test]
fn signatures_are_not_checked() {
    let hostile = Hostile::new();
    let text = String::from_utf8(hostile.git(&["cat-file", "commit", "HEAD"]).stdout).unwrap();
    let signed = text.replacen(
        "\n\n",
        "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n -----END PGP SIGNATURE-----\n\n",
        1,
    );
    let file = hostile.folder.path().join("commit");
    fs::write(&file, signed).unwrap();
    let made = hostile.git(&["hash-object", "-t", "commit", "-w", &file.display().to_string()]);
    let id = String::from_utf8(made.stdout).unwrap();
    hostile.git(&["update-ref", "HEAD", id.trim()]);
    hostile.config("gpg.program", &hostile.script().display().to_string());
    hostile.config("log.showSignature", "true");
    hostile.check(|_| {}, &["log"]);
}

#[test]
fn a_folder_that_looks_like_a_repository_is_not_one() {
    let hostile = Hostile::new();
    let inner = hostile.root().join("inner");
    let copied = Command::new("cp").arg("-r").arg(hostile.root().join(".git")).arg(&inner).status();
    assert!(copied.unwrap().success());
    let config = inner.join("config").display().to_string();
    let script = hostile.script().display().to_string();
    for (key, value) in [("core.bare", "false"), ("core.worktree", ".."), ("core.fsmonitor", &script)] {
        hostile.git(&["config", "-f", &config, key, value]);
    }
    let mut plain = Command::new("git");
    plain.arg("-C").arg(&inner).arg("status");
    assert!(hostile.runs(plain), "the control: plain git uses it");
    let mut reader = git_reader(&inner, "status").unwrap();
    assert!(!reader.output().unwrap().status.success());
    assert!(!hostile.mark().exists());
}

#[test]
fn the_work_tree_is_the_folder_of_the_repository() {
    let hostile = Hostile::new();
    let outside = hostile.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("private"), "").unwrap();
    hostile.config("core.worktree", &outside.display().to_string());
    let shown = |mut git: Command| {
        String::from_utf8(git.args(["--others", "--directory"]).output().unwrap().stdout).unwrap()
    };
    let mut plain = Command::new("git");
    plain.arg("-C").arg(hostile.root()).arg("ls-files");
    assert!(shown(plain).contains("private"), "the control: plain git lists it");
    assert_eq!(shown(git_reader(&hostile.root(), "ls-files").unwrap()), "sub/new.log\n");
    assert_eq!(shown(git_reader(&hostile.root().join("sub"), "ls-files").unwrap()), "new.log\n");
    assert!(git_reader(&outside, "ls-files").is_none());
}

#[test]
fn repositories_of_other_users_are_not_read() {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        testkit::report::skipped("ownership", "only root can give a file away");
        return;
    }
    let hostile = Hostile::new();
    let given = Command::new("chown").args(["-R", "65534"]).arg(hostile.root()).status();
    assert!(given.unwrap().success());
    let read = |configuration: &str| {
        let file = hostile.folder.path().join("configuration");
        fs::write(&file, configuration).unwrap();
        let mut reader = git_reader(&hostile.root(), "ls-files").unwrap();
        reader.env("GIT_CONFIG_GLOBAL", file).output().unwrap()
    };
    let refused = read("");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("dubious ownership"), "{refused:?}");
    assert!(!refused.status.success());
    assert!(read("[safe]\ndirectory = *\n").status.success(), "the control: a person may trust it");
}
