use super::*;

const S: u64 = 1_000_000_000;

fn read(text: &str) -> Result<u64, Malformed> {
    Instants::new(None).read(text.as_bytes())
}

#[test]
fn dates_of_web_servers() {
    // Each right side is from `date -u +%s`.
    for (date, seconds) in [
        ("01/Jan/1970:00:00:00 +0000", 0),
        ("01/Jan/1970:05:30:00 +0530", 0),
        ("31/Dec/1969:19:00:00 -0500", 0),
        ("10/Oct/2000:13:55:36 -0700", 971_211_336),
        ("10/oct/2000:13:55:36 -0700", 971_211_336),
        ("[10/Oct/2000:13:55:36 -0700]", 971_211_336),
        ("29/Feb/2000:00:00:00 +0000", 951_782_400),
        ("01/Mar/2000:00:00:00 +0000", 951_868_800),
        ("29/Feb/2024:23:59:59 +0000", 1_709_251_199),
        ("31/Dec/2016:23:59:60 +0000", 1_483_228_800),
        ("28/Feb/2100:12:00:00 +0000", 4_107_499_200),
        ("01/Mar/2100:12:00:00 +0000", 4_107_585_600),
        ("17/May/2015:10:05:03 +0000", 1_431_857_103),
        ("17/May/2015:10:05:03 +1400", 1_431_806_703),
    ] {
        assert_eq!(read(date), Ok(seconds * S), "{date}");
    }
    assert_eq!(read("10/Oct/2000:13:55:36.123 -0700"), Ok(971_211_336_123_000_000));
    for early in ["31/Dec/1969:23:59:59 +0000", "01/Jan/0001:00:00:00 +0000", "31/Dec/2999:23:59:59 +0000"] {
        assert!(matches!(read(early), Err(Malformed::OutOfRange(_))), "{early}");
    }
    for bad in [
        "29/Feb/2001:00:00:00 +0000",
        "29/Feb/2100:00:00:00 +0000",
        "31/Apr/2001:00:00:00 +0000",
        "00/Jan/2001:00:00:00 +0000",
        "32/Jan/2001:00:00:00 +0000",
        "01/Foo/2001:00:00:00 +0000",
        "01/Jan/2001:24:00:00 +0000",
        "01/Jan/2001:00:60:00 +0000",
        "01/Jan/2001:00:00:61 +0000",
        "01/Jan/2001:00:00:00 0000",
        "01/Jan/2001:00:00:00 *0000",
        "01/Jan/2001:00:00:00 +2400",
        "01/Jan/2001:00:00:00 +0060",
        "01/Jan/2001:00:00:00",
        "1/Jan/2001:00:00:00 +0000",
        "-1/Jan/2001:00:00:00 +0000",
        "01/Jan/2001:00:00:00. +0000",
        "01/Jan/2001:00:00:00.x +0000",
    ] {
        assert!(matches!(read(bad), Err(Malformed::Time(_))), "{bad}");
    }
}

#[test]
fn one_date_after_the_other() {
    let mut instants = Instants::new(None);
    for (date, seconds) in [
        ("10/Oct/2000:13:55:36 -0700", 971_211_336),
        ("10/Oct/2000:13:55:37 -0700", 971_211_337),
        ("10/Oct/2000:13:55:37 -0800", 971_214_937),
        ("10/Oct/2000:14:55:37 -0700", 971_214_937),
        ("11/Oct/2000:13:55:36 -0700", 971_297_736),
    ] {
        assert_eq!(instants.read(date.as_bytes()), Ok(seconds * S), "{date}");
    }
}

#[test]
fn iso_8601() {
    for (text, nanos) in [
        ("2000-10-10T20:55:36Z", 971_211_336 * S),
        ("2000-10-10T20:55:36z", 971_211_336 * S),
        ("2000-10-10 20:55:36Z", 971_211_336 * S),
        ("2000-10-10\t20:55:36", 971_211_336 * S),
        ("2000-10-10T13:55:36-07:00", 971_211_336 * S),
        ("2000-10-10T13:55:36-0700", 971_211_336 * S),
        ("2000-10-10 13:55:36 -0700", 971_211_336 * S),
        ("2000-10-10 20:55:36 UTC", 971_211_336 * S),
        ("2000-10-10T20:55:36.123Z", 971_211_336 * S + 123_000_000),
        ("2000-10-10T20:55:36,123Z", 971_211_336 * S + 123_000_000),
        ("2000-10-10 20:55:36.123456789 +00:00", 971_211_336 * S + 123_456_789),
        ("2000/10/10 20:55:36.5", 971_211_336 * S + 500_000_000),
        ("2000/10/10 20:55:36", 971_211_336 * S),
    ] {
        assert_eq!(read(text), Ok(nanos), "{text}");
    }
    for bad in [
        "2000-10-10",
        "2000-13-10T20:55:36Z",
        "2000-10-10T25:55:36Z",
        "2000-10-10T20:55:36X",
        "2000-10-10 20:55:36 CEST",
        "20:55:36",
        "now",
        "2000-10-10T20:55:36Z and more",
        "Oct 10 20:55:36",
    ] {
        assert!(matches!(read(bad), Err(Malformed::Time(_))), "{bad}: {:?}", read(bad));
    }
    assert!(matches!(read("1969-12-31T23:59:59Z"), Err(Malformed::OutOfRange(_))));
    let mut instants = Instants::new(None);
    assert!(instants.read(b"2000-10-10T20:55:36Z").is_ok() && !instants.without_zone());
    assert!(instants.read(b"2000-10-10T20:55:36").is_ok() && instants.without_zone());
}

