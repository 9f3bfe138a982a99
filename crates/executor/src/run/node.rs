//! One node from its start to its end: attempts, each with a sandbox, an actor and its changes.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use filetx::error_chain;
use plan::{Actor, Changeset, LeaseOptions, NodeChangesets, Patterns};

use super::Event;
use super::context::RunContext;
use super::inputs::UpstreamChanges;
use super::layout::in_sandbox;
use super::lease::is_plan_cancelled;
use super::outputs::{FoundChanges, Recorder};
use super::schedule::is_superseded;
use super::state::{NodeState, Outcome};
use crate::rpc::{AttemptContext, SessionGuard};
use crate::sandbox::{Confinement, ReadEnd, ReadLimits, create_private_file, make_private_folder};
use crate::{ActorCommand, Error, Exit, FileError, Limits, Manifest, NodeCommand, NodeIndex, Result, spawn};

/// Time between SIGTERM and SIGKILL for an actor.
const GRACE: Duration = Duration::from_secs(10);
/// Time to collect the changes of an actor, however short its timeout is.
const COLLECTION_MIN: Duration = Duration::from_secs(60);
/// Output of one actor that is kept and emitted, each.
const OUTPUT_BYTES_MAX: u64 = 64 << 20;
/// Last lines kept with a node, and characters of each.
const LAST_LINES_MAX: usize = 20;
const LAST_LINE_CHARS_MAX: usize = 500;
/// Paths that a reason names.
const NAMED_MAX: usize = 5;

/// The end of an attempt.
#[derive(Debug)]
struct AttemptEnd {
    outcome: Outcome,
    code: Option<i32>,
    signal: Option<i32>,
    reason: Option<String>,
    files_changed: usize,
    notes: Vec<String>,
    /// True if all its changes are recorded.
    is_complete: bool,
}

impl AttemptEnd {
    fn new(outcome: Outcome) -> Self {
        Self {
            outcome,
            code: None,
            signal: None,
            reason: None,
            files_changed: 0,
            notes: Vec::new(),
            is_complete: true,
        }
    }

    fn because(outcome: Outcome, reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..Self::new(outcome) }
    }
}

/// The last lines that an actor printed.
type LastLines = Arc<Mutex<VecDeque<String>>>;

