//! Folders, files and sockets with access for their owner only: those of sandboxes, output and the
//! socket of a run. Nothing is synced.

use std::fs::{DirBuilder, File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use super::remove::REMOVE;
use super::{FileError, FileResult};

const MAKE: &str = "make";
const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// Makes a private folder and its missing parents, unless it exists.
pub fn make_private_folder(folder: &Path) -> FileResult<()> {
    let failed = |error| FileError::io(MAKE, folder, error);
    DirBuilder::new().mode(FOLDER_MODE).recursive(true).create(folder).map_err(failed)
}

/// Creates a private file. Fails if the path exists.
pub fn create_private_file(file: &Path) -> FileResult<File> {
    let failed = |error| FileError::io(MAKE, file, error);
    File::options().write(true).create_new(true).mode(FILE_MODE).open(file).map_err(failed)
}

/// Creates a private socket, with a path of any length, and listens. Fails if the path exists. Its folder
/// should be private: for a moment the socket itself is not.
pub fn listen_private(socket: &Path) -> FileResult<UnixListener> {
    let listen = || {
        let (_folder, short) = short_path(socket)?;
        let listener = UnixListener::bind(&short)?;
        std::fs::set_permissions(&short, Permissions::from_mode(FILE_MODE))?;
        Ok(listener)
    };
    listen().map_err(|error: io::Error| FileError::io(MAKE, socket, error))
}

/// Connects to a socket with a path of any length.
pub fn connect_private(socket: &Path) -> io::Result<UnixStream> {
    let (_folder, short) = short_path(socket)?;
    UnixStream::connect(short)
}

/// Removes a socket, if it exists.
pub fn remove_private_socket(socket: &Path) -> FileResult<()> {
    match std::fs::remove_file(socket) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(|error| FileError::io(REMOVE, socket, error)),
    }
}

/// A short path to a socket, valid while its folder is open: the system limits paths to 107 bytes.
fn short_path(socket: &Path) -> io::Result<(File, PathBuf)> {
    let name = socket.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let folder = File::open(socket.parent().unwrap_or(Path::new(".")))?;
    let short = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name);
    Ok((folder, short))
}
