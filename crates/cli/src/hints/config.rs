//! Hints for errors of configuration.

use api::errors::{ConfigError as E, Origin, Scope};
use api::{Key, Reveal, Value};

/// Suggests a remedy for an error, as a command if there is one.
pub(super) fn hint(error: &E) -> Option<String> {
    Some(match error {
        E::InvalidKey { .. } | E::UnknownKey { suggestion: None, .. } => {
            "agents config list  # all keys; names below x. are yours".to_owned()
        }
        E::UnknownKey { key, suggestion: Some(suggestion), origin } => match file_scope(origin) {
            Some(scope) => format!("{}  # rename {key} to {suggestion}", edit(Some(scope))),
            None => corrected_command(key, suggestion)
                .unwrap_or_else(|| format!("agents config explain {suggestion}")),
        },
        // A text that begins like a list or a table: quoted, it is a string.
        E::WrongType { key, actual, origin: None, .. } if key.section() == "x" => {
            format!(
                "agents config set {key} {}  # as a string",
                quoted(&Value::String(actual.clone()).to_toml())
            )
        }
        // A section cannot be explained or set.
        E::WrongType { key, origin, .. } if key.names().len() == 1 => edit(file_scope(origin)),
        E::WrongType { key, origin, .. } | E::OutOfRange { key, origin, .. } => {
            let explain = format!("agents config explain {key}");
            match file_scope(origin) {
                Some(scope) => format!("{explain}\nagents config set {key} VALUE --scope {scope}"),
                None => explain,
            }
        }
        E::NotInScope { key, allowed, .. } => {
            format!("agents config set {key} VALUE --scope {}", allowed[0])
        }
        E::IsTable { key } => format!("agents config list {key}"),
        E::InvalidAssignment { .. } => "agents config set KEY VALUE".to_owned(),
        E::Parse(found) => edit(found.scope),
        E::CannotInsertKey { scope, .. } => edit(*scope),
        E::TableAndValue { other, actual: "a value", scope, .. } => {
            format!("agents config unset {other}{}  # or choose another key", flag(*scope))
        }
        E::TableAndValue { other, .. } => format!("agents config list {other}"),
        E::NotUtf8 { .. } => "save the file as UTF-8".to_owned(),
        E::VariableNotUtf8 { variable } => format!("unset {variable}"),
        E::TooLarge { .. } | E::NotAFile { .. } => "agents config path".to_owned(),
        E::Interpolation { key, variable, .. } => {
            format!("set the variable, or a default: agents config set {key} '${{{variable}:default}}'")
        }
        E::SecretVariable { key, .. } => format!("agents config set {key} VALUE --scope global"),
        E::VariableNotListed { variable, listed, .. } => {
            let names = listed.iter().chain([variable]).map(String::as_str).collect::<Vec<_>>().join(",");
            format!("agents config set core.interpolate {} --scope global", quoted(&names))
        }
        E::EscapesProject { .. } => {
            "replace the symlink with a file; only the global file may be a symlink to another folder"
                .to_owned()
        }
        E::ReadOnly { path } => format!("chmod u+w {}", path.display()),
        E::NoHome { .. } => "name an existing folder with --home DIR or CLEVERAGENTS_HOME".to_owned(),
        E::NoProject { .. } => "add --project DIR or --scope global".to_owned(),
        E::Busy { .. } => "try again, or add --lock-timeout 2m".to_owned(),
        E::EditRejected { saved_at, .. } => {
            format!("agents config edit  # the rejected edit is in {}", saved_at.display())
        }
        E::Conflict { .. } => "agents config edit".to_owned(),
        E::Watch { .. } => {
            "stop programs that watch many files, or raise fs.inotify.max_user_watches and max_user_instances"
                .to_owned()
        }
        E::Read { .. } | E::Folder { .. } | E::Nested { .. } | E::Prepare { .. } | E::Write { .. } => {
            return system_hint(error);
        }
    })
}

