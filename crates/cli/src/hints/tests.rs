//! Every error has a kind and a code that scripts rely on: this list may grow, and nothing in it may change. And it has a hint where a
//! person can do something about it.

use std::io;
use std::panic::Location;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use api::{Error, Kind, Problem};
use config::{Error as C, Key, Origin, Scope, SyntaxError};
use filetx::{Error as F, Failure, FailureOutcome, Step};

fn check(error: impl Into<Error>, kind: Kind, code: &str) {
    let problem = Problem::of(&error.into());
    assert_eq!((problem.kind, problem.code.as_str()), (kind, code), "{}", problem.message);
}

/// The same, for those that a person can do something about.
fn check_hinted(error: impl Into<Error>, kind: Kind, code: &str) {
    let error = error.into();
    let hint = super::hint(&error).unwrap_or_else(|| panic!("{error}"));
    assert!(!hint.is_empty() && !hint.ends_with('.'), "{hint}");
    check(error, kind, code);
}

/// Checks what the hint says.
fn says(error: impl Into<Error>, expected: &str) {
    let hint = super::hint(&error.into()).unwrap_or_default();
    assert!(hint.contains(expected), "{hint}");
}

fn key() -> Key {
    Key::parse("x.a").unwrap()
}

fn path() -> PathBuf {
    "f".into()
}

fn in_file() -> Option<Box<Origin>> {
    Some(Box::new(Origin::File { scope: Scope::Global, file: path(), line: 1 }))
}

#[test]
fn keys_and_values() {
    let (expected, found) = (|| "e".to_owned(), || "f".to_owned());
    let unknown = |origin| C::UnknownKey { key: key(), suggestion: None, origin };
    let wrong = |origin| C::WrongType { key: key(), expected: expected(), actual: found(), origin };
    let range = |origin| C::OutOfRange { key: key(), expected: expected(), actual: found(), origin };
    let filled = |origin| C::Interpolation { key: key(), variable: found(), reason: "", origin };
    let secret = |origin| C::SecretVariable { key: key(), variable: found(), origin };
    let unlisted = |origin| C::VariableNotListed { key: key(), variable: found(), listed: vec![], origin };
    // A wrong value is the caller's mistake, unless it stands in a file.
    for (origin, kind) in
        [(None, Kind::Usage), (Some(Box::new(Origin::Flag)), Kind::Usage), (in_file(), Kind::Error)]
    {
        check_hinted(unknown(origin.clone()), kind, "unknown-key");
        check_hinted(wrong(origin.clone()), kind, "wrong-type");
        check_hinted(range(origin.clone()), kind, "out-of-range");
        check_hinted(filled(origin.clone()), kind, "interpolation");
        check_hinted(secret(origin.clone()), kind, "secret-variable");
        check_hinted(unlisted(origin), kind, "variable-not-listed");
    }
    check_hinted(Key::parse("").unwrap_err(), Kind::Usage, "invalid-key");
    let misplaced = C::NotInScope { key: key(), scope: Scope::Local, allowed: &[Scope::Global] };
    check_hinted(misplaced, Kind::Usage, "not-in-scope");
    check_hinted(C::IsTable { key: key() }, Kind::Usage, "is-table");
    check_hinted(C::InvalidAssignment { argument: found() }, Kind::Usage, "invalid-assignment");
    check_hinted(C::VariableNotUtf8 { variable: found() }, Kind::Usage, "variable-not-utf8");
    for actual in ["a value", "a table"] {
        let both = C::TableAndValue { key: key(), other: key(), actual, file: path(), line: 1, scope: None };
        check_hinted(both, Kind::Conflict, "table-and-value");
    }
    check_hinted(
        C::CannotInsertKey { key: key(), file: path(), scope: None },
        Kind::Error,
        "cannot-insert-key",
    );
    check_hinted(Error::NotSet { key: key() }, Kind::NotFound, "not-set");
    check_hinted(Error::SecretArgument { key: key() }, Kind::Usage, "secret-argument");
    let flag = Error::SecretFlag { key: found(), variable: found() };
    check_hinted(flag, Kind::Usage, "secret-argument");
}

