//! Links the unwinder and the mathematics into the program where the system's compiler has them as archives: two libraries less to find and
//! map at every start, which is a good part of what a short command takes. Everywhere else the shared ones are used, as always.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let is_native = std::env::var("HOST").ok() == std::env::var("TARGET").ok();
    if !is_native || target("OS") != "linux" || target("ENV") != "gnu" {
        return;
    }
    if let Some(folder) = folder_of("libgcc_eh.a") {
        println!("cargo::rustc-link-search=native={}", folder.display());
        println!("cargo::rustc-link-lib=static=gcc_eh");
    }
    if folder_of("libm.a").is_some() {
        println!("cargo::rustc-link-arg-bins=-l:libm.a");
    }
}

/// Where the compiler has an archive. Asked for what it does not have, it answers with the bare name.
fn folder_of(archive: &str) -> Option<PathBuf> {
    let answer = Command::new("cc").arg(format!("-print-file-name={archive}")).output().ok()?;
    let answer = String::from_utf8_lossy(&answer.stdout);
    Path::new(answer.trim()).parent().filter(|folder| folder.is_absolute()).map(Path::to_owned)
}
