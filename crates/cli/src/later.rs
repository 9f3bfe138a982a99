//! Commands that are built when the command line names their group.
//!
//! Building all commands with all their options takes longer than most of them do, and a command line uses one.

use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};

/// The commands of a group, or the options of a command that has many, built when they are asked for, and by whoever builds everything:
/// help, completions, manual pages.
#[derive(Clone, Debug)]
pub(crate) struct Later<T>(pub(crate) T);

impl<T: FromArgMatches> FromArgMatches for Later<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<T: Subcommand> Subcommand for Later<T> {
    fn augment_subcommands(group: Command) -> Command {
        group.defer(T::augment_subcommands)
    }

    fn augment_subcommands_for_update(group: Command) -> Command {
        group.defer(T::augment_subcommands_for_update)
    }

    fn has_subcommand(name: &str) -> bool {
        T::has_subcommand(name)
    }
}

impl<T: Args> Args for Later<T> {
    fn augment_args(command: Command) -> Command {
        command.defer(T::augment_args)
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(T::augment_args_for_update)
    }
}
