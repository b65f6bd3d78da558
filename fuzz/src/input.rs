//! What bytes are read as.

use arbitrary::{Arbitrary, Unstructured};
use core::time::Duration;
use tollgate::{Quota, QuotaError};

/// Reads an input that starts with `T`; `None` if there are not enough bytes to make sense.
pub(crate) fn read<T: for<'a> Arbitrary<'a>>(data: &[u8]) -> Option<T> {
    Unstructured::new(data).arbitrary().ok()
}

/// A number of any length in bits: all lengths alike.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) struct Number {
    shift: u8,
    bits: u64,
}

impl Number {
    pub(crate) fn get(self) -> u64 {
        self.bits >> (self.shift % 64)
    }

    pub(crate) fn positive(self) -> u64 {
        self.get().max(1)
    }

    /// At most `last`.
    pub(crate) fn up_to(self, last: u64) -> u64 {
        self.get() % last.saturating_add(1).max(1)
    }
}

/// A quota as somebody might ask for it.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) struct Wish {
    pub(crate) tokens: Number,
    seconds: Number,
    nanos: Number,
    pub(crate) burst: Number,
}

impl Wish {
    pub(crate) fn period(self) -> Duration {
        Duration::from_secs(self.seconds.get()).saturating_add(Duration::from_nanos(self.nanos.get()))
    }

    /// The quota, or the nearest one that the error points to.
    pub(crate) fn granted(self) -> Quota {
        let (mut tokens, mut period, mut burst) = (self.tokens.positive(), self.period(), self.burst.positive());
        loop {
            match Quota::try_new(tokens, period, burst) {
                Ok(quota) => return quota,
                Err(QuotaError::ZeroPeriod) => period = Duration::from_nanos(1),
                Err(QuotaError::PeriodTooLong { longest }) => period = longest,
                Err(QuotaError::RateTooHigh { most, .. }) => tokens = most,
                Err(QuotaError::BurstTooLarge { largest }) => burst = largest,
                Err(other) => panic!("neither tokens nor burst is zero: {other}"),
            }
        }
    }
}
