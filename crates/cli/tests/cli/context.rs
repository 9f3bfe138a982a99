//! `agents context`.

mod changing;
mod exchange;
#[cfg(target_os = "linux")]
mod failing;
mod looking;
mod names;
