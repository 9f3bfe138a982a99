//! Real file systems for a test: images that lose power, and small disks in memory.
//!
//! Both need root and a kernel that lets it mount; otherwise the reason is returned for the test to
//! report. Everything is unmounted on drop, even after a panic.

use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// `_IOR('X', 125, __u32)` of the kernel's headers.
const FS_IOC_SHUTDOWN: libc::Ioctl = 0x8004_587D_u32 as libc::Ioctl;
/// Time for which an unmount is retried while a file is in use: a process that another thread is
/// starting briefly has all open files of this one.
const UNMOUNT_WAIT_MAX: Duration = Duration::from_secs(20);

/// A file system that can be created in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileSystem {
    /// ext4 with its journal.
    Ext4,
    /// ext4 with blocks smaller than a page of memory.
    Ext4SmallBlocks,
    /// xfs.
    Xfs,
}

impl FileSystem {
    /// Returns the name that `mkfs` and `mount` use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ext4 | Self::Ext4SmallBlocks => "ext4",
            Self::Xfs => "xfs",
        }
    }
}

/// The effect of a power cut on the log of the file system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cut {
    /// The log in memory is lost.
    Hard = 2,
    /// The log in memory is written first: names and lengths may be newer than content.
    LogFlushed = 1,
}

/// A mounted file system in a sparse file.
#[derive(Debug)]
pub struct Image {
    file: PathBuf,
    point: PathBuf,
    system: FileSystem,
}

impl Image {
    /// Creates and mounts a file system in `folder`. The error is the reason for which this machine
    /// cannot.
    pub fn new(folder: &Path, system: FileSystem) -> Result<Self, String> {
        let image = Self { file: folder.join("image"), point: folder.join("mounted"), system };
        let mebibytes = match system {
            FileSystem::Ext4 => 64,
            FileSystem::Ext4SmallBlocks => 16,
            // The minimum of mkfs.xfs.
            FileSystem::Xfs => 320,
        };
        let made = File::create(&image.file).and_then(|file| file.set_len(mebibytes << 20));
        made.and_then(|()| fs::create_dir(&image.point)).map_err(|error| error.to_string())?;
        let options: &[&str] = match system {
            FileSystem::Ext4 => &["-q", "-F", "-J", "size=4"],
            FileSystem::Ext4SmallBlocks => &["-q", "-F", "-J", "size=4", "-b", "1024", "-m", "0"],
            FileSystem::Xfs => &["-q", "-f"],
        };
        run(Command::new(format!("mkfs.{}", system.name())).args(options).arg(&image.file))?;
        image.mount()?;
        Ok(image)
    }

    /// Returns the mount point.
    pub fn point(&self) -> &Path {
        &self.point
    }

    /// Cuts the power: all later calls fail, and unwritten data is lost.
    #[expect(unsafe_code, reason = "there is no safe call for this")]
    pub fn cut(&self, how: Cut) -> Result<(), String> {
        let root = File::open(&self.point).map_err(|error| error.to_string())?;
        let flags = how as u32;
        // SAFETY: the handle is open, and the call reads one u32 at the address, which lives until it returns.
        let done = unsafe { libc::ioctl(root.as_raw_fd(), FS_IOC_SHUTDOWN, &raw const flags) };
        if done == 0 { Ok(()) } else { Err(format!("FS_IOC_SHUTDOWN: {}", io::Error::last_os_error())) }
    }

    /// Restores the power: unmounts and mounts again.
    pub fn power_on(&self) -> Result<(), String> {
        unmount(&self.point)?;
        self.mount()
    }

    fn mount(&self) -> Result<(), String> {
        run(Command::new("mount")
            .args(["-t", self.system.name(), "-o", "loop"])
            .args([&self.file, &self.point]))
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        detach(&self.point);
    }
}

/// A disk in memory of limited size.
#[derive(Debug)]
pub struct SmallDisk {
    point: PathBuf,
}

impl SmallDisk {
    /// Mounts a disk at `folder/small`. The error is the reason for which this machine cannot.
    pub fn new(folder: &Path, bytes: u64) -> Result<Self, String> {
        let disk = Self { point: folder.join("small") };
        fs::create_dir(&disk.point).map_err(|error| error.to_string())?;
        run(Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={bytes},mode=0755"), "tmpfs"])
            .arg(&disk.point))?;
        Ok(disk)
    }

    /// Returns the mount point.
    pub fn point(&self) -> &Path {
        &self.point
    }

    /// Remounts the disk with these options.
    pub fn remount(&self, how: &str) -> Result<(), String> {
        run(Command::new("mount").args(["-o", &format!("remount,{how}")]).arg(&self.point))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        detach(&self.point);
    }
}

fn run(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().display().to_string();
    let output = command.output().map_err(|error| format!("{name} does not start: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

fn unmount(point: &Path) -> Result<(), String> {
    let start = Instant::now();
    loop {
        match unmount_with(point, 0) {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) && start.elapsed() < UNMOUNT_WAIT_MAX => {
                std::thread::yield_now();
            }
            result => return result.map_err(|error| format!("unmounting {}: {error}", point.display())),
        }
    }
}

/// Detaches a mount, even if it is in use or does not exist.
fn detach(point: &Path) {
    let _ = unmount_with(point, libc::MNT_DETACH);
}

#[expect(unsafe_code, reason = "there is no safe call for this")]
fn unmount_with(point: &Path, flags: i32) -> io::Result<()> {
    let point = CString::new(point.as_os_str().as_bytes())?;
    // SAFETY: the path is a C string that lives until the call returns.
    match unsafe { libc::umount2(point.as_ptr(), flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
