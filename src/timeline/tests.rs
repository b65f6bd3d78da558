use super::*;
use proptest::prelude::*;

/// `floor(now * tokens * 2^bits / period)` by schoolbook long division, a bit at a time; for negative bits the last
/// ones are cut off.
fn by_long_division(now: u64, tokens: u64, bits: i32, period: u64) -> u128 {
    let product = u128::from(now) * u128::from(tokens);
    let (mut quotient, mut rest) = (product / u128::from(period), product % u128::from(period));
    for _ in 0..bits {
        rest *= 2;
        quotient = quotient * 2 + u128::from(rest >= u128::from(period));
        rest %= u128::from(period);
    }
    quotient >> (-bits).max(0)
}

/// The `f` of the module's formula.
fn bits(timeline: &Timeline) -> i32 {
    match timeline.unit {
        0 => -i32::try_from(timeline.grain.bits()).unwrap(),
        unit => i32::try_from(unit.trailing_zeros()).unwrap(),
    }
}

#[test]
fn what_was_reached_on_one_clock_is_reached_on_the_other() {
    let timeline = Timeline::finest(7, 1_000_003, 7);
    for (from, to) in
        [(17, 0), (0, 17), (17, 18), (500_000, 1_000_003), (3, 3)].map(|(from, to)| (Nanos(from), Nanos(to)))
    {
        let (was, is) = (timeline.position(from), timeline.position(to));
        assert_eq!(timeline.carried(was, from, to), Some(is));
        let owed = timeline.carried(was + 5, from, to).unwrap() - is;
        assert_eq!(owed, 5 + u64::from(timeline.phase(to) > timeline.phase(from)));
    }
    assert_eq!(timeline.carried(u64::MAX, Nanos(0), Nanos(1)), None);
    assert_eq!(timeline.carried(0, Nanos(9), Nanos(0)), Some(0));
}

/// Rates and bursts over the whole range that a quota admits.
fn rates() -> impl Strategy<Value = (u64, u64, u64)> {
    (0..64u32, 0..=62u32, 0..64u32, any::<(u64, u64, u64)>())
        .prop_map(|(a, b, c, (x, y, z))| ((x >> a).max(1), (y >> (63 - b)).clamp(1, LONGEST), (z >> c).max(1)))
        .prop_filter("a scale that lasts", |&(tokens, period, burst)| {
            tokens <= most_tokens(period) && burst <= largest_burst(tokens, period)
        })
}

/// Rates that take more than a token to a unit, with bursts of every size.
fn coarse_rates() -> impl Strategy<Value = (u64, u64, u64)> {
    (0..46u32, 2..1u64 << 18, 0..64u32, any::<(u64, u64, u64)>())
        .prop_map(|(a, rate, c, (x, y, z))| {
            let period = ((x >> 18) >> a).max(1);
            (rate.saturating_mul(period).saturating_add(y % period), period, (z >> c).max(1))
        })
        .prop_filter("a scale that lasts", |&(tokens, period, burst)| {
            tokens <= most_tokens(period) && burst <= largest_burst(tokens, period)
        })
}

fn any_rates() -> impl Strategy<Value = (u64, u64, u64)> {
    prop_oneof![rates(), coarse_rates()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn positions_are_exact_floors((tokens, period, burst) in any_rates(), now: u64, shift in 0..64u32) {
        let timeline = Timeline::finest(tokens, period, burst);
        let (end, bits) = (Timeline::END.0, bits(&timeline));
        for now in [now >> shift, end, end - 1, u64::MAX] {
            let exact = by_long_division(now.min(end), tokens, bits, period);
            prop_assert_eq!(u128::from(timeline.position(Nanos(now))), exact);
            let burst = if bits < 0 { u128::from(burst).div_ceil(1 << -bits) } else { u128::from(burst) << bits };
            prop_assert!(exact + burst <= u128::from(u64::MAX));
        }
    }

    #[test]
    fn the_inverse_is_the_first_instant((tokens, period, burst) in any_rates(), x: u64, shift in 0..64u32) {
        let timeline = Timeline::finest(tokens, period, burst);
        let last = timeline.position(Nanos::MAX);
        let x = (x >> shift).clamp(1, last.max(1));
        let due = timeline.instant(x);
        if x <= last {
            prop_assert!(due <= Timeline::END && timeline.position(due) >= x);
            prop_assert!(timeline.position(Nanos(due.0 - 1)) < x);
        } else {
            prop_assert_eq!(due, Nanos::MAX);
        }
        prop_assert_eq!(timeline.instant(last + 1), Nanos::MAX, "it never comes");
    }

    /// Where a unit is more than a token, it takes between a quarter and a whole nanosecond; otherwise less than half
    /// a nanosecond, unless a burst needs the bits.
    #[test]
    fn a_unit_of_many_tokens_takes_a_nanosecond_at_most((tokens, period, burst) in coarse_rates()) {
        let timeline = Timeline::finest(tokens, period, burst);
        let per_nano = timeline.position(Nanos(1 << 61)) >> 61;
        prop_assert!(per_nano >= u64::from(timeline.unit <= 1) && per_nano < 4);
        prop_assert!(timeline.unit <= 2);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    /// One more does not fit.
    #[test]
    fn the_limits_that_errors_name_are_the_last_that_fit((tokens, period, _) in any_rates()) {
        let lasts = |tokens, burst| Timeline::finest_beside(tokens, period, burst, 0).is_some();
        let most = most_tokens(period);
        prop_assert!(lasts(most, 1) && (most == u64::MAX || !lasts(most + 1, 1)));
        let largest = largest_burst(tokens, period);
        prop_assert!(lasts(tokens, largest) && (largest == u64::MAX || !lasts(tokens, largest + 1)));
    }

    /// What is left of positions where other things share the word is as exact.
    #[test]
    fn a_scale_beside_other_bits_leaves_them_free((tokens, period, burst) in any_rates(), spare in 0..8_u32) {
        if let Some(timeline) = Timeline::finest_beside(tokens, period, burst, spare) {
            let last = timeline.position(Nanos::MAX);
            prop_assert_eq!(u128::from(last), by_long_division(Timeline::END.0, tokens, bits(&timeline), period));
            prop_assert!(u128::from(last) + u128::from(timeline.cost(burst).unwrap()) <= u128::from(u64::MAX >> spare));
        }
    }
}

#[test]
fn instants_around_every_multiple_of_an_awkward_period_are_exact() {
    for period in [3, 7, 1_000_000_007, LONGEST - 1, LONGEST, (1 << 61) + 1] {
        let timeline = Timeline::whole(1, period);
        for k in [1, 2, 3, LONGEST / period / 2, LONGEST / period] {
            let tick = period.saturating_mul(k);
            if tick < LONGEST && k > 0 {
                assert_eq!(timeline.position(Nanos(tick)), k);
                assert_eq!(timeline.position(Nanos(tick - 1)), k - 1);
            }
        }
    }
}

#[test]
fn a_unit_is_at_most_half_a_nanosecond_where_the_burst_leaves_room() {
    for (tokens, period, burst) in
        [(1, 30 * 86_400_000_000_000, 100), (1, 1_000_000_000, 1_000), (700, 1_000, 1 << 60), (2, 1, 1_000)]
    {
        let timeline = Timeline::finest(tokens, period, burst);
        let per_nano = u128::from(tokens) * u128::from(timeline.unit) / u128::from(period);
        assert!((2..4).contains(&per_nano), "{per_nano} units per ns");
    }
}
