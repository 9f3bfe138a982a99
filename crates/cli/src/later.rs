//! Commands that are built when the command line names them.
//!
//! Building all commands with all their options takes longer than most of them do, and a command line uses one. So the options of a command
//! wait until it is chosen, and while [`only_named`] commands that no word of the command line names are left out. What is not there has
//! no help text either, so whoever shows help builds everything: [`Args::of_process`](crate::args::Args::of_process), completions,
//! manual pages.

use std::cell::Cell;
use std::ffi::OsString;
use std::ops::Deref;

use clap::{ArgMatches, Command, Error, FromArgMatches, Subcommand};

thread_local! {
    static ONLY_NAMED: Cell<bool> = const { Cell::new(false) };
}

/// Does something with a command line that has, of each group, only the commands that a word of this process' arguments names. That is
/// enough to parse these arguments, whichever of the words they are.
pub(crate) fn only_named<T>(work: impl FnOnce() -> T) -> T {
    ONLY_NAMED.set(true);
    let result = work();
    ONLY_NAMED.set(false);
    result
}

fn is_named(command: &Command, words: &[OsString]) -> bool {
    let is_word = |name: &str| words.iter().any(|word| word == name);
    is_word(command.get_name()) || command.get_all_aliases().any(is_word)
}

/// The arguments of a command, or the commands of a group, built when they are named.
#[derive(Clone, Debug)]
pub(crate) struct Later<T>(T);

impl<T> Deref for Later<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: FromArgMatches> FromArgMatches for Later<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<T: clap::Args> clap::Args for Later<T> {
    fn augment_args(command: Command) -> Command {
        command.defer(T::augment_args)
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(T::augment_args_for_update)
    }
}

impl<T: Subcommand> Subcommand for Later<T> {
    fn augment_subcommands(group: Command) -> Command {
        if !ONLY_NAMED.get() {
            return T::augment_subcommands(group);
        }
        let words: Vec<OsString> = std::env::args_os().skip(1).collect();
        let all = T::augment_subcommands(Command::new("all"));
        group.subcommands(all.get_subcommands().filter(|command| is_named(command, &words)).cloned())
    }

    fn augment_subcommands_for_update(group: Command) -> Command {
        T::augment_subcommands_for_update(group)
    }

    fn has_subcommand(name: &str) -> bool {
        T::has_subcommand(name)
    }
}
