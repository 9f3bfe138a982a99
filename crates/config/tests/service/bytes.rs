//! Setting a new key and unsetting it restores the file byte for byte.

use std::fs;
use std::path::Path;

use config::{Document, Error, Key, Registry, Scope, Value};
use proptest::prelude::*;
use testkit::report::{figure, is_proof};

use crate::support::{Fixture, key};

fn parse(bytes: &[u8]) -> Document {
    Document::parse(Path::new("f.toml"), bytes, &Registry::standard()).unwrap()
}

fn corpus() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: std::path::PathBuf| (path.display().to_string(), fs::read(&path).unwrap());
    files.map(read).collect()
}

/// New keys for a document: at the top, in a new table, and in and below every existing table.
fn new_keys(document: &Document) -> Vec<Key> {
    let mut keys = vec![key("brand-new"), key("brand-new.table.key"), key("\"quoted name\".\"a.b\"")];
    for (known, _) in document.keys() {
        let names = known.names();
        for depth in 1..names.len() {
            let table: Vec<_> = names[..depth].iter().map(|name| format!("{name:?}")).collect();
            keys.push(key(&format!("{}.brand-new", table.join("."))));
            keys.push(key(&format!("{}.brand-new.inner", table.join("."))));
        }
    }
    keys
}

#[test]
fn every_new_key_keeps_the_corpus() {
    let mut count = 0;
    for (name, bytes) in corpus() {
        let document = parse(&bytes);
        assert_eq!(document.to_bytes(), bytes, "{name}: reading changes nothing");
        for key in new_keys(&document) {
            for value in [Value::Integer(1), Value::String("a\n\"b\"".into())] {
                let set = document.set(&key, &value).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert!(is_one_insertion(&bytes, &set.to_bytes()), "{name}: {key}");
                let unset = set.unset(&key).unwrap().unwrap();
                assert_eq!(
                    String::from_utf8_lossy(&unset.to_bytes()),
                    String::from_utf8_lossy(&bytes),
                    "{name}: {key}"
                );
                count += 1;
            }
        }
    }
    assert!(count > 300, "only {count} keys tried");
    figure("config: keys set and unset in the corpus, byte for byte", count);
}

/// Returns true if `after` is `before` with one insertion.
fn is_one_insertion(before: &[u8], after: &[u8]) -> bool {
    let same = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let rest = &before[same..];
    after.len() > before.len() && after.ends_with(rest)
}

#[test]
fn replacing_a_value_changes_no_other_byte() {
    for (name, bytes) in corpus() {
        let document = parse(&bytes);
        for (key, _) in document.keys() {
            match document.set(&key, &Value::String("REPLACED".into())) {
                Ok(set) => {
                    let after = set.to_bytes();
                    let start = bytes.iter().zip(&after).take_while(|(a, b)| a == b).count();
                    let end = bytes.iter().rev().zip(after.iter().rev()).take_while(|(a, b)| a == b).count();
                    let touched =
                        String::from_utf8_lossy(&after[start..after.len() - end.min(after.len() - start)])
                            .into_owned();
                    assert!("\"REPLACED\"".contains(touched.trim()), "{name}: {key}: {touched}");
                    assert_eq!(set.keys().len(), document.keys().len());
                }
                Err(error) => assert!(matches!(error, Error::TableAndValue { .. }), "{name}: {error}"),
            }
        }
    }
}

#[test]
fn unsetting_a_key_keeps_the_others() {
    for (name, bytes) in corpus() {
        let document = parse(&bytes);
        for (key, _) in document.keys() {
            match document.unset(&key) {
                Ok(unset) => {
                    let left: Vec<_> = unset.unwrap().keys().into_iter().map(|(key, _)| key).collect();
                    let expected: Vec<_> = document
                        .keys()
                        .into_iter()
                        .map(|(key, _)| key)
                        .filter(|other| *other != key)
                        .collect();
                    assert_eq!(left, expected, "{name}: {key}");
                }
                Err(error) => assert!(matches!(error, Error::IsTable { .. }), "{name}: {key}: {error}"),
            }
        }
    }
}

#[test]
fn set_and_unset_restore_the_file() {
    for (name, bytes) in corpus() {
        let fixture = Fixture::new();
        fixture.write(Scope::Local, &bytes);
        let service = fixture.service();
        service.set_value(Scope::Local, &key("plan.merge"), "last-wins").unwrap();
        service.set_value(Scope::Local, &key("x.brand.new"), "1").unwrap();
        service.unset(Scope::Local, &key("plan.merge")).unwrap();
        service.unset(Scope::Local, &key("x.brand.new")).unwrap();
        assert_eq!(fs::read(fixture.file(Scope::Local)).unwrap(), bytes, "{name}");
    }
}

