//! One node from its start to its end: attempts, each with a sandbox, an actor and what it changed.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use filetx::error_chain;
use plan::{Actor, Changeset, LeaseOptions, NodeLinks, Patterns};

use super::Event;
use super::context::Engine;
use super::inputs::Front;
use super::layout::files;
use super::lease::is_given_up;
use super::outputs::{Found, Recorder};
use super::schedule::is_taken;
use super::state::{NodeState, Outcome};
use crate::process::Ended;
use crate::rpc::{Place, SOCKET_VARIABLE, TOKEN_VARIABLE, Taken};
use crate::sandbox::{create_private_file, make_private_folder};
use crate::{Enforced, Error, FileError, Limits, Manifest, NodeIndex, Result, Run, Start, start};

/// How long an actor has to end by itself when it is asked to.
const GRACE: Duration = Duration::from_secs(10);
/// How much of an actor's output is kept and told.
const OUTPUT_BYTES_MAX: u64 = 64 << 20;
/// How many of the last lines are kept with a node, and how many characters of each.
const LAST_LINES_MAX: usize = 20;
const LAST_LINE_CHARS_MAX: usize = 500;
/// How many paths a reason names.
const NAMED_MAX: usize = 5;
/// Variables by which git would work on another repository than the sandbox's.
const OF_GIT: [&str; 4] = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"];

/// How an attempt ended.
#[derive(Debug)]
struct End {
    outcome: Outcome,
    code: Option<i32>,
    signal: Option<i32>,
    reason: Option<String>,
    files: usize,
    notes: Vec<String>,
    /// Whether all that it changed is recorded.
    is_whole: bool,
}

impl End {
    fn new(outcome: Outcome) -> Self {
        Self { outcome, code: None, signal: None, reason: None, files: 0, notes: Vec::new(), is_whole: true }
    }

    fn because(outcome: Outcome, reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..Self::new(outcome) }
    }
}

/// The last lines that an actor printed.
type LastLines = Arc<Mutex<VecDeque<String>>>;

