//! A PostgreSQL database on a small disk.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::mount::SmallDisk;
use crate::postgres::Server;

/// A server with the database `small` on a small disk, for one test.
pub struct SmallDatabase {
    /// The server.
    pub server: Server,
    disk: SmallDisk,
    bytes: u64,
    _folder: tempfile::TempDir,
}

impl SmallDatabase {
    /// Makes a database with room for this many bytes.
    pub fn new(bytes: u64) -> Result<Self, String> {
        let folder = crate::folder::scratch();
        // The server runs as another user, who must reach its disk.
        let open = fs::Permissions::from_mode(0o755);
        fs::set_permissions(folder.path(), open).map_err(|error| error.to_string())?;
        let disk = SmallDisk::new(folder.path(), bytes)?;
        let chown = Command::new("chown").arg("postgres:postgres").arg(disk.point()).status();
        chown.map_err(|error| error.to_string())?;
        let server = Server::start(&[])?;
        server.sql("postgres", &format!("CREATE TABLESPACE small LOCATION '{}'", disk.point().display()));
        server.sql("postgres", "CREATE DATABASE small TABLESPACE small");
        Ok(Self { server, disk, bytes, _folder: folder })
    }

    /// Returns the URL of the database.
    pub fn url(&self) -> String {
        self.server.url("small")
    }

    /// Doubles the size of the disk.
    pub fn make_room(&self) {
        self.disk.remount(&format!("size={}", 2 * self.bytes)).expect("what was mounted can be remounted");
    }
}
