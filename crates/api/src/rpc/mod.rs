//! Requests of actors to the run that started them: `server` handles them in the run, `client` sends
//! them from a sandbox. Actors run on Linux only; elsewhere `unsupported` takes the place of the client.

#[cfg(target_os = "linux")]
mod client;
#[cfg(target_os = "linux")]
mod server;
#[cfg(not(target_os = "linux"))]
mod unsupported;

#[cfg(target_os = "linux")]
pub use client::RunClient;
#[cfg(target_os = "linux")]
pub(crate) use server::Handler;
#[cfg(not(target_os = "linux"))]
pub use unsupported::RunClient;
