//! Configuration: reading, writing and watching it.

mod read;
mod view;
mod watch;
mod write;

pub use ::config::{
    ConfigService, Held, Key, Layer, Origin, Outcome, PROJECT_FOLDER, Reveal, Scope, Stopper, Value, Wait,
    Waiting, parse_duration,
};

pub use read::{Preferences, Reading, Select};
pub use view::{Change, EditOutcome, Entry, Explanation, FileState, Got, LayerSays, Listed, Paths, StillSet};
pub use watch::{Event, Watch};
pub use write::{Assignment, ConfigEdit, Given};
