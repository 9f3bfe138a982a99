//! Power cuts while another process writes: it says what was acknowledged, and the cut comes at a random moment.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::mount::{Cut, FileSystem, Image};

/// When a cut comes: after some of this many words of the writer, and then within this time.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The most words.
    pub words_max: usize,
    /// The longest delay, in microseconds.
    pub delay_us_max: u64,
}

/// What a writer said (see [`children::send`](crate::children::send)).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WriterOutput {
    /// Before the cut.
    pub before: Vec<String>,
    /// Until it ended.
    pub all: Vec<String>,
}

impl WriterOutput {
    /// What must be there after the cut, of a writer that syncs by itself.
    ///
    /// On xfs a sync that is under way when the cut comes may report success and have done nothing: a plain loop of write, fsync,
    /// rename and fsync of the folder met it in 39 of 600 cuts. A real cut leaves nobody to report to.
    pub fn binding(&self, system: FileSystem) -> &[String] {
        match system {
            FileSystem::Ext4 => &self.all,
            FileSystem::Xfs => &self.before,
        }
    }
}

/// Starts a writer, cuts the power of its file system while it writes, waits for its end and mounts again. Every second cut, by its
/// number, writes the file system's log first.
pub fn cut_while(
    image: &Image,
    mut writer: Command,
    number: usize,
    moment: Moment,
    random: &mut fastrand::Rng,
) -> Result<WriterOutput, String> {
    // It is killed by the cut, in the middle of a file of counters.
    writer.env("LLVM_PROFILE_FILE", "/dev/null").stdin(Stdio::null()).stdout(Stdio::piped());
    let mut process = Process(writer.spawn().map_err(|error| format!("the writer does not start: {error}"))?);
    let output = process.0.stdout.take().expect("it is piped");
    let (sender, words) = mpsc::channel();
    thread::spawn(move || {
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        // The harness may have begun a line.
        lines
            .filter_map(|line| Some(line.split_once('@')?.1.to_owned()))
            .try_for_each(|word| sender.send(word))
    });
    let mut before: Vec<String> = words.iter().take(random.usize(..=moment.words_max)).collect();
    // Not a wait for something: the moment of the cut.
    thread::sleep(Duration::from_micros(random.u64(..moment.delay_us_max)));
    before.extend(words.try_iter());
    image.cut(if number.is_multiple_of(2) { Cut::Hard } else { Cut::LogFlushed })?;
    let all = before.iter().cloned().chain(words.iter()).collect();
    process.0.wait().map_err(|error| format!("the writer is gone: {error}"))?;
    image.power_on()?;
    Ok(WriterOutput { before, all })
}

/// Ends the process when the test ends before it.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
