//! The program in `docs/library.md`: built outside of this workspace, and run.

#![expect(clippy::disallowed_methods, reason = "writes a program of its own")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Folder of the workspace.
fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Target folder of the present build. Third-party crates that it holds are not compiled again.
fn target() -> PathBuf {
    let test = env::current_exe().unwrap();
    test.ancestors().find(|folder| folder.ends_with("debug")).unwrap().parent().unwrap().to_owned()
}

/// Text of a fenced block of the page.
fn block<'a>(page: &'a str, language: &str) -> &'a str {
    let (_, rest) = page.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

/// Manifest of the program: a workspace of its own, with the profile of this one so that compiled crates fit.
fn manifest(page: &str) -> String {
    let api = workspace().join("crates/api");
    let version = concat!("\"", env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"), "\"");
    let dependency = format!("cleveragents = {version}");
    let dependencies = block(page, "toml");
    assert!(dependencies.contains(&dependency), "{dependencies}");
    let by_path =
        dependencies.replace(&dependency, &format!("cleveragents = {{ path = '{}' }}", api.display()));
    let root = fs::read_to_string(workspace().join("Cargo.toml")).unwrap();
    let (_, profiles) = root.split_once("[profile.dev]").unwrap();
    let profile = profiles.split_once("[profile.release]").unwrap().0;
    format!(
        "[package]\nname = \"greet\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n{by_path}\n[workspace]\n\n[profile.dev]{profile}"
    )
}

#[test]
fn the_program_of_the_page_builds_outside_of_the_workspace_and_runs() {
    let page = fs::read_to_string(workspace().join("docs/library.md")).unwrap();
    let program = target().join("library-program");
    fs::create_dir_all(program.join("src")).unwrap();
    fs::write(program.join("Cargo.toml"), manifest(&page)).unwrap();
    fs::copy(workspace().join("Cargo.lock"), program.join("Cargo.lock")).unwrap();
    fs::write(program.join("src/main.rs"), block(&page, "rust")).unwrap();

    let folder = tempfile::tempdir().unwrap();
    let cargo = env::var_os("CARGO").unwrap_or("cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "--quiet", "--offline", "--"]).arg(folder.path()).current_dir(&program);
    command.env("CARGO_TARGET_DIR", target());
    // Variables of this test: with them, build scripts that depend on them would run again, here and in the next build.
    for (name, _) in
        env::vars().filter(|(name, _)| name.starts_with("CARGO_PKG") || name.starts_with("CARGO_MANIFEST"))
    {
        command.env_remove(name);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(text, "3 files applied, 3 messages\n");
    assert_eq!(fs::read_to_string(folder.path().join("shop/bob.txt")).unwrap(), "hello\n");
    let config = fs::read_to_string(folder.path().join("home/config.toml")).unwrap();
    assert!(["ada", "bob", "eve"].iter().all(|name| config.contains(name)), "{config}");
}
