//! Data that version 0.1 made, kept in `tests/data/version-0.1`: later versions open it and go on.
//!
//! Plans name their roots by absolute path, and the audit chain has hashes of these, so the archives of stores are unpacked where they were
//! made, below `/tmp`. A lock beside the folder lets one test at a time use it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use store::{AuditRecord, GENESIS};

use crate::postgres::Server;

/// An archive, unpacked where its plans expect their roots, until it is dropped.
#[derive(Debug)]
pub struct UnpackedArchive {
    folder: PathBuf,
    _lock: File,
}

impl UnpackedArchive {
    /// Unpacks `NAME.tar.gz`. Waits for another test that uses it.
    pub fn unpack(name: &str) -> Self {
        let folder = Path::new("/tmp").join(format!("agents-0.1-{name}"));
        let lock = File::options().create(true).append(true).open(format!("/tmp/agents-0.1-{name}.lock"));
        let lock = lock.expect("a lock file can be made in /tmp");
        lock.lock().expect("files can be locked");
        let kept = Self { folder, _lock: lock };
        kept.remove();
        unpack(name, Path::new("/tmp"));
        kept
    }

    /// A path below the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The folder as an earlier test left it that was killed.
    fn remove(&self) {
        if self.folder.symlink_metadata().is_ok() {
            fs::remove_dir_all(&self.folder).expect("it is ours; another user's has to be removed by hand");
        }
    }
}

impl Drop for UnpackedArchive {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A file of the data.
pub fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/version-0.1").join(name)
}

/// Unpacks `NAME.tar.gz` into a folder; everything in it is below `agents-0.1-NAME`.
pub fn unpack(name: &str, into: &Path) {
    let mut tar = Command::new("tar");
    tar.args(["--no-same-owner", "-xpzf"]).arg(file(&format!("{name}.tar.gz"))).arg("-C").arg(into);
    assert!(tar.status().expect("tar starts").success(), "{name} is unpacked");
}

/// Makes a database from the dump, and gives its name.
pub fn load(server: &Server) -> String {
    let database = server.database();
    server.sql_file(&database, &file("postgres.sql"));
    database
}

/// Checks the records of an export: each has the hash of the one before, and its own.
pub fn check_export(export: &str) {
    let records = export.lines().map(|line| serde_json::from_str(line).expect("a record a line"));
    let records: Vec<AuditRecord> = records.collect();
    assert!(!records.is_empty(), "there are records");
    for (number, record) in records.iter().enumerate() {
        let before = number.checked_sub(1).map(|before| &records[before]);
        let before = before.filter(|before| before.plan == record.plan);
        assert_eq!(record.previous, before.map_or(GENESIS, |before| before.hash), "{record:?}");
        assert_eq!(record.sequence, before.map_or(1, |before| before.sequence + 1), "{record:?}");
        assert_eq!(record.hash, record.computed_hash(), "{record:?}");
    }
}