#[test]
fn files_and_folders() {
    let unparsable = SyntaxError {
        file: path(),
        offset: 3,
        line: 1,
        column: 4,
        source_line: "a =".to_owned(),
        message: String::new(),
        scope: None,
    };
    let parse = || C::Parse(Box::new(unparsable.clone()));
    check_hinted(parse(), Kind::Error, "unparsable");
    let kept = |source| C::EditRejected { file: path(), saved_at: path(), source: Box::new(source) };
    check_hinted(kept(parse()), Kind::Error, "unparsable");
    assert_eq!(Problem::of(&kept(parse()).into()).location.unwrap().caret, 3);
    check_hinted(kept(C::IsTable { key: key() }), Kind::Error, "is-table");
    check_hinted(kept(C::Conflict { file: path() }), Kind::Conflict, "conflict");
    assert!(Problem::of(&kept(C::Conflict { file: path() }).into()).location.is_none());
    check_hinted(C::NotUtf8 { file: path(), offset: 0, line: 1 }, Kind::Error, "not-utf8");
    check_hinted(C::TooLarge { file: path(), limit: 1 }, Kind::Error, "too-large");
    check_hinted(C::EscapesProject { file: path(), target: path() }, Kind::Error, "escapes-project");
    check_hinted(C::NotAFile { file: path() }, Kind::Error, "not-a-file");
    check_hinted(C::ReadOnly { path: path() }, Kind::Error, "read-only");
    check_hinted(C::NoHome { parent: path() }, Kind::NotFound, "no-home");
    check_hinted(C::NoProject { scope: Scope::Local }, Kind::NotFound, "no-project");
    check_hinted(Error::NoSuchProject { project: path() }, Kind::NotFound, "no-project");
    check_hinted(Error::NoHome, Kind::NotFound, "no-home");
    check_hinted(Error::BadHome { home: path() }, Kind::Usage, "bad-home");
    check_hinted(Error::HomeOfOther { home: path(), owner: 1 }, Kind::Error, "home-of-other");
    check_hinted(Error::HomeNotPrivate { home: path(), mode: 0o777 }, Kind::Error, "home-not-private");
    says(Error::HomeNotPrivate { home: path(), mode: 0o777 }, "chmod go-w f");
    check_hinted(Error::HomeAsProject { project: path() }, Kind::Usage, "home-as-project");
    check_hinted(Error::NoCurrentFolder { path: path() }, Kind::NotFound, "no-current-folder");
    let source = Arc::new(notify_error());
    check_hinted(C::Watch { source }, Kind::Error, "watch");
}

fn notify_error() -> notify::Error {
    notify::Error::generic("no more")
}

#[test]
fn locks_and_disks() {
    let busy = || F::Busy { lock: path(), holder: None, waited: Duration::ZERO };
    let io = |kind: io::ErrorKind| F::Io { step: Step::ALL[0], path: path(), source: kind.into() };
    check_hinted(C::Busy { file: path(), source: Arc::new(busy()) }, Kind::Busy, "busy");
    let held = || F::AlreadyHeld { lock: path(), at: Location::caller() };
    check(C::Nested { file: path(), source: Arc::new(held()) }, Kind::Bug, "already-held");
    let prepare = |source| C::Prepare { file: path(), source: Arc::new(source) };
    check_hinted(prepare(io(io::ErrorKind::PermissionDenied)), Kind::Error, "permission-denied");
    check_hinted(prepare(io(io::ErrorKind::ReadOnlyFilesystem)), Kind::Error, "read-only");
    check_hinted(prepare(F::LockFileReplaced { lock: path() }), Kind::Error, "lock-file-replaced");
    let write = |outcome, error| C::Write { file: path(), source: Arc::new(Failure { outcome, error }) };
    check_hinted(write(FailureOutcome::Aborted, io(io::ErrorKind::StorageFull)), Kind::Error, "disk-full");
    let broken = || io(io::ErrorKind::Other);
    check(write(FailureOutcome::Aborted, broken()), Kind::Error, "io");
    check_hinted(write(FailureOutcome::Unknown, broken()), Kind::OutcomeUnknown, "outcome-unknown");
    let folder = C::Folder { folder: path(), source: Arc::new(io::ErrorKind::PermissionDenied.into()) };
    check_hinted(folder, Kind::Error, "permission-denied");
}

