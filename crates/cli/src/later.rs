//! Commands that are built when the command line names them.
//!
//! Building all commands with all their options takes longer than most of them do, and a command line uses one. What is not built yet has
//! no help text either, so whoever shows help builds everything first: [`Args::of_process`](crate::args::Args::of_process), completions,
//! manual pages.

use std::ops::Deref;

use clap::{ArgMatches, Command, Error, FromArgMatches, Subcommand};

/// The arguments of a command, or the commands of a group, built when they are asked for.
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
        group.defer(T::augment_subcommands)
    }

    fn augment_subcommands_for_update(group: Command) -> Command {
        group.defer(T::augment_subcommands_for_update)
    }

    fn has_subcommand(name: &str) -> bool {
        T::has_subcommand(name)
    }
}
