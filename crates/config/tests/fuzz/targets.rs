//! Properties of every configuration file. The tests run them over the seeds; the programs in `fuzz/` search
//! for bytes that break them.

use std::path::Path;

use config::{Document, Key, Registry, Value};

/// Most existing keys of a file to change.
const KEYS_MAX: usize = 8;

/// A file that parses: setting a key changes its value alone, and unsetting a new key restores every byte.
pub(crate) fn config_file(bytes: &[u8]) {
    let registry = Registry::standard();
    let parse = |bytes: &[u8]| Document::parse(Path::new("config.toml"), bytes, &registry);
    let Ok(document) = parse(bytes) else { return };
    assert_eq!(document.to_bytes(), bytes, "reading changes nothing");
    let keys =
        |document: &Document| -> Vec<Key> { document.keys().into_iter().map(|(key, _)| key).collect() };
    let existing = keys(&document);
    let new = ["brand-new", "plan.brand-new", "\"a.b\".\"c d\".e"].map(|key| Key::parse(key).unwrap());
    for key in new.iter().chain(existing.iter().take(KEYS_MAX)) {
        let Ok(set) = document.set(key, &Value::Integer(7)) else { continue };
        let after = parse(&set.to_bytes()).unwrap();
        let mut expected = existing.clone();
        if !expected.contains(key) {
            expected.push(key.clone());
            expected.sort();
            let unset = set.unset(key).unwrap().unwrap();
            assert_eq!(unset.to_bytes(), bytes, "{key}");
        }
        assert_eq!(keys(&after), expected, "{key}");
    }
}
