//! `cargo xtask failover`: kills the primary of a PostgreSQL cluster repeatedly. It takes minutes, so `test` leaves it out.

use crate::error::{Error, Result};
use crate::run::{Run, cargo};
use crate::tools::{self, Availability};

pub(crate) const HELP: &str = "\
Kill the primary of a cluster repeatedly while eight processes record, and check that no acknowledged record is lost.

Usage: cargo xtask failover [--rounds N]

  --rounds N   Kill the primary N times [default: 10]

Runs three PostgreSQL servers with Patroni and etcd, from Debian packages, on loopback in a temporary folder. In one round replication stops
before the kill. A control without synchronous replication must lose records. Takes about five minutes; prints a table for docs/many-machines.md.
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
