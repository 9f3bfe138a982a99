//! What tests of contention share: a file with many comments, a reader that polls it, and what must be in it at the end.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use config::{Document, Registry, Scope, Value};

use crate::support::{Fixture, key};

/// A file of 200 keys with a comment above and beside each. Writers add keys below `x.w`, whose names begin with `w`.
pub(crate) fn big_file() -> String {
    let keys = (0..200).map(|n| format!("# about {n}\nkey-{n} = {n} # beside {n}\n"));
    format!("# top\n[x.file]\n{}\n[x.w]\n# the end\n", keys.collect::<String>())
}

/// The value that a key is set to: another one for each name.
pub(crate) fn value_of(name: &str) -> i64 {
    name.bytes().fold(7, |value: i64, byte| (value * 31 + i64::from(byte)) % 1_000_000_007)
}

/// Reads until told to stop; every state must be whole, and hold all that the one before held. Says how many it saw.
pub(crate) fn poll(fixture: &Fixture, done: &AtomicBool) -> usize {
    let (file, registry) = (fixture.file(Scope::Global), Registry::standard());
    let (mut polls, mut seen) = (0, 0);
    while !done.load(Ordering::Acquire) || polls == 0 {
        let document = Document::parse(&file, &fs::read(&file).unwrap(), &registry).unwrap();
        let count = document.keys().len();
        assert!(count >= seen.max(200), "a write was undone: {count} keys after {seen}");
        (polls, seen) = (polls + 1, count);
    }
    polls
}

/// Fails unless each of `names` has its value, and everything that was there before is as it was. Other keys below `x.w` may be there.
pub(crate) fn check_there(fixture: &Fixture, names: impl IntoIterator<Item = String>) {
    let service = fixture.service();
    let layers = service.layers();
    let lost: Vec<_> = names
        .into_iter()
        .filter(|name| {
            let expected = Value::Integer(value_of(name));
            layers.resolve(&key(name)).unwrap().value != Some(expected)
        })
        .collect();
    assert_eq!(lost, Vec::<String>::new(), "lost");
    let text = fixture.read(Scope::Global);
    let others: String =
        text.lines().filter(|line| !line.starts_with('w')).flat_map(|line| [line, "\n"]).collect();
    assert_eq!(others, big_file(), "every comment and every other key is as it was");
}

/// Fails unless the keys that were set are these, each with its value, and everything else is as it was.
pub(crate) fn check_all_there(fixture: &Fixture, names: impl IntoIterator<Item = String>) {
    let names: Vec<_> = names.into_iter().collect();
    let set = fixture.read(Scope::Global).lines().filter(|line| line.starts_with('w')).count();
    assert_eq!(set, names.len());
    check_there(fixture, names);
}
