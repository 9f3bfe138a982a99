//! `agents config`.

#[cfg(unix)]
mod bad_input;
#[cfg(target_os = "linux")]
mod disk;
#[cfg(unix)]
mod edit;
mod list;
mod origins;
mod repair;
mod secrets;
mod tell;
mod values;
#[cfg(unix)]
mod watch;
