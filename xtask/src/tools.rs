//! Finds the programs that steps use, and installs missing ones.
//!
//! `apt-get` installs Debian packages if it exists and the user is root; otherwise the command is printed. Cargo subcommands go to
//! `target/tools`; one that is installed elsewhere is used as it is.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result};
use crate::run::{Run, output_of, root};

/// A Debian package and a program of it, which may come from elsewhere.
pub(crate) struct Package {
    pub(crate) name: &'static str,
    pub(crate) program: &'static str,
}

/// Packages of the tests. A test reports a skip without its program.
pub(crate) const FOR_TESTS: &[Package] = &[
    Package { name: "strace", program: "strace" },
    Package { name: "git", program: "git" },
    Package { name: "e2fsprogs", program: "mkfs.ext4" },
    Package { name: "xfsprogs", program: "mkfs.xfs" },
    Package { name: "openssl", program: "openssl" },
    Package { name: "postgresql", program: "pg_ctlcluster" },
    Package { name: "pgbouncer", program: "pgbouncer" },
];

/// Packages of the failover cluster. The third is a part of Patroni without a program.
pub(crate) const FOR_FAILOVER: &[Package] = &[
    Package { name: "postgresql", program: "pg_ctlcluster" },
    Package { name: "patroni", program: "patroni" },
    Package { name: "python3-etcd", program: "patroni" },
    Package { name: "etcd-server", program: "etcd" },
];

/// Packages of a virtual environment. The second has no program, so it always counts as missing: install these only if creation fails.
pub(crate) const FOR_PYTHON: &[Package] = &[
    Package { name: "python3", program: "python3" },
    Package { name: "python3-venv", program: "python3-venv" },
];

/// Compilers for Windows: some dependencies compile C or assembly.
pub(crate) const FOR_WINDOWS: &[Package] = &[
    Package { name: "gcc-mingw-w64-x86-64", program: "x86_64-w64-mingw32-gcc" },
    Package { name: "g++-mingw-w64-x86-64", program: "x86_64-w64-mingw32-g++" },
];

/// Packages that run Windows programs.
pub(crate) const FOR_WINE: &[Package] =
    &[Package { name: "wine", program: "wine" }, Package { name: "wine64", program: "wine" }];

/// Availability of programs.
pub(crate) enum Availability {
    Ready,
    /// Says what is missing and how to install it.
    Missing(String),
}

/// Installs the packages whose programs are missing.
pub(crate) fn install(run: &mut Run, packages: &[Package]) -> Result<Availability> {
    let missing: Vec<&str> = packages
        .iter()
        .filter(|package| find(package.program).is_none())
        .map(|package| package.name)
        .collect();
    if missing.is_empty() {
        return Ok(Availability::Ready);
    }
    let by_hand = format!("needs: sudo apt-get install --no-install-recommends {}", missing.join(" "));
    if find("apt-get").is_none() || !is_root() {
        return Ok(Availability::Missing(by_hand));
    }
    if !run.steps().iter().any(|(name, _)| name == UPDATE) {
        // A failed update matters only if a package is not found afterwards.
        try_step(run, UPDATE, apt_get(&["update", "--quiet"]))?;
    }
    let mut words = vec!["install", "--quiet", "--yes", "--no-install-recommends"];
    words.extend(&missing);
    let installed = try_step(run, &format!("install {}", missing.join(" ")), apt_get(&words))?;
    Ok(if installed { Availability::Ready } else { Availability::Missing(by_hand) })
}

const UPDATE: &str = "update the package lists";

/// Installs `cargo NAME` if it is missing.
pub(crate) fn install_cargo(run: &mut Run, name: &str) -> Result<Availability> {
    let package = format!("cargo-{name}");
    if find(&package).is_some() {
        return Ok(Availability::Ready);
    }
    let mut command = Command::new("cargo");
    command.args(["install", "--quiet", "--locked", &package, "--root", "target/tools"]);
    let installed = try_step(run, &format!("install {package}"), command)?;
    let by_hand = format!("needs: cargo install --locked {package}");
    Ok(if installed { Availability::Ready } else { Availability::Missing(by_hand) })
}

/// Installs the coverage tools of LLVM: those of the toolchain, else Debian's.
pub(crate) fn install_llvm(run: &mut Run) -> Result<Availability> {
    if llvm("llvm-cov").is_some() || rustup(run, &["component", "add", "llvm-tools"])? {
        return Ok(Availability::Ready);
    }
    install(run, &[LLVM])
}

/// Installs a Rust target.
pub(crate) fn install_target(run: &mut Run, target: &str) -> Result<Availability> {
    let mut command = Command::new("rustc");
    command.args(["--print", "target-libdir", "--target", target]);
    let is_installed = output_of(command).is_ok_and(|folder| Path::new(folder.trim()).is_dir());
    if is_installed || rustup(run, &["target", "add", target])? {
        return Ok(Availability::Ready);
    }
    Ok(Availability::Missing(format!("needs: rustup target add {target}")))
}

/// Runs rustup. Returns false if it is missing or fails.
fn rustup(run: &mut Run, words: &[&str]) -> Result<bool> {
    let mut command = Command::new("rustup");
    command.args(words);
    Ok(find("rustup").is_some() && try_step(run, &format!("rustup {}", words.join(" ")), command)?)
}

/// Runs a step that may fail, such as an installation. Returns true if it passed.
pub(crate) fn try_step(run: &mut Run, name: &str, command: Command) -> Result<bool> {
    match run.step(name, command) {
        Ok(()) => Ok(true),
        Err(Error::Step { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

const LLVM: Package = Package { name: "llvm-22", program: "llvm-cov-22" };

/// Finds a tool of LLVM in the toolchain, else Debian's.
pub(crate) fn llvm(tool: &str) -> Option<PathBuf> {
    let mut command = Command::new("rustc");
    command.args(["--print", "target-libdir"]);
    let libraries = output_of(command).ok()?;
    let own = Path::new(libraries.trim()).with_file_name("bin").join(tool);
    if own.is_file() { Some(own) } else { find(&format!("{tool}-22")) }
}

/// Finds a program on the search path.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    std::env::split_paths(&search_path()).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// PATH with our own tools first, and the folders of root's programs last.
pub(crate) fn search_path() -> OsString {
    let given = std::env::var_os("PATH").unwrap_or_default();
    let first = [root().join("target/tools/bin")];
    let last = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::join_paths(first.into_iter().chain(std::env::split_paths(&given)).chain(last)).unwrap_or(given)
}

fn is_root() -> bool {
    let mut command = Command::new("id");
    command.arg("-u");
    output_of(command).is_ok_and(|id| id.trim() == "0")
}

fn apt_get(words: &[&str]) -> Command {
    let mut command = Command::new("apt-get");
    command.args(words).env("DEBIAN_FRONTEND", "noninteractive");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_by_its_full_name() {
        assert!(find("cargo").is_some());
        assert!(find("no-such-program-anywhere").is_none());
    }
}