#[test]
fn file_transactions() {
    let io = F::Io { step: Step::ALL[0], path: path(), source: io::ErrorKind::Other.into() };
    check(io, Kind::Error, "io");
    check(F::ReservedPath { path: path() }, Kind::Usage, "reserved-path");
    check(
        F::ModifiedExternally { path: path(), reason: String::new() },
        Kind::Conflict,
        "modified-externally",
    );
    check(F::NotEmpty { path: path() }, Kind::Conflict, "not-empty");
    check_hinted(F::NetworkFileSystem { path: path(), kind: "nfs" }, Kind::Error, "network-file-system");
    check(F::CorruptJournal { path: path(), reason: "" }, Kind::Error, "corrupt-journal");
    let journal = PathBuf::from("app/.cleveragents/.txn/journal");
    check_hinted(F::CorruptJournal { path: journal, reason: "" }, Kind::Error, "corrupt-journal");
    check_hinted(
        F::UnsupportedVersion { path: path(), found: 2, known: 1 },
        Kind::Error,
        "unsupported-journal-version",
    );
    check_hinted(F::OtherUser { path: path(), owner: 1 }, Kind::Error, "other-user");
    for obstacle in [
        filetx::Obstacle::Immutable,
        filetx::Obstacle::AppendOnly,
        filetx::Obstacle::FolderAppendOnly,
        filetx::Obstacle::StickyFolder { owner: 0 },
        filetx::Obstacle::OtherOwner { owner: 0 },
    ] {
        check_hinted(F::CannotReplace { path: path(), obstacle }, Kind::Error, "cannot-replace");
    }
    check_hinted(
        F::UntrustedJournal { path: path(), reason: String::new() },
        Kind::Conflict,
        "untrusted-journal",
    );
    check_hinted(F::CannotVouch { path: path(), source: "".into() }, Kind::Busy, "cannot-vouch");
    check(F::RootUnavailable { path: path(), reason: "" }, Kind::Error, "root-unavailable");
    check(F::Superseded, Kind::Error, "superseded");
    let busy = F::Busy { lock: path(), holder: None, waited: Duration::ZERO };
    check_hinted(Failure { outcome: FailureOutcome::Aborted, error: busy }, Kind::Busy, "busy");
}

