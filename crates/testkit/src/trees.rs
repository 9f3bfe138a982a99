//! Random trees of files for round trips through `git apply`: every byte value, and names that need
//! quotes.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

/// The files of a folder, by path.
pub type Tree = BTreeMap<Vec<u8>, Node>;

/// A file or a symlink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// The content of a file, and whether it is executable.
    File(Vec<u8>, bool),
    /// The target of a symlink.
    Symlink(Vec<u8>),
}

/// One change on the way from a tree to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Delete a path.
    Delete(Vec<u8>),
    /// Rename a path.
    Rename(Vec<u8>, Vec<u8>),
    /// Set the permission bits of a file.
    Mode(Vec<u8>, u32),
    /// Write a file with these permission bits.
    Write(Vec<u8>, Vec<u8>, u32),
    /// Replace a path by a symlink to this target.
    Symlink(Vec<u8>, Vec<u8>),
}

/// Two trees, and the files of the first that have another path in the second.
#[derive(Clone, Debug, Default)]
pub struct Revision {
    /// The tree before.
    pub old: Tree,
    /// The tree after.
    pub new: Tree,
    /// Old and new paths.
    pub renames: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Paths of random trees.
const NAMES: [&[u8]; 18] = [
    b"a",
    b"b.txt",
    b"folder/c",
    b"folder/d e",
    b"sp ace",
    b"tab\tname",
    b"new\nline",
    b"qu\"ote",
    b"back\\slash",
    b"\xc3\xa9",
    b"\xff\xfe",
    b"-dash",
    b"--dash/-n",
    b"deep/er/file",
    b"trailing ",
    b" leading",
    b"\x1b[2J\x07\x7f",
    b"gpj.\xe2\x80\xae.exe",
];

impl Revision {
    /// Makes a random tree and changes it.
    pub fn random(random: &mut fastrand::Rng) -> Self {
        let mut revision = Self::default();
        for name in NAMES {
            if random.u8(..3) > 0 {
                revision.old.insert(name.to_vec(), random_node(random));
            }
        }
        let Self { old, new, renames } = &mut revision;
        let fates: Vec<u8> = old.keys().map(|_| random.u8(..6)).collect();
        let deleted = old.keys().zip(&fates).filter(|(_, fate)| **fate == 0);
        let mut free: Vec<Vec<u8>> = deleted.map(|(name, _)| name.clone()).collect();
        for ((name, node), fate) in old.iter().zip(&fates) {
            match fate {
                0 => {}
                1 => {
                    // Also onto the old name of another file.
                    let free = if random.bool() { free.pop() } else { None };
                    let to = free.unwrap_or_else(|| [&b"moved/"[..], name.as_slice()].concat());
                    let same = if random.bool() { node.clone() } else { edited(random, node) };
                    new.insert(to.clone(), same);
                    renames.push((name.clone(), to));
                }
                2 | 3 => drop(new.insert(name.clone(), edited(random, node))),
                _ => drop(new.insert(name.clone(), node.clone())),
            }
        }
        for name in NAMES {
            if !old.contains_key(name) && random.bool() {
                new.insert(name.to_vec(), random_node(random));
            }
        }
        revision
    }

    /// Returns the changes from one tree to the other.
    pub fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut now = self.old.clone();
        for (from, to) in &self.renames {
            if now.remove(to).is_some() {
                steps.push(Step::Delete(to.clone()));
            }
            steps.push(Step::Rename(from.clone(), to.clone()));
            let node = now.remove(from).expect("a renamed file is in the old tree");
            now.insert(to.clone(), node);
        }
        let deleted = now.keys().filter(|path| !self.new.contains_key(*path));
        steps.extend(deleted.map(|path| Step::Delete(path.clone())));
        for (path, node) in self.new.iter().filter(|(path, node)| now.get(*path) != Some(*node)) {
            steps.push(match (node, now.get(path)) {
                (Node::File(content, executable), Some(Node::File(before, _))) if content == before => {
                    Step::Mode(path.clone(), mode(*executable))
                }
                (Node::File(content, executable), _) => {
                    Step::Write(path.clone(), content.clone(), mode(*executable))
                }
                (Node::Symlink(target), _) => Step::Symlink(path.clone(), target.clone()),
            });
        }
        steps
    }
}

fn mode(executable: bool) -> u32 {
    if executable { 0o755 } else { 0o644 }
}

fn random_node(random: &mut fastrand::Rng) -> Node {
    match random.u8(..10) {
        0 => Node::File(Vec::new(), random.bool()),
        1 => Node::Symlink([&b"target"[..], b"../up", b"sp ace", b"\xff"][random.usize(..4)].to_vec()),
        2 => Node::File(
            (0..random.usize(1..400)).map(|_| random.u8(..4) * 85).chain([0]).collect(),
            random.bool(),
        ),
        // Any byte, in lines; binary for git and for plans where a zero byte is in it.
        3 => Node::File((0..random.usize(1..600)).map(|_| random.u8(..)).collect(), random.bool()),
        4 | 5 => Node::File(random_bytes(random), random.u8(..4) == 0),
        _ => Node::File(random_text(random), random.u8(..4) == 0),
    }
}

