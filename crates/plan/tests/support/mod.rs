//! Helpers shared by the tests of plans and of apply.

use std::path::Path;
use std::sync::Arc;

use plan::{Actor, Change, ContentSource, Edit, PathBytes, Plans};
use store::{PostgresStore, SqliteStore};
use tempfile::TempDir;
use testkit::folder::scratch;

/// The file that names the database on a server.
const URL: &str = "url";

/// One folder per engine; without a server, PostgreSQL is reported as skipped.
pub(crate) fn folder_of_each_engine(test: &str) -> Vec<TempDir> {
    let mut folders = vec![scratch()];
    match testkit::postgres::server() {
        Err(reason) => testkit::report::skipped(test, &reason),
        Ok(server) => {
            let folder = scratch();
            std::fs::write(folder.path().join(URL), server.url(&server.database())).unwrap();
            folders.push(folder);
        }
    }
    folders
}

/// Returns the URL of the database that a folder names.
pub(crate) fn database_of(folder: &Path) -> Option<String> {
    std::fs::read_to_string(folder.join(URL)).ok()
}

/// Opens the plans of the store in a folder, or of the database that the folder names.
pub(crate) fn open(folder: &Path) -> Plans {
    Plans::open(match database_of(folder) {
        Some(url) => Arc::new(PostgresStore::open(&url).unwrap()),
        None => Arc::new(SqliteStore::open(&folder.join("state.db")).unwrap()),
    })
}

pub(crate) fn actor(name: &str) -> Actor {
    Actor::parse(name).unwrap()
}

pub(crate) fn bytes(path: impl AsRef<[u8]>) -> PathBytes {
    PathBytes::parse(path.as_ref()).unwrap()
}

pub(crate) fn write(path: &str, content: impl AsRef<[u8]>) -> Change {
    Change::write(bytes(path), content.as_ref())
}

pub(crate) fn write_with_mode(path: &str, content: impl AsRef<[u8]>, mode: u32) -> Change {
    let content = ContentSource::Bytes(content.as_ref().to_vec());
    Change::new(bytes(path), Edit::Write { content, mode: Some(mode) })
}