impl Engine<'_> {
    /// Runs a node to its end, with its retries. How it ended is in the store when this returns. An error is about the store or the disk,
    /// not about the actor.
    pub(crate) fn run_node(&self, node: NodeIndex) -> Result<()> {
        let spec = self.spec(node);
        let _span = tracing::info_span!("node", name = %spec.name).entered();
        let mut retries = spec.retries;
        loop {
            let began = Instant::now();
            let builds_on = self.builds_on(node)?;
            let actor = Actor::parse(&spec.name)?;
            let id = self.node(node).node.id;
            let changeset = self.context.start(&actor, Some(id), &LeaseOptions::default())?;
            self.step(node, NodeState::Running, |record| {
                record.attempts += 1;
                record.changeset = Some(changeset.id());
                record.links = NodeLinks { counts: None, builds_on, base: Some(self.layout.base_name()) };
                record.process = None;
                (record.code, record.signal, record.seconds, record.reason) = (None, None, None, None);
                (record.files, record.last_lines, record.notes) = (0, Vec::new(), Vec::new());
            })?;
            let attempt = self.node(node).record.attempts;
            self.tell(Event::NodeStarted {
                node: spec.name.clone(),
                attempt,
                changeset: changeset.id().to_string(),
            });
            let lines = LastLines::default();
            let ended = self.attempt(node, attempt, &changeset, retries > 0, &lines);
            let ended = ended.or_else(|error| self.given_up(error));
            let end = ended.or_else(|error| self.out_of_room(node, attempt, error))?;
            let is_failure = matches!(end.outcome, Outcome::Failed | Outcome::TimedOut);
            if is_failure && retries > 0 && !self.cancel.is_stopping() {
                retries -= 1;
                tracing::info!(attempt, "retrying a node");
                let reason = end.reason.unwrap_or_default();
                // First of all: it may have filled the disk.
                self.layout.remove_sandbox(&spec.name, attempt)?;
                changeset.abandon(&format!("attempt {attempt} failed: {reason}"))?;
                self.step(node, NodeState::Queued, |record| record.reason = Some(reason.clone()))?;
                self.tell(Event::NodeRetried { node: spec.name.clone(), attempt, reason });
                continue;
            }
            let counts = end.outcome == Outcome::Succeeded || is_failure && spec.continue_on_error;
            let last_lines: Vec<String> =
                lines.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect();
            // From here on it is done, over every crash; whoever comes next closes the changeset.
            let done = |end: &End| {
                self.step(node, NodeState::Ended(end.outcome), |record| {
                    record.links.counts = (counts && end.is_whole).then(|| changeset.id());
                    (record.code, record.signal, record.reason) = (end.code, end.signal, end.reason.clone());
                    (record.files, record.notes) = (end.files, end.notes.clone());
                    record.seconds = Some(began.elapsed().as_secs_f64());
                    record.last_lines =
                        if end.outcome == Outcome::Succeeded { Vec::new() } else { last_lines.clone() };
                })
            };
            done(&end).or_else(|error| {
                let room = self.out_of_room(node, attempt, error)?;
                done(&End { notes: [&end.notes[..], &room.notes].concat(), ..end })
            })?;
            // Who hears of its end finds it whole; and hears of it also when the plan was given up meanwhile.
            let sealed = changeset.seal();
            self.tell_end(node);
            sealed?;
            return Ok(());
        }
    }

    /// What it means for a node that nothing can be recorded for it any more: that its plan was given up. Any other error stays one.
    fn given_up(&self, error: Error) -> Result<End> {
        if !is_taken(&error) || !is_given_up(self.store(), self.plan)? {
            return Err(error);
        }
        self.cancel.cancel_once();
        Ok(End { is_whole: false, ..self.cut_off() })
    }

    /// What a full disk means for a node whose actor has ended: its sandbox goes, as it may be what fills the disk, so that the end can be recorded and
    /// the others go on. Any other error stays one.
    fn out_of_room(&self, node: NodeIndex, attempt: u32, error: Error) -> Result<End> {
        let Error::Plan(plan::Error::Store(store::Error::Full { .. })) = error else { return Err(error) };
        self.layout.remove_sandbox(&self.spec(node).name, attempt)?;
        Ok(End {
            notes: vec!["the disk was full, so its sandbox was removed".to_owned()],
            is_whole: false,
            ..End::because(Outcome::Failed, error_chain(&error))
        })
    }

    /// One attempt. What goes wrong with the actor is its end; with the store, an error.
    fn attempt(
        &self,
        node: NodeIndex,
        attempt: u32,
        changeset: &Changeset,
        is_retried: bool,
        lines: &LastLines,
    ) -> Result<End> {
        let spec = self.spec(node);
        let root = self.root_of(node);
        let builds_on = self.node(node).record.links.builds_on.clone();
        let front = match Front::of(&self.plans, self.plan, &builds_on, self.run.merge, &self.roots[root])? {
            Ok(front) => Arc::new(front),
            Err(clashes) => {
                let reason =
                    format!("the nodes that it needs changed the same lines of {}", listed(&clashes));
                return Ok(End::because(Outcome::Conflict, reason));
            }
        };
        let prepared = self.prepare(node, attempt, root, &front);
        let (tree, temporary, manifest) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => return self.fault(error),
        };
        let manifest = Arc::new(manifest);
        let writes = spec.writes.as_deref().map(Patterns::new).transpose()?;
        let taken = self.socket.map(|socket| {
            socket.take_place(Place {
                store: Arc::clone(self.plans.store()),
                node: spec.name.clone(),
                changeset: changeset.clone(),
                front: Arc::clone(&front),
                manifest: Arc::clone(&manifest),
                base: self.layout.base_tree(root),
                tree: tree.clone(),
                writes: writes.clone(),
            })
        });
        self.watched.add(&spec.name, root, tree.clone(), &manifest);
        let ended = self.act(node, attempt, changeset, &tree, &temporary, taken.as_ref(), lines);
        self.watched.remove(&spec.name);
        // Before anything is looked for: what the actor asked for is in its changeset, or was refused.
        drop(taken);
        self.check_held()?;
        let mut end = match ended {
            Ok(end) => end,
            Err(error) => return self.fault(error),
        };
        if is_retried && matches!(end.outcome, Outcome::Failed | Outcome::TimedOut) {
            return Ok(end);
        }
        let found = match Found::in_tree(&manifest, &tree, writes.as_ref()) {
            Ok(found) => found,
            // An actor that removed its sandbox leaves nothing to look through.
            Err(error) => return self.fault(error),
        };
        let recorder = Recorder {
            store: self.store(),
            changeset,
            front: &front,
            base: &self.layout.base_tree(root),
            tree: &tree,
        };
        match recorder.record(&found) {
            Ok(files) => end.files = files,
            Err(error @ Error::Files { .. }) => return self.fault(error),
            Err(error) => return Err(error),
        }
        if end.outcome == Outcome::Succeeded && !found.refused.is_empty() {
            end.outcome = Outcome::RefusedWrites;
            end.reason =
                Some(format!("it changed {}, which its `writes` do not allow", listed(&found.refused)));
        }
        end.notes.extend(found.notes);
        Ok(end)
    }

    /// The actor's tree, with what it needs in it, and what it held when it was ready.
    fn prepare(
        &self,
        node: NodeIndex,
        attempt: u32,
        root: usize,
        front: &Front,
    ) -> Result<(PathBuf, PathBuf, Manifest)> {
        let name = &self.spec(node).name;
        let sandbox = self.layout.make_sandbox(root, name, attempt, self.cancel.stop_flag())?;
        front.lay(self.store(), &sandbox.tree)?;
        let base = self.base(root)?;
        let manifest = Manifest::take_copy(&sandbox.tree, &base, &front.changed()?)?;
        // The actor is about to start.
        Ok((sandbox.tree, sandbox.temporary, manifest.settled()))
    }

    /// Starts the actor and waits for its end.
    #[expect(clippy::too_many_arguments, reason = "what was made ready for one actor, piece by piece")]
    fn act(
        &self,
        node: NodeIndex,
        attempt: u32,
        changeset: &Changeset,
        tree: &Path,
        temporary: &Path,
        taken: Option<&Taken<'_>>,
        lines: &LastLines,
    ) -> Result<End> {
        let spec = self.spec(node);
        let Some(folder) = workdir(tree, spec.workdir.as_deref()) else {
            let reason = "its `workdir` is not a folder of the root";
            return Ok(End::because(Outcome::Failed, reason));
        };
        let own = self.layout.attempt(&spec.name, attempt);
        let stdin = spec.stdin.as_ref().map(|text| write_input(&own, text)).transpose()?;
        let mut writable = vec![tree.to_owned(), temporary.to_owned()];
        writable.extend(self.run.terms.writable.iter().cloned());
        let mark = changeset.id().to_string();
        let wanted = Start {
            words: words(&spec.run),
            folder: &folder,
            env: self.environment(node, &mark, temporary, &folder, taken),
            stdin: stdin.as_deref(),
            terminal: self.run.terminal,
            output: &self.layout.output(&spec.name, attempt),
            output_bytes_max: OUTPUT_BYTES_MAX,
            confine: self.run.confine,
            writable: &writable,
            mark: &mark,
        };
        let running = start(&wanted, self.listener(&spec.name, lines))?;
        let identity = running.identity().clone();
        let enforced = running.enforced();
        let known = self.step(node, NodeState::Running, |record| {
            record.process = Some((identity.pid, identity.started_ticks, identity.boot.clone()));
        });
        if let Err(error) = known {
            // Whoever takes over finds it by its mark; but nobody may.
            identity.end(Duration::ZERO)?;
            return Err(error);
        }
        let limits = Limits {
            timeout: spec.timeout,
            grace: GRACE,
            cancel: self.cancel.stop_flag(),
            kill: self.cancel.kill_flag(),
        };
        let outcome = running.wait(&limits)?;
        let mut end = match outcome.ended {
            Ended::Exited(0) => End::new(Outcome::Succeeded),
            Ended::Exited(code) => {
                End { code: Some(code), ..End::because(Outcome::Failed, format!("it exited with {code}")) }
            }
            Ended::Signalled(signal) => {
                let reason = format!("it was ended by signal {signal}");
                End { signal: Some(signal), ..End::because(Outcome::Failed, reason) }
            }
            Ended::TimedOut => {
                let seconds = spec.timeout.unwrap_or_default().as_secs_f64();
                End::because(Outcome::TimedOut, format!("it took longer than {seconds} s"))
            }
            Ended::Cancelled => self.cut_off(),
        };
        if end.outcome == Outcome::Succeeded {
            end.code = Some(0);
        }
        if outcome.printed_bytes > outcome.kept_bytes {
            let (printed, kept) = (outcome.printed_bytes, outcome.kept_bytes);
            let why = outcome.not_kept.map(|kind| format!(": {kind}")).unwrap_or_default();
            end.notes.push(format!("it printed {printed} bytes, of which {kept} are kept{why}"));
        }
        if enforced != Enforced::Fully {
            end.notes.push("it was not fully kept from writing outside of its sandbox".to_owned());
        }
        Ok(end)
    }

    /// What an error about an actor's files or process means for its node. What is not about these is one of the run.
    fn fault(&self, error: Error) -> Result<End> {
        match error {
            Error::Plan(_) => Err(error),
            Error::Files { source, .. } if matches!(*source, FileError::Cancelled { .. }) => {
                Ok(self.cut_off())
            }
            error => Ok(End::because(Outcome::Failed, error_chain(&error))),
        }
    }

    fn cut_off(&self) -> End {
        match self.cancel.is_cancelled() {
            true => End::because(Outcome::Cancelled, "the run was cancelled"),
            false => End::because(Outcome::Stopped, "another node failed"),
        }
    }

    /// Passes lines on, and keeps the last.
    fn listener(&self, node: &str, lines: &LastLines) -> impl FnMut(&[u8]) + Send + 'static {
        let (events, node, lines) = (self.events.clone(), node.to_owned(), Arc::clone(lines));
        let mut room = OUTPUT_BYTES_MAX;
        move |line| {
            let text = String::from_utf8_lossy(line);
            let mut last = lines.lock().unwrap_or_else(PoisonError::into_inner);
            if last.len() == LAST_LINES_MAX {
                last.pop_front();
            }
            last.push_back(text.chars().take(LAST_LINE_CHARS_MAX).collect());
            drop(last);
            room = room.saturating_sub(line.len() as u64 + 1);
            if room > 0 {
                drop(events.send(Event::NodeOutput { node: node.clone(), line: text.into_owned() }));
            }
        }
    }

    /// What is different in the actor's environment.
    fn environment(
        &self,
        node: NodeIndex,
        changeset: &str,
        temporary: &Path,
        folder: &Path,
        taken: Option<&Taken<'_>>,
    ) -> Vec<(OsString, Option<OsString>)> {
        let spec = self.spec(node);
        let hidden = self.hidden.iter().map(|name| (name.clone(), None));
        let git = OF_GIT.iter().map(|name| (OsString::from(name), None));
        let ours = [
            ("AGENTS_PLAN", self.plan.to_string().into()),
            ("AGENTS_NODE", OsString::from(&spec.name)),
            ("AGENTS_CHANGESET", changeset.into()),
            ("TMPDIR", temporary.as_os_str().to_owned()),
            ("PWD", folder.as_os_str().to_owned()),
        ];
        let ours = ours.into_iter().map(|(name, value)| (name.into(), Some(value)));
        // Of a run around this one nothing is left.
        let around = [SOCKET_VARIABLE, TOKEN_VARIABLE].map(|name| (name.into(), None));
        let socket = taken.map(Taken::variables).unwrap_or_default();
        let socket = socket.into_iter().map(|(name, value)| (name, Some(value)));
        let own = spec.env.iter().map(|(name, value)| (name.into(), Some(value.into())));
        hidden.chain(git).chain(around).chain(ours).chain(socket).chain(own).collect()
    }
}

