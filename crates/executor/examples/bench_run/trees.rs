//! Projects to run actors in, and copies of them by hand.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use testkit::bench::Result;

/// Files of 1 KiB, a hundred to a folder, as a git repository with one commit.
pub(crate) fn make(root: &Path, files: usize) -> Result<()> {
    fs::create_dir(root)?;
    for number in 0..files {
        let folder = root.join(format!("folder-{:03}", number / 100));
        if number % 100 == 0 {
            fs::create_dir(&folder)?;
        }
        let line = format!("line of file {number:06}\n");
        fs::write(folder.join(format!("file-{number:06}.txt")), line.repeat(1024 / line.len()))?;
    }
    for words in [
        &["init", "-q"][..],
        // The commit would start a clean-up in the background, which packs objects while the tree is copied.
        &["config", "gc.auto", "0"],
        &["config", "maintenance.auto", "false"],
        &["add", "."],
        &["-c", "user.name=bench", "-c", "user.email=bench@example.org", "commit", "-q", "-m", "all"],
    ] {
        run(Command::new("git").args(words).current_dir(root))?;
    }
    Ok(())
}

/// Runs a command that must succeed, and discards its output.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output()?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(())
}
