//! A configuration file that many writers change: its text, a polling reader, and a check of the
//! result.
//!
//! Writers set keys below `x.w` whose last part begins with `w`; no other line of the file does.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use toml_edit::{Document, Item};

const KEYS: usize = 200;

/// Returns 200 keys, with a comment above and beside each.
pub fn text() -> String {
    let keys = (0..KEYS).map(|n| format!("# about {n}\nkey-{n} = {n} # beside {n}\n"));
    format!("# top\n[x.file]\n{}\n[x.w]\n# the end\n", keys.collect::<String>())
}

/// Returns the `n`th key of a writer.
pub fn name_of(writer: u32, n: usize) -> String {
    format!("x.w.w{writer}-{n}")
}

/// Returns the value of a key, distinct for each name.
pub fn value_of(name: &str) -> i64 {
    name.bytes().fold(7, |value: i64, byte| (value * 31 + i64::from(byte)) % 1_000_000_007)
}

/// Runs `work` while a reader polls the file: every version must be complete, and contain all keys
/// of the one before. Also returns the number of polls.
pub fn poll_during<T>(file: &Path, work: impl FnOnce() -> T) -> (T, usize) {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| poll(file, &done));
        let stop = StopAtEnd(&done);
        let result = work();
        drop(stop);
        (result, reader.join().expect("the reader saw whole files"))
    })
}

/// Stops the reader even if the work panics; the join would hang otherwise.
struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

fn poll(file: &Path, done: &AtomicBool) -> usize {
    let (mut polls, mut seen) = (0, 0);
    while !done.load(Ordering::Acquire) || polls == 0 {
        let text = fs::read_to_string(file).expect("the file is there at any time");
        let document = Document::parse(text.as_str());
        let document = document.unwrap_or_else(|error| panic!("half-written: {error}\n{text}"));
        let count = |table: &str| {
            let table = document.get("x").and_then(|x| x.get(table)).and_then(Item::as_table_like);
            table.map_or(0, |table| table.len())
        };
        assert_eq!(count("file"), KEYS, "keys are gone:\n{text}");
        let set = count("w");
        assert!(set >= seen, "a write was undone: {set} keys after {seen}");
        (polls, seen) = (polls + 1, set);
    }
    polls
}

/// Asserts that each of `names` has its value, and that the rest of the file is unchanged. Returns
/// the number of set keys.
pub fn check<'a>(file: &Path, names: impl IntoIterator<Item = &'a String>) -> usize {
    let text = fs::read_to_string(file).expect("the file is there");
    let (set, rest): (Vec<&str>, Vec<&str>) =
        text.split_inclusive('\n').partition(|line| line.starts_with('w'));
    let is_there = |name: &str| {
        let line = format!("{} = {}\n", name.trim_start_matches("x.w."), value_of(name));
        set.iter().filter(|found| **found == line).count() == 1
    };
    let lost: Vec<_> = names.into_iter().filter(|name| !is_there(name)).collect();
    assert_eq!(lost, Vec::<&String>::new(), "lost");
    assert_eq!(rest.concat(), self::text(), "every comment and every other key is as it was");
    set.len()
}
