//! The transaction folder of a root: made once, durable before anything relies on it.

use std::io;

use crate::disk::Open;
use crate::root::{OUR_FILE_MODE, OUR_FOLDER_MODE, Root};
use crate::{RelPath, Result, Step};

/// The folder in the transaction folder where content waits.
pub(crate) const STAGE: &str = "stage";
/// Where content goes that nobody recorded and that stood in the way.
pub(crate) const KEPT: &str = "kept";

/// Made last, so whoever finds it knows that the folder and its name are durable.
const READY: &str = ".gitignore";

/// Makes the transaction folder and the staging folder in it.
pub(crate) fn prepare(root: &Root) -> Result<()> {
    if root.stat(&root.in_home(READY))?.is_some() {
        return Ok(());
    }
    let make = |folder: &RelPath| root.make_folders(Step::MakeHome, folder, OUR_FOLDER_MODE);
    make(&root.in_home(STAGE))?;
    // `git clean -xdf` would remove what waits here; it passes by what looks like a repository of its own. Such a folder must
    // be below one that git ignores, so right below the root it is left out.
    if root.home.depth() > 1 {
        let git = root.in_home(".git");
        make(&git.join("objects"))?;
        make(&git.join("refs"))?;
        write(root, &git.join("HEAD"), "ref: refs/heads/none\n")?;
    }
    // A folder that was there may have been made by a process that died before it synced: so all of them, up to the root.
    let mut folder = Some(root.home.clone());
    while let Some(path) = folder {
        root.sync_folder(Step::SyncHome, &path)?;
        folder = path.parent();
    }
    write(root, &root.in_home(READY), "*\n")
}

fn write(root: &Root, path: &RelPath, text: &str) -> Result<()> {
    match root.storage.open(path, Open::Create { mode: OUR_FILE_MODE }) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        file => {
            let file = root.name(Step::MakeHome, path, file)?;
            root.name(Step::MakeHome, path, file.write_at(text.as_bytes(), 0))
        }
    }
}
