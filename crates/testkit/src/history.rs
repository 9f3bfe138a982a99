//! Histories of concurrent processes, and whether they are linearizable.
//!
//! Every process logs each call and its answer, with times of a common clock. A call without an
//! answer was interrupted by a kill, and may or may not have taken effect. porcupine searches for a
//! sequential order that explains the history.

use std::fmt::{Debug, Display};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

pub use porcupine_rs::{Model, Operation, check_operations};
use rustix::time::{ClockId, clock_gettime};

const PREFIX: &str = "notes-";

/// The log of one process.
#[derive(Debug)]
pub struct CallLog {
    file: File,
    next: u64,
}

impl CallLog {
    /// Creates the log of this process in `folder`.
    pub fn open(folder: &Path) -> Self {
        let file = File::create(folder.join(format!("{PREFIX}{}", std::process::id())));
        Self { file: file.expect("a notebook is made"), next: 0 }
    }

    /// Logs `what`, runs it, and logs the result. `act` gets a unique id for the call.
    pub fn record<T: Display>(&mut self, what: impl Display, act: impl FnOnce(&str) -> T) -> T {
        let id = format!("{}-{}", std::process::id(), self.next);
        self.next += 1;
        self.note(format!("call {id} {} {what}\n", now_ns()));
        let found = act(&id);
        self.note(format!("return {id} {} {found}\n", now_ns()));
        found
    }

    /// One write per line: a kill leaves whole lines.
    fn note(&mut self, line: String) {
        self.file.write_all(line.as_bytes()).expect("a notebook takes a line");
    }
}

/// A logged call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoggedCall {
    /// The unique id.
    pub id: String,
    /// The call.
    pub what: String,
    /// Time of the call, in nanoseconds.
    pub call_time: i64,
    /// Time and text of the answer, unless the process was killed before.
    pub answer: Option<(i64, String)>,
}

impl LoggedCall {
    /// Converts to an operation of a history. Without an answer, it may take effect until `end`.
    pub fn operation<M: Model<Metadata = ()>>(&self, end: i64, op: M::Op) -> Operation<M> {
        let return_time = self.answer.as_ref().map_or(end, |(time, _)| *time);
        operation(self.call_time, return_time, op)
    }
}

/// Reads the logs of all processes in `folder`.
pub fn read(folder: &Path) -> Vec<LoggedCall> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder lists") {
        let entry = entry.expect("a folder lists");
        if entry.file_name().to_string_lossy().starts_with(PREFIX) {
            all.extend(parse(&fs::read_to_string(entry.path()).expect("a notebook reads")));
        }
    }
    all
}

fn parse(text: &str) -> Vec<LoggedCall> {
    let fields = |line: &'_ str| -> [String; 4] {
        let fields: Vec<String> = line.splitn(4, ' ').map(str::to_owned).collect();
        fields.try_into().expect("a line has four fields")
    };
    let time = |text: &str| text.parse().expect("a time is a number");
    let mut lines = text.lines().map(fields).peekable();
    let mut all = Vec::new();
    while let Some([_, id, call, what]) = lines.next() {
        let answer = lines.next_if(|line| line[0] == "return");
        let answer = answer.map(|[_, _, returned, found]| (time(&returned), found));
        all.push(LoggedCall { id, what, call_time: time(&call), answer });
    }
    all
}

/// Makes an operation between two times.
pub fn operation<M: Model<Metadata = ()>>(call_time: i64, return_time: i64, op: M::Op) -> Operation<M> {
    Operation { client_id: None, call_time, return_time, op, metadata: None }
}

/// Returns the time in nanoseconds, by a clock that all processes share.
pub fn now_ns() -> i64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// Tells whether any two operations overlap. Otherwise the history shows nothing.
pub fn overlaps<M: Model>(history: &[Operation<M>]) -> bool {
    let mut times: Vec<_> = history.iter().map(|act| (act.call_time, act.return_time)).collect();
    times.sort_unstable();
    times.windows(2).any(|pair| pair[1].0 < pair[0].1)
}

/// A number that is read and incremented.
#[derive(Clone, Debug)]
pub struct Counter;

/// An operation on a [`Counter`].
#[derive(Clone, Debug)]
pub enum Count {
    /// Found this number and added one.
    Increment(u64),
    /// Found this number.
    Read(u64),
}

impl Model for Counter {
    type State = u64;
    type Op = Count;
    type Metadata = ();

    fn init() -> u64 {
        0
    }

    fn step(state: &u64, act: &Count) -> (bool, u64) {
        match act {
            Count::Increment(found) => (found == state, state + 1),
            Count::Read(found) => (found == state, *state),
        }
    }
}

/// A value that is written and read, initially none.
#[derive(Clone, Debug)]
pub struct Register;

/// An operation on a [`Register`].
#[derive(Clone, Debug)]
pub enum Access {
    /// Wrote this value.
    Write(String),
    /// Read this value.
    Read(Option<String>),
}

impl Model for Register {
    type State = Option<String>;
    type Op = Access;
    type Metadata = ();

    fn init() -> Self::State {
        None
    }

    fn step(state: &Self::State, act: &Access) -> (bool, Self::State) {
        match act {
            Access::Write(value) => (true, Some(value.clone())),
            Access::Read(found) => (found == state, state.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checker_objects_to_a_stale_read() {
        let act = operation::<Counter>;
        assert!(check_operations(&[act(0, 3, Count::Increment(0)), act(1, 2, Count::Read(0))]));
        assert!(!check_operations(&[act(0, 1, Count::Increment(0)), act(2, 3, Count::Read(0))]));
    }

    #[test]
    fn the_checker_objects_to_a_lost_increment() {
        let act = operation::<Counter>;
        assert!(check_operations(&[act(0, 3, Count::Increment(0)), act(1, 2, Count::Increment(1))]));
        assert!(!check_operations(&[act(0, 1, Count::Increment(0)), act(2, 3, Count::Increment(0))]));
    }

    #[test]
    fn the_checker_objects_to_a_write_that_is_undone() {
        let act = operation::<Register>;
        let write = |value: &str| Access::Write(value.to_owned());
        let read = |value: &str| Access::Read(Some(value.to_owned()));
        assert!(check_operations(&[act(0, 1, write("a")), act(2, 5, write("b")), act(3, 4, read("a"))]));
        assert!(check_operations(&[act(0, 1, write("a")), act(2, 5, write("b")), act(3, 4, read("b"))]));
        assert!(!check_operations(&[act(0, 1, write("a")), act(2, 3, write("b")), act(4, 5, read("a"))]));
        assert!(!check_operations(&[act(0, 1, write("a")), act(2, 3, Access::Read(None))]));
    }

    #[test]
    fn what_was_cut_off_has_no_answer() {
        let noted = parse("call 7-0 10 set a b\nreturn 7-0 12 \ncall 7-1 13 get\n");
        let expected = [
            LoggedCall {
                id: "7-0".into(),
                what: "set a b".into(),
                call_time: 10,
                answer: Some((12, String::new())),
            },
            LoggedCall { id: "7-1".into(), what: "get".into(), call_time: 13, answer: None },
        ];
        assert_eq!(noted, expected);
        assert_eq!(noted[1].operation::<Register>(99, Access::Read(None)).return_time, 99);
    }
}
