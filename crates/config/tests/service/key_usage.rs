//! The program uses every registered key, except for those listed as not used yet.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use config::Registry;

/// Keys whose accessor no other crate calls: `config` itself uses the first, the rest wait for a
/// command.
const UNUSED: &[&str] = &["core.interpolate", "server.token", "server.url"];

#[test]
fn every_key_is_used_or_listed_as_unused() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut sources = String::new();
    for entry in fs::read_dir(crates).unwrap() {
        let folder = entry.unwrap().path();
        if folder != Path::new(env!("CARGO_MANIFEST_DIR")) {
            read_sources(&folder.join("src"), &mut sources);
        }
    }
    assert!(!sources.is_empty());
    let is_used = |key: &str| sources.contains(&format!(".{}()", key.replace(['.', '-'], "_")));
    let registry = Registry::standard();
    let registered: BTreeSet<String> = registry.keys().map(|definition| definition.key.to_string()).collect();
    let unused: Vec<_> = registered.iter().filter(|key| !is_used(key)).map(String::as_str).collect();
    assert_eq!(unused, UNUSED, "left: registered and used by no other crate; right: known to be so");
}

fn read_sources(folder: &Path, sources: &mut String) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            read_sources(&path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
}