#[test]
fn plans() {
    use plan::Error as P;
    let id = plan::PlanId::new;
    let text = || "t".to_owned();
    let files = || Box::new(F::Busy { lock: path(), holder: None, waited: Duration::ZERO });
    check_hinted(P::Files { source: files() }, Kind::Busy, "busy");
    check_hinted(P::Root { root: path(), path: text(), source: files() }, Kind::Busy, "busy");
    check_hinted(P::BadRoot { root: path(), reason: text() }, Kind::NotFound, "bad-root");
    check_hinted(P::PathNotFound { path: text(), action: "delete" }, Kind::NotFound, "path-not-found");
    check_hinted(P::NoConflict { plan: id(), path: text() }, Kind::NotFound, "no-conflict");
    check_hinted(P::NothingToDo { plan: id(), action: "apply" }, Kind::NotFound, "nothing-to-do");
    check_hinted(
        P::ForeignRoot { plan: id(), root: text(), roots: vec![text()] },
        Kind::Usage,
        "foreign-root",
    );
    check_hinted(P::BadPath { path: text(), reason: text() }, Kind::Usage, "bad-path");
    check(P::UnknownState { text: text() }, Kind::Usage, "unknown-state");
    check_hinted(P::BadPattern { pattern: text(), reason: text() }, Kind::Usage, "bad-pattern");
    check_hinted(P::PathExists { path: text() }, Kind::Conflict, "path-exists");
    check_hinted(P::BaseMismatch { path: text() }, Kind::Conflict, "base-mismatch");
    let (state, to) = (plan::State::Cancelled, plan::State::Applying);
    check_hinted(P::IllegalStep { plan: id(), state, to, allowed: &[] }, Kind::Conflict, "illegal-step");
    check_hinted(P::Conflicts { plan: id(), conflicts: Vec::new() }, Kind::Conflict, "conflicts");
    check_hinted(P::Unapplied { plan: id(), state, changesets: 1 }, Kind::Conflict, "unapplied");
    check_hinted(P::HasDependents { plan: id(), by: id() }, Kind::Conflict, "has-dependents");
    check_hinted(P::BeingUndone { plan: id(), by: id() }, Kind::Conflict, "being-undone");
    check_hinted(P::UnfinishedUndo { plan: id(), of: id() }, Kind::Conflict, "unfinished-undo");
    let one = || [plan::Actor::parse("one").unwrap()].into();
    let entangled = P::DependentChanges { plan: id(), path: text(), actors: one(), others: one() };
    check_hinted(entangled, Kind::Conflict, "dependent-changes");
    let machine = plan::Machine { host: text(), id: text() };
    check_hinted(P::OtherMachine { plan: id(), machine }, Kind::Conflict, "other-machine");
    check_hinted(P::Contended { plan: id() }, Kind::Busy, "contended");
    check_hinted(
        P::ApplyIncomplete { plan: id(), source: files() },
        Kind::OutcomeUnknown,
        "apply-incomplete",
    );
    check_hinted(P::OutcomeUnknown { path: text() }, Kind::OutcomeUnknown, "outcome-unknown");
    check_hinted(P::OutsideScope { path: text() }, Kind::Bug, "outside-scope");
    check(P::ContentTooLarge { bytes: 2, limit: 1 }, Kind::Error, "content-too-large");
    check_hinted(P::Tampered { plan: id(), resource: None }, Kind::Error, "tampered");
    for nearest in [None, Some(text())] {
        check_hinted(Error::UnknownPlan { name: text(), nearest }, Kind::NotFound, "not-found");
    }
    check_hinted(Error::AmbiguousRoot { plan: id(), path: text() }, Kind::Usage, "ambiguous-root");
    check_hinted(Error::NoPlans, Kind::NotFound, "no-plans");
    let actor = plan::Actor::parse("ana").unwrap();
    for actors in [Vec::new(), vec![actor.clone()]] {
        let error = Error::NoSuchActor { plan: id(), actor: actor.clone(), actors };
        check_hinted(error, Kind::NotFound, "no-such-actor");
    }
    check_hinted(Error::NoRoot, Kind::NotFound, "no-root");
    check_hinted(Error::StoreUrl { scheme: text() }, Kind::Usage, "store-url");
    check_hinted(Error::PasswordArgument { flag: "--to" }, Kind::Usage, "secret-argument");
    check_hinted(Error::Patch { path: text(), reason: text() }, Kind::Conflict, "patch");
    for done in ["started", "sealed", "abandoned"] {
        let changeset = plan::ChangesetId::new();
        let (missing, kind, source) = ("it cannot be shown", Kind::Error, "no space".into());
        let error = Error::AfterChange { changeset, done, missing, kind, source };
        check_hinted(error, Kind::Error, "changeset-incomplete");
    }
    check_hinted(Error::BadCheckpoint { path: path(), line: 1 }, Kind::Error, "bad-checkpoint");
    let given = |kind: io::ErrorKind| Error::File { action: "read", path: path(), source: kind.into() };
    check(given(io::ErrorKind::NotFound), Kind::NotFound, "no-file");
    check(given(io::ErrorKind::PermissionDenied), Kind::Error, "permission-denied");
}

