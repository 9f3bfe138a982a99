//! The doctor: finds problems and their remedies.
//!
//! Changes nothing unless asked to fix: then it finishes interrupted applies.

mod incomplete;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use filetx::{Disk, Lock, LockMode, OpenMode, RelPath, RenameMode, Storage, Wait};
use plan::{ChangesetId, Host, PlanId, State, plural};
use schemars::JsonSchema;
use serde::Serialize;
use store::Time;

use crate::admin::stores::StoreLocation;
use crate::problem::text;
use crate::{Agents, ContextName, Error, HintFor, Plans, Problem};

/// Result of one check.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// No problem.
    Ok,
    /// Works, but needs attention.
    Warning,
    /// Does not work.
    Problem,
}

/// One check of the doctor.
#[derive(Clone, PartialEq, Eq, JsonSchema, Serialize, Debug)]
pub struct Check {
    /// Name of the subject, such as `store`.
    pub name: &'static str,
    /// Result.
    pub health: Health,
    /// Finding, in one sentence.
    pub message: String,
    /// Suggestions of the frontend, most useful first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hint: Vec<String>,
    /// Known remedy. A frontend adds the hint that names its command.
    #[serde(skip)]
    pub remedy: Option<Remedy>,
}

/// Remedy of a problem that the doctor knows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Remedy {
    /// Verify this context.
    VerifyContext(ContextName),
    /// Merge the preserved file by hand and remove it.
    MergePreserved,
    /// Restore the store from a backup; of SQLite, with its write-ahead log.
    RestoreStore {
        /// The engine is SQLite.
        is_sqlite: bool,
    },
    /// Verify the audit chain.
    VerifyAudit,
    /// Finish interrupted applies.
    FinishApplies,
    /// Decide about the journal in this root.
    DecideJournal(PathBuf),
    /// Seal or abandon this changeset.
    CloseChangeset(ChangesetId),
    /// Remove this plan, which holds no work.
    PrunePlan(PlanId),
    /// Inspect this plan.
    ShowPlan(PlanId),
    /// Take the permissions of others from this folder.
    RestrictPermissions(PathBuf),
    /// Move away the file that stands where the home folder belongs.
    MoveAway,
    /// Keep roots on a file system that can exchange two files.
    UseOtherFileSystem,
}

impl Check {
    fn ok(name: &'static str, message: impl Into<String>) -> Check {
        let (message, hint) = (message.into(), Vec::new());
        Check { name, health: Health::Ok, message, hint, remedy: None }
    }

    fn warning(name: &'static str, message: impl Into<String>, remedy: Remedy) -> Check {
        Check { health: Health::Warning, remedy: Some(remedy), ..Check::ok(name, message) }
    }

    fn problem(name: &'static str, message: impl Into<String>, remedy: Remedy) -> Check {
        Check { health: Health::Problem, remedy: Some(remedy), ..Check::ok(name, message) }
    }

    fn failed(name: &'static str, error: &Error, hint: Option<HintFor>) -> Check {
        let Problem { message, causes, hint, .. } = Problem::hinted(error, hint);
        let message = [vec![message], causes].concat().join(": ");
        Check { health: Health::Problem, hint, ..Check::ok(name, message) }
    }
}

impl Agents {
    /// Checks everything; with `fix`, finishes interrupted applies.
    pub fn doctor(&self, fix: bool) -> Vec<Check> {
        let home = match self.home() {
            Ok(home) => home,
            Err(error) => return vec![Check::failed("home", &error, self.hint())],
        };
        let mut checks = vec![home_check(home, self.hint())];
        if !home.is_dir() {
            return checks;
        }
        checks.extend(file_system(home, self.hint()));
        let failed = |error| vec![Check::failed("contexts", &error, self.hint())];
        checks.extend(self.check_contexts().unwrap_or_else(failed));
        let store = match self.store_location() {
            Ok(store) => store,
            Err(error) => {
                checks.push(Check::failed("store", &error, self.hint()));
                return checks;
            }
        };
        match self.known_plans() {
            Ok(Some(plans)) => checks.extend(plans.doctor(fix, &store)),
            Ok(None) => {
                checks.push(Check::ok("store", format!("none yet; the first plan makes `{store}`")));
                checks.extend(incomplete::check(
                    &self.project_root(),
                    &host(self),
                    &crate::journals::no_store,
                    self.hint(),
                ));
            }
            Err(error) => {
                checks.push(Check::failed("store", &error, self.hint()));
                let reason = filetx::error_chain(&error);
                let vouch =
                    |_: &filetx::Claim<'_>| filetx::Verdict::Unavailable { source: reason.clone().into() };
                checks.extend(incomplete::check(&self.project_root(), &host(self), &vouch, self.hint()));
            }
        }
        checks
    }
}

