//! Writers that are killed: child processes of this program. They acknowledge each save by a line.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use serde_json::Value;

use super::{conversation, race};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::output::Answer;

/// The command that starts a writer.
pub(crate) const NAME: &str = "__writer";
/// Longest time of a save.
const SAVE_MAX: Duration = Duration::from_secs(20);
/// Interval between checks for Ctrl-C.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// The work of a writer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Role {
    /// Saves four files by renames, without end.
    Files,
    /// Saves a context, without end.
    Context,
    /// Sets keys in one file by reading it and renaming a new one over it.
    SetUsual,
    /// Sets keys in one file as `agents config set` does.
    SetService,
}

/// Write until `agents demo` kills this process
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[arg(value_enum)]
    role: Role,
    folder: PathBuf,
    /// Number of the writer among those of its role
    #[arg(default_value_t = 0)]
    index: u32,
}

/// Runs in the child. Begins when the parent closes its standard input.
pub(crate) fn run(args: &Args) -> Result<Answer> {
    io::stdin().read_to_end(&mut Vec::new()).map_err(|source| Error::Stdin { source })?;
    match args.role {
        Role::Files => conversation::save_files(&args.folder, acknowledge)?,
        Role::Context => conversation::save_context(&args.folder, acknowledge)?,
        Role::SetUsual => race::set_by_rename(&args.folder, args.index, acknowledge)?,
        Role::SetService => race::set_by_service(&args.folder, args.index, acknowledge)?,
    }
    Ok(Answer::ok(Value::Null))
}

/// Acknowledges a save to the parent, in one write so that the line is whole or missing.
fn acknowledge(save: u32) -> Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(format!("{save}\n").as_bytes()).and_then(|()| stdout.flush());
    written.map_err(|source| Error::Print { source })
}

/// A child process, killed when this is dropped.
pub(super) struct Child {
    process: process::Child,
    acknowledged: Receiver<u32>,
}

impl Child {
    /// Starts a child that waits for [`release`](Self::release).
    pub(super) fn start(role: Role, folder: &Path, index: u32) -> Result<Self> {
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
        let lines = BufReader::new(process.stdout.take().expect("it is piped")).lines();
        let (sender, acknowledged) = mpsc::channel();
        std::thread::spawn(move || {
            let saves = lines.map_while(|line| line.ok()?.parse().ok());
            saves.map_while(|save| sender.send(save).ok()).for_each(drop);
        });
        Ok(Self { process, acknowledged })
    }

    /// Lets the child begin.
    pub(super) fn release(&mut self) {
        self.process.stdin = None;
    }

    /// Returns all saves that the child acknowledges until it exits.
    pub(super) fn saves_until_exit(&self, interrupt: &Interrupt) -> Result<Vec<u32>> {
        let mut saves = Vec::new();
        loop {
            interrupt.check()?;
            match self.acknowledged.recv_timeout(CHECK_INTERVAL) {
                Ok(save) => saves.push(save),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(saves),
            }
        }
    }

    /// Lets the child begin, and kills it `life` after its first save. Returns the first and the last acknowledged save.
    pub(super) fn kill_after(mut self, life: Duration) -> Result<(u32, u32)> {
        self.release();
        let first = self.acknowledged.recv_timeout(SAVE_MAX).map_err(|error| match error {
            RecvTimeoutError::Timeout => Error::Child { did: "saved nothing" },
            RecvTimeoutError::Disconnected => Error::Child { did: "ended" },
        })?;
        std::thread::sleep(life);
        self.kill().map_err(|source| Error::EndChild { source })?;
        // The pipe is closed, so the iteration ends.
        Ok((first, self.acknowledged.iter().last().unwrap_or(first)))
    }

    fn kill(&mut self) -> io::Result<()> {
        self.process.kill()?;
        self.process.wait().map(drop)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // A failure means that the child has exited.
        let _ = self.kill();
    }
}