#[test]
fn runs() {
    use executor::Error as R;
    let text = || "t".to_owned();
    check_hinted(R::BadRequest { reason: text() }, Kind::Usage, "bad-request");
    check_hinted(R::TooManyRequests { limit: 1 }, Kind::Busy, "too-many-requests");
    check_hinted(R::InvalidToken, Kind::Conflict, "invalid-token");
    check_hinted(
        R::ForeignChangeset { node: text(), changeset: text() },
        Kind::Conflict,
        "foreign-changeset",
    );
    check_hinted(R::ForeignRoot { node: text(), root: path() }, Kind::Usage, "foreign-root");
    check_hinted(R::RefusedPaths { node: text(), path: text() }, Kind::Error, "refused-paths");
    let broken = || io::ErrorKind::BrokenPipe.into();
    check_hinted(Error::RunGone { socket: path(), source: broken() }, Kind::NotFound, "run-gone");
    check_hinted(Error::RunVersion { socket: path(), version: 1, expected: 2 }, Kind::Usage, "run-version");
    check_hinted(Error::NoReply { socket: path(), source: broken() }, Kind::OutcomeUnknown, "no-reply");
    check_hinted(Error::InSandbox { command: "run" }, Kind::Usage, "in-sandbox");
    check_hinted(Error::SecretInSandbox { key: text() }, Kind::Usage, "secret-in-sandbox");
    let problem = Problem::hinted(&R::InvalidToken.into(), Some(super::hints));
    let refused = Error::Refused { problem: Box::new(problem.clone()) };
    assert_eq!((refused.to_string(), Problem::of(&refused)), (problem.message.clone(), problem));
    check_hinted(refused, Kind::Conflict, "invalid-token");
}

#[test]
fn stores() {
    use store::Error as S;
    let check = |error: S, kind, code| check(plan::Error::from(error), kind, code);
    let plan = plan::PlanId::new();
    let changeset = plan::ChangesetId::new();
    let resource = store::Resource::Changeset(changeset);
    let cause = || Arc::new(io::Error::other("no"));
    check(S::InvalidText { what: "name", text: "".into(), reason: "" }, Kind::Usage, "invalid-text");
    check(S::Ambiguous { what: "plan", prefix: "".into(), candidates: Vec::new() }, Kind::Usage, "ambiguous");
    check(S::NotFound { what: "changeset", name: "".into() }, Kind::NotFound, "not-found");
    check(S::Closed { changeset, status: plan::Status::Sealed }, Kind::Conflict, "changeset-closed");
    check(S::ChangesetsOpen { plan, count: 1, first: changeset }, Kind::Conflict, "changesets-open");
    let owner = store::Owner::parse("o").unwrap();
    check(S::Held { resource, owner, expires_at: store::Time::now() }, Kind::Busy, "lease-held");
    check(S::Busy { path: path(), action: "d", waited: Duration::ZERO }, Kind::Busy, "store-busy");
    check(S::Full { path: path(), action: "d", source: cause() }, Kind::Error, "store-full");
    check(S::Unwritable { path: path(), action: "d", source: cause() }, Kind::Error, "store-unwritable");
    let engine = |outcome| S::Engine { path: path(), action: "d", outcome, source: cause() };
    check(engine(store::Outcome::Unknown), Kind::OutcomeUnknown, "store-engine");
    check(engine(store::Outcome::Aborted), Kind::Error, "store-engine");
    check(S::Url { reason: "".into() }, Kind::Usage, "store-url");
    check(S::Unreachable { path: path(), source: cause() }, Kind::Error, "store-unreachable");
    check(S::Denied { path: path(), source: cause() }, Kind::Error, "store-denied");
    check(S::ReadOnly { path: path(), source: cause() }, Kind::Error, "store-read-only");
    let stores = ("".to_owned(), "".to_owned());
    check(S::NotACopy { from: stores.0, to: stores.1, reason: "" }, Kind::Conflict, "not-a-copy");
}

