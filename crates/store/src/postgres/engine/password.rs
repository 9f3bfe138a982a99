//! Password files in the format of `psql`: lines of `host:port:database:user:password`, with `*` as
//! a wildcard.

use std::fmt;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tokio_postgres::Config;

use super::url::host;
use crate::{Error, Result};

/// The default port.
const PORT: u16 = 5432;

/// The path of a password file.
#[derive(Clone, Debug)]
pub(crate) struct PasswordFile(pub(crate) PathBuf);

/// Looks up the password for a server. Refuses a file that others can read; a missing file has no
/// passwords.
pub(crate) fn look_up(file: &PasswordFile, config: &Config) -> Result<Option<String>> {
    let failed = |action, source| Error::Io { action, path: file.0.clone(), source: Arc::new(source) };
    let text = match fs::read_to_string(&file.0) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        text => text.map_err(|source| failed("read the passwords in", source))?,
    };
    if is_open_to_others(&file.0) {
        let source =
            io::Error::new(io::ErrorKind::PermissionDenied, "others can read it; run `chmod 600` on it");
        return Err(failed("trust the passwords in", source));
    }
    let hosts: Vec<String> = config.get_hosts().iter().map(host).collect();
    let port = |number: usize| config.get_ports().get(number).or(config.get_ports().first());
    let matches = |line: &PasswordEntry, number: usize| {
        let port = port(number).unwrap_or(&PORT).to_string();
        let (database, user) =
            (config.get_dbname().unwrap_or_default(), config.get_user().unwrap_or_default());
        let given = [hosts[number].as_str(), &port, database, user];
        line.0.iter().zip(given).all(|(field, given)| field == "*" || field == given)
    };
    let lines: Vec<PasswordEntry> = text.lines().filter_map(PasswordEntry::parse).collect();
    let found = (0..hosts.len()).find_map(|number| lines.iter().find(|line| matches(line, number)));
    Ok(found.map(|line| line.1.clone()))
}

#[cfg(unix)]
fn is_open_to_others(path: &std::path::Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).is_ok_and(|found| found.mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_open_to_others(_: &std::path::Path) -> bool {
    false
}

/// A line: host, port, database, user, and the password.
struct PasswordEntry([String; 4], String);

impl fmt::Debug for PasswordEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PasswordEntry").field(&self.0).finish_non_exhaustive()
    }
}

impl PasswordEntry {
    fn parse(line: &str) -> Option<Self> {
        if line.starts_with('#') {
            return None;
        }
        let (mut fields, mut field) = (Vec::new(), String::new());
        let mut characters = line.chars();
        while let Some(character) = characters.next() {
            match character {
                ':' if fields.len() < 4 => fields.push(std::mem::take(&mut field)),
                '\\' => field.extend(characters.next()),
                other => field.push(other),
            }
        }
        Some(Self(fields.try_into().ok()?, field))
    }
}

#[cfg(test)]
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "plays the person who keeps passwords")]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn look_up_in(text: &str, mode: u32, url: &str) -> Result<Option<String>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pgpass");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        look_up(&PasswordFile(path), &url.parse().unwrap())
    }

    #[test]
    fn the_first_matching_line_is_used() {
        let text = "# mine\nbad line\none:5432:agents:ana:first\n*:*:*:ana:a\\:b\\\\c:d\ntwo:*:*:*:last\n";
        let found = |url: &str| look_up_in(text, 0o600, url).unwrap();
        assert_eq!(found("postgres://ana@one/agents").as_deref(), Some("first"));
        assert_eq!(found("postgres://ana@one:7/agents").as_deref(), Some("a:b\\c:d"));
        assert_eq!(found("postgres://ben@three,two/agents").as_deref(), Some("last"));
        assert_eq!(found("postgres://ben@one/agents"), None);
    }

    #[test]
    fn a_file_that_others_can_read_is_refused_and_a_missing_one_is_empty() {
        let error = look_up_in("*:*:*:*:secret\n", 0o644, "postgres://ana@one/agents").unwrap_err();
        assert_eq!(error.code(), "store-io");
        assert!(!format!("{error} {error:?}").contains("secret"));
        let nowhere = PasswordFile("/nowhere/pgpass".into());
        assert_eq!(look_up(&nowhere, &"postgres://one/agents".parse().unwrap()).unwrap(), None);
        let folder = PasswordFile("/".into());
        assert!(look_up(&folder, &"postgres://one/agents".parse().unwrap()).is_err());
        assert!(!format!("{:?}", PasswordEntry::parse("a:b:c:d:secret")).contains("secret"));
    }
}
