//! A line of threads whose work is done together: one transaction and one wait for the disk serve all who come at about the same time.
//!
//! There is no thread for it. Who finds no group to join opens one and leads it: when its turn comes, it takes the work of all who have
//! joined, does it at the desk, and gives them their answers. A thread that is alone does its own and hands nothing over.
//!
//! Threads that have just got their answer are about to ask again. So a group waits a moment for all who are known of: as many as the last
//! group had, and as came while it was worked on. The moment is a part of what the last one took, so waiting costs little when they do
//! not come.
//!
//! Locks: `desk` is held by the one who leads, `forming` for moments only, also by who holds `desk`. Never the other way round.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What part of the last group's time a group waits for those who are expected.
const GATHER_DIVISOR: u32 = 2;
/// No group waits longer.
const GATHER_MAX: Duration = Duration::from_millis(2);

/// How large a group gets. How many wait has no limit of its own: a thread waits with one piece of work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) pieces: usize,
    /// Beyond so many bytes no more is taken in.
    pub(crate) bytes: usize,
}

/// How many groups were written, and how many pieces of work were in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriterCounts {
    /// Transactions that were committed, each with one sync.
    pub groups: u64,
    /// Pieces of work in them.
    pub writes: u64,
}

/// The line: pieces of work `W`, their answers `A`, and the desk `D` where one after the other works.
pub(crate) struct Line<W, A, D> {
    limits: Limits,
    forming: Mutex<Forming<W, A>>,
    /// As many have joined as the leader waits for.
    arrived: Condvar,
    desk: Mutex<Desk<D>>,
    groups: AtomicU64,
    writes: AtomicU64,
}

/// Groups whose turn has not come. Who comes joins the last.
struct Forming<W, A> {
    groups: VecDeque<Group<W, A>>,
    /// How many the leader at the desk waits for; 0 while it does not.
    awaited: usize,
}

struct Group<W, A> {
    pieces: Vec<W>,
    bytes: usize,
    answers: Arc<Answers<A>>,
}

struct Desk<D> {
    tools: D,
    /// How many are expected after the last group, and how long it took.
    last: (usize, Duration),
}

impl<W, A, D> Line<W, A, D> {
    pub(crate) fn new(limits: Limits, tools: D) -> Self {
        Self {
            limits,
            forming: Mutex::new(Forming { groups: VecDeque::new(), awaited: 0 }),
            arrived: Condvar::new(),
            desk: Mutex::new(Desk { tools, last: (1, Duration::ZERO) }),
            groups: AtomicU64::new(0),
            writes: AtomicU64::new(0),
        }
    }

    /// Has a piece of work of about so many bytes done with others', and gives its answer. `work` does a group and gives the answers in its
    /// order; it is called if this thread leads. No answer means that the leader's call panicked.
    pub(crate) fn join(
        &self,
        piece: W,
        bytes: usize,
        work: impl FnOnce(&mut D, &mut [W]) -> Vec<A>,
    ) -> Option<A> {
        let (answers, place) = self.stand(piece, bytes);
        if place > 0 {
            return answers.wait(place);
        }
        let mut desk = self.desk.lock().unwrap_or_else(PoisonError::into_inner);
        let (expected, took) = desk.last;
        let mut pieces = self.gather(&answers, expected, (took / GATHER_DIVISOR).min(GATHER_MAX));
        let begun = Instant::now();
        // A bug is not to end a thread that works for another, or leave the others waiting.
        let given = catch_unwind(AssertUnwindSafe(|| work(&mut desk.tools, &mut pieces))).unwrap_or_default();
        desk.last = (pieces.len() + self.waiting(), begun.elapsed());
        drop(desk);
        answers.give(given, pieces.len())
    }

    /// Counts pieces that were written together.
    pub(crate) fn count(&self, pieces: usize) {
        self.groups.fetch_add(1, Ordering::Relaxed);
        self.writes.fetch_add(pieces as u64, Ordering::Relaxed);
    }

    pub(crate) fn counts(&self) -> WriterCounts {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        WriterCounts { groups: count(&self.groups), writes: count(&self.writes) }
    }

    /// How many stand in line.
    pub(crate) fn waiting(&self) -> usize {
        self.forming().groups.iter().map(|group| group.pieces.len()).sum()
    }

    fn forming(&self) -> MutexGuard<'_, Forming<W, A>> {
        self.forming.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Joins a group, or opens one. The first of a group leads it.
    fn stand(&self, piece: W, bytes: usize) -> (Arc<Answers<A>>, usize) {
        let mut forming = self.forming();
        let limits = self.limits;
        let room =
            |group: &&mut Group<W, A>| group.pieces.len() < limits.pieces && group.bytes < limits.bytes;
        let stood = if let Some(group) = forming.groups.back_mut().filter(room) {
            group.pieces.push(piece);
            group.bytes += bytes;
            (Arc::clone(&group.answers), group.pieces.len() - 1)
        } else {
            let answers = Arc::new(Answers::default());
            forming.groups.push_back(Group { pieces: vec![piece], bytes, answers: Arc::clone(&answers) });
            (answers, 0)
        };
        // None join a group that another was opened behind.
        if forming.awaited > 0 && (stood.1 + 1 == forming.awaited || stood.1 == 0) {
            self.arrived.notify_one();
        }
        stood
    }