/// A piece of a file: comments, blank lines, keys, headers, in odd spacing. Names are few, so that
/// they collide.
fn piece() -> impl Strategy<Value = String> {
    let name = || prop_oneof!["[abc]", Just("\"d e\"".to_owned()), Just("'f'".to_owned())];
    let dotted = || proptest::collection::vec(name(), 1..4).prop_map(|names| names.join("."));
    let value = prop_oneof![
        Just("1".to_owned()),
        Just("\"s # s\"".to_owned()),
        Just("[ 1,\n  2, # two\n]".to_owned()),
        Just("{}".to_owned()),
        Just("{ a = 1 }".to_owned()),
        Just("{ a.b = 1, c = { } , }".to_owned()),
        Just("\"\"\"\n[a]\nb = 1\n\"\"\"".to_owned()),
        Just("1979-05-27 07:32:00Z".to_owned()),
    ];
    let space = || prop_oneof![Just(""), Just(" "), Just("\t"), Just("  ")];
    let comment = || prop_oneof![3 => Just(""), 1 => Just(" # note"), 1 => Just("#")];
    prop_oneof![
        1 => (space(), comment()).prop_map(|(space, comment)| format!("{space}{comment}")),
        4 => (space(), dotted(), space(), value, comment())
            .prop_map(|(indent, key, space, value, comment)| format!("{indent}{key}{space}={space}{value}{comment}")),
        2 => (space(), dotted(), comment()).prop_map(|(indent, key, comment)| format!("{indent}[{key}]{comment}")),
        1 => dotted().prop_map(|key| format!("[[{key}]]")),
    ]
}

/// A valid file of pieces; omits a piece that makes it invalid.
fn file() -> impl Strategy<Value = String> {
    (proptest::collection::vec(piece(), 0..12), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(pieces, mark, windows, final_newline)| {
            let mut text = String::new();
            for piece in pieces {
                let longer = format!("{text}{piece}\n");
                if toml_edit::Document::parse(longer.as_str()).is_ok() {
                    text = longer;
                }
            }
            if !final_newline && text.ends_with('\n') {
                text.pop();
            }
            if windows {
                text = text.replace('\n', "\r\n");
            }
            if mark { format!("\u{feff}{text}") } else { text }
        },
    )
}

fn any_key() -> impl Strategy<Value = Key> {
    proptest::collection::vec(prop_oneof!["[abcz]", Just("\"d e\"".to_owned())], 1..5)
        .prop_map(|names| key(&names.join(".")))
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(Value::Integer),
        any::<bool>().prop_map(Value::Bool),
        any::<f64>().prop_map(|number| Value::Float(if number.is_nan() { 0.5 } else { number })),
        any::<String>().prop_map(Value::String),
        "[\\n\\r\\t '\"\\\\#=]{0,6}".prop_map(Value::String),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::List),
            proptest::collection::btree_map("[a-c]", inner, 1..3).prop_map(Value::Table),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if is_proof() { 200_000 } else { 2000 }, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn set_then_unset_restores_the_bytes(text in file(), key in any_key(), value in any_value()) {
        let document = parse(text.as_bytes());
        let names = key.names();
        let is_new = !document.keys().iter().any(|(known, _)| known.names().starts_with(names));
        match document.set(&key, &value) {
            Ok(set) => {
                let before: Vec<_> = document.keys().into_iter().map(|(key, _)| key).filter(|known| !known.is_within(&key)).collect();
                let after: Vec<_> = set.keys().into_iter().map(|(key, _)| key).filter(|known| !known.is_within(&key)).collect();
                prop_assert_eq!(before, after);
                if is_new && !text.contains("{") {
                    prop_assert!(is_one_insertion(text.as_bytes(), &set.to_bytes()), "{:?}", String::from_utf8_lossy(&set.to_bytes()));
                }
                let unset = set.unset(&key).unwrap().unwrap();
                if is_new && document.set(&key, &Value::Integer(1)).is_ok() && !was_empty_inline(&document, &key) {
                    prop_assert_eq!(String::from_utf8(unset.to_bytes()).unwrap(), text);
                }
            }
            Err(Error::TableAndValue { .. }) => {}
            Err(error) => prop_assert!(false, "{}", error),
        }
    }

    #[test]
    fn values_round_trip(key in any_key(), value in any_value()) {
        let set = parse(b"").set(&key, &value).unwrap();
        let again = parse(&set.to_bytes());
        prop_assert_eq!(again.set(&key, &value).unwrap().to_bytes(), set.to_bytes());
    }
}

/// Returns true if the key is an inline table without keys, so that setting it replaces something.
fn was_empty_inline(document: &Document, key: &Key) -> bool {
    matches!(document.unset(key), Ok(Some(_)))
}
