//! Group commit: one transaction and one wait for the disk serve all threads that write at about the
//! same time.
//!
//! There is no writer thread. A thread that finds no open group opens one and leads it: once it holds
//! the leader lock, it takes the jobs of all threads that have joined, runs them, and hands out the
//! answers. A thread that is alone runs its own job and hands nothing over.
//!
//! Threads that have just got their answer are about to write again. So a leader waits briefly for as
//! many jobs as the last group had, plus those that arrived while it ran. The wait is a fraction of the
//! last group's duration, so it costs little when they do not come.
//!
//! Lock order: `leader` first, then `queue`. `queue` is held for moments only.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A leader waits for this fraction of the last group's duration.
const COLLECT_DIVISOR: u32 = 2;
/// The longest wait of a leader.
const COLLECT_MAX: Duration = Duration::from_millis(2);

/// The size of a group. The number of waiting threads has no limit here: each waits with one job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) jobs: usize,
    /// A group that has reached this many bytes takes no further job.
    pub(crate) bytes: usize,
}

/// Groups that were committed, and the jobs in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriterCounts {
    /// Committed transactions, each with one sync.
    pub groups: u64,
    /// Writes in these transactions.
    pub writes: u64,
}

/// Commits jobs `J` in groups and answers each with an `A`. The leader uses `R`, one at a time.
pub(crate) struct GroupCommit<J, A, R> {
    limits: Limits,
    queue: Mutex<Queue<J, A>>,
    /// Signals that the group has as many jobs as its leader waits for.
    arrived: Condvar,
    leader: Mutex<LeaderState<R>>,
    groups: AtomicU64,
    writes: AtomicU64,
}

/// Groups that no leader has taken yet. New jobs join the last one.
struct Queue<J, A> {
    groups: VecDeque<Group<J, A>>,
    /// Number of jobs that the leader waits for; 0 while it does not wait.
    awaited: usize,
}

struct Group<J, A> {
    jobs: Vec<J>,
    bytes: usize,
    answers: Arc<Answers<A>>,
}

struct LeaderState<R> {
    resources: R,
    /// Jobs expected after the last group, and the duration of that group.
    last: (usize, Duration),
}

impl<J, A, R> GroupCommit<J, A, R> {
    pub(crate) fn new(limits: Limits, resources: R) -> Self {
        Self {
            limits,
            queue: Mutex::new(Queue { groups: VecDeque::new(), awaited: 0 }),
            arrived: Condvar::new(),
            leader: Mutex::new(LeaderState { resources, last: (1, Duration::ZERO) }),
            groups: AtomicU64::new(0),
            writes: AtomicU64::new(0),
        }
    }

    /// Runs a job of about this many bytes together with others, and returns its answer. `run` runs a
    /// group and returns the answers in its order; only the leader's `run` is called. Returns `None`
    /// when that call panicked.
    pub(crate) fn join(
        &self,
        job: J,
        bytes: usize,
        run: impl FnOnce(&mut R, &mut [J]) -> Vec<A>,
    ) -> Option<A> {
        let (answers, index) = self.enqueue(job, bytes);
        if index > 0 {
            return answers.wait(index);
        }
        let mut leader = self.leader.lock().unwrap_or_else(PoisonError::into_inner);
        let (expected, took) = leader.last;
        let mut jobs = self.collect(&answers, expected, (took / COLLECT_DIVISOR).min(COLLECT_MAX));
        let started = Instant::now();
        // A bug in one job must not end the thread of another, or leave the others waiting.
        let returned =
            catch_unwind(AssertUnwindSafe(|| run(&mut leader.resources, &mut jobs))).unwrap_or_default();
        leader.last = (jobs.len() + self.waiting(), started.elapsed());
        drop(leader);
        answers.publish(returned, jobs.len())
    }

    /// Counts jobs that were committed together.
    pub(crate) fn count(&self, jobs: usize) {
        self.groups.fetch_add(1, Ordering::Relaxed);
        self.writes.fetch_add(jobs as u64, Ordering::Relaxed);
    }