impl Agents {
    /// Verifies all contexts.
    fn check_contexts(&self) -> Result<Vec<Check>, Error> {
        let contexts = self.contexts()?.inner;
        let listed = contexts.list()?;
        let mut checks = Vec::new();
        for context::ContextEntry { name, metadata } in &listed {
            let verified = match metadata {
                Ok(_) => contexts.verify(name).map(|report| context_checks(&report)),
                Err(error) => Ok(vec![unreadable(name, error)]),
            };
            checks.extend(match verified {
                Ok(checks) => checks,
                // Another process removed it.
                Err(context::Error::NotFound { .. }) => Vec::new(),
                Err(error) => vec![unreadable(name, &error)],
            });
        }
        if checks.is_empty() && !listed.is_empty() {
            checks.push(Check::ok("contexts", format!("{}: sound", plural(listed.len(), "context"))));
        }
        Ok(checks)
    }

    /// Folder of the project, the default root of plans.
    fn project_root(&self) -> BTreeSet<PathBuf> {
        self.project().map(Path::to_owned).into_iter().collect()
    }
}

impl Plans {
    fn doctor(&self, fix: bool, store: &StoreLocation) -> Vec<Check> {
        let or_failed = |name, checks: Result<Vec<Check>, Error>| {
            checks.unwrap_or_else(|error| vec![Check::failed(name, &error, self.agents.hint())])
        };
        let mut checks = or_failed("store", self.check_store(store));
        checks.extend(or_failed("audit", self.check_audit()));
        checks.extend(or_failed("applies", self.check_applies(fix)));
        checks.extend(or_failed("leases", self.check_leases()));
        checks
    }

    fn check_store(&self, location: &StoreLocation) -> Result<Vec<Check>, Error> {
        let mut problems = self.inner.store().check().map_err(plan::Error::from)?;
        problems.extend(store::scrub(self.inner.store().as_ref()).map_err(plan::Error::from)?);
        if problems.is_empty() {
            return Ok(vec![Check::ok("store", format!("`{location}` is sound"))]);
        }
        let is_sqlite = matches!(location, StoreLocation::File(_));
        let check =
            |problem| Check::problem("store", format!("{problem}"), Remedy::RestoreStore { is_sqlite });
        Ok(problems.iter().map(check).collect())
    }

    fn check_audit(&self) -> Result<Vec<Check>, Error> {
        let verdict = self.verify(&[])?;
        if verdict.findings.is_empty() {
            let records = plural(verdict.records as usize, "record");
            let chains = plural(verdict.chains as usize, "chain");
            return Ok(vec![Check::ok("audit", format!("{records} in {chains}: sound"))]);
        }
        let chains = plural(verdict.chains as usize, "chain");
        let text = format!("{} of {chains} changed", verdict.findings.len());
        Ok(vec![Check::problem("audit", text, Remedy::VerifyAudit)])
    }

