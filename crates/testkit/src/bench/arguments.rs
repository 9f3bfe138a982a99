//! Arguments of all benches.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Result;

/// The parsed arguments.
#[derive(Default, Debug)]
pub struct Arguments {
    /// The folder to measure in, instead of a fresh file system.
    pub dir: Option<PathBuf>,
    /// The only case to measure.
    pub only: Option<String>,
    /// Prints the table as Markdown.
    pub markdown: bool,
    /// Arguments specific to this bench, by name.
    pub others: BTreeMap<String, PathBuf>,
}

impl Arguments {
    /// Parses `--dir DIR`, `--only NAME`, `--markdown` and those of the bench itself, each of which
    /// takes a file. Returns `None` for `--help`.
    pub fn parse(mut words: impl Iterator<Item = String>, own: &[&str]) -> Result<Option<Self>> {
        let mut found = Self::default();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                "--dir" => found.dir = Some(value()?.into()),
                "--only" => found.only = Some(value()?),
                "--markdown" => found.markdown = true,
                "--help" => return Ok(None),
                name if own.contains(&name) => {
                    let value = value()?.into();
                    found.others.insert(word.clone(), value);
                }
                unknown => {
                    return Err(format!("unknown argument `{unknown}`; see --help").into());
                }
            }
        }
        Ok(Some(found))
    }
}
