//! Folders and files for nobody else, around whole folders: where a sandbox is, what an actor prints. Nothing is synced.

use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

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