#[test]
fn an_error_about_many_paths_lists_some() {
    let content = |path: &str| plan::Drift {
        key: plan::PathKey {
            root: plan::PathBytes::parse("/r").unwrap(),
            path: plan::PathBytes::parse(path).unwrap(),
        },
        expected: None,
        actual: None,
        description: "a file".to_owned(),
    };
    let drifts = (0..25).map(|n| content(&format!("f{n}"))).collect();
    let problem =
        Problem::of(&plan::Error::Drifted { plan: plan::PlanId::new(), drifts, is_merging: false }.into());
    assert_eq!(problem.causes.len(), 21);
    assert_eq!((&*problem.causes[0], &*problem.causes[20]), ("`f0` is a file", "and 5 more"));
}

#[test]
fn hints_of_configuration() {
    let key = || Key::parse("core.color").expect("it is a key");
    let file = || PathBuf::from("f.toml");
    says(C::IsTable { key: key() }, "agents config list core.color");
    says(C::NotAFile { file: file() }, "agents config path");
    says(C::TooLarge { file: file(), limit: 1 }, "agents config path");
    says(C::VariableNotUtf8 { variable: "A".to_owned() }, "unset A");
    says(C::InvalidAssignment { argument: "a".to_owned() }, "agents config set KEY VALUE");
    says(
        C::Interpolation { key: key(), variable: "A".to_owned(), reason: "", origin: None },
        "set the variable, or a default: agents config set core.color '${A:default}'",
    );
    let (variable, listed) = ("A".to_owned(), vec!["B".to_owned()]);
    says(
        C::VariableNotListed { key: key(), variable, listed, origin: None },
        "agents config set core.interpolate B,A --scope global",
    );
    says(C::NoProject { scope: Scope::Local }, "add --project DIR or --scope global");
    says(
        C::EscapesProject { file: file(), target: file() },
        "replace the symlink with a file; only the global file may be a symlink to another folder",
    );
}

#[test]
fn hints_for_errors_of_the_system() {
    let refused = |kind: io::ErrorKind| C::Read { file: path(), source: Arc::new(kind.into()) };
    says(refused(io::ErrorKind::PermissionDenied), "ls -ld f");
    says(refused(io::ErrorKind::ReadOnlyFilesystem), "--home");
    says(refused(io::ErrorKind::StorageFull), "df -h f");
    assert_eq!(super::hint(&refused(io::ErrorKind::Other).into()), None);
    says(C::ReadOnly { path: path() }, "chmod");
    says(C::NoHome { parent: path() }, "--home");
    let busy = || F::Busy { lock: path(), holder: None, waited: Duration::ZERO };
    says(C::Busy { file: path(), source: Arc::new(busy()) }, "--lock-timeout");
    says(C::SecretVariable { key: key(), variable: "A".to_owned(), origin: None }, "--scope global");
    let kept = C::EditRejected {
        file: path(),
        saved_at: "f.edited-2".into(),
        source: Box::new(C::IsTable { key: key() }),
    };
    says(kept, "f.edited-2");
}

#[test]
fn hints_of_contexts() {
    use context::{Damage, Error as E, Name, Revision};
    let name = || Name::new("chat").unwrap();
    let file = |file: &str| PathBuf::from("contexts/chat").join(file);
    let stale = E::Stale { name: name(), expected: Revision(2), current: Revision(3) };
    says(stale, "agents context show chat --last 1");
    says(E::NotFound { name: name() }, "agents context list");
    let text = String::new;
    let edited = E::ModifiedExternally { file: file("messages.jsonl"), recorded: text(), actual: text() };
    says(edited, "agents context verify chat --repair");
    let damaged = |name: &str, line| E::Damaged {
        file: file(name),
        line,
        column: None,
        source: Box::new(Damage::TooLarge { limit: 1 }),
    };
    says(damaged("messages.jsonl", Some(2)), "agents context verify chat --repair");
    says(damaged("metadata.json", None), "agents context remove chat");
    says(damaged("state.json", None), "by hand");
    says(E::AmbiguousLayout { folder: path() }, "move one of the two");
    let id = |text: &str| text.parse::<context::MessageId>().unwrap();
    let ids = ("01K9ZZZZZZZZZZZZZZZZZZZZZZ", "01KAZZZZZZZZZZZZZZZZZZZZZZ");
    says(E::IdNotIncreasing { id: id(ids.0), last: id(ids.1) }, "leave out the id");
    let busy = F::Busy { lock: path(), holder: None, waited: Duration::ZERO };
    says(E::Files { action: "read", name: name(), source: Box::new(busy) }, "try again");
}

