//! The program as people and scripts start it: what it prints, where, and how it ends.

mod basics;
mod demo;
#[cfg(unix)]
mod interrupt;
mod program;
