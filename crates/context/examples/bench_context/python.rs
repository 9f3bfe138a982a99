//! Peers in Python, each a running process that saves on request.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use testkit::bench::Result;

/// A peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Peer {
    /// `SQLiteSession` of the OpenAI Agents SDK.
    Session,
    /// `SqliteSaver` of LangGraph.
    Saver,
}

/// A process that saves.
pub(crate) struct Python {
    process: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Python {
    /// Starts a peer with a conversation of so many messages in its own database.
    pub(crate) fn start(python: &Path, peer: Peer, place: &Path, name: &str, count: usize) -> Result<Python> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/bench_context/peers.py");
        let peer = if peer == Peer::Session { "session" } else { "saver" };
        let mut command = Command::new(python);
        command.arg(script).arg(peer).arg(place.join(name)).arg(count.to_string());
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let orders = process.stdin.take().ok_or("it is piped")?;
        let answers = BufReader::new(process.stdout.take().ok_or("it is piped")?);
        let mut python = Python { process, orders, answers };
        python.answer()?;
        Ok(python)
    }

    /// Requests so many saves; returns their time as the peer measures it.
    pub(crate) fn saves(&mut self, count: usize) -> Result<Duration> {
        writeln!(self.orders, "{count}")?;
        Ok(Duration::from_secs_f64(self.answer()?.parse()?))
    }

    fn answer(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            return Err("the peer in Python has ended".into());
        }
        Ok(line.trim().to_owned())
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        // Its data is not needed.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