    fn check_applies(&self, fix: bool) -> Result<Vec<Check>, Error> {
        let host = host(&self.agents);
        let mut checks = Vec::new();
        let mut others = self.agents.project_root();
        let plans = self.inner.list(&[], None)?;
        let (applying, settled): (Vec<_>, Vec<_>) =
            plans.into_iter().partition(|plan| plan.state == State::Applying || plan.has_pending_undo());
        others.extend(settled.iter().flat_map(|plan| plan.roots.iter().map(plan::system_path)));
        for undo in settled.iter().filter(|plan| plan.is_unfinished_undo()) {
            if undo.state != State::Cancelled && self.inner.live_lease(undo.id)?.is_none() {
                let text = format!("undo {} ended before it changed anything", undo.id);
                checks.push(Check::warning("applies", text, Remedy::PrunePlan(undo.id)));
            }
        }
        for plan in applying {
            let id = plan.id;
            let act = if plan.state == State::Applying { "applied" } else { "undone" };
            if plan.state == State::Applying && self.inner.is_local_apply(&host, &plan)? {
                for root in plan.roots.iter().map(plan::system_path) {
                    others.remove(&root);
                }
            }
            if !fix {
                let text = format!("plan {id} is being {act}, or that was cut off");
                checks.push(Check::warning("applies", text, Remedy::FinishApplies));
                continue;
            }
            match self.inner.recover_plan(&host, id, &self.who) {
                Ok(Some(recovery)) => checks.push(Check::ok("applies", recovery.to_string())),
                Ok(None) => {}
                Err(error) => {
                    let error = Error::from(error);
                    checks.push(match error.kind() {
                        crate::Kind::Busy => Check::ok("applies", format!("plan {id} is being {act}")),
                        _ => Check::failed("applies", &error, self.agents.hint()),
                    });
                }
            }
        }
        let vouch = |claim: &filetx::Claim<'_>| self.inner.vouch(&host, claim);
        checks.extend(incomplete::check(&others, &host, &vouch, self.agents.hint()));
        if checks.is_empty() {
            checks.push(Check::ok("applies", "none was cut off"));
        }
        Ok(checks)
    }

    fn check_leases(&self) -> Result<Vec<Check>, Error> {
        let mut checks = Vec::new();
        let now = Time::now();
        for plan in self.inner.list(&[State::Running], None)? {
            let leases = self.inner.store().leases(plan.id).map_err(plan::Error::from)?;
            for lease in leases.iter().filter(|lease| lease.expires_at < now) {
                let (resource, owner) = (lease.resource, &lease.owner);
                let text = format!("{resource} was held by {owner}, until {}", lease.expires_at);
                let remedy = match resource {
                    store::Resource::Changeset(id) => Remedy::CloseChangeset(id),
                    _ => Remedy::ShowPlan(plan.id),
                };
                checks.push(Check::warning("leases", text, remedy));
            }
        }
        if checks.is_empty() {
            checks.push(Check::ok("leases", "none is stale"));
        }
        Ok(checks)
    }
}

fn unreadable(name: &ContextName, error: &context::Error) -> Check {
    let message = format!("`{name}` cannot be read: {}", filetx::error_chain(error));
    Check::problem("contexts", message, Remedy::VerifyContext(name.clone()))
}

/// Returns the problems and notices of one context. Names the first problem; `context verify` lists
/// all.
fn context_checks(report: &context::VerifyReport) -> Vec<Check> {
    let name = &report.name;
    let verify = || Remedy::VerifyContext(name.clone());
    let problem = report.problems.first().map(|first| {
        let more = match report.problems.len() {
            1 => String::new(),
            count => format!(" (1 of {count} problems)"),
        };
        let line = first.line.map(|line| format!(", line {line}")).unwrap_or_default();
        let message = format!("`{name}`: `{}`{line}: {}{more}", text(&first.file), first.message);
        Check::problem("contexts", message, verify())
    });
    let notices = report.notices.iter().map(|notice| {
        let remedy = match notice {
            context::Notice::Preserved { .. } => Remedy::MergePreserved,
            context::Notice::TornTail { .. } => verify(),
        };
        Check::warning("contexts", notice.to_string(), remedy)
    });
    problem.into_iter().chain(notices).collect()
}

/// Does not wait for an apply that another process runs.
fn host(agents: &Agents) -> Host {
    Host::local(Wait { timeout: std::time::Duration::ZERO, ..agents.wait() })
}