/// Lines of any bytes but zero: text, however it looks on a terminal.
fn random_bytes(random: &mut fastrand::Rng) -> Vec<u8> {
    let mut text = Vec::new();
    for _ in 0..random.usize(..12) {
        let line = (0..random.usize(..20)).map(|_| random.u8(1..));
        text.extend(line.chain([b'\n']));
    }
    if random.u8(..3) == 0 {
        text.extend(b"\x1b[8mno newline at the end\x1b[0m\r");
    }
    text
}

fn random_text(random: &mut fastrand::Rng) -> Vec<u8> {
    let ending: &[u8] = if random.u8(..4) == 0 { b"\r\n" } else { b"\n" };
    let mut text = Vec::new();
    for _ in 0..random.usize(..30) {
        text.extend(format!("{}{}", ["", "  ", "\t"][random.usize(..3)], random.u8(..12)).bytes());
        text.extend(ending);
    }
    if random.u8(..3) == 0 {
        text.extend(b"no newline at the end");
    }
    text
}

fn edited(random: &mut fastrand::Rng, node: &Node) -> Node {
    match node {
        Node::File(content, executable) if random.u8(..4) > 0 => {
            let mut lines: Vec<Vec<u8>> =
                content.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
            for _ in 0..random.usize(..3) {
                let place = random.usize(..=lines.len());
                match random.u8(..4) {
                    0 => lines.insert(place, b"inserted\n".to_vec()),
                    1 => lines.insert(place, vec![random.u8(1..), b'\x1b', random.u8(1..), b'\n']),
                    2 if place < lines.len() => drop(lines.remove(place)),
                    _ if place < lines.len() => lines[place] = b"replaced\n".to_vec(),
                    _ => {}
                }
            }
            Node::File(lines.concat(), if random.u8(..5) == 0 { !executable } else { *executable })
        }
        _ => random_node(random),
    }
}

fn os(path: &[u8]) -> OsString {
    OsString::from_vec(path.to_vec())
}

/// Creates the files of a tree below a folder.
pub fn make(root: &Path, tree: &Tree) {
    for (path, node) in tree {
        let path = root.join(os(path));
        std::fs::create_dir_all(path.parent().expect("it is below the root")).expect("folders can be made");
        match node {
            Node::Symlink(target) => symlink(os(target), path).expect("symlinks can be made"),
            Node::File(content, executable) => {
                std::fs::write(&path, content).expect("files can be written");
                let mode = PermissionsExt::from_mode(mode(*executable));
                std::fs::set_permissions(path, mode).expect("modes can be set");
            }
        }
    }
}

/// Reads the files below a folder, without those of git.
pub fn read(root: &Path) -> Tree {
    fn visit(folder: &Path, prefix: &[u8], tree: &mut Tree) {
        for entry in std::fs::read_dir(folder).expect("folders can be listed") {
            let entry = entry.expect("folders can be listed");
            let name = [prefix, entry.file_name().as_encoded_bytes()].concat();
            let kind = entry.file_type().expect("the kind of a file can be read");
            if kind.is_dir() {
                if name != b".git" {
                    visit(&entry.path(), &[&name[..], b"/"].concat(), tree);
                }
            } else if kind.is_symlink() {
                let target = std::fs::read_link(entry.path()).expect("symlinks can be read");
                tree.insert(name, Node::Symlink(target.into_os_string().into_vec()));
            } else {
                let mode = entry.metadata().expect("modes can be read").permissions().mode();
                let content = std::fs::read(entry.path()).expect("files can be read");
                tree.insert(name, Node::File(content, mode & 0o100 != 0));
            }
        }
    }
    let mut tree = Tree::new();
    visit(root, b"", &mut tree);
    tree
}

/// Returns a command of git in a folder, without the configuration of this machine.
pub fn git(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command
        .current_dir(folder)
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    command
}

/// Applies a patch with git. Keeps it in `.git/patch`.
pub fn git_apply(folder: &Path, patch: &[u8]) -> Result<(), String> {
    if !folder.join(".git").exists() {
        assert!(git(folder, &["init", "-q"]).status().expect("git starts").success());
    }
    std::fs::write(folder.join(".git/patch"), patch).expect("the patch can be written");
    let applied = git(folder, &["apply", "--whitespace=nowarn", ".git/patch"]).output().expect("git starts");
    let error = String::from_utf8_lossy(&applied.stderr).into_owned();
    if applied.status.success() { Ok(()) } else { Err(error) }
}
