//! [`Snapshot`]: the state of a limiter without keys.

use super::error::SnapshotError;
use super::format::{Header, Kind, Reader, Writer, from_slice};
use super::moment::Moment;
use crate::nanos::Nanos;
use crate::quota::Quota;
use alloc::vec;
use alloc::vec::Vec;
use core::iter;

/// The state of a limiter without keys, as of a moment.
///
/// Made by the `snapshot` method of a limiter, put back by `restore`; see the [module](crate::docs) for what is promised.
/// A few words of memory; for a [`SlidingWindowLog`](crate::SlidingWindowLog), one for each unit that counts.
///
/// # Examples
///
/// ```
/// use tollgate::{Quota, Snapshot, TokenBucket};
///
/// let before = TokenBucket::new(Quota::per_hour(100));
/// assert!(before.try_acquire_n(70).is_ok());
/// let bytes = before.snapshot().to_bytes();
///
/// // In another process:
/// let after = TokenBucket::new(Quota::per_hour(100));
/// after.restore(&Snapshot::from_bytes(&bytes)?)?;
/// assert_eq!(after.available(), 30);
/// # Ok::<(), tollgate::SnapshotError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    pub(super) kind: Kind,
    pub(super) quota: Quota,
    pub(super) taken: Moment,
    pub(super) state: Vec<u64>,
}

impl Snapshot {
    pub(super) fn new(kind: Kind, quota: Quota, taken: Moment, state: Vec<u64>) -> Self {
        Self { kind, quota, taken, state }
    }

    /// The quota of the limiter that was saved.
    pub fn quota(&self) -> Quota {
        self.quota
    }

    /// When it was taken. The reading is one of the clock that the limiter had then, or of the scale within it.
    pub fn taken(&self) -> Moment {
        self.taken
    }

    /// What a limiter of this kind and quota is to make of it at `now`: the state, and what the old clock would read by then.
    pub(super) fn continued(&self, kind: Kind, quota: Quota, now: Moment) -> Result<(&[u64], Nanos), SnapshotError> {
        if self.kind != kind {
            return Err(SnapshotError::Kind { saved: self.kind.name() });
        }
        if self.quota != quota {
            return Err(SnapshotError::Quota { saved: self.quota });
        }
        Ok((&self.state, self.taken.continued(now)))
    }

    /// Writes it to `put`, a few bytes at a time.
    ///
    /// # Errors
    ///
    /// Those of `put`.
    pub fn write_with<E>(&self, put: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let Self { kind, quota, taken, ref state } = *self;
        let header = Header { kind, sharing: false, quotas: 1, taken, hasher: 0, size: state.len() as u64 };
        let mut writer = Writer::begin(put, &header, iter::once(quota))?;
        for &word in state {
            writer.word(word)?;
        }
        writer.end()
    }

    /// Reads one from `get`, which fills the bytes it is given or fails; takes no byte beyond the last.
    ///
    /// # Errors
    ///
    /// Those of `get`; a [`SnapshotError`] if it is damaged, or is one of a table of keys.
    pub fn read_with<E: From<SnapshotError>>(get: impl FnMut(&mut [u8]) -> Result<(), E>) -> Result<Self, E> {
        let (mut reader, header) = Reader::begin(get)?;
        let Header { kind, taken, size, .. } = header;
        let size_is_right = match kind {
            Kind::KeyedLimiter => return Err(SnapshotError::Kind { saved: kind.name() }.into()),
            Kind::SlidingWindowLog => true,
            Kind::ShardedTokenBucket | Kind::AdjustableFixedWindow => size == 2,
            Kind::AdjustableSlidingWindowCounter => size == 4,
            _ => size == 1,
        };
        if !size_is_right || header.quotas != 1 || header.sharing || header.hasher != 0 {
            return Err(SnapshotError::Corrupt.into());
        }
        let quota = reader.quota()?;
        if size > quota.tokens().max(4) {
            return Err(SnapshotError::Corrupt.into());
        }
        let mut state = Vec::new();
        for _ in 0..size {
            state.push(reader.word()?);
        }
        reader.end()?;
        Ok(Self { kind, quota, taken, state })
    }

    /// The bytes of it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![];
        let Ok(()) = self.write_with(|part| {
            bytes.extend_from_slice(part);
            Ok::<_, core::convert::Infallible>(())
        });
        bytes
    }

    /// What these bytes, and no others, are the snapshot of.
    ///
    /// # Errors
    ///
    /// As [`read_with`](Self::read_with); [`SnapshotError::Corrupt`] if there are more bytes than belong to it.
    pub fn from_bytes(mut bytes: &[u8]) -> Result<Self, SnapshotError> {
        let snapshot = Self::read_with(from_slice(&mut bytes))?;
        if bytes.is_empty() { Ok(snapshot) } else { Err(SnapshotError::Corrupt) }
    }

    /// Writes it to a stream.
    ///
    /// # Errors
    ///
    /// Those of the stream.
    #[cfg(feature = "std")]
    pub fn write_to(&self, mut stream: impl std::io::Write) -> std::io::Result<()> {
        self.write_with(|bytes| stream.write_all(bytes))
    }

    /// Reads one from a stream, and no further.
    ///
    /// # Errors
    ///
    /// Those of the stream; a [`SnapshotError`] inside, if it is damaged.
    #[cfg(feature = "std")]
    pub fn read_from(mut stream: impl std::io::Read) -> std::io::Result<Self> {
        Self::read_with(|bytes| stream.read_exact(bytes))
    }
}

#[cfg(feature = "serde")]
mod text {
    //! As text, whatever the format: two hexadecimal digits for each byte, so that the checksum goes along.

    use super::Snapshot;
    use core::fmt;

    struct Hex(Snapshot);

    impl fmt::Display for Hex {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.write_with(|bytes| bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}")))
        }
    }

    impl serde::Serialize for Snapshot {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_str(&Hex(self.clone()))
        }
    }

    impl<'de> serde::Deserialize<'de> for Snapshot {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Text;

            impl serde::de::Visitor<'_> for Text {
                type Value = Snapshot;

                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("a snapshot of a limiter in hexadecimal digits")
                }

                fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Snapshot, E> {
                    let digits = text.as_bytes().chunks(2);
                    let bytes = digits.map(|pair| match pair {
                        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
                        _ => None,
                    });
                    let bytes: Option<alloc::vec::Vec<u8>> = bytes.collect();
                    let bytes = bytes.ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))?;
                    Snapshot::from_bytes(&bytes).map_err(E::custom)
                }
            }

            deserializer.deserialize_str(Text)
        }
    }

    /// The value of a digit.
    fn digit(digit: u8) -> Option<u8> {
        #[allow(clippy::cast_possible_truncation)] // below 16
        char::from(digit).to_digit(16).map(|value| value as u8)
    }
}
