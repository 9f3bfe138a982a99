//! Folders, files and sockets for nobody else, around whole folders: where a sandbox is, what an actor prints, by what it speaks to its run.
//! Nothing is synced.

use std::fs::{DirBuilder, File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use crate::root::{OUR_FILE_MODE, OUR_FOLDER_MODE};
use crate::{Error, Result, Step};

/// Makes a private folder with those above it that are missing; one that is there is fine.
pub fn make_private_folder(folder: &Path) -> Result<()> {
    let failed = |source| Error::Io { step: Step::MakePrivate, path: folder.to_owned(), source };
    DirBuilder::new().mode(OUR_FOLDER_MODE).recursive(true).create(folder).map_err(failed)
}

/// Makes a new private file to be written from the start; one that is there is an error.
pub fn create_private_file(file: &Path) -> Result<File> {
    let failed = |source| Error::Io { step: Step::MakePrivate, path: file.to_owned(), source };
    File::options().write(true).create_new(true).mode(OUR_FILE_MODE).open(file).map_err(failed)
}

/// Makes a new private socket and listens at it; anything that is there is an error. Its path may be of any length. It should be in a private
/// folder: for a moment others could connect elsewhere.
pub fn listen_private(socket: &Path) -> Result<UnixListener> {
    let listen = || {
        let (_folder, short) = short_path(socket)?;
        let listener = UnixListener::bind(&short)?;
        std::fs::set_permissions(&short, Permissions::from_mode(OUR_FILE_MODE))?;
        Ok(listener)
    };
    listen().map_err(|source| Error::Io { step: Step::MakePrivate, path: socket.to_owned(), source })
}

/// Connects to a socket, whose path may be of any length.
pub fn connect_private(socket: &Path) -> io::Result<UnixStream> {
    let (_folder, short) = short_path(socket)?;
    UnixStream::connect(short)
}

/// Removes a socket; one that is gone is fine.
pub fn remove_private_socket(socket: &Path) -> Result<()> {
    match std::fs::remove_file(socket) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => {
            removed.map_err(|source| Error::Io { step: Step::RemoveTree, path: socket.to_owned(), source })
        }
    }
}

/// Another path to a socket as long as its folder is open: the system takes 107 bytes and no more.
fn short_path(socket: &Path) -> io::Result<(File, PathBuf)> {
    let name = socket.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let folder = File::open(socket.parent().unwrap_or(Path::new(".")))?;
    let short = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name);
    Ok((folder, short))
}