impl RunContext<'_> {
    /// Runs a node to its end, with its retries. The store has its outcome when this returns. An error
    /// is one of the store or the disk, not of the actor.
    pub(crate) fn run_node(&self, node: NodeIndex) -> Result<()> {
        let spec = self.spec(node);
        let _span = tracing::info_span!("node", name = %spec.name).entered();
        let mut retries = spec.retries;
        loop {
            let started = Instant::now();
            let builds_on = self.builds_on(node)?;
            let actor = Actor::parse(&spec.name)?;
            let id = self.node(node).node.id;
            let changeset = self.changesets.start(&actor, Some(id), &LeaseOptions::default())?;
            self.step(node, NodeState::Running, |record| {
                record.attempts += 1;
                record.changeset = Some(changeset.id());
                record.links = NodeChangesets {
                    accepted_changeset: None,
                    builds_on,
                    base: Some(self.layout.base_name()),
                };
                record.process = None;
                (record.code, record.signal, record.seconds, record.reason) = (None, None, None, None);
                (record.files_changed, record.last_lines, record.notes) = (0, Vec::new(), Vec::new());
            })?;
            let attempt = self.node(node).record.attempts;
            self.emit(Event::NodeStarted {
                node: spec.name.clone(),
                attempt,
                changeset: changeset.id().to_string(),
            });
            let lines = LastLines::default();
            let end = self.attempt(node, attempt, &changeset, retries > 0, &lines);
            let end = end.or_else(|error| self.end_if_plan_cancelled(error));
            let end = end.or_else(|error| self.end_if_disk_full(node, attempt, error))?;
            let is_failure = matches!(end.outcome, Outcome::Failed | Outcome::TimedOut);
            if is_failure && retries > 0 && !self.cancel.is_stopping() {
                retries -= 1;
                tracing::info!(attempt, "retrying a node");
                let reason = end.reason.unwrap_or_default();
                // First: the sandbox may fill the disk.
                self.layout.remove_sandbox(&spec.name, attempt)?;
                changeset.abandon(&format!("attempt {attempt} failed: {reason}"))?;
                self.step(node, NodeState::Queued, |record| record.reason = Some(reason.clone()))?;
                self.emit(Event::NodeRetried { node: spec.name.clone(), attempt, reason });
                continue;
            }
            let is_accepted = end.outcome == Outcome::Succeeded || is_failure && spec.continue_on_error;
            let last_lines: Vec<String> =
                lines.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect();
            // This step ends the node, whatever crashes later; a resumed run closes the changeset.
            let step_to_end = |end: &AttemptEnd| {
                self.step(node, NodeState::Ended(end.outcome), |record| {
                    record.links.accepted_changeset =
                        (is_accepted && end.is_complete).then(|| changeset.id());
                    (record.code, record.signal, record.reason) = (end.code, end.signal, end.reason.clone());
                    (record.files_changed, record.notes) = (end.files_changed, end.notes.clone());
                    record.seconds = Some(started.elapsed().as_secs_f64());
                    record.last_lines =
                        if end.outcome == Outcome::Succeeded { Vec::new() } else { last_lines.clone() };
                })
            };
            step_to_end(&end).or_else(|error| {
                let full = self.end_if_disk_full(node, attempt, error)?;
                step_to_end(&AttemptEnd { notes: [&end.notes[..], &full.notes].concat(), ..end })
            })?;
            self.unrecorded.lock().unwrap_or_else(PoisonError::into_inner).remove(&spec.name);
            // Seal first, so that a listener finds the changeset complete. Emit also if sealing fails
            // because the plan was cancelled.
            let sealed = changeset.seal();
            self.emit_node_ended(node);
            sealed?;
            return Ok(());
        }
    }

    /// Ends the attempt if nothing can be recorded because the plan was cancelled. Returns any other
    /// error.
    fn end_if_plan_cancelled(&self, error: Error) -> Result<AttemptEnd> {
        if !is_superseded(&error) || !is_plan_cancelled(self.store(), self.plan)? {
            return Err(error);
        }
        self.cancel.cancel_gracefully();
        Ok(AttemptEnd { is_complete: false, ..self.interrupted() })
    }

    /// Fails the attempt if the store's disk is full, and removes its sandbox, which may fill the disk:
    /// then the end can be recorded and other nodes continue. Returns any other error.
    fn end_if_disk_full(&self, node: NodeIndex, attempt: u32, error: Error) -> Result<AttemptEnd> {
        let Error::Plan(plan::Error::Store(store::Error::Full { .. })) = error else { return Err(error) };
        self.layout.remove_sandbox(&self.spec(node).name, attempt)?;
        Ok(AttemptEnd {
            notes: vec!["the disk was full, so its sandbox was removed".to_owned()],
            is_complete: false,
            ..AttemptEnd::because(Outcome::Failed, error_chain(&error))
        })
    }

    /// Runs one attempt. A fault of the actor is its end; a fault of the store is an error.
    fn attempt(
        &self,
        node: NodeIndex,
        attempt: u32,
        changeset: &Changeset,
        is_retried: bool,
        lines: &LastLines,
    ) -> Result<AttemptEnd> {
        let spec = self.spec(node);
        let root = self.root_of(node);
        let builds_on = self.node(node).record.links.builds_on.clone();
        let upstream = UpstreamChanges::combine(
            &self.plans,
            self.plan,
            &builds_on,
            self.record.merge,
            &self.roots[root],
        )?;
        let upstream = match upstream {
            Ok(upstream) => Arc::new(upstream),
            Err(paths) => {
                let reason = format!("the nodes that it needs changed the same lines of {}", listed(&paths));
                return Ok(AttemptEnd::because(Outcome::Conflict, reason));
            }
        };
        let prepared = self.prepare(node, attempt, root, &upstream);
        let (tree, temporary, manifest) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => return self.fault(error),
        };
        let manifest = Arc::new(manifest);
        let paths = spec.paths.as_deref().map(Patterns::new).transpose()?;
        let session = self.server.map(|server| {
            server.open_session(AttemptContext {
                store: Arc::clone(self.plans.store()),
                node: spec.name.clone(),
                changeset: changeset.clone(),
                upstream: Arc::clone(&upstream),
                manifest: Arc::clone(&manifest),
                base: self.layout.base_tree(root),
                tree: tree.clone(),
                paths: paths.clone(),
                file_bytes_max: self.record.file_bytes_max,
            })
        });
        self.overlaps.add(&spec.name, root, tree.clone(), &manifest);
        let end = self.run_actor(node, attempt, changeset, &tree, &temporary, session.as_ref(), lines);
        self.overlaps.remove(&spec.name);
        if end.is_ok() {
            let mut unrecorded = self.unrecorded.lock().unwrap_or_else(PoisonError::into_inner);
            unrecorded.insert(spec.name.clone(), tree.clone());
        }
        // Close the session before the scan: every request is recorded or refused by then.
        drop(session);
        self.check_lease()?;
        let mut end = match end {
            Ok(end) => end,
            Err(error) => return self.fault(error),
        };
        if is_retried && matches!(end.outcome, Outcome::Failed | Outcome::TimedOut) {
            return Ok(end);
        }
        let ended = self.collection_end(spec.timeout);
        let limits = ReadLimits { file_bytes_max: self.record.file_bytes_max, ended: &ended };
        let found = match FoundChanges::in_tree(&manifest, &tree, paths.as_ref(), limits) {
            Ok(found) => found,
            // The actor may have removed its sandbox, for example.
            Err(error) => return Ok(AttemptEnd { is_complete: false, ..self.fault(error)? }),
        };
        let recorder = Recorder {
            store: self.store(),
            changeset,
            upstream: &upstream,
            base: &self.layout.base_tree(root),
            tree: &tree,
            limits,
        };
        match recorder.record(&found) {
            Ok(files) => end.files_changed = files,
            Err(error @ Error::Sandbox { .. }) => {
                return Ok(AttemptEnd { is_complete: false, ..self.fault(error)? });
            }
            Err(error) => return Err(error),
        }
        if end.outcome == Outcome::Succeeded && !found.refused.is_empty() {
            end.outcome = Outcome::RefusedPaths;
            end.reason = Some(format!("it changed {}, outside its `paths`", listed(&found.refused)));
        }
        end.notes.extend(found.notes);
        Ok(end)
    }

    /// Makes the sandbox, applies the upstream changes, and takes the manifest.
    fn prepare(
        &self,
        node: NodeIndex,
        attempt: u32,
        root: usize,
        upstream: &UpstreamChanges,
    ) -> Result<(PathBuf, PathBuf, Manifest)> {
        let name = &self.spec(node).name;
        let sandbox = self.layout.make_sandbox(root, name, attempt, self.cancel.stop_flag())?;
        upstream.apply_to(self.store(), &sandbox.tree)?;
        let base = self.base_manifest(root)?;
        let ended = || self.cancel.is_stopping().then_some(ReadEnd::Cancelled);
        let limits = ReadLimits { ended: &ended, ..ReadLimits::NONE };
        let manifest = Manifest::scan_copy(&sandbox.tree, &base, &upstream.changed_paths()?, limits)?;
        // The actor is about to start.
        Ok((sandbox.tree, sandbox.temporary, manifest.rated_now()))
    }

    /// Starts the actor and waits for its end.
    #[expect(clippy::too_many_arguments, reason = "the parts of one prepared attempt")]
    fn run_actor(
        &self,
        node: NodeIndex,
        attempt: u32,
        changeset: &Changeset,
        tree: &Path,
        temporary: &Path,
        session: Option<&SessionGuard<'_>>,
        lines: &LastLines,
    ) -> Result<AttemptEnd> {
        let spec = self.spec(node);
        let Some(folder) = workdir(tree, spec.workdir.as_deref()) else {
            let reason = "`workdir` is not a folder of the root";
            return Ok(AttemptEnd::because(Outcome::Failed, reason));
        };
        let attempt_folder = self.layout.attempt(&spec.name, attempt);
        let stdin = spec.stdin.as_ref().map(|text| write_stdin(&attempt_folder, text)).transpose()?;
        let mut allow_write = vec![tree.to_owned(), temporary.to_owned()];
        allow_write.extend(self.record.settings.allow_write.iter().cloned());
        let tag = changeset.id().to_string();
        let command = ActorCommand {
            argv: argv(&spec.run),
            folder: &folder,
            env: self.environment(node, &tag, temporary, &folder, session),
            stdin: stdin.as_deref(),
            terminal: self.record.terminal,
            output: &self.layout.output(&spec.name, attempt),
            output_bytes_max: OUTPUT_BYTES_MAX,
            confine: self.record.confine,
            allow_write: &allow_write,
            process_tag: &tag,
        };
        let process = match spawn(&command, self.line_callback(&spec.name, lines)) {
            // The line for people is `NODE: command not found`.
            Err(Error::CommandNotFound { program, .. }) if program == *spec.name => {
                return Ok(AttemptEnd::because(Outcome::Failed, "command not found"));
            }
            spawned => spawned?,
        };
        let identity = process.identity().clone();
        let confinement = process.confinement();
        let stored = self.step(node, NodeState::Running, |record| {
            record.process = Some((identity.pid, identity.started_ticks, identity.boot_id.clone()));
        });
        if let Err(error) = stored {
            // A successor would find it by its tag, but there may be none.
            identity.end(Duration::ZERO)?;
            return Err(error);
        }
        let limits = Limits {
            timeout: spec.timeout,
            grace: GRACE,
            cancel: self.cancel.stop_flag(),
            kill: self.cancel.kill_flag(),
        };
        let report = process.wait(&limits)?;
        let mut end = match report.exit {
            Exit::Exited(0) => AttemptEnd { code: Some(0), ..AttemptEnd::new(Outcome::Succeeded) },
            Exit::Exited(code) => {
                let reason = format!("exit code {code}");
                AttemptEnd { code: Some(code), ..AttemptEnd::because(Outcome::Failed, reason) }
            }
            Exit::Signalled(signal) => {
                let reason = format!("killed by signal {signal}");
                AttemptEnd { signal: Some(signal), ..AttemptEnd::because(Outcome::Failed, reason) }
            }
            Exit::TimedOut => {
                let option = if self.checked.is_command() { "--timeout" } else { "timeout" };
                let timeout = spec.timeout.unwrap_or_default();
                AttemptEnd::because(Outcome::TimedOut, format!("{option} {timeout:?}"))
            }
            Exit::Cancelled => self.interrupted(),
        };
        if report.printed_bytes > report.kept_bytes {
            let (printed, kept) = (report.printed_bytes, report.kept_bytes);
            let cause = report.write_error.map(|kind| format!(": {kind}")).unwrap_or_default();
            end.notes.push(format!("kept {kept} of {printed} bytes of output{cause}"));
        }
        if confinement != Confinement::Full {
            end.notes.push("writes outside its sandbox were not fully prevented".to_owned());
        }
        Ok(end)
    }

    /// Turns an error of an actor's files or process into the end of its attempt. Returns others.
    fn fault(&self, error: Error) -> Result<AttemptEnd> {
        match error {
            Error::Plan(_) => Err(error),
            Error::Sandbox { source, .. } if matches!(*source, FileError::Cancelled { .. }) => {
                Ok(self.interrupted())
            }
            Error::Sandbox { ref source, .. } if matches!(**source, FileError::TimedOut { .. }) => {
                Ok(AttemptEnd::because(Outcome::TimedOut, error_chain(&error)))
            }
            // The system's own words add nothing.
            Error::CommandNotFound { .. } => Ok(AttemptEnd::because(Outcome::Failed, error.to_string())),
            error => Ok(AttemptEnd::because(Outcome::Failed, error_chain(&error))),
        }
    }

    /// Decides when collecting the changes of an actor ends: at a second Ctrl-C, some time after the
    /// first, or when it takes longer than the actor may.
    fn collection_end(&self, timeout: Option<Duration>) -> impl Fn() -> Option<ReadEnd> + Sync + '_ {
        let (started, stopped) = (Instant::now(), OnceLock::new());
        let timeout = timeout.map(|timeout| timeout.max(COLLECTION_MIN));
        move || {
            let is_stopped =
                self.cancel.is_stopping() && stopped.get_or_init(Instant::now).elapsed() >= GRACE;
            if is_stopped || self.cancel.kill_flag().load(Ordering::SeqCst) {
                return Some(ReadEnd::Cancelled);
            }
            timeout.is_some_and(|timeout| started.elapsed() >= timeout).then_some(ReadEnd::TimedOut)
        }
    }

    fn interrupted(&self) -> AttemptEnd {
        match self.cancel.is_cancelled() {
            true => AttemptEnd::because(Outcome::Cancelled, "the run was cancelled"),
            false => AttemptEnd::because(Outcome::Stopped, "another node failed"),
        }
    }

    /// Emits lines and keeps the last ones.
    fn line_callback(&self, node: &str, lines: &LastLines) -> impl FnMut(&[u8]) + Send + 'static {
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
                drop(events.send(Event::NodeOutput { node: node.clone(), line: line.to_vec() }));
            }
        }
    }
}