    pub(crate) fn counts(&self) -> WriterCounts {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        WriterCounts { groups: count(&self.groups), writes: count(&self.writes) }
    }

    /// Number of jobs that no leader has taken yet.
    pub(crate) fn waiting(&self) -> usize {
        self.queue().groups.iter().map(|group| group.jobs.len()).sum()
    }

    fn queue(&self) -> MutexGuard<'_, Queue<J, A>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a job to the last group, or opens one. Returns the job's index: the job with index 0 leads.
    fn enqueue(&self, job: J, bytes: usize) -> (Arc<Answers<A>>, usize) {
        let mut queue = self.queue();
        let limits = self.limits;
        let has_room =
            |group: &&mut Group<J, A>| group.jobs.len() < limits.jobs && group.bytes < limits.bytes;
        let (answers, index) = if let Some(group) = queue.groups.back_mut().filter(has_room) {
            group.jobs.push(job);
            group.bytes += bytes;
            (Arc::clone(&group.answers), group.jobs.len() - 1)
        } else {
            let answers = Arc::new(Answers::default());
            queue.groups.push_back(Group { jobs: vec![job], bytes, answers: Arc::clone(&answers) });
            (answers, 0)
        };
        // A group that is no longer the last takes no further jobs, so its leader need not wait.
        if queue.awaited > 0 && (index + 1 == queue.awaited || index == 0) {
            self.arrived.notify_one();
        }
        (answers, index)
    }

    /// Takes the jobs of the leader's own group, after waiting for the expected number of them.
    fn collect(&self, answers: &Arc<Answers<A>>, expected: usize, wait_max: Duration) -> Vec<J> {
        let may_grow = |queue: &mut Queue<J, A>| {
            let last = queue.groups.back();
            last.is_some_and(|last| Arc::ptr_eq(&last.answers, answers) && last.jobs.len() < expected)
        };
        let mut queue = self.queue();
        if may_grow(&mut queue) {
            queue.awaited = expected;
            let waited = self.arrived.wait_timeout_while(queue, wait_max, may_grow);
            (queue, _) = waited.unwrap_or_else(PoisonError::into_inner);
            queue.awaited = 0;
        }
        let own = queue.groups.iter().position(|group| Arc::ptr_eq(&group.answers, answers));
        own.and_then(|index| queue.groups.remove(index)).map_or_else(Vec::new, |group| group.jobs)
    }
}

/// The answers of a group, and the threads that wait for them.
struct Answers<A> {
    /// `None` until the group has run.
    returned: Mutex<Option<Vec<Option<A>>>>,
    done: Condvar,
}

impl<A> Default for Answers<A> {
    fn default() -> Self {
        Self { returned: Mutex::new(None), done: Condvar::new() }
    }
}

impl<A> Answers<A> {
    fn wait(&self, index: usize) -> Option<A> {
        let returned = self.returned.lock().unwrap_or_else(PoisonError::into_inner);
        let returned = self.done.wait_while(returned, |returned| returned.is_none());
        returned.unwrap_or_else(PoisonError::into_inner).as_mut()?.get_mut(index)?.take()
    }

