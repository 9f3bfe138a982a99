//! `agents context`.

#[cfg(target_os = "linux")]
mod disk_failures;
mod names;
mod read;
mod transfer;
mod write;
