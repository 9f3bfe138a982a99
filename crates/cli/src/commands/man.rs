//! `agents man`: manual pages.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::plural;
use super::schema::{Entry, of};
use crate::args;
use crate::error::{Error, Result};
use crate::output::{Answer, Output};

/// Print a manual page, or write all of them
///
/// `man -l -` shows a page.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Print the page of this command [default: that of the program]
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    command: Vec<String>,
    /// Write all pages to this folder
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  agents man config set | man -l -
  agents man --out ~/.local/share/man/man1";

pub(super) const SCHEMAS: &[Entry] = &[("man", of::<Data<'_>>)];

/// The `data` of the envelope.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
enum Data<'a> {
    Page { name: &'a str, page: &'a str },
    Files { files: &'a [String] },
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

/// Renders the pages of a command and of its subcommands.
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
    let page = page.ok_or_else(|| Error::UnknownCommand { command: command.join(" ") })?;
    output.print_text(page.text.trim_end())?;
    Ok(Answer::of(&Data::Page { name: &page.name, page: &page.text }))
}

fn write_all(pages: &[Page], folder: &Path, output: &mut Output) -> Result<Answer> {
    let mut files = Vec::new();
    for page in pages {
        let file = folder.join(format!("{}.1", page.name));
        api::write_file(&file, page.text.as_bytes(), 0o644)?;
        files.push(file.display().to_string());
    }
    output.done(format!("wrote {} to {}", plural(files.len(), "page"), folder.display()));
    Ok(Answer::of(&Data::Files { files: &files }))
}
