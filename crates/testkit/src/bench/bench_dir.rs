//! The folder to measure in: on a fresh file system, or an existing one.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::Result;

/// Size of a fresh image. It is sparse.
const IMAGE_BYTES: u64 = 2 << 30;

/// A folder to measure in, removed on drop.
#[derive(Debug)]
pub struct BenchDir {
    folder: TempDir,
    /// Description for the report.
    description: String,
    mounted: Option<PathBuf>,
}

impl BenchDir {
    /// Uses `dir`, or else a fresh image, or else a temporary folder.
    pub fn prepare(dir: Option<PathBuf>) -> Result<Self> {
        if let Some(dir) = dir {
            return Self::in_folder(TempDir::new_in(dir)?, "a chosen folder");
        }
        let folder = tempfile::tempdir()?;
        match mount_image(folder.path()) {
            Ok(mounted) => {
                let description = "a fresh ext4 image, loop-mounted".to_owned();
                Ok(Self { folder, description, mounted: Some(mounted) })
            }
            Err(reason) => {
                eprintln!("note: no fresh image ({reason}); measuring in a temporary folder instead");
                Self::in_folder(folder, "a temporary folder")
            }
        }
    }

    fn in_folder(folder: TempDir, what: &str) -> Result<Self> {
        let description = format!("{what} on {}", file_system_of(folder.path())?);
        Ok(Self { folder, description, mounted: None })
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        self.mounted.as_deref().unwrap_or(self.folder.path())
    }

    /// Returns the description for the report.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Syncs the file system, so that no case pays for earlier writes.
    pub fn sync_file_system(&self) -> Result<()> {
        sync_file_system(self.path())
    }
}

/// Syncs the file system of any path, like [`BenchDir::sync_file_system`].
pub fn sync_file_system(place: &Path) -> Result<()> {
    Ok(rustix::fs::syncfs(File::open(place)?)?)
}

impl Drop for BenchDir {
    fn drop(&mut self) {
        if let Some(mounted) = &self.mounted
            && let Err(error) = run(Command::new("umount").arg(mounted))
        {
            eprintln!("note: cannot unmount the image: {error}");
        }
    }
}

fn mount_image(folder: &Path) -> Result<PathBuf> {
    if !rustix::process::geteuid().is_root() {
        return Err("only root mounts".into());
    }
    let image = folder.join("image");
    File::create(&image)?.set_len(IMAGE_BYTES)?;
    run(Command::new("mkfs.ext4")
        .args(["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"])
        .arg(&image))?;
    let mounted = folder.join("mounted");
    fs::create_dir(&mounted)?;
    run(Command::new("mount").args(["-o", "loop"]).args([&image, &mounted]))?;
    Ok(mounted)
}

fn run(command: &mut Command) -> Result<()> {
    let name = command.get_program().display().to_string();
    let output = command.output().map_err(|error| format!("cannot start {name}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{name} failed: {}", String::from_utf8_lossy(&output.stderr).trim()).into())
}

/// Returns the type of the file system of `path`.
fn file_system_of(path: &Path) -> Result<String> {
    let path = path.canonicalize()?;
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mounts = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        Some((words.next()?, words.next()?))
    });
    let nearest = mounts.filter(|(at, _)| path.starts_with(at)).max_by_key(|(at, _)| at.len());
    Ok(nearest.map_or("an unknown file system", |(_, kind)| kind).to_owned())
}
