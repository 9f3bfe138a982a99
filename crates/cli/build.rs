//! Links the program so that it starts fast, which is a good part of what a short command takes. Everywhere but on Linux with glibc it is linked
//! as always.
//!
//! - At a fixed address, as programs of Go are: there are no pointers to relocate, and no pages to copy for it. The stack, the heap and
//!   libraries still have addresses of their own in every process. Only what is released: nothing else is started so often.
//! - With the unwinder in it, where the system's compiler has it as an archive: one library less to find and map.

use std::path::Path;
use std::process::Command;

const ARCHIVE: &str = "libgcc_eh.a";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let is_native = variable("HOST") == variable("TARGET");
    let is_linux = variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu";
    if !is_native || !is_linux {
        return;
    }
    if variable("PROFILE") == "release" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
    // Asked for what it does not have, a compiler answers with the bare name.
    let Ok(answer) = Command::new("cc").arg(format!("-print-file-name={ARCHIVE}")).output() else { return };
    let answer = String::from_utf8_lossy(&answer.stdout);
    if let Some(folder) = Path::new(answer.trim()).parent().filter(|folder| folder.is_absolute()) {
        println!("cargo::rustc-link-search=native={}", folder.display());
        println!("cargo::rustc-link-lib=static=gcc_eh");
    }
}
