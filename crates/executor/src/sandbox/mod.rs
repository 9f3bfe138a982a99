//! Sandboxes: the tree of a project as it is now, for one actor alone.
//!
//! A sandbox is a private folder with `tree`, the copy that the actor works in, and `tmp`, its own folder for temporary files. The copy has
//! uncommitted and untracked files like the others; what git ignores is copied, linked or left out, by choice. `.git` is copied too, so an actor
//! can read and commit there, and nothing of it is ever taken back.
//!
//! How the tree comes to be there is a [`Strategy`]; [`CopyTree`] is the one there is.
//!
//! The tools for whole folders are here too: [`copy_tree`], [`remove_tree`], [`TreeEdit`], [`Survey`], and what is private around sandboxes. None is a
//! transaction and none syncs: a copy that was cut off is removed and made again, and whoever needs what is in it has recorded it elsewhere first.
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
mod manifest;
#[cfg(target_os = "linux")]
mod private_files;
#[cfg(target_os = "linux")]
mod remove;
#[cfg(target_os = "linux")]
mod strategy;
#[cfg(target_os = "linux")]
mod tree_reader;

pub use choices::{Confine, Ignored};
#[cfg(target_os = "linux")]
pub use confine::{Enforced, enforceable, spawn_confined};
#[cfg(target_os = "linux")]
pub use copy::{COPY_DEPTH_MAX, Choice, Copied, CopyOptions, copy_tree};
#[cfg(target_os = "linux")]
pub use edit::TreeEdit;
#[cfg(target_os = "linux")]
pub use error::{FileError, FileResult};
#[cfg(target_os = "linux")]
pub use manifest::{CHANGES_MAX, Changes, Edit, Manifest, State, What};
#[cfg(target_os = "linux")]
pub use private_files::{
    connect_private, create_private_file, listen_private, make_private_folder, remove_private_socket,
};
#[cfg(target_os = "linux")]
pub use remove::remove_tree;
#[cfg(target_os = "linux")]
pub use strategy::{CopyTree, Sandbox, Strategy, Wanted};
#[cfg(target_os = "linux")]
pub use tree_reader::{SURVEY_ENTRIES_MAX, Survey, Surveyed, SurveyedFile};
