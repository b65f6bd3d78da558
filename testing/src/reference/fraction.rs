use core::fmt;

/// An exact, non-negative number of tokens that need not be whole.
///
/// # Examples
///
/// ```
/// use tollgate_testing::reference::Fraction;
///
/// let third = Fraction::new(1, 3);
/// assert!(third.is_less_than_one_in(2));
/// assert!(!third.is_less_than_one_in(3));
/// assert_eq!(third.to_string(), "1/3");
/// assert!(Fraction::ZERO.is_zero());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Fraction {
    numerator: u128,
    denominator: u128,
}

impl Fraction {
    /// No tokens.
    pub const ZERO: Self = Self { numerator: 0, denominator: 1 };

    /// `numerator / denominator` tokens.
    ///
    /// # Panics
    ///
    /// When the denominator is 0.
    pub const fn new(numerator: u128, denominator: u128) -> Self {
        assert!(denominator > 0, "a fraction's denominator is above zero");
        Self { numerator, denominator }
    }

    /// What stands above the line.
    pub const fn numerator(self) -> u128 {
        self.numerator
    }

    /// What stands below the line, never 0.
    pub const fn denominator(self) -> u128 {
        self.denominator
    }

    /// Whether this is exactly zero.
    pub const fn is_zero(self) -> bool {
        self.numerator == 0
    }

    /// Whether this is less than `1 / parts` of a token.
    ///
    /// A limiter that counts in units of `1 / parts` token may be early by less than one of them, never by a whole one.
    pub const fn is_less_than_one_in(self, parts: u64) -> bool {
        match self.numerator.checked_mul(parts as u128) {
            Some(scaled) => scaled < self.denominator,
            None => false, // over 2^128, and no denominator is
        }
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.numerator, self.denominator)
    }
}

#[cfg(test)]
mod tests {
    use super::Fraction;

    #[test]
    fn comparison_is_exact_at_the_edge_and_survives_overflow() {
        assert!(Fraction::new(9_999, 100_000).is_less_than_one_in(10));
        assert!(!Fraction::new(10_000, 100_000).is_less_than_one_in(10));
        assert!(!Fraction::new(u128::MAX, u128::MAX).is_less_than_one_in(u64::MAX));
        assert!(Fraction::new(1, u128::MAX).is_less_than_one_in(u64::MAX));
    }
}