    /// Wakes the threads of a group with their answers. Returns the leader's.
    fn publish(&self, returned: Vec<A>, jobs: usize) -> Option<A> {
        let mut returned: Vec<Option<A>> = returned.into_iter().map(Some).collect();
        let own = returned.first_mut().and_then(Option::take);
        if jobs > 1 {
            *self.returned.lock().unwrap_or_else(PoisonError::into_inner) = Some(returned);
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

    type Numbers = GroupCommit<u32, u32, Vec<Vec<u32>>>;
    type Run = fn(&mut Vec<Vec<u32>>, &mut [u32]) -> Vec<u32>;

    /// Logs each group, and answers each number with its double.
    fn double(log: &mut Vec<Vec<u32>>, jobs: &mut [u32]) -> Vec<u32> {
        log.push(jobs.to_vec());
        jobs.iter().map(|job| job * 2).collect()
    }

    fn numbers(jobs: usize, bytes: usize) -> Numbers {
        GroupCommit::new(Limits { jobs, bytes }, Vec::new())
    }

    fn groups(numbers: Numbers) -> Vec<Vec<u32>> {
        numbers.leader.into_inner().unwrap().resources
    }

    /// Runs jobs of one byte each that all arrive while another group runs.
    fn join_behind_a_running_group(
        numbers: &Numbers,
        jobs: std::ops::Range<u32>,
        run: Run,
    ) -> Vec<Option<u32>> {
        let (enter, entered) = sync_channel::<()>(0);
        let (leave, left) = sync_channel::<()>(0);
        thread::scope(|scope| {
            let first = scope.spawn(move || {
                numbers.join(0, 0, |log, jobs| {
                    enter.send(()).unwrap();
                    left.recv().unwrap();
                    double(log, jobs)
                })
            });
            entered.recv().unwrap();
            let mut threads = Vec::new();
            for job in jobs {
                threads.push(scope.spawn(move || numbers.join(job, 1, run)));
                while numbers.waiting() < threads.len() {
                    thread::yield_now();
                }
            }
            leave.send(()).unwrap();
            assert_eq!(first.join().unwrap(), Some(0));
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    #[test]
    fn waiting_writers_share_one_group_and_each_gets_its_answer() {
        let numbers = numbers(100, 100);
        let answers = join_behind_a_running_group(&numbers, 1..6, double);
        assert_eq!(answers, [Some(2), Some(4), Some(6), Some(8), Some(10)]);
        assert_eq!(groups(numbers), [vec![0], vec![1, 2, 3, 4, 5]]);
    }

    #[test]
    fn a_group_is_limited_in_jobs_and_bytes() {
        for limited in [numbers(2, 100), numbers(100, 2)] {
            let answers = join_behind_a_running_group(&limited, 1..6, double);
            assert_eq!(answers, [Some(2), Some(4), Some(6), Some(8), Some(10)]);
            let mut groups = groups(limited);
            groups.sort();
            assert_eq!(groups, [vec![0], vec![1, 2], vec![3, 4], vec![5]]);
        }
    }

    #[test]
    fn a_leader_waits_for_the_expected_jobs() {
        let numbers = numbers(100, 100);
        let (answers, _) = numbers.enqueue(1, 0);
        thread::scope(|scope| {
            let leader = scope.spawn(|| numbers.collect(&answers, 2, Duration::from_secs(600)));
            while numbers.queue().awaited == 0 {
                thread::yield_now();
            }
            assert_eq!(numbers.enqueue(2, 0).1, 1);
            assert_eq!(leader.join().unwrap(), [1, 2]);
        });
        // It does not wait for ever, nor once its group is full.
        let (answers, _) = numbers.enqueue(3, 100);
        assert_eq!(numbers.collect(&answers, 2, Duration::from_millis(1)), [3]);
        let (answers, _) = numbers.enqueue(4, 100);
        thread::scope(|scope| {
            let leader = scope.spawn(|| numbers.collect(&answers, 2, Duration::from_secs(600)));
            while numbers.queue().awaited == 0 {
                thread::yield_now();
            }
            assert_eq!(numbers.enqueue(5, 0).1, 0);
            assert_eq!(leader.join().unwrap(), [4]);
        });
    }

    #[test]
    fn a_panic_of_the_leader_leaves_no_thread_waiting() {
        let numbers = numbers(100, 100);
        let answers = join_behind_a_running_group(&numbers, 1..4, |_, _| panic!("a bug, for the test"));
        assert_eq!(answers, [None; 3]);
        assert_eq!(numbers.join(3, 0, double), Some(6));
        assert_eq!(groups(numbers), [[0], [3]]);
    }
}
