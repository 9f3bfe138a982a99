//! Commands that an actor starts in its sandbox.
//!
//! Store and home folder belong to the run. The run executes what it does for its actors; commands that only read work as elsewhere; the rest
//! is refused early, before it fails for want of permission or, where actors are not confined, changes what does not belong to the actor.

/// The treatment of a command in a sandbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rule {
    /// The run executes it.
    Forwarded,
    /// It works as outside.
    Local,
    Refused,
}

/// Commands that are not refused.
const RULES: [(&str, Rule); 15] = [
    ("changeset record", Rule::Forwarded),
    ("context append", Rule::Forwarded),
    ("config get", Rule::Forwarded),
    ("config list", Rule::Local),
    ("config explain", Rule::Local),
    ("config path", Rule::Local),
    ("config schema", Rule::Local),
    ("config watch", Rule::Local),
    ("context show", Rule::Local),
    ("context list", Rule::Local),
    ("context search", Rule::Local),
    ("context export", Rule::Local),
    ("context state get", Rule::Local),
    ("context global get", Rule::Local),
    // It creates its own home folder and project.
    ("demo", Rule::Local),
];

pub(crate) fn rule(name: &str) -> Rule {
    RULES.iter().find(|(command, _)| *command == name).map_or(Rule::Refused, |(_, rule)| *rule)
}
