//! Fuzz targets as ordinary tests: over the seeds in `fuzz/seeds`, and over mutated seeds.

use std::fs;
use std::path::Path;

use crate::report::{figure, is_proof};
use crate::seed::{self, Replay};

/// A property of arbitrary bytes. Panics if it does not hold.
pub type Target = fn(&[u8]);

/// Mutations of each seed.
const MUTATIONS: usize = 25;
/// Mutations of each seed in a long run.
const PROOF_MUTATIONS: usize = 500;

/// Runs a target of a package over its seeds, and over mutations of each.
pub fn check(package: &str, name: &str, target: Target) {
    let kept = seed::from_env_or(7213);
    let _replay = Replay::new(package, name, kept);
    let mut random = fastrand::Rng::with_seed(kept);
    let (seeds, each) = (seeds(name), if is_proof() { PROOF_MUTATIONS } else { MUTATIONS });
    assert!(seeds.len() > 1, "{name} has seeds");
    for bytes in &seeds {
        target(bytes);
        for _ in 0..each {
            let mut bytes = bytes.clone();
            (0..random.usize(1..4)).for_each(|_| mutate(&mut bytes, &mut random));
            target(&bytes);
        }
    }
    figure(&format!("inputs of the fuzz target `{name}`"), seeds.len() * (each + 1));
}

/// Seeds of a target, by file name.
fn seeds(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(name);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.expect("the folder can be listed").path()).collect();
    files.sort();
    files.into_iter().map(|file| fs::read(file).expect("a seed can be read")).collect()
}

/// Cuts, repeats, changes or inserts bytes.
fn mutate(bytes: &mut Vec<u8>, random: &mut fastrand::Rng) {
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
        _ => bytes.insert(at, *random.choice(b"\n\0 \"\\{}[]:,0-9e\xff").expect("there are choices")),
    }
}
