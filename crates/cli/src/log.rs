//! The log of the services, for finding faults. Off by default.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Mutex;

use api::Preferences;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::error::{Error, Result};

/// Starts the configured log, once per process. Logs the beginning and the end of each span.
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
    // The log names the owner's folders and plans.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.append(true).create(true).open(path)
}
