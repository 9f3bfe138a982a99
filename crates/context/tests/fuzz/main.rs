//! Fuzz targets over their seeds, and over mutated seeds. `cargo xtask fuzz` searches further.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "plays a person who edits the files")]

extern crate cleveragents_context as context;

mod targets;

use std::fs;
use std::path::Path;

use testkit::report::{figure, is_proof};
use testkit::seed::{self, Replay};

/// Seeds of a target.
fn seeds(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(name);
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|file| fs::read(file).unwrap()).collect()
}

/// Mutates the bytes: cuts, repeats, changes or inserts.
fn change(bytes: &mut Vec<u8>, random: &mut fastrand::Rng) {
    let at = random.usize(..=bytes.len());
    let end = random.usize(at..=bytes.len().min(at + 40));
    match random.u8(..5) {
        0 => drop(bytes.drain(at..end)),
        1 => bytes.truncate(at),
        2 => {
            let piece = bytes[at..end].to_vec();
            bytes.splice(at..at, piece);
        }
        3 if at < bytes.len() => bytes[at] = random.u8(..),
        _ => bytes.insert(at, *random.choice(b"\n\0 \"\\{}[]:,0-9e\xff").unwrap()),
    }
}

fn check(name: &str) {
    let (_, target) = targets::TARGETS.into_iter().find(|(found, _)| *found == name).unwrap();
    let kept = seed::from_env_or(7213);
    let _replay = Replay::new("cleveragents-context", name, kept);
    let mut random = fastrand::Rng::with_seed(kept);
    let (seeds, each) = (seeds(name), if is_proof() { 500 } else { 25 });
    assert!(seeds.len() > 1, "{name} has seeds");
    for bytes in &seeds {
        target(bytes);
        for _ in 0..each {
            let mut bytes = bytes.clone();
            (0..random.usize(1..4)).for_each(|_| change(&mut bytes, &mut random));
            target(&bytes);
        }
    }
    figure(&format!("inputs of the fuzz target `{name}`"), seeds.len() * (each + 1));
}

#[test]
fn archive() {
    check("archive");
}

#[test]
fn legacy_layout() {
    check("legacy_layout");
}

#[test]
fn index() {
    check("index");
}

#[test]
fn tail() {
    check("tail");
}