#[test]
fn numbers_since_1970_in_any_unit() {
    for (text, unit, nanos) in [
        ("1700000000", Unit::S, 1_700_000_000 * S),
        ("1700000000.25", Unit::S, 1_700_000_000 * S + S / 4),
        ("1646861401.5241024", Unit::S, 1_646_861_401_524_102_400),
        ("1700000000123", Unit::Ms, 1_700_000_000_123_000_000),
        ("1700000000123.5", Unit::Ms, 1_700_000_000_123_500_000),
        ("1700000000123456", Unit::Us, 1_700_000_000_123_456_000),
        ("1700000000123456789", Unit::Ns, 1_700_000_000_123_456_789),
    ] {
        let mut instants = Instants::new(None);
        assert_eq!(instants.read(text.as_bytes()), Ok(nanos), "{text}");
        assert_eq!(instants.unit(), Some(Known::BySize(unit)), "{text}");
    }
    for size in 0..20 {
        let number = 10_u64.pow(size) + 7;
        let units = Unit::ALL.into_iter().filter(|unit| {
            let nanos = u128::from(number) * u128::from(unit.nanos());
            (946_684_800_000_000_000..4_102_444_800_000_000_000).contains(&nanos)
        });
        assert!(units.eq(Unit::of_this_century(number)), "10^{size}: at most one unit fits");
    }
}

#[test]
fn a_unit_that_cannot_be_told_is_asked_for() {
    assert!(matches!(read("12"), Err(Malformed::Unit(_))));
    assert!(matches!(read("0"), Err(Malformed::Unit(_))));
    assert_eq!(Instants::new(Some(Unit::S)).read(b"12"), Ok(12 * S));
    assert_eq!(Instants::new(Some(Unit::Ms)).read(b"12.5"), Ok(12_500_000));
    let mut assuming = Instants::new(None);
    assuming.assume_millis();
    assert_eq!(assuming.read(b"12"), Ok(12_000_000));
    assert_eq!(assuming.unit(), Some(Known::Assumed));
    assert_eq!(assuming.read(b"1700000000"), Ok(1_700_000 * S), "the first one has settled it");
}

#[test]
fn numbers_of_another_size_are_not_read_in_the_same_unit() {
    let mut instants = Instants::new(None);
    assert_eq!(instants.read(b"1700000000"), Ok(1_700_000_000 * S));
    for other in ["1700000000123", "12", "99999999999"] {
        assert!(matches!(instants.read(other.as_bytes()), Err(Malformed::OtherUnit(..))), "{other}");
    }
    assert_eq!(instants.read(b"1700000001"), Ok(1_700_000_001 * S));
}

#[test]
fn a_name_tells_the_unit() {
    for (name, unit) in [
        ("t_ms", Some(Unit::Ms)),
        ("time.us", Some(Unit::Us)),
        ("Timestamp (ns)", None),
        ("time_s", Some(Unit::S)),
        ("time-seconds", Some(Unit::S)),
        ("ms", None),
        ("timestamp", None),
        ("msec", None),
    ] {
        let mut instants = Instants::new(None);
        instants.take_unit_from(name);
        assert_eq!(instants.unit(), unit.map(Known::Told), "{name}");
    }
    let mut told = Instants::new(Some(Unit::Ns));
    told.take_unit_from("t_ms");
    assert_eq!(told.unit(), Some(Known::Told(Unit::Ns)));
}

#[test]
fn numbers_that_are_no_instant() {
    assert_eq!(read("-12"), Err(Malformed::Negative("time", "\"-12\"".to_owned())));
    assert_eq!(read(""), Err(Malformed::Missing("time")));
    assert_eq!(read("-"), Err(Malformed::Missing("time")));
    for bad in ["1.2.3", "17000000001e5", "+1700000000", "1700000000.", "1700000000.x", "\u{0663}"] {
        assert!(matches!(read(bad), Err(Malformed::Time(_))), "{bad}: {:?}", read(bad));
    }
    let mut seconds = Instants::new(Some(Unit::S));
    for large in ["18446744074", "99999999999999999999999"] {
        assert!(matches!(seconds.read(large.as_bytes()), Err(Malformed::OutOfRange(_))), "{large}");
    }
}
