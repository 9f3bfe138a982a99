//! Links the unwinder into the program where the system's compiler has it as an archive: one library less to find and map at every start,
//! which is a good part of what a short command takes. Everywhere else the shared one is used, as always.

use std::path::Path;
use std::process::Command;

const ARCHIVE: &str = "libgcc_eh.a";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let is_native = std::env::var("HOST").ok() == std::env::var("TARGET").ok();
    if !is_native || target("OS") != "linux" || target("ENV") != "gnu" {
        return;
    }
    // Asked for what it does not have, a compiler answers with the bare name.
    let Ok(answer) = Command::new("cc").arg(format!("-print-file-name={ARCHIVE}")).output() else { return };
    let answer = String::from_utf8_lossy(&answer.stdout);
    if let Some(folder) = Path::new(answer.trim()).parent().filter(|folder| folder.is_absolute()) {
        println!("cargo::rustc-link-search=native={}", folder.display());
        println!("cargo::rustc-link-lib=static=gcc_eh");
    }
}
