//! Links in documents, from file to file and to headings.

use std::collections::BTreeSet;

use crate::modules::joined;
use crate::workspace::Texts;

/// Finds links of `.md` files to missing files, folders or headings. Links to the web are not followed.
pub(crate) fn dead(texts: &Texts) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, text) in texts.iter().filter(|(path, _)| path.ends_with(".md")) {
        for (line, target) in links(text) {
            if let Some(reason) = problem(texts, path, &target) {
                problems.push(format!("{path}:{line}: `{target}` {reason}"));
            }
        }
    }
    problems
}

fn problem(texts: &Texts, from: &str, target: &str) -> Option<&'static str> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = target.split_once('#').map_or((target, None), |(file, anchor)| (file, Some(anchor)));
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let path = if file.is_empty() { from.to_owned() } else { joined(folder, file) };
    let is_folder = path.is_empty() || texts.keys().any(|known| known.starts_with(&format!("{path}/")));
    match (texts.get(&path), anchor) {
        (None, _) if !is_folder => Some("names no file"),
        (Some(text), Some(anchor)) if path.ends_with(".md") && !headings(text).contains(anchor) => {
            Some("names no heading")
        }
        _ => None,
    }
}

/// Targets of `[text](target)` and `[name]: target`, with their lines.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        let line = without_code(line);
        let defined = line.strip_prefix('[').and_then(|rest| rest.split_once("]: "));
        if let Some((_, target)) = defined {
            found.push((number, target.trim().to_owned()));
        }
        for part in line.split("](").skip(1) {
            let target = part.split([')', ' ']).next().unwrap_or_default();
            found.push((number, target.trim_matches(['<', '>']).to_owned()));
        }
    }
    found
}

/// Anchors of headings, in the form of repository web pages.
fn headings(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line) in prose(text) {
        let title = line.trim_start_matches('#');
        if title.len() < line.len() && title.starts_with(' ') {
            let plain = title.trim().to_lowercase().replace(' ', "-");
            let anchor: String = plain.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect();
            let repeats = (1..).map(|count| format!("{anchor}-{count}"));
            let free =
                std::iter::once(anchor.clone()).chain(repeats).find(|anchor| !anchors.contains(anchor));
            anchors.extend(free);
        }
    }
    anchors
}

/// Lines outside of fenced code, numbered from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        (!in_code && !fence).then_some((index + 1, line))
    })
}

/// Removes code between backticks from a line.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let texts = Texts::from([
            ("docs/page.md".to_owned(), text.to_owned()),
            (
                "docs/other.md".to_owned(),
                "# The `first` part, twice\n# Same\n# Same\n```\n# no heading\n```\n".to_owned(),
            ),
            ("src/lib.rs".to_owned(), String::new()),
        ]);
        assert_eq!(dead(&texts), expected);
    }

    #[test]
    fn links_to_files_folders_headings_and_the_web_are_fine() {
        check("[a](other.md) [b](../src/lib.rs) [c](../src) [d](https://example.org/x#y) [root](..)", &[]);
        check(
            "# Here\n[a](#here) [b](other.md#the-first-part-twice) [c](other.md#same-1)\n\n[d]: other.md",
            &[],
        );
    }

    #[test]
    fn code_holds_no_links() {
        check("`[a](nowhere.md)`\n```text\n[a](nowhere.md)\n```\n", &[]);
    }

    #[test]
    fn a_dead_file_is_found() {
        check("fine\n[a](nowhere.md)", &["docs/page.md:2: `nowhere.md` names no file"]);
        check("[a]: ../src/main.rs", &["docs/page.md:1: `../src/main.rs` names no file"]);
        check("[a](../../outside.md)", &["docs/page.md:1: `../../outside.md` names no file"]);
    }

    #[test]
    fn a_dead_heading_is_found() {
        check("[a](#there)", &["docs/page.md:1: `#there` names no heading"]);
        check("[a](other.md#no-heading)", &["docs/page.md:1: `other.md#no-heading` names no heading"]);
    }
}
