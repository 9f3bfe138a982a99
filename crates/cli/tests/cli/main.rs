//! The program as people and scripts start it: its output, its streams and its exit codes.

mod basics;
mod config;
mod context;
mod demo;
#[cfg(unix)]
mod exact;
#[cfg(target_os = "linux")]
mod examples;
mod flags;
#[cfg(target_os = "linux")]
mod full_output;
#[cfg(unix)]
mod interrupt;
#[cfg(unix)]
mod logging;
mod man;
#[cfg(unix)]
mod plan;
mod program;
#[cfg(target_os = "linux")]
mod run;
mod schema;
#[cfg(unix)]
mod store;
#[cfg(unix)]
mod terminal;
mod usage;
#[cfg(target_os = "linux")]
mod version_0_1;
#[cfg(target_os = "linux")]
mod work;
