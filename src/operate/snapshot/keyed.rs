//! How a table of keys is saved and restored, key by key. The rules of the scan are with the table, in `keyed/saved.rs`.

use super::error::SnapshotError;
use super::format::{Header, Kind, Reader, Writer, from_slice};
use super::moment::Moment;
#[cfg(feature = "std")]
use crate::clock::Clock;
use crate::keyed::{Debt, KeyedLimiter, NoRoom};
use alloc::vec::Vec;
use core::hash::BuildHasher;

/// Records that go together.
const BLOCK: usize = 256;

/// The bytes of a record.
const RECORD: usize = 16;

fn record_to_bytes(debt: Debt) -> [u8; RECORD] {
    let Debt { line, tag, full_at } = debt;
    (u128::from(full_at) << 64 | u128::from(tag) << 32 | u128::from(line)).to_le_bytes()
}

fn record_from_bytes(bytes: [u8; RECORD]) -> Debt {
    let word = u128::from_le_bytes(bytes);
    #[allow(clippy::cast_possible_truncation)] // its parts
    Debt { line: word as u32, tag: (word >> 32) as u32, full_at: (word >> 64) as u64 }
}

impl From<NoRoom> for SnapshotError {
    fn from(reason: NoRoom) -> Self {
        match reason {
            NoRoom::Unknown => Self::Corrupt,
            NoRoom::TooLate => Self::OutOfRange,
        }
    }
}

impl<K: ?Sized, S: BuildHasher, C> KeyedLimiter<K, S, C> {
    /// As [`save`](Self::save), as of `now` and to anything that takes bytes. No clock is read.
    ///
    /// # Errors
    ///
    /// Those of `put`.
    pub fn save_with<E>(&self, put: impl FnMut(&[u8]) -> Result<(), E>, now: Moment) -> Result<u64, E> {
        let (paces, sharing) = (self.paces(), self.sharing());
        let quotas = paces.quotas();
        #[allow(clippy::cast_possible_truncation)] // as many as somebody has written down
        let count = quotas.len() as u32 + u32::from(sharing.is_some());
        let header = Header {
            kind: Kind::KeyedLimiter,
            sharing: sharing.is_some(),
            quotas: count,
            taken: now,
            hasher: self.hasher_fingerprint(),
            size: self.lines(),
        };
        let mut writer = Writer::begin(put, &header, quotas.chain(sharing.map(|(quota, _)| quota)))?;
        let (mut block, mut filled, mut keys) = ([0; 4 + BLOCK * RECORD], 4, 0);
        self.each_debt(&paces, now.reading, |debt| {
            keys += u64::from(debt.tag != Debt::HORIZON);
            block[filled..filled + RECORD].copy_from_slice(&record_to_bytes(debt));
            filled += RECORD;
            if filled == block.len() {
                write_block(&mut writer, &mut block)?;
                filled = 4;
            }
            Ok(())
        })?;
        if filled > 4 {
            write_block(&mut writer, &mut block[..filled])?;
        }
        write_block(&mut writer, &mut block[..4])?;
        if let Some((_, word)) = self.sharing() {
            writer.word(word)?;
        }
        writer.end()?;
        Ok(keys)
    }

    /// As [`restored`](Self::restored), as of `now` and from anything that fills bytes or fails. No clock is read.
    ///
    /// # Errors
    ///
    /// Those of `get`; a [`SnapshotError`] if this is no snapshot for this limiter.
    pub fn restored_with<E: From<SnapshotError>>(
        mut self,
        get: impl FnMut(&mut [u8]) -> Result<(), E>,
        now: Moment,
    ) -> Result<Self, E> {
        let (mut reader, header) = Reader::begin(get)?;
        let from = header.taken.continued(now);
        self.check(&header)?;
        for quota in self.quotas().chain(self.sharing().map(|(quota, _)| quota)) {
            let saved = reader.quota()?;
            if saved != quota {
                return Err(SnapshotError::Quota { saved }.into());
            }
        }
        let mut block = [0; BLOCK * RECORD];
        // PROGRESS: as many blocks as there are; the last says so.
        loop {
            let records = u32::from_le_bytes(reader.array()?) as usize;
            if records == 0 {
                break;
            }
            let bytes = block.get_mut(..records.saturating_mul(RECORD)).ok_or(SnapshotError::Corrupt)?;
            reader.bytes(bytes)?;
            for &record in bytes.as_chunks().0 {
                self.take_up(record_from_bytes(record), from, now.reading).map_err(SnapshotError::from)?;
            }
        }
        if header.sharing {
            let word = reader.word()?;
            self.take_up_sharing(word, from, now.reading).map_err(SnapshotError::from)?;
        }
        reader.end()?;
        Ok(self)
    }