#[test]
fn hints_of_plans() {
    use plan::{Error as P, State};
    let id = plan::PlanId::new;
    let text = || "t".to_owned();
    let actor = |name: &str| plan::Actor::parse(name).unwrap();
    says(P::BadPattern { pattern: text(), reason: text() }, "**");
    let actors = vec![actor("one"), actor("two")];
    let not_theirs = P::ActorNotInvolved { actor: actor("three"), path: text(), actors };
    says(not_theirs, "--take one or --take two");
    says(P::ForeignRoot { plan: id(), root: text(), roots: vec!["/other".to_owned()] }, "/other");
    says(P::OutcomeUnknown { path: text() }, "reopen");
    let (actors, others) = ([actor("one")].into(), [actor("two")].into());
    says(P::DependentChanges { plan: id(), path: text(), actors, others }, "--actor one --actor two");
    says(P::Unapplied { plan: id(), state: State::Ready, changesets: 1 }, "--force");
    says(P::Conflicts { plan: id(), conflicts: Vec::new() }, "agents plan conflicts");
    says(P::Drifted { plan: id(), drifts: Vec::new(), is_merging: false }, "--merge-drift");
    says(P::Drifted { plan: id(), drifts: Vec::new(), is_merging: true }, "agents plan undo");
    says(P::ModifiedSinceApply { plan: id(), files: Vec::new() }, "agents plan undo");
    let refused = |state, to| P::IllegalStep { plan: id(), state, to, allowed: &[] };
    says(refused(State::Queued, State::Applied), "agents changeset start");
    says(refused(State::Running, State::Applied), "agents changeset list");
    says(refused(State::Ready, State::Undone), "agents plan apply");
    says(refused(State::Conflict, State::Queued), "agents plan show");
    says(refused(State::Applying, State::Cancelled), "agents doctor --fix");
    says(refused(State::Applied, State::Applied), "agents plan undo");
    says(refused(State::Failed, State::Applied), "agents run --resume");
    says(refused(State::Cancelled, State::Applied), "agents plan create");
    says(refused(State::Undone, State::Applied), "agents plan list");
    let source = serde_json::from_str::<u8>("x").unwrap_err();
    says(P::Detail { plan: id(), source }, "agents doctor");
    let foreign = P::ForeignChangeset { changeset: plan::ChangesetId::new(), plan: id() };
    says(foreign, "agents changeset list");
}

