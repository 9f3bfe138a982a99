//! Configuration: reading, writing and watching it.

mod read;
mod view;
mod watch;
mod write;

pub use ::config::{
    ConfigService, EditOutcome, Key, Layer, Origin, PROJECT_FOLDER, Reveal, Scope, SourcedValue, StopHandle,
    Value, Wait, WaitNotice, parse_duration,
};

pub use read::{ConfigSnapshot, ListFilter, Preferences};
pub use view::{
    ConfigChange, ConfigEntry, ConfigFile, ConfigList, ConfigPaths, EditReport, Explanation, LayerView,
    Lookup, ShadowedKey, ValueChange,
};
pub use watch::{ConfigEvent, ConfigWatch};
pub use write::{Assignment, ConfigEdit, Exposure};
