//! Data of version 0.1, in `tests/data/version-0.1`, which later versions must open and continue.
//!
//! Plans have absolute roots, which the audit chain hashes, so the archives of stores are unpacked
//! where they were made, below `/tmp`. A lock beside the folder serializes the tests that use it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use store::{AuditRecord, GENESIS};

use crate::postgres::Server;

/// An archive, unpacked at its original path until it is dropped.
#[derive(Debug)]
pub struct UnpackedArchive {
    folder: PathBuf,
    _lock: File,
}

impl UnpackedArchive {
    /// Unpacks `NAME.tar.gz`. Waits for other tests that use it.
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

    /// Returns a path below the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Removes the folder of an earlier test that was killed.
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

/// Returns the path of a data file.
pub fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/version-0.1").join(name)
}

/// Unpacks `NAME.tar.gz` into a folder; all its files are below `agents-0.1-NAME`.
pub fn unpack(name: &str, into: &Path) {
    let mut tar = Command::new("tar");
    tar.args(["--no-same-owner", "-xpzf"]).arg(file(&format!("{name}.tar.gz"))).arg("-C").arg(into);
    assert!(tar.status().expect("tar starts").success(), "{name} is unpacked");
}

/// Loads the dump into a new database, and returns its name.
pub fn load(server: &Server) -> String {
    let database = server.database();
    server.sql_file(&database, &file("postgres.sql"));
    database
}

/// Verifies an export: each record has its own hash and that of the previous one.
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
