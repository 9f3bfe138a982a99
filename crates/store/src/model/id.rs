//! Ids, versions and epochs.

use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ulid::{Generator, Ulid};

use crate::Error;

/// Makes a ULID larger than every one that this process made before.
fn fresh() -> Ulid {
    static GENERATOR: Mutex<Generator> = Mutex::new(Generator::new());
    let mut generator = GENERATOR.lock().unwrap_or_else(PoisonError::into_inner);
    match generator.generate() {
        Ok(ulid) => ulid,
        Err(overflow) => overflow.commit_overflow_increment(),
    }
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(#[schemars(with = "String")] Ulid);

        impl $name {
            /// Makes an id larger than every one that this process made before.
            #[expect(clippy::new_without_default, reason = "each is another one, so there is no default")]
            pub fn new() -> Self {
                Self(fresh())
            }

            /// Returns the 16 bytes, which sort like the ids.
            pub const fn to_bytes(self) -> [u8; 16] {
                self.0.to_bytes()
            }

            /// Makes an id from its 16 bytes.
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Ulid::from_bytes(bytes))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self, Error> {
                Ulid::from_string(text)
                    .map(Self)
                    .map_err(|_| Error::invalid_text($what, text, "an id has 26 letters and digits"))
            }
        }
    };
}

id!(
    /// Identifies a plan.
    PlanId,
    "plan id"
);
id!(
    /// Identifies a node of a plan.
    NodeId,
    "node id"
);
id!(
    /// Identifies a changeset.
    ChangesetId,
    "changeset id"
);
id!(
    /// An idempotency key. A caller that does not know the outcome of a call repeats it with the
    /// same key; the call takes effect once.
    RequestId,
    "request id"
);
id!(
    /// Identifies an unfinished upload of a blob.
    UploadId,
    "upload id"
);

/// Number of changes of a plan or node; 1 after its creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Version(pub u64);

/// The fencing token of a lease: the number of times it has changed hands. A write with an older
/// epoch is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Epoch(pub u64);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Returns the first and the last id with this prefix; `None` if no id can have it.
pub(crate) fn range_of_prefix(prefix: &str) -> Option<([u8; 16], [u8; 16])> {
    const CHARACTERS: usize = 26;
    if prefix.is_empty() || prefix.len() > CHARACTERS || !prefix.is_ascii() {
        return None;
    }
    let filled =
        |with: &str| Ulid::from_string(&format!("{prefix}{}", with.repeat(CHARACTERS - prefix.len())));
    Some((filled("0").ok()?.to_bytes(), filled("Z").ok()?.to_bytes()))
}

/// Returns the only match of an id prefix.
pub(crate) fn only<T, I: fmt::Display>(
    what: &'static str,
    prefix: &str,
    mut found: Vec<T>,
    id: impl Fn(&T) -> I,
) -> crate::Result<T> {
    match found.len() {
        0 => Err(Error::not_found(what, prefix)),
        1 => Ok(found.remove(0)),
        _ => {
            let candidates = found.iter().map(|one| id(one).to_string()).collect();
            Err(Error::Ambiguous { what, prefix: prefix.to_owned(), candidates })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_grow_and_read_back() {
        let (first, second) = (PlanId::new(), PlanId::new());
        assert!(first < second);
        assert_eq!(first.to_string().parse::<PlanId>().unwrap(), first);
        assert_eq!(PlanId::from_bytes(first.to_bytes()), first);
        assert_eq!(first.to_string().to_lowercase().parse::<PlanId>().unwrap(), first);
        assert!(format!("{first:?}").starts_with("PlanId("));
        assert_eq!(serde_json::to_string(&first).unwrap(), format!("\"{first}\""));
    }

    #[test]
    fn what_is_no_id_is_refused() {
        for text in ["", "x", "01ARZ3NDEKTSV4RRFFQ69G5FA", "01ARZ3NDEKTSV4RRFFQ69G5FAU!"] {
            assert_eq!(text.parse::<PlanId>().unwrap_err().code(), "invalid-text");
        }
    }

    #[test]
    fn a_prefix_is_a_range() {
        let id: PlanId = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
        let within = |prefix: &str| {
            range_of_prefix(prefix).is_some_and(|(first, last)| (first..=last).contains(&id.to_bytes()))
        };
        assert!(within("01ARZ3"));
        assert!(within("01arz3"));
        assert!(within("01ARZ3NDEKTSV4RRFFQ69G5FAV"));
        assert!(!within("01ARZ4"));
        assert!(!within(""));
        assert!(!within("é"));
        assert!(!within("01ARZ3U"));
        assert!(!within("01ARZ3NDEKTSV4RRFFQ69G5FAVX"));
    }

    #[test]
    fn numbers_show_as_such() {
        assert_eq!(format!("{} {}", Version(3), Epoch(4)), "3 4");
    }
}
