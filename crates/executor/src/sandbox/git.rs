//! Reads repositories with git, and runs nothing of them.
//!
//! A repository is not trusted. Its configuration names programs (monitors, filters, hooks, pagers,
//! helpers), the missing objects of a partial clone are fetched by them, and `core.worktree` leads git to
//! another folder. So every call of git that only reads is built here. Ownership is checked as usual
//! (`safe.directory`): git does not read the repository of another user.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// The settings of every call. An empty helper forgets all others.
const SETTINGS: [&str; 9] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.sshCommand=false",
    "core.askPass=false",
    "credential.helper=",
    "protocol.allow=never",
    "log.showSignature=false",
    "submodule.recurse=false",
    // A folder in the tree that looks like a repository is not one.
    "safe.bareRepository=explicit",
];
/// Variables for every call: no transport, no fetch, no question, no refreshed index, no translation.
const VARIABLES: [(&str, &str); 5] = [
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", ""),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("LC_ALL", "C"),
];
/// Variables of git that name a person's own files and limits. All others lead to another repository, or
/// name programs.
const KEPT_VARIABLES: [&str; 5] = [
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
];

/// Builds a git command that reads the repository of a folder and runs nothing that the repository names.
/// Returns `None` if the folder is in no repository, or git cannot be run.
pub fn git_reader(folder: &Path, subcommand: &str) -> Option<Command> {
    git_reader_in(folder, subcommand, std::env::vars_os())
}

/// Builds the command for an environment.
fn git_reader_in(
    folder: &Path,
    subcommand: &str,
    environment: impl Iterator<Item = (OsString, OsString)>,
) -> Option<Command> {
    let is_repository = |folder: &&Path| {
        let git = folder.join(".git");
        git.is_file() || git.join("HEAD").symlink_metadata().is_ok()
    };
    // Not as `core.worktree` says.
    let work_tree = folder.ancestors().find(is_repository)?;
    let environment: Vec<_> = environment.filter(|(name, _)| is_kept(name)).collect();
    let command = || {
        let mut git = Command::new("git");
        git.env_clear().envs(environment.iter().cloned()).envs(VARIABLES).env("GIT_WORK_TREE", work_tree);
        git.stdin(Stdio::null()).stderr(Stdio::piped()).arg("--no-pager").arg("-C").arg(folder);
        git.args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
        git
    };
    let mut reader = command();
    for filter in filters(command())? {
        for (key, value) in [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")] {
            let mut setting = filter.clone();
            setting.push(format!(".{key}={value}"));
            reader.arg("-c").arg(setting);
        }
    }
    reader.arg(subcommand);
    match subcommand {
        "diff" | "log" | "show" => reader.args(["--no-ext-diff", "--no-textconv", "--ignore-submodules=all"]),
        "status" => reader.arg("--ignore-submodules=all"),
        _ => &mut reader,
    };
    Some(reader)
}

fn is_kept(name: &OsStr) -> bool {
    !name.as_bytes().starts_with(b"GIT_") || KEPT_VARIABLES.iter().any(|kept| name == *kept)
}

/// The names of all filters in the configuration, each with its section: `filter.NAME`.
fn filters(mut git: Command) -> Option<Vec<OsString>> {
    git.args(["config", "-z", "--name-only", "--get-regexp", r"^filter\."]);
    let output = git.output().ok()?;
    let keys = output.stdout.split(|byte| *byte == 0).filter(|key| !key.is_empty());
    let mut names: Vec<OsString> = keys
        .filter_map(|key| {
            let end = key.iter().rposition(|byte| *byte == b'.')?;
            Some(OsStr::from_bytes(&key[..end]).to_owned())
        })
        .collect();
    names.sort();
    names.dedup();
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_personal_variables_of_git_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let git = |words: &[&str]| {
            let made = Command::new("git").arg("-C").arg(folder.path()).args(words).status();
            assert!(made.unwrap().success());
        };
        git(&["init", "-q"]);
        let others = ["GIT_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_CONFIG_COUNT", "GIT_SSH"];
        let variables = ["PATH", "HOME"].into_iter().chain(KEPT_VARIABLES).chain(others);
        let value = |name: &str| match name {
            "PATH" => std::env::var_os("PATH").unwrap(),
            "GIT_CONFIG_GLOBAL" | "GIT_CONFIG_SYSTEM" => "/dev/null".into(),
            _ => "0".into(),
        };
        let variables = variables.map(|name| (name.into(), value(name)));
        let reader = git_reader_in(folder.path(), "ls-files", variables).unwrap();
        let mut set: Vec<_> = reader.get_envs().map(|(name, _)| name.to_str().unwrap()).collect();
        set.retain(|name| *name != "GIT_WORK_TREE" && VARIABLES.iter().all(|(own, _)| own != name));
        let mut expected: Vec<_> = ["PATH", "HOME"].into_iter().chain(KEPT_VARIABLES).collect();
        expected.sort();
        assert_eq!(set, expected);
    }
}