#[test]
fn hints_of_stores() {
    use store::Error as S;
    let says = |error: S, expected| says(plan::Error::from(error), expected);
    let (id, changeset) = (plan::PlanId::new(), plan::ChangesetId::new());
    let (resource, state) = (store::Resource::Plan(id), || store::State::parse("ready").unwrap());
    let (cause, hash) = (|| Arc::new(io::Error::other("no")), store::BlobHash::of(b""));
    says(
        S::Ambiguous { what: "plan", prefix: "".into(), candidates: vec!["01A".into(), "01B".into()] },
        "01A or 01B",
    );
    says(S::NotFound { what: "plan", name: "x".into() }, "agents plan list");
    says(S::NotFound { what: "changeset", name: "x".into() }, "agents changeset list");
    says(S::NameTaken { name: store::Name::parse("x").unwrap() }, "choose another");
    says(
        S::Conflict { resource, state: state(), version: store::Version(2), by: "ana".into() },
        "agents plan history",
    );
    says(S::ChangesetsOpen { plan: id, count: 2, first: changeset }, "agents changeset seal");
    says(S::Closed { changeset, status: plan::Status::Sealed }, "agents changeset start");
    says(
        S::Stale { resource, given: store::Epoch(1), current: store::Epoch(2), owner: None },
        "start another",
    );
    let owner = store::Owner::parse("o").unwrap();
    says(S::Held { resource, owner, expires_at: store::Time::now() }, "agents doctor");
    says(S::MissingBlob { hash }, "store the content again");
    says(S::DamagedBlob { hash, reason: "" }, "agents doctor");
    says(S::Damaged { path: path(), action: "d", source: cause() }, "agents doctor");
    says(S::Busy { path: path(), action: "d", waited: Duration::ZERO }, "try again");
    says(S::NewerSchema { path: path(), found: 2, supported: 1 }, "use the newer program");
    says(S::NotAStore { path: path(), reason: "" }, "store.url");
    says(S::Io { action: "make", path: path(), source: cause() }, "permissions");
    says(S::Removed { path: path() }, "-wal file");
    says(S::Full { path: path(), action: "d", source: cause() }, "df -h f");
    says(S::Unwritable { path: "a/f".into(), action: "d", source: cause() }, "ls -ld a");
    let engine = |outcome| S::Engine { path: path(), action: "d", outcome, source: cause() };
    says(engine(store::Outcome::Aborted), "full or failing disk");
    says(engine(store::Outcome::Unknown), "look at what is there");
    says(S::Url { reason: "".into() }, "postgres://");
    says(S::Unreachable { path: path(), source: cause() }, "agents config get store.url");
    says(S::Denied { path: path(), source: cause() }, "PGPASSWORD");
    says(S::ReadOnly { path: path(), source: cause() }, "name all servers");
    says(S::NotACopy { from: "".into(), to: "".into(), reason: "" }, "agents store copy");
    assert_eq!(super::hint(&plan::Error::from(S::Limit { what: "w", limit: 1 }).into()), None);
}

#[test]
fn hints_of_runs() {
    use executor::Error as R;
    let (plan, text) = (plan::PlanId::new(), || "t".to_owned());
    says(R::LeaseHeld { plan, owner: text() }, "agents plan show");
    says(R::LeaseLost { plan, kept: Vec::new() }, "agents plan show");
    let busy = store::Error::Busy { path: path(), action: "step", waited: Duration::ZERO };
    let interrupted = || R::Interrupted { plan, source: Box::new(busy.clone().into()) };
    says(interrupted(), &format!("\nagents run --resume {plan}"));
    check(interrupted(), Kind::Busy, "store-busy");
    says(R::NothingToResume { plan, state: plan::State::Ready }, &format!("agents plan apply {plan}"));
    says(R::NoRun { plan }, "agents plan list");
    says(R::NothingToResume { plan, state: plan::State::Applied }, "makes a new plan");
    says(R::NoNode { plan, node: text(), nodes: vec!["a".into(), "b".into()] }, "its nodes are a, b");
    says(R::NoRoot, "--root DIR");
    says(R::ReadPlanFile { file: path(), source: io::ErrorKind::NotFound.into() }, "agents run");
    says(R::PlanFile { file: path(), problems: Vec::new() }, "--dry-run");
    assert_eq!(super::hint(&R::UnsupportedPlatform.into()), None);
    says(Error::InvalidChoice { option: "merge", value: text(), choices: vec!["a", "b"] }, "use one of a, b");
}

#[cfg(target_os = "linux")]
#[test]
fn hints_of_sandboxes() {
    use executor::Error as R;
    let broken = || Box::new(executor::FileError::Exists { path: path() });
    let io = || io::ErrorKind::Other.into();
    says(R::Socket { path: path(), source: broken() }, "--home DIR");
    says(R::Sandbox { action: "make", folder: path(), source: broken() }, "df -h");
    says(R::TooManyChanges { limit: 1 }, "$TMPDIR");
    says(R::AllowWrite { path: path(), source: io() }, "sandbox.allow-write");
    says(
        R::NotConfined { confinement: executor::Confinement::None },
        "agents config set sandbox.confine auto",
    );
    says(R::Output { file: path(), source: io() }, "df -h");
    says(R::StillRunning { pids: vec![1] }, "ps ");
    says(R::Spawn { program: "p".into(), source: io() }, "ls -l");
    says(R::CommandNotFound { program: "p".into(), source: io() }, "installed");
}
