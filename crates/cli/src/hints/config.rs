//! Hints for errors of configuration.

use api::errors::{ConfigError as E, Origin, Scope};

/// Suggests a remedy for an error, as a command if there is one.
pub(super) fn hint(error: &E) -> Option<String> {
    Some(match error {
        E::InvalidKey { .. } | E::UnknownKey { suggestion: None, .. } => {
            "`agents config list` shows all keys; your own go below `x.`".to_owned()
        }
        E::UnknownKey { suggestion: Some(suggestion), origin, .. } => match file_scope(origin) {
            Some(scope) => format!("did you mean `{suggestion}`? {}", correct(Some(scope))),
            None => format!("did you mean `{suggestion}`? see `agents config explain {suggestion}`"),
        },
        // A section cannot be explained or set.
        E::WrongType { key, origin, .. } if key.names().len() == 1 => correct(file_scope(origin)),
        E::WrongType { key, origin, .. } | E::OutOfRange { key, origin, .. } => {
            let explain = format!("see `agents config explain {key}`");
            match file_scope(origin) {
                Some(scope) => format!("{explain}, then `agents config set {key} VALUE --scope {scope}`"),
                None => explain,
            }
        }
        E::NotInScope { key, allowed, .. } => {
            format!("try `agents config set {key} VALUE --scope {}`", allowed[0])
        }
        E::IsTable { key } => format!("`agents config list {key}` shows what is in it"),
        E::InvalidAssignment { .. } => "for one key: `agents config set KEY VALUE`".to_owned(),
        E::Parse(found) => correct(found.scope),
        E::CannotInsertKey { scope, .. } => correct(*scope),
        E::TableAndValue { other, actual: "a value", scope, .. } => {
            format!("choose another key, or first `agents config unset {other}{}`", flag(*scope))
        }
        E::TableAndValue { other, .. } => {
            format!("choose another key; `agents config list {other}` shows what is in this one")
        }
        E::NotUtf8 { .. } => {
            "save the file as UTF-8; `agents config path` shows which files are read".to_owned()
        }
        E::VariableNotUtf8 { variable } => format!("`unset {variable}`"),
        E::TooLarge { .. } => "`agents config path` shows which files are read".to_owned(),
        E::Interpolation { key, variable, .. } => {
            format!(
                "set the variable, or give a default: `agents config set {key} '${{{variable}:default}}'`"
            )
        }
        E::SecretVariable { key, .. } => {
            format!("set it for yourself: `agents config set {key} VALUE --scope global`")
        }
        E::EscapesProject { .. } => {
            "replace the symlink by a file; only the global file may lead elsewhere: `agents config path`"
                .to_owned()
        }
        E::NotAFile { .. } => "`agents config path` shows which files are read".to_owned(),
        E::ReadOnly { path } => format!("`chmod u+w {}` if it is meant to be changed", path.display()),
        E::NoHome { .. } => "name an existing folder with `--home DIR` or CLEVERAGENTS_HOME".to_owned(),
        E::NoProject { .. } => "name a project with `--project DIR`, or use `--scope global`".to_owned(),
        E::Busy { .. } => "try again, or wait longer with `--lock-timeout 2m`".to_owned(),
        E::EditRejected { saved_at, .. } => {
            format!("take from `{}` what you need with `agents config edit`", saved_at.display())
        }
        E::Conflict { .. } => "`agents config edit` again".to_owned(),
        E::Watch { .. } => {
            "end programs that watch many files, or raise fs.inotify.max_user_watches and max_user_instances"
                .to_owned()
        }
        E::Read { .. } | E::Folder { .. } | E::Nested { .. } | E::Prepare { .. } | E::Write { .. } => {
            return system_hint(error);
        }
    })
}

fn file_scope(origin: &Option<Box<Origin>>) -> Option<Scope> {
    match origin.as_deref() {
        Some(Origin::File { scope, .. }) => Some(*scope),
        _ => None,
    }
}

fn correct(scope: Option<Scope>) -> String {
    format!("correct the file with `agents config edit{}`", flag(scope))
}

fn flag(scope: Option<Scope>) -> String {
    scope.map(|scope| format!(" --scope {scope}")).unwrap_or_default()
}

fn system_hint(error: &E) -> Option<String> {
    let place = match error {
        E::Read { file: place, .. }
        | E::Prepare { file: place, .. }
        | E::Write { file: place, .. }
        | E::Folder { folder: place, .. } => place.display(),
        _ => return None,
    };
    Some(match error.code() {
        "permission-denied" => {
            format!("`ls -ld {place}` shows who may; or use another home folder with `--home DIR`")
        }
        "read-only" => "it is on a file system that is mounted read-only; use `--home DIR`".to_owned(),
        "disk-full" => format!("make room on the disk: `df -h {place}`"),
        "outcome-unknown" => "`agents config list` shows what the file says now".to_owned(),
        "lock-file-replaced" => "run the command again".to_owned(),
        _ => return None,
    })
}