fn argv(command: &NodeCommand) -> Vec<OsString> {
    match command {
        NodeCommand::Shell(line) => ["sh", "-c", line].map(OsString::from).to_vec(),
        NodeCommand::Program(words) => words.iter().map(OsString::from).collect(),
    }
}

/// The folder that an actor starts in, or `None` if it is not a folder inside the tree.
fn workdir(tree: &Path, workdir: Option<&Path>) -> Option<PathBuf> {
    let Some(workdir) = workdir else { return Some(tree.to_owned()) };
    let (tree, folder) = (tree.canonicalize().ok()?, tree.join(workdir).canonicalize().ok()?);
    (folder.is_dir() && folder.starts_with(tree)).then_some(folder)
}

/// Writes the file that an actor reads from standard input.
fn write_stdin(attempt_folder: &Path, text: &str) -> Result<PathBuf> {
    let path = attempt_folder.join("stdin");
    in_sandbox("make", attempt_folder, make_private_folder(attempt_folder))?;
    let mut file = in_sandbox("make", attempt_folder, create_private_file(&path))?;
    file.write_all(text.as_bytes()).map_err(|source| Error::Output { file: path.clone(), source })?;
    Ok(path)
}

/// The first [`NAMED_MAX`] paths, and the number of others.
fn listed(paths: &[String]) -> String {
    let named: Vec<String> = paths.iter().take(NAMED_MAX).map(|path| format!("`{path}`")).collect();
    match paths.len().saturating_sub(NAMED_MAX) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
