//! TOML files: parsing, and changing one key in the text.

mod document;
mod splice;

pub use document::{Document, FILE_BYTES_MAX};