fn home_check(home: &Path, hint: Option<HintFor>) -> Check {
    let shown = text(home);
    let found = match std::fs::metadata(home) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Check::ok("home", format!("`{shown}` is not there yet; the first write makes it"));
        }
        Err(source) => {
            let error = Error::File { action: "look at", path: home.to_owned(), source };
            return Check::failed("home", &error, hint);
        }
        Ok(found) => found,
    };
    if !found.is_dir() {
        return Check::problem("home", format!("`{shown}` is not a folder"), Remedy::MoveAway);
    }
    if is_open_to_others(&found) {
        let remedy = Remedy::RestrictPermissions(home.to_owned());
        return Check::warning("home", format!("others may read `{shown}`"), remedy);
    }
    Check::ok("home", format!("`{shown}` is yours alone"))
}

#[cfg(unix)]
fn is_open_to_others(found: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    found.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn is_open_to_others(_: &std::fs::Metadata) -> bool {
    false
}

/// Tests what the file system of the home folder can do, with temporary files.
fn file_system(home: &Path, hint: Option<HintFor>) -> Vec<Check> {
    let tried = match try_files(home) {
        Err(source) => {
            let error = Error::File { action: "write to", path: home.to_owned(), source };
            return vec![Check::failed("files", &error, hint)];
        }
        Ok(tried) => tried,
    };
    let exchange = match tried.exchange {
        true => Check::ok("exchange", "two files can change places at once"),
        false => Check::warning(
            "exchange",
            "this file system cannot exchange two files at once; an apply looks at a file and then renames over it",
            Remedy::UseOtherFileSystem,
        ),
    };
    let reflink = match tried.reflink {
        true => Check::ok("reflink", "copies of files share their content"),
        false => Check::ok("reflink", "copies of files take room of their own here; nothing needs more"),
    };
    vec![Check::ok("files", "can be written"), locks(home, hint), exchange, reflink]
}

/// Lock file for the test of locks.
const TRIED_LOCK: &str = ".doctor.lock";

fn locks(home: &Path, hint: Option<HintFor>) -> Check {
    let wait = Wait { timeout: std::time::Duration::ZERO, ..Wait::default() };
    match Lock::open(&home.join(TRIED_LOCK)).and_then(|lock| lock.acquire(LockMode::Exclusive, &wait)) {
        Ok(_) => Check::ok("locks", "work"),
        Err(filetx::Error::Busy { .. }) => Check::ok("locks", "work; another process holds the test lock"),
        Err(error) => Check::failed("locks", &error.into(), hint),
    }
}

/// Abilities of a file system.
struct Tried {
    exchange: bool,
    reflink: bool,
}

/// Creates two files, exchanges them, shares their content, and removes them.
fn try_files(home: &Path) -> std::io::Result<Tried> {
    let disk = Disk::open(home)?;
    let name = |half: &str| format!(".doctor-{}-{half}", std::process::id());
    let path = |half: &str| RelPath::root().join(name(half));
    let made = ["a", "b"].map(|half| {
        disk.open(&path(half), OpenMode::Create { mode: 0o600 })
            .and_then(|file| file.write_at(b"doctor\n", 0))
    });
    let exchange = disk.rename(&path("a"), &path("b"), RenameMode::Exchange).is_ok();
    let reflink = can_share(&home.join(name("a")), &home.join(name("b")));
    let removed = ["a", "b"].map(|half| disk.remove_file(&path(half)));
    made.into_iter().chain(removed).collect::<std::io::Result<()>>()?;
    Ok(Tried { exchange, reflink })
}

#[cfg(target_os = "linux")]
fn can_share(from: &Path, to: &Path) -> bool {
    use rustix::fs::{Mode, OFlags, ioctl_ficlone, open};
    let open = |path: &Path, how| open(path, how | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty());
    match (open(from, OFlags::RDONLY), open(to, OFlags::RDWR)) {
        (Ok(from), Ok(to)) => ioctl_ficlone(&to, &from).is_ok(),
        _ => false,
    }
}

#[cfg(not(target_os = "linux"))]
fn can_share(_: &Path, _: &Path) -> bool {
    false
}
