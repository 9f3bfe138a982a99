//! `cargo xtask failover`: a cluster of three servers whose primary is killed again and again. Takes minutes, so it is not a part of `test`.

use crate::error::{Error, Result};
use crate::run::{Run, cargo};
use crate::tools::{self, Availability};

pub(crate) const HELP: &str = "\
Kills the primary of a cluster again and again while eight processes record, and looks whether anything that was acknowledged is lost.

Usage: cargo xtask failover [--rounds N]

  --rounds N   How often the primary is killed [default: 10]

Three PostgreSQL with Patroni and etcd, of Debian's packages, on loopback in a temporary folder. In one round replication stands still before
the kill. A control without synchronous replication has to lose something. Takes about five minutes; prints a table for docs/many-machines.md.
";

pub(crate) fn failover(words: &[&str]) -> Result<()> {
    let rounds: u32 = match words {
        [] => 10,
        ["--rounds", count] => count
            .parse()
            .ok()
            .filter(|count| *count > 0)
            .ok_or_else(|| Error::Usage(format!("`{count}` is not a number of rounds")))?,
        words => return Err(Error::Usage(format!("`failover` does not take `{}`", words.join(" ")))),
    };
    let mut run = Run::start()?;
    if let Availability::Missing(reason) = tools::install(&mut run, tools::FOR_FAILOVER)? {
        return Err(Error::Tool { step: "failover", reason });
    }
    let mut command = cargo("run --package cleveragents-store --example failover -- --rounds");
    command.arg(rounds.to_string());
    run.step("failover", command)?;
    run.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_a_number() {
        for words in [&["--rounds"][..], &["--rounds", "0"], &["--rounds", "many"], &["--fast"]] {
            assert_eq!(failover(words).unwrap_err().exit_code(), 2, "{words:?}");
        }
    }
}
