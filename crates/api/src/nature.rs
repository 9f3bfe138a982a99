//! Which kind and which code every error of the services has. Scripts rely on both.

use std::io;

use config::Origin;

use crate::Kind;

/// A wrong value is the caller's mistake, unless it stands in a file.
fn given_by_caller(origin: Option<&Origin>) -> Kind {
    match origin {
        Some(Origin::File { .. }) => Kind::Error,
        _ => Kind::Usage,
    }
}

pub(crate) fn config_nature(error: &config::Error) -> (Kind, &'static str) {
    use config::Error as E;
    let given = given_by_caller(error.origin());
    match error {
        E::BadKey { .. } => (Kind::Usage, "bad-key"),
        E::UnknownKey { .. } => (given, "unknown-key"),
        E::WrongType { .. } => (given, "wrong-type"),
        E::OutOfRange { .. } => (given, "out-of-range"),
        E::NotInScope { .. } => (Kind::Usage, "not-in-scope"),
        E::IsTable { .. } => (Kind::Usage, "is-table"),
        E::BadAssignment { .. } => (Kind::Usage, "bad-assignment"),
        E::Parse(_) => (Kind::Error, "unparsable"),
        E::NotUtf8 { .. } => (Kind::Error, "not-utf8"),
        E::VariableNotUtf8 { .. } => (Kind::Usage, "variable-not-utf8"),
        E::TooLarge { .. } => (Kind::Error, "too-large"),
        E::TableAndValue { .. } => (Kind::Conflict, "table-and-value"),
        E::NoPlace { .. } => (Kind::Error, "no-place"),
        E::Interpolation { .. } => (given, "interpolation"),
        E::SecretVariable { .. } => (given, "secret-variable"),
        E::LeadsOut { .. } => (Kind::Error, "leads-out"),
        E::NotAFile { .. } => (Kind::Error, "not-a-file"),
        E::ReadOnly { .. } => (Kind::Error, "read-only"),
        E::NoHome { .. } => (Kind::NotFound, "no-home"),
        E::NoProject { .. } => (Kind::NotFound, "no-project"),
        E::Read { source, .. } | E::Folder { source, .. } => (Kind::Error, system_code(source)),
        E::Busy { .. } => (Kind::Busy, "busy"),
        E::Nested { .. } => (Kind::Bug, "already-held"),
        E::Prepare { source, .. } => files_nature(source),
        E::Write { source, .. } => failure_nature(source),
        E::NotTaken { source, .. } => match config_nature(source) {
            // What was edited is a file, whatever is wrong with it.
            (Kind::Usage, code) => (Kind::Error, code),
            nature => nature,
        },
        E::Conflict { .. } => (Kind::Conflict, "conflict"),
        E::Watch { .. } => (Kind::Error, "watch"),
    }
}

pub(crate) fn context_nature(error: &context::Error) -> (Kind, &'static str) {
    use context::Error as E;
    match error {
        E::BadName { .. } => (Kind::Usage, "bad-name"),
        E::NotFound { .. } => (Kind::NotFound, "no-context"),
        E::Exists { .. } => (Kind::Conflict, "exists"),
        E::Stale { .. } => (Kind::Conflict, "stale"),
        E::Message { .. } => (Kind::Usage, "bad-message"),
        E::IdNotRising { .. } => (Kind::Conflict, "id-not-rising"),
        E::Damaged { .. } => (Kind::Error, "damaged"),
        E::Edited { .. } => (Kind::Conflict, "edited"),
        E::BothLayouts { .. } => (Kind::Conflict, "two-layouts"),
        E::Newer { .. } => (Kind::Error, "newer-format"),
        E::OutOfRange { .. } => (Kind::Usage, "out-of-range"),
        E::Rewritten { .. } => (Kind::Conflict, "rewritten"),
        E::NotAnObject { .. } => (Kind::Usage, "not-an-object"),
        E::TooLarge { .. } => (Kind::Usage, "too-large"),
        E::Import { source, .. } => match &**source {
            context::ImportProblem::Read(cause) if cause.kind() == io::ErrorKind::NotFound => {
                (Kind::NotFound, "no-file")
            }
            _ => (Kind::Error, "bad-import"),
        },
        E::Export { .. } => (Kind::Error, "export"),
        E::Folder { .. } => (Kind::Error, "io"),
        E::Files { source, .. } => files_nature(source),
        E::Commit { source, .. } => failure_nature(source),
        E::Unsynced { .. } => (Kind::OutcomeUnknown, "outcome-unknown"),
    }
}

