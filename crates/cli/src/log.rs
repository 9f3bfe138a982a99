//! The log: what the services report while they work, for people who look for a fault. Off unless configured.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Mutex;

use api::Preferences;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::error::{Error, Result};

/// Starts the log, once in a process, as configuration says. Each span is logged when it begins and when it ends.
pub(crate) fn start(preferences: &Preferences) -> Result<()> {
    let level: LevelFilter = preferences.log.parse().expect("configuration has checked it");
    if level == LevelFilter::OFF {
        return Ok(());
    }
    let log = tracing_subscriber::fmt().with_max_level(level).with_span_events(FmtSpan::NEW | FmtSpan::CLOSE);
    match &preferences.log_file {
        None => log.with_writer(io::stderr).init(),
        Some(path) => {
            let failed = |source| Error::File { act: "open the log", path: path.clone(), source };
            log.with_writer(Mutex::new(append(path).map_err(failed)?)).init();
        }
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a log grows line by line; nothing depends on it")]
fn append(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    // It names folders and plans of its owner.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.append(true).create(true).open(path)
}
