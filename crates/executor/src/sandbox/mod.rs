//! Sandboxes: a private copy of a project tree for each actor.
//!
//! A sandbox is a private folder with `tree`, where the actor works, and `tmp`, for its temporary files.
//! The tree contains uncommitted and untracked files. Ignored files are copied, linked or excluded
//! ([`Ignored`]). `.git` is copied, so that an actor can read history and commit; its changes are never
//! recorded.
//!
//! A `SandboxStrategy` makes the tree; `CopyStrategy` is the only one. A `Manifest` finds the changes in
//! it. `confine` keeps an actor from writing elsewhere.
//!
//! The tools for whole folders are here too: `copy_tree`, `remove_tree`, `TreeEditor`, `TreeReader`, and
//! private files around sandboxes. `git_reader` calls git. None is a transaction and none syncs: an interrupted copy is removed
//! and made again, and a sandbox holds nothing that is not recorded elsewhere first.
#![cfg_attr(
    target_os = "linux",
    expect(clippy::disallowed_methods, reason = "writes sandboxes only, never a person's tree")
)]

mod choices;
#[cfg(target_os = "linux")]
mod confine;
#[cfg(target_os = "linux")]
mod copy;
#[cfg(target_os = "linux")]
mod edit;
#[cfg(target_os = "linux")]
mod error;
#[cfg(target_os = "linux")]
mod git;
#[cfg(target_os = "linux")]
mod manifest;
#[cfg(target_os = "linux")]
mod private_files;
#[cfg(target_os = "linux")]
mod read_limits;
#[cfg(target_os = "linux")]
mod remove;
#[cfg(target_os = "linux")]
mod strategy;
#[cfg(target_os = "linux")]
mod tree_reader;

pub use choices::{Confine, Confinement, Ignored};
#[cfg(target_os = "linux")]
pub use confine::{probe_confinement, spawn_confined};
#[cfg(target_os = "linux")]
pub use copy::{COPY_DEPTH_MAX, CopyAction, CopyOptions, CopyStats, copy_tree};
#[cfg(target_os = "linux")]
pub use edit::TreeEditor;
#[cfg(target_os = "linux")]
pub use error::{FileError, FileResult};
#[cfg(target_os = "linux")]
pub use git::git_reader;
#[cfg(target_os = "linux")]
pub(crate) use manifest::PERMISSIONS;
#[cfg(target_os = "linux")]
pub use manifest::{CHANGES_MAX, FileState, Manifest, TreeChange, TreeChangeKind, TreeChanges};
#[cfg(target_os = "linux")]
pub use private_files::{
    connect_private, create_private_file, listen_private, make_private_folder, remove_private_socket,
};
#[cfg(target_os = "linux")]
pub use read_limits::{ReadEnd, ReadLimits};
#[cfg(target_os = "linux")]
pub use remove::remove_tree;
#[cfg(target_os = "linux")]
pub use strategy::{CopyStrategy, Sandbox, SandboxOptions, SandboxStrategy};
#[cfg(target_os = "linux")]
pub use tree_reader::{FileReader, TREE_ENTRIES_MAX, TreeEntry, TreeReader};
