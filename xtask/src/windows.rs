//! `cargo xtask windows`: checks types for Windows, and tests locks and replaces there.
//!
//! Tests run under Wine. Debian's Wine 8 lacks `bcryptprimitives.dll`, from which Rust's standard library takes random numbers; a few
//! lines of C in `xtask/wine` provide it.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::error::{Error, Result};
use crate::run::{Run, cargo, executables, output_of, root};
use crate::tools::{self, Availability};

pub(crate) const HELP: &str = "\
Check the types of the workspace for Windows, then run the lock and replace tests of the file transaction under Wine.

Usage: cargo xtask windows

Installs the Debian packages of MinGW and Wine and the Rust target x86_64-pc-windows-gnu if they are missing.
";

const TARGET: &str = "x86_64-pc-windows-gnu";

/// The package and the test that run under Wine.
const TESTS: (&str, &str) = ("cleveragents-filetx", "windows");

pub(crate) fn windows() -> Result<()> {
    let mut run = Run::start()?;
    type_check(&mut run)?;
    tests(&mut run)?;
    run.finish()
}

/// C code of dependencies is only compiled, never run, so it need not be fast.
const UNOPTIMISED: &str = "--config profile.dev.package.libsqlite3-sys.opt-level=0 --config profile.dev.package.zstd-sys.opt-level=0";

/// Checks the types of the workspace for Windows.
pub(crate) fn type_check(run: &mut Run) -> Result<()> {
    match install_compiler(run)? {
        Availability::Ready => {
            let check = format!("check --workspace --target {TARGET} {UNOPTIMISED}");
            run.step("type check for Windows", cargo(&check))
        }
        Availability::Missing(reason) => run.skip("windows-check", &reason),
    }
}

/// Runs the tests that matter on Windows.
pub(crate) fn tests(run: &mut Run) -> Result<()> {
    for available in [install_compiler(run)?, tools::install(run, tools::FOR_WINE)?] {
        if let Availability::Missing(reason) = available {
            return run.skip("windows-tests", &reason);
        }
    }
    let folder = root().join("target/wine");
    fs::create_dir_all(&folder).map_err(Error::io(format!("create {}", folder.display())))?;
    let program = folder.join("tests.exe");
    let built = build_tests()?;
    fs::copy(&built, &program).map_err(Error::io(format!("copy {}", built.display())))?;
    run.step("build bcryptprimitives.dll", random_library())?;

    let mut command = Command::new("wine");
    command.arg("target/wine/tests.exe").env("WINEPREFIX", folder.join("prefix")).env("WINEDEBUG", "-all");
    run.step("tests under Wine", command)
}

fn install_compiler(run: &mut Run) -> Result<Availability> {
    match tools::install(run, tools::FOR_WINDOWS)? {
        Availability::Ready => tools::install_target(run, TARGET),
        missing => Ok(missing),
    }
}

/// Builds the DLL for random numbers beside the test program, where Wine looks first.
fn random_library() -> Command {
    let mut command = Command::new("x86_64-w64-mingw32-gcc");
    command.args(["-O2", "-Wall", "-shared", "-o", "target/wine/bcryptprimitives.dll"]);
    command.args(["xtask/wine/bcryptprimitives.c", "-ladvapi32"]);
    command
}

fn build_tests() -> Result<PathBuf> {
    let (package, test) = TESTS;
    let words =
        format!("test --no-run --message-format json --package {package} --test {test} --target {TARGET}");
    println!("\n== build the tests for Windows: cargo {words}");
    let messages = output_of(cargo(&words))?;
    let built = executables(&messages).into_iter().find(|(name, _)| name == test);
    built.map(|(_, program)| program).ok_or_else(|| Error::Output {
        command: format!("cargo {words}"),
        problem: format!("no executable of the test `{test}`"),
    })
}
