//! Power cuts at a random moment while another process writes and reports what was acknowledged.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::mount::{Cut, FileSystem, Image};

/// The moment of a cut: after a random number of words of the writer, and a random delay.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The maximum number of words.
    pub words_max: usize,
    /// The maximum delay, in microseconds.
    pub delay_us_max: u64,
}

/// The words of a writer (see [`children::send`](crate::children::send)).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WriterOutput {
    /// Words before the cut.
    pub before: Vec<String>,
    /// All words until its end.
    pub all: Vec<String>,
}

impl WriterOutput {
    /// Returns the words that must be durable after the cut, for a writer that syncs by itself.
    ///
    /// On xfs, a sync that is running at the cut may report success without effect: a plain loop of
    /// write, fsync, rename and fsync of the folder met it in 39 of 600 cuts. A real cut leaves no
    /// one to report to.
    pub fn binding(&self, system: FileSystem) -> &[String] {
        match system {
            FileSystem::Ext4 | FileSystem::Ext4SmallBlocks => &self.all,
            FileSystem::Xfs => &self.before,
        }
    }
}

/// Starts a writer, cuts the power of its file system while it writes, waits for its end and mounts
/// again. Every second cut, by number, flushes the log of the file system first.
pub fn cut_while(
    image: &Image,
    mut writer: Command,
    number: usize,
    moment: Moment,
    random: &mut fastrand::Rng,
) -> Result<WriterOutput, String> {
    // A killed process would leave a truncated coverage file.
    writer.env("LLVM_PROFILE_FILE", "/dev/null").stdin(Stdio::null()).stdout(Stdio::piped());
    let mut process = Process(writer.spawn().map_err(|error| format!("the writer does not start: {error}"))?);
    let output = process.0.stdout.take().expect("it is piped");
    let (sender, words) = mpsc::channel();
    thread::spawn(move || {
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        // The harness may have started a line.
        lines
            .filter_map(|line| Some(line.split_once('@')?.1.to_owned()))
            .try_for_each(|word| sender.send(word))
    });
    let mut before: Vec<String> = words.iter().take(random.usize(..=moment.words_max)).collect();
    // Not a wait for an event: this is the moment of the cut.
    thread::sleep(Duration::from_micros(random.u64(..moment.delay_us_max)));
    before.extend(words.try_iter());
    image.cut(if number.is_multiple_of(2) { Cut::Hard } else { Cut::LogFlushed })?;
    let all = before.iter().cloned().chain(words.iter()).collect();
    process.0.wait().map_err(|error| format!("the writer is gone: {error}"))?;
    image.power_on()?;
    Ok(WriterOutput { before, all })
}

/// Kills the process if the test ends first.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
