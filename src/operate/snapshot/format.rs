//! [`Header`], [`Writer`] and [`Reader`]: the format's frame, whatever carries the bytes. The layout is in the module above.

use super::checksum::Checksum;
use super::error::SnapshotError;
use super::moment::Moment;
use crate::nanos::Nanos;
use crate::quota::Quota;
use core::time::Duration;

const MAGIC: [u8; 8] = *b"tollgate";

/// The format written, and the only one read.
const VERSION: u16 = 1;

/// What was saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    TokenBucket = 1,
    PackedTokenBucket = 2,
    FixedWindow = 3,
    SlidingWindowCounter = 4,
    SlidingWindowLog = 5,
    ShardedTokenBucket = 6,
    AdjustableTokenBucket = 7,
    KeyedLimiter = 8,
    AdjustableFixedWindow = 9,
    AdjustableSlidingWindowCounter = 10,
}

impl Kind {
    const ALL: [(Self, &'static str); 10] = [
        (Self::TokenBucket, "TokenBucket"),
        (Self::PackedTokenBucket, "PackedTokenBucket"),
        (Self::FixedWindow, "FixedWindow"),
        (Self::SlidingWindowCounter, "SlidingWindowCounter"),
        (Self::SlidingWindowLog, "SlidingWindowLog"),
        (Self::ShardedTokenBucket, "ShardedTokenBucket"),
        (Self::AdjustableTokenBucket, "AdjustableTokenBucket"),
        (Self::KeyedLimiter, "KeyedLimiter"),
        (Self::AdjustableFixedWindow, "AdjustableFixedWindow"),
        (Self::AdjustableSlidingWindowCounter, "AdjustableSlidingWindowCounter"),
    ];

    /// The name by which people know the limiter.
    pub(super) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    /// The kind of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }

    fn numbered(number: u8) -> Option<Self> {
        Self::ALL.iter().find(|(kind, _)| *kind as u8 == number).map(|(kind, _)| *kind)
    }
}

/// What stands before the quotas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: Kind,
    /// Whether the last quota is that of newcomers without a slot.
    pub(super) sharing: bool,
    /// How many quotas follow.
    pub(super) quotas: u32,
    pub(super) taken: Moment,
    /// What the hasher makes of known keys; 0 where there are no keys.
    pub(super) hasher: u64,
    /// Lines of the table, or words of state.
    pub(super) size: u64,
}

/// Bytes on their way out.
pub(super) struct Writer<F> {
    put: F,
    checksum: Checksum,
}

impl<E, F: FnMut(&[u8]) -> Result<(), E>> Writer<F> {
    /// Writes to `put`, beginning with the header and its quotas.
    pub(super) fn begin(put: F, header: &Header, quotas: impl Iterator<Item = Quota>) -> Result<Self, E> {
        let mut writer = Self { put, checksum: Checksum::NEW };
        let Header { kind, sharing, quotas: count, taken, hasher, size } = *header;
        writer.bytes(&MAGIC)?;
        writer.bytes(&VERSION.to_le_bytes())?;
        writer.bytes(&[kind as u8, u8::from(sharing)])?;
        writer.bytes(&count.to_le_bytes())?;
        for word in [taken.reading.0, taken.wall.0, hasher, size] {
            writer.word(word)?;
        }
        for quota in quotas {
            for word in [quota.tokens(), quota.period_nanos(), quota.burst()] {
                writer.word(word)?;
            }
        }
        Ok(writer)
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Result<(), E> {
        self.checksum.update(bytes);
        (self.put)(bytes)
    }

    pub(super) fn word(&mut self, word: u64) -> Result<(), E> {
        self.bytes(&word.to_le_bytes())
    }

    /// Ends with the checksum.
    pub(super) fn end(mut self) -> Result<(), E> {
        (self.put)(&self.checksum.value().to_le_bytes())
    }
}

/// Bytes on their way in.
pub(super) struct Reader<F> {
    get: F,
    checksum: Checksum,
}

impl<E: From<SnapshotError>, F: FnMut(&mut [u8]) -> Result<(), E>> Reader<F> {
    /// Reads from `get`, which fills what it is given or fails; beginning with the header.
    pub(super) fn begin(get: F) -> Result<(Self, Header), E> {
        let mut reader = Self { get, checksum: Checksum::NEW };
        if reader.array::<8>()? != MAGIC {
            return Err(SnapshotError::NotASnapshot.into());
        }
        let found = u16::from_le_bytes(reader.array()?);
        if found != VERSION {
            return Err(SnapshotError::Version { found }.into());
        }
        let [kind, sharing] = reader.array()?;
        let quotas = u32::from_le_bytes(reader.array()?);
        let taken = Moment::new(Nanos(reader.word()?), Nanos(reader.word()?));
        let (hasher, size) = (reader.word()?, reader.word()?);
        let (Some(kind), 0..=1) = (Kind::numbered(kind), sharing) else {
            return Err(SnapshotError::Corrupt.into());
        };
        Ok((reader, Header { kind, sharing: sharing == 1, quotas, taken, hasher, size }))
    }

    pub(super) fn quota(&mut self) -> Result<Quota, E> {
        let [tokens, period, burst] = [self.word()?, self.word()?, self.word()?];
        [Quota::UNLIMITED, Quota::DENY_ALL]
            .into_iter()
            .find(|quota| (quota.tokens(), quota.period_nanos(), quota.burst()) == (tokens, period, burst))
            .or_else(|| Quota::try_new(tokens, Duration::from_nanos(period), burst).ok())
            .ok_or_else(|| SnapshotError::Corrupt.into())
    }

    pub(super) fn bytes(&mut self, bytes: &mut [u8]) -> Result<(), E> {
        (self.get)(bytes)?;
        self.checksum.update(bytes);
        Ok(())
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], E> {
        let mut bytes = [0; N];
        self.bytes(&mut bytes)?;
        Ok(bytes)
    }

    pub(super) fn word(&mut self) -> Result<u64, E> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Whether the checksum is right, which is the last of it.
    pub(super) fn end(mut self) -> Result<(), E> {
        let expected = self.checksum.value();
        if self.word()? == expected { Ok(()) } else { Err(SnapshotError::Corrupt.into()) }
    }
}

/// Fills from the front of `bytes`, which then begins later.
pub(super) fn from_slice(bytes: &mut &[u8]) -> impl FnMut(&mut [u8]) -> Result<(), SnapshotError> {
    |into| {
        let (now, later) = bytes.split_at_checked(into.len()).ok_or(SnapshotError::Truncated)?;
        into.copy_from_slice(now);
        *bytes = later;
        Ok(())
    }
}
