//! `agents config edit`.
//!
//! The editor gets a copy in a private folder. No lock is held while it is open; the edited copy is
//! checked, merged with concurrent changes, and written under the lock. An edit is never lost: a
//! rejected one is saved, and the message names the file.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use api::{Agents, ConfigEdit, EditOutcome, EditReport, Problem};
use tempfile::TempDir;

use super::{ScopeName, names, warn_of, warn_of_shadowed};
use crate::display;
use crate::error::{Error, Result};
use crate::input;
use crate::interrupt::Interrupt;
use crate::output::{Answer, Output};
use crate::session::Session;

/// Editor if neither VISUAL nor EDITOR is set.
const DEFAULT_EDITOR: &str = if cfg!(windows) { "notepad" } else { "vi" };

/// Edit a file with $VISUAL or $EDITOR
///
/// The editor gets a copy. When it exits, the copy is checked, merged with concurrent changes, and
/// written. An invalid edit, or one that overlaps a concurrent change, is saved beside the file.
/// Use this to fix a file that does not parse.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// File to edit [default: project if its file exists, else global]
    #[arg(long, value_enum, value_name = "SCOPE")]
    scope: Option<ScopeName>,
}

pub(super) fn run(args: &Args, session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    let writer = session.writer();
    let edit = writer.begin_edit(args.scope.map(Into::into))?;
    let copy = Copy::make(&edit)?;
    Interrupt::ignore_for_child()?;
    match edit_and_commit(&writer, &edit, &copy, output) {
        Ok(outcome) => {
            report(&outcome, output);
            Ok(Answer::of(&outcome))
        }
        Err(Error::Api(error)) if error.edit_is_saved() => Err(error.into()),
        // Only the copy has the edit.
        Err(error) if copy.read().is_ok_and(|saved| saved != edit.original) => {
            Err(Error::EditNotSaved { copy: copy.keep(), source: Box::new(error) })
        }
        Err(error) => Err(error),
    }
}

fn edit_and_commit(
    writer: &Agents,
    edit: &ConfigEdit,
    copy: &Copy,
    output: &mut Output,
) -> Result<EditReport> {
    let edited = edit_until_valid(writer, edit, copy, output)?;
    Ok(writer.edit(edit, &edited)?)
}

/// Opens the editor, again if the edit is invalid and the person agrees.
fn edit_until_valid(writer: &Agents, edit: &ConfigEdit, copy: &Copy, output: &mut Output) -> Result<Vec<u8>> {
    loop {
        open_editor(&copy.file)?;
        let edited = copy.read()?;
        let Err(error) = writer.check_edit(edit, &edited) else { return Ok(edited) };
        let problem = Problem::of(&error);
        // Another edit does not resolve an overlap.
        if problem.code == "conflict" || !can_ask(output) {
            return Ok(edited);
        }
        output.error(Problem { hint: Vec::new(), ..problem });
        if !ask("Edit again? [Y/n] ") {
            return Ok(edited);
        }
    }
}

fn open_editor(file: &Path) -> Result<()> {
    let named = ["VISUAL", "EDITOR"].into_iter().filter_map(std::env::var_os);
    let named =
        named.map(|editor| editor.to_string_lossy().into_owned()).find(|name| !name.trim().is_empty());
    // The default editor needs a terminal; a named one may not.
    let has_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let editor = match named {
        None if cfg!(unix) && !has_terminal => return Err(Error::NoTerminal),
        named => named.unwrap_or_else(|| DEFAULT_EDITOR.to_owned()),
    };
    match command(&editor, file).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Error::Editor { editor, status }),
        Err(source) => Err(Error::StartEditor { editor, source }),
    }
}

/// Runs the editor in a shell, so that `EDITOR='code --wait'` and quoted paths work as in git.
#[cfg(unix)]
fn command(editor: &str, file: &Path) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{editor} \"$@\"")).arg(editor).arg(file);
    command
}

#[cfg(not(unix))]
fn command(editor: &str, file: &Path) -> Command {
    let mut words = editor.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or(DEFAULT_EDITOR));
    command.args(words).arg(file);
    command
}

/// Copy for the editor.
struct Copy {
    folder: TempDir,
    file: PathBuf,
}

impl Copy {
    fn make(edit: &ConfigEdit) -> Result<Copy> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("agents-edit-");
        // The file may hold secrets.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let folder = builder.tempdir().map_err(|source| Error::TemporaryFolder { source })?;
        let file = folder.path().join(edit.file.file_name().unwrap_or("config.toml".as_ref()));
        api::write_file(&file, &edit.original, 0o600)?;
        Ok(Copy { folder, file })
    }

    fn read(&self) -> Result<Vec<u8>> {
        input::read(&self.file)
    }

    /// Keeps the copy and returns its path.
    fn keep(self) -> PathBuf {
        let _ = self.folder.keep();
        self.file
    }
}

/// Returns true if a person can answer.
fn can_ask(output: &Output) -> bool {
    !output.is_json() && io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks a question; an empty answer is yes, end of input is no.
fn ask(question: &str) -> bool {
    let _ = write!(io::stderr(), "{question}").and_then(|()| io::stderr().flush());
    let mut line = String::new();
    match io::stdin().read_line(&mut line) {
        Ok(0) | Err(_) => false,
        Ok(_) => matches!(line.trim().to_lowercase().as_str(), "" | "y" | "yes"),
    }
}

fn report(outcome: &EditReport, output: &mut Output) {
    let EditReport { outcome, change } = outcome;
    let written = &change.written;
    let (file, scope) = (display::path(&written.file.to_string_lossy()), written.scope);
    let keys = if written.keys.is_empty() { String::new() } else { format!(" {}", names(&written.keys)) };
    output.done(match outcome {
        EditOutcome::Unchanged => format!("{file} ({scope}): unchanged"),
        EditOutcome::Merged => {
            format!("{file} ({scope}): changed{keys}, merged with concurrent changes")
        }
        EditOutcome::Applied => format!("{file} ({scope}): changed{keys}"),
    });
    warn_of_shadowed(change, output);
    warn_of(&change.problems, output);
}
