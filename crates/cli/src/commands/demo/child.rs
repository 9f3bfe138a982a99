//! The writers that are killed: this program started again, in a role. They acknowledge each save by a line.

use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use serde_json::Value;

use super::{chat, contention, control, tree};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::output::Answer;

/// The command that starts a writer.
pub(crate) const NAME: &str = "__writer";
/// How long a writer may take for a save.
const SAVE_MAX: Duration = Duration::from_secs(20);

/// How often to look up from waiting, for Ctrl-C.
const LOOK_UP: Duration = Duration::from_millis(100);

/// What a writer does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Role {
    /// Saves four files by renames, without end.
    Control,
    /// Saves a context, without end.
    Context,
    /// Commits to two folders, once.
    Tree,
    /// Sets keys in one file by reading it and renaming a new one over it.
    SetUsual,
    /// Sets keys in one file as `agents config set` does.
    SetService,
}

/// Be a writer that `agents demo` kills
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[arg(value_enum)]
    role: Role,
    folder: PathBuf,
    /// Which one it is, of several in one role.
    #[arg(default_value_t = 0)]
    index: u32,
}

/// Runs in the child.
pub(crate) fn run(args: &Args) -> Result<Answer> {
    match args.role {
        Role::Control => control::save_without_end(&args.folder, acknowledge)?,
        Role::Context => chat::save_without_end(&args.folder, acknowledge)?,
        Role::Tree => tree::commit(&args.folder)?,
        Role::SetUsual => contention::set_the_usual_way(&args.folder, args.index, acknowledge)?,
        Role::SetService => contention::set_by_service(&args.folder, args.index, acknowledge)?,
    }
    Ok(Answer::ok(Value::Null))
}

/// Tells the parent that a save is done. One write, so it hears of it wholly or not at all.
fn acknowledge(save: u64) -> Result<()> {
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(format!("{save}\n").as_bytes())
        .and_then(|()| stdout.flush())
        .map_err(|source| Error::Print { source })
}

/// A child process, killed when this is dropped.
pub(super) struct Child {
    process: process::Child,
    acknowledged: Receiver<u64>,
}

impl Child {
    pub(super) fn start(role: Role, folder: &Path) -> Result<Self> {
        let mut child = Self::start_held(role, folder, 0)?;
        child.release();
        Ok(child)
    }

    /// Starts one of several that wait for [`release`](Self::release).
    pub(super) fn start_held(role: Role, folder: &Path, index: u32) -> Result<Self> {
        let name = clap::ValueEnum::to_possible_value(&role).expect("every role has a name");
        let start = || {
            Command::new(std::env::current_exe()?)
                .args([NAME, name.get_name()])
                .arg(folder)
                .arg(index.to_string())
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
        };
        let mut process = start().map_err(|source| Error::StartChild { source })?;
        let mut lines = BufReader::new(process.stdout.take().expect("it is piped"));
        let (sender, acknowledged) = mpsc::channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            while lines.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
                let save = line.strip_suffix('\n').and_then(|number| number.parse().ok());
                if save.is_none_or(|save| sender.send(save).is_err()) {
                    return;
                }
                line.clear();
            }
        });
        Ok(Self { process, acknowledged })
    }

    /// Lets it begin.
    pub(super) fn release(&mut self) {
        self.process.stdin = None;
    }

    /// All saves that it acknowledges until it ends.
    pub(super) fn saves_to_the_end(&self, interrupt: &Interrupt) -> Result<Vec<u64>> {
        let mut saves = Vec::new();
        loop {
            interrupt.check()?;
            match self.acknowledged.recv_timeout(LOOK_UP) {
                Ok(save) => saves.push(save),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(saves),
            }
        }
    }

    /// Waits until a save is acknowledged.
    pub(super) fn wait_for_save(&self) -> Result<u64> {
        self.acknowledged.recv_timeout(SAVE_MAX).map_err(|error| match error {
            RecvTimeoutError::Timeout => Error::Child { did: "saved nothing" },
            RecvTimeoutError::Disconnected => Error::Child { did: "ended" },
        })
    }

    pub(super) fn is_running(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    /// Ends it on the spot, and gives the last save that it acknowledged and nobody has heard of yet.
    pub(super) fn kill(mut self) -> Result<Option<u64>> {
        self.end().map_err(|source| Error::EndChild { source })?;
        // The pipe is closed now, so this ends.
        Ok(self.acknowledged.iter().last())
    }

    fn end(&mut self) -> io::Result<()> {
        self.process.kill()?;
        self.process.wait().map(drop)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It has ended already, or there is nothing more to be done about it.
        let _ = self.end();
    }
}