    /// Whether what was saved under this header may be a state of this limiter.
    fn check(&self, header: &Header) -> Result<(), SnapshotError> {
        let sharing = self.sharing().is_some();
        if header.kind != Kind::KeyedLimiter {
            Err(SnapshotError::Kind { saved: header.kind.name() })
        } else if header.sharing != sharing || header.quotas as usize != self.quotas().count() + usize::from(sharing) {
            Err(SnapshotError::Classes { saved: header.quotas.saturating_sub(u32::from(header.sharing)) })
        } else if header.hasher != self.hasher_fingerprint() {
            Err(SnapshotError::Hasher)
        } else if header.size != self.lines() {
            Err(SnapshotError::Capacity { saved: header.size, wanted: self.lines() })
        } else if !self.is_unused() {
            Err(SnapshotError::InUse)
        } else {
            Ok(())
        }
    }

    /// The bytes of a snapshot as of `now`; see [`save`](Self::save). No clock is read.
    pub fn to_bytes_at(&self, now: Moment) -> Vec<u8> {
        let mut bytes = Vec::new();
        let Ok(_) = self.save_with(
            |part| {
                bytes.extend_from_slice(part);
                Ok::<_, core::convert::Infallible>(())
            },
            now,
        );
        bytes
    }

    /// As [`restored`](Self::restored), as of `now` and from these bytes and no others. No clock is read.
    ///
    /// # Errors
    ///
    /// A [`SnapshotError`], in place of the limiter.
    pub fn restored_from_bytes_at(self, mut bytes: &[u8], now: Moment) -> Result<Self, SnapshotError> {
        let limiter = self.restored_with(from_slice(&mut bytes), now)?;
        if bytes.is_empty() { Ok(limiter) } else { Err(SnapshotError::Corrupt) }
    }
}

fn write_block<E>(writer: &mut Writer<impl FnMut(&[u8]) -> Result<(), E>>, block: &mut [u8]) -> Result<(), E> {
    #[allow(clippy::cast_possible_truncation)] // at most `BLOCK`
    let records = ((block.len() - 4) / RECORD) as u32;
    block[..4].copy_from_slice(&records.to_le_bytes());
    writer.bytes(block)
}

#[cfg(feature = "std")]
impl<K: ?Sized, S: BuildHasher, C: Clock> KeyedLimiter<K, S, C> {
    /// Writes all keys that are in debt to a stream, while other threads go on using the limiter; returns how many keys.
    ///
    /// Of each key the snapshot has its state at one instant of the call; different keys may have different instants. A key is
    /// never saved with more than it had when the call began. Keys that owe nothing are not in it. Sixteen bytes for each key,
    /// four kilobytes at a time. Where a quota is changed meanwhile, the snapshot is of the quota that was in force when the call
    /// began, and a key owes as many tokens in it as it does under the new one.
    ///
    /// A table knows its keys by their hashes: take a hasher that the next process can have again, such as
    /// [`SeededState`](crate::SeededState). With `RandomState`, what is saved can be restored in this process alone, by a clone of
    /// that very state.
    ///
    /// # Errors
    ///
    /// Those of the stream.
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{KeyedLimiter, Quota, SeededState};
    ///
    /// let limiter = || KeyedLimiter::<str, _>::with_hasher(Quota::per_hour(3), 1_000, SeededState::new(0x5EED));
    /// let before = limiter();
    /// assert!(before.try_acquire_n("alice", 3).is_ok());
    /// let mut file = Vec::new();
    /// assert_eq!(before.save(&mut file)?, 1);
    ///
    /// // In another process:
    /// let after = limiter().restored(file.as_slice())?;
    /// assert!(after.try_acquire("alice").is_err());
    /// assert!(after.try_acquire_n("bob", 3).is_ok());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn save(&self, mut stream: impl std::io::Write) -> std::io::Result<u64> {
        self.save_with(|bytes| stream.write_all(bytes), Moment::to_save(self.clock()))
    }

    /// The same limiter with the debts of one that was [saved](Self::save), as they would be by now.
    ///
    /// For a limiter that is new, of the same capacity, classes and hasher. A key owes what it would owe by then, to the
    /// nanosecond; where its class's tokens are no whole number of nanoseconds apart, up to two nanoseconds longer.
    ///
    /// # Errors
    ///
    /// Those of the stream, or a [`SnapshotError`] inside; in place of the limiter, so that nothing is half restored.
    pub fn restored(self, mut stream: impl std::io::Read) -> std::io::Result<Self> {
        let now = Moment::to_restore(self.clock());
        self.restored_with(|bytes| stream.read_exact(bytes), now)
    }
}
