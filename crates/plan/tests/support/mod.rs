//! What the tests of plans and of applying them begin with.

use std::path::Path;
use std::sync::Arc;

use plan::{Act, Actor, Change, PathBytes, Plans, Source};
use store::{PostgresStore, SqliteStore};

/// Names the store's database, where it is on a server.
pub(crate) const URL: &str = "url";

/// The plans of the store in a folder, or of the one that it names.
pub(crate) fn open(folder: &Path) -> Plans {
    Plans::open(match std::fs::read_to_string(folder.join(URL)) {
        Ok(url) => Arc::new(PostgresStore::open(&url).unwrap()),
        Err(_) => Arc::new(SqliteStore::open(&folder.join("state.db")).unwrap()),
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
    let content = Source::Bytes(content.as_ref().to_vec());
    Change::new(bytes(path), Act::Write { content, mode: Some(mode) })
}
