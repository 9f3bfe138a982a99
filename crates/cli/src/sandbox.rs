//! What commands do that an actor starts in its sandbox.
//!
//! Store and home folder belong to the run. What the run does for its actors is asked for; what only reads works as it does elsewhere; the
//! rest is refused, before it would fail for want of permission or, where actors are not confined, change what is not the actor's.

/// What becomes of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rule {
    /// The run does it.
    Asks,
    /// As anywhere else.
    Works,
    /// It is an error.
    Refused,
}

/// The commands that are not refused, by their names.
const RULES: [(&str, Rule); 15] = [
    ("changeset record", Rule::Asks),
    ("context append", Rule::Asks),
    ("config get", Rule::Asks),
    ("config list", Rule::Works),
    ("config explain", Rule::Works),
    ("config path", Rule::Works),
    ("config schema", Rule::Works),
    ("config watch", Rule::Works),
    ("context show", Rule::Works),
    ("context list", Rule::Works),
    ("context search", Rule::Works),
    ("context export", Rule::Works),
    ("context state get", Rule::Works),
    ("context global get", Rule::Works),
    // It makes a home folder and a project of its own.
    ("demo", Rule::Works),
];

/// What becomes of a command of this name.
pub(crate) fn rule(name: &str) -> Rule {
    RULES.iter().find(|(known, _)| *known == name).map_or(Rule::Refused, |(_, rule)| *rule)
}
