//! The workspace on disk: texts by path, packages, targets and dependencies.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Texts by path relative to the root, with `/` as the separator on every system.
pub(crate) type Texts = BTreeMap<String, String>;

pub(crate) struct Workspace {
    pub(crate) root: String,
    /// All text files.
    pub(crate) texts: Texts,
    /// The folder of each package, such as `crates/filetx`.
    pub(crate) package_folders: Vec<String>,
    /// Root files of all Cargo targets.
    pub(crate) targets: Vec<String>,
    pub(crate) dependencies: Vec<Dependency>,
    /// Packages as `cargo metadata` describes them.
    pub(crate) packages: Vec<Value>,
}

/// A dependency between two packages of the workspace.
pub(crate) struct Dependency {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) kind: DependencyKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DependencyKind {
    /// For the package itself or its build script.
    Normal,
    /// For its tests, examples and benches only.
    Development,
}

impl Workspace {
    pub(crate) fn read() -> Workspace {
        let here = std::env::var("CARGO_MANIFEST_DIR").expect("Cargo sets it for tests");
        let root = Path::new(&here).parent().expect("xtask is a folder of the workspace");
        let mut texts = Texts::new();
        read_texts(root, root, &mut texts);
        let metadata = metadata(root);
        let packages = metadata["packages"].as_array().expect("packages");
        let names: Vec<&str> = packages.iter().map(|package| string(&package["name"])).collect();
        let relative = |path: &str| slashed(Path::new(path).strip_prefix(root).expect("below the root"));
        Workspace {
            root: root.display().to_string(),
            texts,
            package_folders: packages
                .iter()
                .map(|package| {
                    relative(string(&package["manifest_path"])).trim_end_matches("/Cargo.toml").to_owned()
                })
                .collect(),
            targets: packages
                .iter()
                .flat_map(|package| package["targets"].as_array().expect("targets"))
                .map(|target| relative(string(&target["src_path"])))
                .collect(),
            dependencies: packages.iter().flat_map(|package| dependencies(package, &names)).collect(),
            packages: packages.clone(),
        }
    }
}

fn dependencies(package: &Value, names: &[&str]) -> Vec<Dependency> {
    let from = string(&package["name"]);
    let all = package["dependencies"].as_array().expect("dependencies").iter();
    all.filter(|dependency| names.contains(&string(&dependency["name"])))
        .map(|dependency| Dependency {
            from: from.to_owned(),
            to: string(&dependency["name"]).to_owned(),
            kind: if dependency["kind"] == "dev" {
                DependencyKind::Development
            } else {
                DependencyKind::Normal
            },
        })
        .collect()
}

fn metadata(root: &Path) -> Value {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(root)
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON")
}

/// Reads all text files below `folder`, without those of Git and Cargo.
fn read_texts(root: &Path, folder: &Path, texts: &mut Texts) {
    for entry in fs::read_dir(folder).expect("a folder of the workspace can be read") {
        let entry = entry.expect("a folder of the workspace can be read");
        let (path, name) = (entry.path(), entry.file_name());
        let kind = entry.file_type().expect("a file has a type");
        if kind.is_dir() && name != ".git" && name != "target" {
            read_texts(root, &path, texts);
        } else if kind.is_file()
            && name != ".git"
            && let Ok(text) = fs::read_to_string(&path)
        {
            texts.insert(slashed(path.strip_prefix(root).expect("below the root")), text);
        }
    }
}

fn slashed(path: &Path) -> String {
    path.iter().map(|name| name.to_string_lossy()).collect::<Vec<_>>().join("/")
}

fn string(value: &Value) -> &str {
    value.as_str().expect("a string")
}
