use super::{Fraction, Model};
use tollgate::Nanos;

/// A model that counts units of many tokens: each cost is rounded up to whole units, what is given back is rounded down.
///
/// The model inside was made for a quota in units: `ceil(most / unit)` of them where there can be `most` tokens. The part of
/// the last unit that there is not is paid for by every call, so that all calls together get no more than `most`.
///
/// # Examples
///
/// ```
/// use core::time::Duration;
/// use tollgate_testing::reference::{FixedWindow, InUnits, Model};
/// use tollgate::{Nanos, Quota};
///
/// // Ten tokens in units of four: three units, the last of which has two tokens.
/// let mut window = InUnits::new(FixedWindow::new(Quota::per(3, Duration::from_secs(1))), 4, 10);
/// assert_eq!(window.available(Nanos::ZERO), 10);
/// assert!(window.admit(3, Nanos::ZERO)); // as much as four and two are: two units
/// assert_eq!(window.available(Nanos::ZERO), 2);
/// ```
#[derive(Clone, Debug)]
pub struct InUnits<M> {
    model: M,
    unit: u64,
    missing: u64,
}

impl<M> InUnits<M> {
    /// `model` in units of `unit` tokens, where there can be `most`.
    pub fn new(model: M, unit: u64, most: u64) -> Self {
        let over = most % unit;
        Self { model, unit, missing: if over == 0 { 0 } else { unit - over } }
    }

    /// How many units a cost of `n` tokens is.
    fn units(&self, n: u64) -> u64 {
        if n == 0 {
            return 0;
        }
        let units = (u128::from(n) + u128::from(self.missing)).div_ceil(self.unit.into());
        u64::try_from(units).expect("at most one more than tokens")
    }
}

impl<M: Model> Model for InUnits<M> {
    /// In units.
    fn shortfall(&self, n: u64, now: Nanos) -> Fraction {
        self.model.shortfall(self.units(n), now)
    }

    fn charge(&mut self, n: u64, now: Nanos) -> Fraction {
        self.model.charge(self.units(n), now)
    }

    fn refund(&mut self, n: u64, taken: Nanos) {
        self.model.refund(n / self.unit, taken);
    }
}