/// Returns the command as typed, with another key. `None` if it may hold a secret, or if the key is
/// not among the arguments.
fn corrected_command(wrong: &Key, right: &Key) -> Option<String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let may_hold_secret = api::may_be_secret(right) || holds_secret(&arguments, wrong);
    if may_hold_secret { None } else { correct(arguments.into_iter(), wrong, right) }
}

/// Returns true if an argument sets a secret or an unknown key other than `wrong`, or holds a URL
/// with a password.
fn holds_secret(arguments: &[String], wrong: &Key) -> bool {
    arguments.iter().any(|argument| {
        let text = Value::String(argument.clone());
        let name = argument.split_once('=').map(|(name, _)| name);
        let key = name.filter(|name| !name.starts_with("--") || *name == "--config");
        let key = key.and_then(|name| name.parse::<Key>().ok());
        text.redacted(false, Reveal::No) != text
            || key.is_some_and(|key| key != *wrong && api::may_be_secret(&key))
    })
}

fn correct(arguments: impl Iterator<Item = String>, wrong: &Key, right: &Key) -> Option<String> {
    let mut is_found = false;
    let corrected = arguments.map(|argument| {
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) => (name, format!("={value}")),
            None => (argument.as_str(), String::new()),
        };
        match name.parse::<Key>() {
            Ok(key) if key == *wrong => {
                is_found = true;
                quoted(&format!("{right}{value}"))
            }
            _ => quoted(&argument),
        }
    });
    let command = ["agents".to_owned()].into_iter().chain(corrected).collect::<Vec<_>>().join(" ");
    is_found.then_some(command)
}

/// Quotes a word for a shell, if needed.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:=@%+,".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

fn file_scope(origin: &Option<Box<Origin>>) -> Option<Scope> {
    match origin.as_deref() {
        Some(Origin::File { scope, .. }) => Some(*scope),
        _ => None,
    }
}

fn edit(scope: Option<Scope>) -> String {
    format!("agents config edit{}", flag(scope))
}

fn flag(scope: Option<Scope>) -> String {
    scope.map(|scope| format!(" --scope {scope}")).unwrap_or_default()
}

fn system_hint(error: &E) -> Option<String> {
    let path = match error {
        E::Read { file: path, .. }
        | E::Prepare { file: path, .. }
        | E::Write { file: path, .. }
        | E::Folder { folder: path, .. } => path.display(),
        _ => return None,
    };
    Some(match error.code() {
        "permission-denied" => format!("ls -ld {path}  # or use another home folder with --home DIR"),
        "read-only" => {
            "the file system is mounted read-only; use another home folder with --home DIR".to_owned()
        }
        "disk-full" => format!("df -h {path}"),
        "outcome-unknown" => "agents config list".to_owned(),
        "lock-file-replaced" => "try again".to_owned(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arguments: &[&str], expected: Option<&str>) {
        let [wrong, right] = ["plan.concurency", "plan.concurrency"].map(|key| key.parse().unwrap());
        let arguments = arguments.iter().map(|argument| (*argument).to_owned());
        assert_eq!(correct(arguments, &wrong, &right).as_deref(), expected);
    }

    #[test]
    fn a_typo_is_corrected_as_a_whole_command() {
        check(&["config", "set", "plan.concurency", "9"], Some("agents config set plan.concurrency 9"));
        check(
            &["config", "set", "x.a=it's b", "plan.concurency=9"],
            Some(r"agents config set 'x.a=it'\''s b' plan.concurrency=9"),
        );
        check(&["config", "list"], None);
    }
    #[test]
    fn a_command_that_may_hold_a_secret_is_not_repeated() {
        let wrong = "plan.concurency".parse().unwrap();
        let holds =
            |argument: &str| holds_secret(&["plan.concurency=9".to_owned(), argument.to_owned()], &wrong);
        assert!(holds("server.token=hunter2"));
        assert!(holds("server.tokn=hunter2"));
        assert!(holds("store.url=postgres://ana:hunter2@db/agents"));
        assert!(holds("--config=server.tokn=hunter2"));
        assert!(holds("postgres://ana:hunter2@db/agents"));
        assert!(!holds("x.team=blue"));
        assert!(!holds("--format=json"));
        assert!(!holds("set"));
    }
}