pub(crate) fn plan_nature(error: &plan::Error) -> (Kind, &'static str) {
    use plan::Error as E;
    let kind = match error {
        E::Store(error) => return (store_kind(error), error.code()),
        E::Root { source, .. } | E::Files { source } => return files_nature(source),
        E::BadRoot { .. } | E::NotThere { .. } | E::NoConflict { .. } | E::Nothing { .. } => Kind::NotFound,
        E::ForeignRoot { .. }
        | E::BadPath { .. }
        | E::UnknownState { .. }
        | E::NotTheirs { .. }
        | E::ReservedTool { .. }
        | E::BadPattern { .. } => Kind::Usage,
        E::AlreadyThere { .. }
        | E::WrongKind { .. }
        | E::OtherBase { .. }
        | E::IllegalStep { .. }
        | E::ForeignChangeset { .. }
        | E::Conflicts { .. }
        | E::Entangled { .. }
        | E::StillNeeded { .. }
        | E::Drifted { .. }
        | E::ChangedSince { .. }
        | E::OtherMachine { .. }
        | E::Unapplied { .. } => Kind::Conflict,
        E::Unsettled { .. } => Kind::Busy,
        E::Doubtful { .. } | E::CutOff { .. } => Kind::OutcomeUnknown,
        E::OutsideScope { .. } => Kind::Bug,
        _ => Kind::Error,
    };
    (kind, error.code())
}

pub(crate) fn run_nature(error: &executor::Error) -> (Kind, &'static str) {
    use executor::Error as E;
    match error {
        E::Plan(error) => plan_nature(error),
        E::ReadPlanFile { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            (Kind::NotFound, "no-file")
        }
        E::ReadPlanFile { source, .. } => (Kind::Error, system_code(source)),
        E::PlanFile { .. } => (Kind::Usage, "plan-file"),
        E::NoRoot => (Kind::NotFound, "no-root"),
        E::NotRun { .. } => (Kind::NotFound, "not-run"),
        E::NoNode { .. } => (Kind::NotFound, "no-node"),
        E::NothingToResume { .. } => (Kind::Conflict, "nothing-to-resume"),
        E::Held { .. } => (Kind::Busy, "run-held"),
        E::Lost { .. } => (Kind::Conflict, "run-lost"),
        E::BadRequest { .. } => (Kind::Usage, "bad-request"),
        E::TooManyRequests { .. } => (Kind::Busy, "too-many-requests"),
        E::NoSeat => (Kind::Conflict, "node-ended"),
        E::ForeignChangeset { .. } => (Kind::Conflict, "foreign-changeset"),
        E::ForeignRoot { .. } => (Kind::Usage, "foreign-root"),
        E::RefusedWrites { .. } => (Kind::Error, "refused-writes"),
        #[cfg(target_os = "linux")]
        E::Socket { source, .. } => files_nature(source),
        E::NotHere => (Kind::Usage, "not-here"),
        _ => (Kind::Error, "run"),
    }
}

fn store_kind(error: &store::Error) -> Kind {
    use store::Error as E;
    match error {
        E::BadText { .. } | E::Ambiguous { .. } | E::Limit { .. } | E::Url { .. } => Kind::Usage,
        E::NotFound { .. } => Kind::NotFound,
        E::NameTaken { .. }
        | E::Reused { .. }
        | E::Conflict { .. }
        | E::Grown { .. }
        | E::WrongState { .. }
        | E::StillOpen { .. }
        | E::Closed { .. }
        | E::NotACopy { .. }
        | E::Stale { .. } => Kind::Conflict,
        E::Held { .. } | E::Busy { .. } => Kind::Busy,
        error if error.outcome() == store::Outcome::Unknown => Kind::OutcomeUnknown,
        _ => Kind::Error,
    }
}

pub(crate) fn failure_nature(failure: &filetx::Failure) -> (Kind, &'static str) {
    match failure.left {
        filetx::Left::Unknown => (Kind::OutcomeUnknown, "outcome-unknown"),
        _ => files_nature(&failure.error),
    }
}

pub(crate) fn files_nature(error: &filetx::Error) -> (Kind, &'static str) {
    use filetx::Error as E;
    match error {
        E::BadPath { .. } => (Kind::Usage, "bad-path"),
        E::Reserved { .. } => (Kind::Usage, "reserved-path"),
        E::Missing { .. } => (Kind::NotFound, "not-found"),
        E::Busy { .. } => (Kind::Busy, "busy"),
        E::Conflict { .. } => (Kind::Conflict, "conflict"),
        E::Drifted { .. } => (Kind::Conflict, "drifted"),
        E::Exists { .. } => (Kind::Conflict, "exists"),
        E::NotEmpty { .. } => (Kind::Conflict, "not-empty"),
        E::AlreadyHeld { .. } => (Kind::Bug, "already-held"),
        E::Group { source } => files_nature(source),
        E::Io { source, .. } => (Kind::Error, system_code(source)),
        E::LockGone { .. } => (Kind::Error, "lock-gone"),
        E::FolderGone { .. } => (Kind::NotFound, "folder-gone"),
        E::NetworkFileSystem { .. } => (Kind::Error, "network-file-system"),
        E::Damaged { .. } => (Kind::Error, "damaged-journal"),
        E::UnknownVersion { .. } => (Kind::Error, "newer-journal"),
        E::RootGone { .. } => (Kind::Error, "root-gone"),
        _ => (Kind::Error, "files"),
    }
}

/// What the system refused, where a person can do something about it.
pub(crate) fn system_code(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "permission-denied",
        io::ErrorKind::ReadOnlyFilesystem => "read-only",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "disk-full",
        _ => "io",
    }
}
