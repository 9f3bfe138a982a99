//! Rules about the text of one file.

/// Maximum lines of a Rust file; most have about 300.
const LINES_MAX: usize = 700;

/// Folders of developers' machines, split so that this file does not name them.
const MACHINE_FOLDERS: &[[&str; 2]] = &[
    ["/ro", "ot/"],
    ["/ho", "me/"],
    ["/Us", "ers/"],
    ["/wo", "rk/"],
    ["/tmp/", "bash_"],
    ["C:\\", "Users\\"],
];

/// Marks of unfinished work, split likewise.
const UNFINISHED: &[[&str; 2]] = &[["#[ig", "nore"], ["to", "do!("], ["unimple", "mented!("]];

/// Words that open a question instead of a description.
const QUESTION_WORDS: &[&str] = &["What", "Who", "Whether", "Where", "How"];

/// Finds crates, by folder, that the document does not name.
pub(crate) fn unnamed_crates(architecture: &str, folders: &[String]) -> Vec<String> {
    let missing = folders.iter().filter(|folder| !architecture.contains(&format!("`{folder}`")));
    missing.map(|folder| format!("ARCHITECTURE.md: does not name `{folder}`")).collect()
}

/// Finds paths of a developer's machine, including `root`, the folder of this workspace.
pub(crate) fn machine_paths(path: &str, text: &str, root: &str) -> Vec<String> {
    let folders = MACHINE_FOLDERS.iter().map(|halves| halves.concat()).chain([root.to_owned()]);
    let folders: Vec<String> = folders.filter(|folder| folder.len() > 1).collect();
    find(path, text, |line| folders.iter().find(|folder| names(line, folder)).cloned())
}

/// Finds ignored tests and unfinished code.
pub(crate) fn unfinished(path: &str, text: &str) -> Vec<String> {
    if !path.ends_with(".rs") {
        return Vec::new();
    }
    find(path, text, |line| UNFINISHED.iter().map(|halves| halves.concat()).find(|word| line.contains(word)))
}

/// Finds doc comments in sources that begin with a question word instead of a noun or a verb.
pub(crate) fn question_openings(path: &str, text: &str) -> Vec<String> {
    if !path.ends_with(".rs") || !path.contains("/src/") {
        return Vec::new();
    }
    let mut is_inside = false;
    let mut problems = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let opening = comment.filter(|_| !is_inside).and_then(|words| words.split_whitespace().next());
        if let Some(word) = opening.filter(|word| QUESTION_WORDS.contains(word)) {
            problems.push(format!("{path}:{}: a doc comment begins with `{word}`", index + 1));
        }
        is_inside = comment.is_some();
    }
    problems
}

/// Finds calls of git in sources, beside the one place that builds commands which run nothing of a
/// repository.
pub(crate) fn git_calls(path: &str, text: &str) -> Vec<String> {
    let is_product = path.starts_with("crates/") && path.contains("/src/") && !path.contains("/testkit/");
    if !is_product || path == "crates/executor/src/sandbox/git.rs" {
        return Vec::new();
    }
    let call = ["Command::new(\"", "git\")"].concat();
    find(path, text, |line| line.contains(&call).then(|| call.clone()))
}

pub(crate) fn too_long(path: &str, text: &str) -> Vec<String> {
    let lines = text.lines().count();
    let problem = format!("{path}: {lines} lines; {LINES_MAX} at most: split it by idea");
    if path.ends_with(".rs") && lines > LINES_MAX { vec![problem] } else { Vec::new() }
}

/// Returns true if a line has a path that begins with `folder`; `docs/work/` has it in the middle.
fn names(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && !"_-./~*}>".contains(c))
    })
}

fn find(path: &str, text: &str, rule: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let lines = text.lines().enumerate();
    lines.filter_map(|(index, line)| Some(format!("{path}:{}: has `{}`", index + 1, rule(line)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_at_the_beginning_of_a_comment_is_found() {
        let text =
            "/// Returns a path.\n/// What follows is fine.\nfn a() {}\n    /// Whether it is.\nfn b() {}\n";
        assert_eq!(
            question_openings("crates/a/src/lib.rs", text),
            ["crates/a/src/lib.rs:4: a doc comment begins with `Whether`"]
        );
        assert!(question_openings("crates/a/tests/a.rs", text).is_empty());
    }

    #[test]
    fn a_crate_that_is_not_named_is_found() {
        let folders = ["crates/filetx".to_owned(), "crates/store".to_owned()];
        assert_eq!(
            unnamed_crates("- `crates/filetx`: files", &folders),
            ["ARCHITECTURE.md: does not name `crates/store`"]
        );
    }

    #[test]
    fn a_path_of_a_machine_is_found() {
        let bad = ["see ", "/ho", "me/ada/notes"].concat();
        assert_eq!(machine_paths("a.md", &format!("fine\n{bad}"), "/x").len(), 1);
        assert_eq!(machine_paths("a.md", "built in `/build/agents/target`", "/build/agents").len(), 1);
        let fine = ["docs", "/wo", "rk/plan.md and https://example.org", "/ho", "me/"].concat();
        assert!(machine_paths("a.md", &fine, "/x").is_empty());
    }

    #[test]
    fn unfinished_work_is_found() {
        for halves in UNFINISHED {
            let text = format!("fn f() {{\n    {}\n}}", halves.concat());
            assert_eq!(unfinished("a.rs", &text), [format!("a.rs:2: has `{}`", halves.concat())]);
            assert!(unfinished("a.md", &text).is_empty());
        }
    }

    #[test]
    fn a_call_of_git_is_found() {
        let text = ["let git = Command::new(\"", "git\");"].concat();
        assert_eq!(git_calls("crates/plan/src/lib.rs", &text).len(), 1);
        for fine in ["crates/executor/src/sandbox/git.rs", "crates/plan/tests/a.rs", "xtask/src/a.rs"] {
            assert!(git_calls(fine, &text).is_empty());
        }
    }

    #[test]
    fn a_long_file_is_found() {
        assert!(too_long("a.rs", &"x\n".repeat(LINES_MAX)).is_empty());
        assert_eq!(too_long("a.rs", &"x\n".repeat(LINES_MAX + 1)).len(), 1);
        assert!(too_long("Cargo.lock", &"x\n".repeat(LINES_MAX + 1)).is_empty());
    }
}
