//! `agents config`.

#[cfg(unix)]
mod bad_input;
mod describe;
#[cfg(target_os = "linux")]
mod disk;
#[cfg(unix)]
mod edit;
mod list;
mod origins;
mod repair;
mod secrets;
mod values;
#[cfg(unix)]
mod watch;
