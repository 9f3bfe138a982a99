//! Seeds of random tests, and how to replay one.

use std::env;

/// The environment variable with the seed of a test run.
pub const VARIABLE: &str = "AGENTS_SEED";

/// Returns the seed of the environment, or else the default of the test.
pub fn from_env_or(kept: u64) -> u64 {
    match env::var(VARIABLE) {
        Ok(text) => parse(&text).unwrap_or_else(|| panic!("{VARIABLE}={text} is not a number")),
        Err(_) => kept,
    }
}

/// Returns the command that replays a test with a seed.
pub fn replay_command(package: &str, test: &str, seed: u64) -> String {
    format!("{VARIABLE}={seed} cargo test -p {package} {test}")
}

/// Prints the replay command if the test panics while this lives.
#[must_use = "it prints when it is dropped in a panic"]
pub struct Replay {
    command: String,
}

impl Replay {
    /// Guards a test of a package that uses this seed.
    pub fn new(package: &str, test: &str, seed: u64) -> Self {
        Self { command: replay_command(package, test, seed) }
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("to replay: {}", self.command);
        }
    }
}

/// Parses a decimal number, or a hexadecimal one after `0x`.
fn parse(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_decimal_or_hexadecimal() {
        assert_eq!(parse("12"), Some(12));
        assert_eq!(parse("0xff"), Some(255));
        assert_eq!(parse("ff"), None);
    }

    #[test]
    fn the_replay_command_names_seed_package_and_test() {
        assert_eq!(replay_command("p", "t", 7), "AGENTS_SEED=7 cargo test -p p t");
    }
}
