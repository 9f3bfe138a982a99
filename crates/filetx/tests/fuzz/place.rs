//! Real folders for one input: two roots, an own folder, and a folder outside that must not change.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use filetx::{
    Disk, FolderOptions, OwnFolder, RelPath, Result, Snapshot, StorageResolver, TreeOptions, Trees, Vouch,
};
use tempfile::TempDir;
use testkit::journals::trust;

/// Id of the transaction whose staged files exist.
const STAGED_ID: u128 = 7;

/// The content of a folder: for each path its mode and bytes.
pub(crate) type Tree = BTreeMap<PathBuf, (u32, Vec<u8>)>;

pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    /// Every folder has files, a symlink out of it, and a transaction folder with staged files.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let place = Self { folder };
        fs::create_dir(place.path("outside")).unwrap();
        fs::write(place.path("outside/secret"), "secret").unwrap();
        for root in ["a", "b"] {
            for folder in ["", "d", "e", ".txn", ".txn/stage"] {
                fs::create_dir(place.path(root).join(folder)).unwrap();
            }
            for (file, text) in
                [("f", "old\n"), ("g", "old g\n"), ("d/x", "old x\n"), (".txn/.gitignore", "*\n")]
            {
                fs::write(place.path(root).join(file), text).unwrap();
            }
            symlink("../outside", place.path(root).join("link")).unwrap();
            symlink("../outside/secret", place.path(root).join("secret")).unwrap();
            for number in 0..2 {
                let staged = format!(".txn/stage/{STAGED_ID:032x}-{number}");
                fs::write(place.path(root).join(staged), "new\n").unwrap();
            }
        }
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
    }

    /// Everything below a folder; `""` is all.
    pub(crate) fn tree(&self, name: &str) -> Tree {
        let mut tree = Tree::new();
        add(&self.path(name), &mut tree);
        tree
    }

    /// Everything but transaction folders.
    pub(crate) fn files(&self) -> Tree {
        let mut files = self.tree("");
        files.retain(|path, _| !path.components().any(|name| name.as_os_str() == ".txn"));
        files
    }

    /// Everything but the two roots.
    pub(crate) fn outside(&self) -> Tree {
        let roots = ["a", "b"].map(|root| self.path(root));
        let mut outside = self.tree("");
        outside.retain(|path, _| !roots.iter().any(|root| path.starts_with(root)));
        outside
    }

    /// Opens the own folder `a`.
    pub(crate) fn own(&self) -> Result<OwnFolder> {
        let disk = Arc::new(Disk::open(&self.path("a")).unwrap());
        OwnFolder::on_storage(
            disk,
            Path::new("/a"),
            FolderOptions { journal_bytes: 16384, ..FolderOptions::default() },
        )
    }

    /// Reads all files of the own folder `a`.
    pub(crate) fn own_snapshot(&self) -> Result<BTreeMap<String, Option<Vec<u8>>>> {
        let disk = Arc::new(Disk::open(&self.path("a")).unwrap());
        let snapshot = Snapshot::of_folder_on_storage(disk, Path::new("/a"))?;
        ["f", "g", "n"].into_iter().map(|name| Ok((name.to_owned(), snapshot.read(name)?))).collect()
    }

    /// Opens roots by their names in journals: `/a`, `/b`.
    pub(crate) fn resolver(&self) -> StorageResolver {
        let folder = self.folder.path().to_owned();
        Arc::new(move |path| match path.to_str() {
            Some("/a" | "/b") => Ok(Arc::new(Disk::open(&folder.join(path.strip_prefix("/").unwrap()))?)),
            _ => Err(std::io::ErrorKind::NotFound.into()),
        })
    }

    /// Opens trees, and vouches for their journals as `vouch` says.
    pub(crate) fn trees(&self, root: &str, vouch: Vouch<'_>) -> Result<Trees> {
        Trees::on_storage(&[Path::new(root)], self.resolver(), TreeOptions::default(), vouch)
    }

    /// Reads some paths of a root as a snapshot.
    pub(crate) fn read_tree(&self, root: &str) -> Result<()> {
        let txn_dir = RelPath::new(".txn").unwrap();
        let snapshot = Snapshot::of_tree_on_storage(Path::new(root), &txn_dir, &self.resolver(), &trust)?;
        for path in ["f", "g", "n", "d", "d/x", "link", "link/secret", "secret"] {
            let _ = snapshot.path_state(path)?;
            // A folder has no content, and a journal may name staged content that is gone.
            let _ = (snapshot.read(path), snapshot.observe(path), snapshot.list(path));
        }
        Ok(())
    }
}

impl Drop for Place {
    /// A journal may remove permissions; then the folder could not be removed.
    fn drop(&mut self) {
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            let _ = fs::set_permissions(&folder, fs::Permissions::from_mode(0o700));
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            folders.extend(entries.map(|entry| entry.path()).filter(|path| is_folder(path)));
        }
    }
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

fn add(path: &Path, tree: &mut Tree) {
    let metadata = fs::symlink_metadata(path).unwrap();
    let content = match metadata {
        _ if metadata.is_symlink() => fs::read_link(path).unwrap().into_os_string().into_encoded_bytes(),
        _ if metadata.is_file() && metadata.len() < 1 << 20 => fs::read(path).unwrap_or_default(),
        // A sparse file of any length.
        _ if metadata.is_file() => metadata.len().to_le_bytes().to_vec(),
        _ => Vec::new(),
    };
    tree.insert(path.to_owned(), (metadata.permissions().mode(), content));
    if metadata.is_dir() {
        fs::read_dir(path).into_iter().flatten().for_each(|entry| add(&entry.unwrap().path(), tree));
    }
}
