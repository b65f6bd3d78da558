//! [`BuildError`]: why a limiter cannot be built for a quota.

use core::fmt;

/// Why a limiter cannot be built for a quota that is itself sound. Every variant names the limit that was broken.
///
/// A quota that is not sound is a [`QuotaError`](crate::QuotaError), and what a table of keys cannot hold a
/// [`KeyedError`](crate::KeyedError). More variants may come.
///
/// # Examples
///
/// ```
/// use tollgate::{BuildError, PackedTokenBucket, Quota};
///
/// let error = PackedTokenBucket::try_new(Quota::per_second(1_000_000)).unwrap_err();
/// let BuildError::LimitTooLarge { largest } = error else { panic!("{error}") };
/// assert!(PackedTokenBucket::try_new(Quota::per_second(1_000_000).with_burst(largest)).is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BuildError {
    /// The limiter's packed word has no room for this limit (or burst) beside a time that lasts 120 years.
    LimitTooLarge {
        /// The largest limit (or burst) that fits at this rate; 0 if none does.
        largest: u64,
    },
    /// A sliding window log cannot have this many slots.
    LogTooLong {
        /// The largest limit.
        largest: u64,
    },
    /// There is not enough memory for a sliding window log of this limit.
    OutOfMemory {
        /// How much it needs, in bytes.
        bytes: u64,
    },
    /// A sharded limiter without any shards.
    ZeroShards,
    /// More initial tokens than the limiter can hold.
    InitialTooLarge {
        /// The most that it can hold.
        largest: u64,
    },
}

impl BuildError {
    /// The message, without the limit's value: what can be said in a constant.
    const fn reason(&self) -> &'static str {
        match self {
            Self::LimitTooLarge { .. } => "the limit is too large for a packed word to last 120 years",
            Self::LogTooLong { .. } => "the limit is too large for a log with a slot for each unit",
            Self::OutOfMemory { .. } => "there is not enough memory for a log with a slot for each unit of the limit",
            Self::ZeroShards => "a sharded limiter needs at least one shard",
            Self::InitialTooLarge { .. } => "more initial tokens than the limiter can hold",
        }
    }

    /// Panics with this error's message: for constructors that are promised a valid value.
    #[cold]
    pub(crate) const fn panic(self) -> ! {
        panic!("{}", self.reason())
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())?;
        match self {
            Self::LimitTooLarge { largest } => write!(f, ": at most {largest} at this rate"),
            Self::LogTooLong { largest } | Self::InitialTooLarge { largest } => write!(f, ": at most {largest}"),
            Self::OutOfMemory { bytes } => write!(f, ": it needs {bytes} bytes"),
            Self::ZeroShards => Ok(()),
        }
    }
}

impl core::error::Error for BuildError {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn errors_say_which_limit_was_broken() {
        let messages = [
            (BuildError::ZeroShards, "at least one shard"),
            (BuildError::LimitTooLarge { largest: 10 }, ": at most 10 at this rate"),
            (BuildError::LogTooLong { largest: 11 }, ": at most 11"),
            (BuildError::InitialTooLarge { largest: 12 }, ": at most 12"),
            (BuildError::OutOfMemory { bytes: 13 }, ": it needs 13 bytes"),
        ];
        for (error, part) in messages {
            let message = error.to_string();
            assert!(message.contains(part) && message.starts_with(error.reason()), "{message}");
        }
    }
}
