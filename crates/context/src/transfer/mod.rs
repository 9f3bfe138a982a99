//! Copies of conversations: forks, exports, imports, and the layout of older tools.

mod archive;
mod export;
mod fork;
mod import;
pub(crate) mod legacy;

pub use export::Format;
