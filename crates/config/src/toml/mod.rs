//! One TOML file: parsing it, and changing one key in its text.

mod document;
mod splice;

pub use document::{Document, FILE_BYTES_MAX};
