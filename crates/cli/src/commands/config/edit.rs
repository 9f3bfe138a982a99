//! `agents config edit`.
//!
//! The editor gets a copy in a folder of its own that others cannot read. No lock is held while it is open; what comes back is checked, merged
//! with what others wrote meanwhile, and written under the lock. An edit is never lost: what is not taken is kept, and the message says where.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use api::{Agents, ConfigEdit, EditOutcome, Outcome, Problem};
use tempfile::TempDir;

use super::{ScopeName, names, warn_of, warn_of_still};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::output::{Answer, Output};
use crate::session::Session;

/// Where neither VISUAL nor EDITOR says otherwise.
const USUAL_EDITOR: &str = if cfg!(windows) { "notepad" } else { "vi" };

/// Edit a file with $VISUAL or $EDITOR
///
/// The editor gets a copy. When it ends, the copy is checked and becomes the file, merged with what others wrote meanwhile. An edit
/// that is wrong, or in the same lines as somebody else's, is kept beside the file. This is also the way to correct a file that does not parse.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Which file is edited [default: the project's, where that file is there, else global]
    #[arg(long, value_enum, value_name = "SCOPE")]
    scope: Option<ScopeName>,
}

pub(super) fn run(args: &Args, session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    let writer = session.writer();
    let edit = writer.begin_edit(args.scope.map(Into::into))?;
    let copy = Copy::make(&edit)?;
    Interrupt::leave_to_child()?;
    match edit_and_commit(&writer, &edit, &copy, output) {
        Ok(outcome) => {
            tell(&outcome, output)?;
            Ok(Answer::of(&outcome))
        }
        Err(Error::Api(error)) if error.is_kept() => Err(error.into()),
        // What the person saved is nowhere else.
        Err(error) if copy.read().is_ok_and(|saved| saved != edit.original) => {
            Err(Error::EditLeft { copy: copy.keep(), source: Box::new(error) })
        }
        Err(error) => Err(error),
    }
}

fn edit_and_commit(
    writer: &Agents,
    edit: &ConfigEdit,
    copy: &Copy,
    output: &mut Output,
) -> Result<EditOutcome> {
    let edited = edit_until_right(writer, edit, copy, output)?;
    Ok(writer.edit(edit, &edited)?)
}

/// Opens the editor, again if what comes back is wrong and the person wants to.
fn edit_until_right(writer: &Agents, edit: &ConfigEdit, copy: &Copy, output: &mut Output) -> Result<Vec<u8>> {
    loop {
        open_editor(&copy.file)?;
        let edited = copy.read()?;
        let Err(error) = writer.check_edit(edit, &edited) else { return Ok(edited) };
        let problem = Problem::of(&error);
        // Lines that others changed meanwhile do not get right by another look at one's own.
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
    let editor = named.unwrap_or_else(|| USUAL_EDITOR.to_owned());
    match command(&editor, file).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Error::Editor { editor, status }),
        Err(source) => Err(Error::StartEditor { editor, source }),
    }
}

/// The editor's words are a shell's, so that `EDITOR='code --wait'` and quoted paths work as they do for git.
#[cfg(unix)]
fn command(editor: &str, file: &Path) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{editor} \"$@\"")).arg(editor).arg(file);
    command
}

#[cfg(not(unix))]
fn command(editor: &str, file: &Path) -> Command {
    let mut words = editor.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or(USUAL_EDITOR));
    command.args(words).arg(file);
    command
}

/// What the editor works on.
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
        let failed = |source| Error::File { act: "read", path: self.file.clone(), source };
        std::fs::read(&self.file).map_err(failed)
    }

    /// Leaves it there for the person, and says where.
    fn keep(self) -> PathBuf {
        let _ = self.folder.keep();
        self.file
    }
}

/// Whether a person can be asked.
fn can_ask(output: &Output) -> bool {
    !output.is_json() && io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks; an empty answer is a yes, no answer is a no.
fn ask(question: &str) -> bool {
    let _ = write!(io::stderr(), "{question}").and_then(|()| io::stderr().flush());
    let mut line = String::new();
    match io::stdin().read_line(&mut line) {
        Ok(0) | Err(_) => false,
        Ok(_) => matches!(line.trim().to_lowercase().as_str(), "" | "y" | "yes"),
    }
}

fn tell(outcome: &EditOutcome, output: &mut Output) -> Result<()> {
    let EditOutcome { outcome, change } = outcome;
    let written = &change.written;
    let (file, scope) = (written.file.display(), written.scope);
    let keys = if written.keys.is_empty() { String::new() } else { format!(": {}", names(&written.keys)) };
    output.confirm(match outcome {
        Outcome::Unchanged => format!("nothing changed in {file} ({scope})"),
        Outcome::Merged => {
            format!("changed {file} ({scope}), merged with what others wrote meanwhile{keys}")
        }
        Outcome::Taken => format!("changed {file} ({scope}){keys}"),
    })?;
    warn_of_still(change, output);
    warn_of(&change.problems, output);
    Ok(())
}
