//! The same four files in an own folder of the file transaction: each save is one commit.

use std::path::{Path, PathBuf};

use filetx::{FolderOptions, OwnFolder, Snapshot, Transaction, Wait};

use super::conversation::{self, Found, MESSAGES, SMALL};
use crate::error::{Error, Result};

/// The first save.
pub(super) fn prepare(folder: &Path) -> Result<()> {
    let own = open(folder)?;
    let mut tx = own.begin()?;
    tx.put(MESSAGES, b"")?;
    for name in SMALL {
        tx.put(name, conversation::small(0).as_bytes())?;
    }
    commit(tx)
}

/// Opens the folder, which finishes what a killed writer left.
pub(super) fn open(folder: &Path) -> Result<OwnFolder> {
    Ok(OwnFolder::open(folder, &lock(folder), FolderOptions::default())?)
}

/// Saves and acknowledges, until it is killed or nobody listens.
pub(super) fn save_without_end(folder: &Path, acknowledge: impl Fn(u64) -> Result<()>) -> Result<()> {
    let own = open(folder)?;
    let newest = Found::in_folder(folder)?.newest();
    for number in newest + 1.. {
        let mut tx = own.begin()?;
        tx.append(MESSAGES, conversation::message(number).as_bytes())?;
        for name in SMALL {
            tx.put(name, conversation::small(number).as_bytes())?;
        }
        commit(tx)?;
        acknowledge(number)?;
    }
    Ok(())
}

/// What a reader sees, without writing anything.
pub(super) fn read(folder: &Path) -> Result<Found> {
    let snapshot = Snapshot::of_folder(folder, &lock(folder), &Wait::default())?;
    Found::by(|name| snapshot.read(name)?.ok_or_else(|| missing(folder, name)))
}

fn commit(tx: Transaction<'_>) -> Result<()> {
    match tx.commit()?.pending {
        Some(error) => Err(error.into()),
        None => Ok(()),
    }
}

fn missing(folder: &Path, name: &str) -> Error {
    filetx::Error::Missing { path: folder.join(name) }.into()
}

/// Beside the folder, as it must not be in one that can be removed.
fn lock(folder: &Path) -> PathBuf {
    folder.with_extension("lock")
}
