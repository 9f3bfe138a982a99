//! Reports of tests beside pass and fail: figures, and skips.
//!
//! `cargo xtask` sets the files and collects them; without it, the lines are only printed.

use std::env;
use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write;

/// Reports a figure.
pub fn figure(name: &str, value: impl Display) {
    note("AGENTS_FIGURES", &format!("FIGURE: {name} = {value}"));
}

/// Reports that a test was skipped, and why. `name` has no spaces: the list of allowed skips
/// contains it.
pub fn skipped(name: &str, reason: &str) {
    assert!(!name.contains(' '), "a skip's name has no spaces: {name}");
    note("AGENTS_SKIPS", &format!("SKIPPED: {name}: {reason}"));
}

/// Tells whether this is a long run: every point, more seeds, more cuts.
pub fn is_proof() -> bool {
    env::var_os("AGENTS_PROOF").is_some()
}

fn note(variable: &str, line: &str) {
    eprintln!("{line}");
    if let Some(path) = env::var_os(variable) {
        // One append per line, so that lines of concurrent tests do not mix.
        let mut file =
            OpenOptions::new().append(true).create(true).open(path).expect("the file of notes opens");
        file.write_all(format!("{line}\n").as_bytes()).expect("the file of notes takes a line");
    }
}
