//! Every Rust file of a package is compiled: a test file that is not compiled never fails.
//!
//! Follows `mod name;` lines from the root files of targets. Does not follow `mod` inside an inline `mod { }`, which this project
//! does not use.

use std::collections::BTreeSet;

use crate::workspace::Texts;

/// Finds Rust files in `folders` that no target reaches.
pub(crate) fn unreached(texts: &Texts, folders: &[String], targets: &[String]) -> Vec<String> {
    let mut reached = BTreeSet::new();
    let starts: BTreeSet<&str> = targets.iter().map(String::as_str).collect();
    let mut pending: Vec<String> = targets.to_vec();
    while let Some(file) = pending.pop() {
        if let Some(text) = texts.get(&file) {
            let found = modules(&file, text, starts.contains(file.as_str())).into_iter().flatten();
            pending.extend(found.filter(|module| texts.contains_key(module) && !reached.contains(module)));
            reached.insert(file);
        }
    }
    let in_package = |path: &str| folders.iter().any(|folder| path.starts_with(&format!("{folder}/")));
    let files = texts.keys().filter(|path| path.ends_with(".rs") && in_package(path));
    files
        .filter(|path| !reached.contains(*path))
        .map(|path| format!("{path}: not part of any target"))
        .collect()
}

/// Candidate paths of each module that `text` declares.
fn modules(file: &str, text: &str, is_start: bool) -> Vec<Vec<String>> {
    let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
    let stem = name.trim_end_matches(".rs");
    let inside = if is_start || stem == "mod" { folder.to_owned() } else { format!("{folder}/{stem}") };
    // Several where a module has a file per system.
    let mut explicit: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(path) = given_path(line) {
            explicit.push(path);
        } else if let Some(module) = declared(line) {
            found.push(match &explicit[..] {
                [] => vec![format!("{inside}/{module}.rs"), format!("{inside}/{module}/mod.rs")],
                paths => paths.iter().map(|path| joined(folder, path)).collect(),
            });
            explicit.clear();
        }
    }
    found
}

/// Returns `path` of a line `#[path = "path"]` or `#[cfg_attr(condition, path = "path")]`.
fn given_path(line: &str) -> Option<&str> {
    let (start, rest) = line.split_once("path = \"")?;
    let (path, end) = rest.split_once('"')?;
    let is_given = start == "#[" && end == "]" || start.starts_with("#[cfg_attr(") && end == ")]";
    is_given.then_some(path)
}

/// Returns `name` of a line `mod name;`, public or not.
fn declared(line: &str) -> Option<&str> {
    let line = match line.strip_prefix("pub") {
        Some(rest) => rest.trim_start_matches(|c| c != ' ' && c != 'm').trim_start(),
        None => line,
    };
    line.strip_prefix("mod ")?.strip_suffix(';')
}

/// Resolves `path` relative to `folder`.
pub(crate) fn joined(folder: &str, path: &str) -> String {
    let mut names: Vec<&str> = folder.split('/').filter(|name| !name.is_empty()).collect();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." if names.last().is_some_and(|last| *last != "..") => _ = names.pop(),
            name => names.push(name),
        }
    }
    names.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)], targets: &[&str], expected: &[&str]) {
        let texts: Texts =
            files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        let targets: Vec<String> = targets.iter().map(|path| (*path).to_owned()).collect();
        let problems = unreached(&texts, &["a".to_owned()], &targets);
        let paths: Vec<&str> = problems.iter().map(|problem| problem.split(": ").next().unwrap()).collect();
        assert_eq!(paths, expected);
    }

    #[test]
    fn modules_are_followed() {
        let files = [
            ("a/src/lib.rs", "pub(crate) mod one;\nmod two;\npub mod six;"),
            ("a/src/one.rs", "mod three;"),
            ("a/src/one/three.rs", ""),
            ("a/src/two/mod.rs", "mod four;\n#[path = \"../five_of_linux.rs\"]\nmod five;"),
            ("a/src/two/four.rs", ""),
            (
                "a/src/five_of_linux.rs",
                "#[cfg_attr(unix, path = \"seven/unix.rs\")]\n#[cfg_attr(not(unix), path = \"eight.rs\")]\nmod x;",
            ),
            ("a/src/seven/unix.rs", ""),
            ("a/src/eight.rs", ""),
            ("a/src/six.rs", ""),
            ("elsewhere/x.rs", ""),
        ];
        check(&files, &["a/src/lib.rs"], &[]);
    }

    #[test]
    fn a_test_file_without_a_mod_is_found() {
        let files = [
            ("a/tests/kills/main.rs", "mod tree;"),
            ("a/tests/kills/tree.rs", ""),
            ("a/tests/kills/file.rs", ""),
        ];
        check(&files, &["a/tests/kills/main.rs"], &["a/tests/kills/file.rs"]);
    }

    #[test]
    fn a_test_file_without_a_target_is_found() {
        let files = [("a/src/lib.rs", ""), ("a/tests/forgotten.rs", "")];
        check(&files, &["a/src/lib.rs"], &["a/tests/forgotten.rs"]);
    }
}
