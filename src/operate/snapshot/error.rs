//! [`SnapshotError`]: why a snapshot is not restored.

use crate::quota::Quota;
use core::fmt;

/// Why a snapshot is not restored. Nothing has been, then: the limiter is as it was, or gone if it was handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SnapshotError {
    /// These bytes are not a snapshot.
    NotASnapshot,
    /// A format that this version of the library does not read.
    Version {
        /// The format's number.
        found: u16,
    },
    /// The bytes end before the snapshot does.
    Truncated,
    /// The checksum is wrong, or something is written that no limiter saves.
    Corrupt,
    /// It was saved by a limiter of another kind.
    Kind {
        /// The name of that kind.
        saved: &'static str,
    },
    /// It was saved under another quota, or under other classes of them.
    ///
    /// A debt means something under its own quota alone. To go on with a limit that has changed in between, restore under
    /// the saved quota first and change that on the running limiter.
    Quota {
        /// The quota; of several, the first that differs.
        saved: Quota,
    },
    /// It was saved with another number of classes.
    Classes {
        /// How many it has.
        saved: u32,
    },
    /// Its keys were hashed by another hasher, or by the same with another seed.
    Hasher,
    /// Its table has another size; a keyed limiter of the same capacity has the same.
    Capacity {
        /// The lines of the saved table.
        saved: u64,
        /// The lines of this one.
        wanted: u64,
    },
    /// The limiter has been used already, so that what it has admitted would be forgotten.
    InUse,
    /// By the limiter's clock, the state lies later than a limiter lasts.
    OutOfRange,
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotASnapshot => f.write_str("not a snapshot of a limiter"),
            Self::Version { found } => write!(f, "a snapshot of format {found}, which this version does not read"),
            Self::Truncated => f.write_str("the snapshot is cut off"),
            Self::Corrupt => f.write_str("the snapshot is damaged"),
            Self::Kind { saved } => write!(f, "the snapshot is of a {saved}"),
            Self::Quota { saved } => write!(f, "the snapshot is of another quota: {saved}"),
            Self::Classes { saved } => write!(f, "the snapshot is of another number of classes: {saved}"),
            Self::Hasher => f.write_str("the keys of the snapshot were hashed by another hasher or with another seed"),
            Self::Capacity { saved, wanted } => {
                write!(f, "the snapshot is of a table of another capacity: {saved} lines, and not {wanted}")
            }
            Self::InUse => f.write_str("the limiter has been used before the snapshot was to be restored"),
            Self::OutOfRange => f.write_str("the snapshot's state lies beyond what the limiter can represent"),
        }
    }
}

impl core::error::Error for SnapshotError {}

#[cfg(feature = "std")]
impl From<SnapshotError> for std::io::Error {
    /// Of the kind [`UnexpectedEof`](std::io::ErrorKind::UnexpectedEof) for what is cut off, else
    /// [`InvalidData`](std::io::ErrorKind::InvalidData); the error itself is inside.
    fn from(error: SnapshotError) -> Self {
        let kind = match error {
            SnapshotError::Truncated => std::io::ErrorKind::UnexpectedEof,
            _ => std::io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}