    /// The work of a group whose turn it is: of all who joined, and those who are expected in a moment.
    fn gather(&self, answers: &Arc<Answers<A>>, expected: usize, patience: Duration) -> Vec<W> {
        let few = |forming: &mut Forming<W, A>| {
            let last = forming.groups.back();
            last.is_some_and(|last| Arc::ptr_eq(&last.answers, answers) && last.pieces.len() < expected)
        };
        let mut forming = self.forming();
        if few(&mut forming) {
            forming.awaited = expected;
            let waited = self.arrived.wait_timeout_while(forming, patience, few);
            (forming, _) = waited.unwrap_or_else(PoisonError::into_inner);
            forming.awaited = 0;
        }
        let own = forming.groups.iter().position(|group| Arc::ptr_eq(&group.answers, answers));
        own.and_then(|place| forming.groups.remove(place)).map_or_else(Vec::new, |group| group.pieces)
    }
}

/// Where the threads of a group wait.
struct Answers<A> {
    /// None until the work is done.
    given: Mutex<Option<Vec<Option<A>>>>,
    done: Condvar,
}

impl<A> Default for Answers<A> {
    fn default() -> Self {
        Self { given: Mutex::new(None), done: Condvar::new() }
    }
}

impl<A> Answers<A> {
    fn wait(&self, place: usize) -> Option<A> {
        let given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        let given = self.done.wait_while(given, |given| given.is_none());
        given.unwrap_or_else(PoisonError::into_inner).as_mut()?.get_mut(place)?.take()
    }

    /// Gives all of a group their answers; the first one's comes back.
    fn give(&self, given: Vec<A>, count: usize) -> Option<A> {
        let mut given: Vec<Option<A>> = given.into_iter().map(Some).collect();
        let own = given.first_mut().and_then(Option::take);
        if count > 1 {
            *self.given.lock().unwrap_or_else(PoisonError::into_inner) = Some(given);
            self.done.notify_all();
        }
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::sync_channel;
    use std::thread;

    type Numbers = Line<u32, u32, Vec<Vec<u32>>>;
    type Work = fn(&mut Vec<Vec<u32>>, &mut [u32]) -> Vec<u32>;

    /// Keeps the groups, and answers with twice the number.
    fn double(desk: &mut Vec<Vec<u32>>, pieces: &mut [u32]) -> Vec<u32> {
        desk.push(pieces.to_vec());
        pieces.iter().map(|piece| piece * 2).collect()
    }

    fn line(pieces: usize, bytes: usize) -> Numbers {
        Line::new(Limits { pieces, bytes }, Vec::new())
    }

    fn groups(line: Numbers) -> Vec<Vec<u32>> {
        line.desk.into_inner().unwrap().tools
    }

    /// Has pieces of work of one byte each done that all come while the desk is taken.
    fn behind_a_gate(line: &Numbers, pieces: std::ops::Range<u32>, work: Work) -> Vec<Option<u32>> {
        let (enter, entered) = sync_channel::<()>(0);
        let (leave, left) = sync_channel::<()>(0);
        thread::scope(|scope| {
            let gate = scope.spawn(move || {
                line.join(0, 0, |desk, pieces| {
                    enter.send(()).unwrap();
                    left.recv().unwrap();
                    double(desk, pieces)
                })
            });
            entered.recv().unwrap();
            let mut threads = Vec::new();
            for piece in pieces {
                threads.push(scope.spawn(move || line.join(piece, 1, work)));
                while line.waiting() < threads.len() {
                    thread::yield_now();
                }
            }
            leave.send(()).unwrap();
            assert_eq!(gate.join().unwrap(), Some(0));
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    #[test]
    fn who_comes_while_the_desk_is_taken_is_served_together_and_gets_its_own_answer() {
        let line = line(100, 100);
        let answers = behind_a_gate(&line, 1..6, double);
        assert_eq!(answers, [Some(2), Some(4), Some(6), Some(8), Some(10)]);
        assert_eq!(groups(line), [vec![0], vec![1, 2, 3, 4, 5]]);
    }

    #[test]
    fn a_group_has_a_limit_in_pieces_and_in_bytes() {
        for limited in [line(2, 100), line(100, 2)] {
            let answers = behind_a_gate(&limited, 1..6, double);
            assert_eq!(answers, [Some(2), Some(4), Some(6), Some(8), Some(10)]);
            let mut groups = groups(limited);
            groups.sort();
            assert_eq!(groups, [vec![0], vec![1, 2], vec![3, 4], vec![5]]);
        }
    }

    #[test]
    fn a_leader_waits_for_those_who_are_expected() {
        let line = line(100, 100);
        let (answers, _) = line.stand(1, 0);
        thread::scope(|scope| {
            let leader = scope.spawn(|| line.gather(&answers, 2, Duration::from_secs(600)));
            while line.forming().awaited == 0 {
                thread::yield_now();
            }
            assert_eq!(line.stand(2, 0).1, 1);
            assert_eq!(leader.join().unwrap(), [1, 2]);
        });
        // Not for ever, and not once its group is full.
        let (answers, _) = line.stand(3, 100);
        assert_eq!(line.gather(&answers, 2, Duration::from_millis(1)), [3]);
        let (answers, _) = line.stand(4, 100);
        thread::scope(|scope| {
            let leader = scope.spawn(|| line.gather(&answers, 2, Duration::from_secs(600)));
            while line.forming().awaited == 0 {
                thread::yield_now();
            }
            assert_eq!(line.stand(5, 0).1, 0);
            assert_eq!(leader.join().unwrap(), [4]);
        });
    }

    #[test]
    fn a_bug_of_the_leader_leaves_nobody_waiting() {
        let line = line(100, 100);
        assert_eq!(behind_a_gate(&line, 1..4, |_, _| panic!("a bug, for the test")), [None; 3]);
        assert_eq!(line.join(3, 0, double), Some(6));
        assert_eq!(groups(line), [[0], [3]]);
    }
}
