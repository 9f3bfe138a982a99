//! `agents man`: manual pages.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::args;
use crate::error::{Error, Result};
use crate::output::{Answer, Output};

/// Print the manual, or write its pages
///
/// `agents man | man -l -` shows the page of the program, `agents man config set | man -l -` that of a command. With `--out`
/// all pages are written: `agents man --out ~/.local/share/man/man1`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Whose page is printed [default: that of the program]
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    command: Vec<String>,
    /// Write all pages into this folder
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    out: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Answer> {
    let mut all = Vec::new();
    let mut command = args::visible();
    command.build();
    collect(&command, &mut all)?;
    match &args.out {
        Some(folder) => write_all(&all, folder, output),
        None => print_one(&all, &args.command, output),
    }
}

struct Page {
    /// `agents-config-set`.
    name: String,
    text: String,
}

/// The page of a command, and those of the commands in it.
fn collect(command: &clap::Command, pages: &mut Vec<Page>) -> Result<()> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let mut text = Vec::new();
    let man = clap_mangen::Man::new(command.clone()).source(concat!("agents ", env!("CARGO_PKG_VERSION")));
    man.render(&mut text).map_err(|source| Error::Print { source })?;
    pages.push(Page { name, text: String::from_utf8_lossy(&text).into_owned() });
    let inner = command.get_subcommands().filter(|inner| inner.get_name() != "help" && !inner.is_hide_set());
    inner.into_iter().try_for_each(|inner| collect(inner, pages))
}

fn print_one(pages: &[Page], command: &[String], output: &mut Output) -> Result<Answer> {
    let name = ["agents"].into_iter().chain(command.iter().map(String::as_str)).collect::<Vec<_>>().join("-");
    let page = pages.iter().find(|page| page.name == name);
    let page = page.ok_or_else(|| Error::NoPage { command: command.join(" ") })?;
    output.say_text(page.text.trim_end())?;
    Ok(Answer::ok(json!({ "name": page.name, "page": page.text })))
}

fn write_all(pages: &[Page], folder: &Path, output: &mut Output) -> Result<Answer> {
    let mut files = Vec::new();
    for page in pages {
        let file = folder.join(format!("{}.1", page.name));
        api::write_file(&file, page.text.as_bytes(), 0o644)?;
        files.push(file.display().to_string());
    }
    output.confirm(format!("wrote {} pages to {}", files.len(), folder.display()))?;
    Ok(Answer::ok(json!({ "files": files })))
}