fn words(run: &Run) -> Vec<OsString> {
    match run {
        Run::Shell(line) => ["sh", "-c", line].map(OsString::from).to_vec(),
        Run::Program(words) => words.iter().map(OsString::from).collect(),
    }
}

/// The folder that an actor starts in; nothing when it is none, or leads out of the tree.
fn workdir(tree: &Path, workdir: Option<&Path>) -> Option<PathBuf> {
    let Some(workdir) = workdir else { return Some(tree.to_owned()) };
    let (tree, folder) = (tree.canonicalize().ok()?, tree.join(workdir).canonicalize().ok()?);
    (folder.is_dir() && folder.starts_with(tree)).then_some(folder)
}

/// The file that an actor reads from standard input.
fn write_input(own: &Path, text: &str) -> Result<PathBuf> {
    let path = own.join("stdin");
    files("make", own, make_private_folder(own))?;
    let mut file = files("make", own, create_private_file(&path))?;
    file.write_all(text.as_bytes()).map_err(|source| Error::Output { file: path.clone(), source })?;
    Ok(path)
}

/// The first few of some paths.
fn listed(paths: &[String]) -> String {
    let named: Vec<String> = paths.iter().take(NAMED_MAX).map(|path| format!("`{path}`")).collect();
    match paths.len().saturating_sub(NAMED_MAX) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
