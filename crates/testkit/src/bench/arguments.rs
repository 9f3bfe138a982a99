//! The arguments that every bench takes.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Result;

/// What a bench was asked for.
#[derive(Default, Debug)]
pub struct Arguments {
    /// Where to measure, if not on a fresh file system.
    pub dir: Option<PathBuf>,
    /// The only case to measure.
    pub only: Option<String>,
    /// Whether the table is to be Markdown.
    pub markdown: bool,
    /// Arguments of this bench alone, by name.
    pub others: BTreeMap<String, PathBuf>,
}

impl Arguments {
    /// Reads `--dir DIR`, `--only NAME`, `--markdown` and the bench's own, each of which names a file. `None` when help is wanted.
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
                    return Err(format!("unknown argument `{unknown}`; --help says what there is").into());
                }
            }
        }
        Ok(Some(found))
    }
}
