//! A disk whose syncs take longer than those of this machine: the bench starts itself again, behind a library that pauses after each.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use testkit::bench::Result;

/// How long a pause is, in microseconds, for the library.
const PAUSE: &str = "BENCH_SYNC_PAUSE";

/// What is measured with a pause, if this is the bench that was started again.
pub(crate) fn note() -> Option<String> {
    let pause = env::var(PAUSE).ok()?;
    Some(format!("Each sync took {pause} µs longer than it does here, for all sides."))
}

/// Measures all over with such a disk, unless that is what this is. Gives how it ended.
pub(crate) fn start_again(pause: &Path) -> Result<Option<i32>> {
    if env::var_os(PAUSE).is_some() {
        return Ok(None);
    }
    let pause = pause.to_str().and_then(|pause| pause.parse::<u32>().ok());
    let pause = pause.ok_or("--sync-pause needs a number of microseconds")?;
    let folder = tempfile::tempdir()?;
    let (source, library) = (folder.path().join("slow_disk.c"), folder.path().join("slow_disk.so"));
    fs::write(&source, include_str!("slow_disk.c"))?;
    let compiled =
        Command::new("cc").args(["-shared", "-fPIC", "-O2", "-o"]).arg(&library).arg(&source).status();
    if !compiled.map_err(|error| format!("cc, which --sync-pause needs, does not start: {error}"))?.success()
    {
        return Err("cc did not build what --sync-pause needs".into());
    }
    let status = Command::new(env::current_exe()?)
        .args(env::args_os().skip(1))
        .env("LD_PRELOAD", &library)
        .env(PAUSE, pause.to_string())
        .status()?;
    Ok(Some(status.code().unwrap_or(1)))
}
