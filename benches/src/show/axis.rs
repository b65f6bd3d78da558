//! [`Axis`]: from values to places.

/// A logarithmic axis: equal ratios are equally far apart.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What it shows, with its unit.
    pub name: String,
    low: f64,
    high: f64,
    ticks: Vec<(f64, String)>,
}

impl Axis {
    /// An axis with a tick at each of `ticks`, which must be positive and rising.
    pub fn at(name: &str, ticks: impl IntoIterator<Item = f64>) -> Self {
        Self::named(name, ticks.into_iter().map(|tick| (tick, label(tick))))
    }

    /// As [`Axis::at`], with a name for each tick.
    pub fn named(name: &str, ticks: impl IntoIterator<Item = (f64, impl Into<String>)>) -> Self {
        let ticks: Vec<_> = ticks.into_iter().map(|(tick, label)| (tick, label.into())).collect();
        let [low, high] = [ticks.first(), ticks.last()].map(|tick| tick.map_or(1.0, |tick| tick.0));
        Self { name: name.into(), low, high, ticks }
    }

    /// An axis that holds all of `values`, with ticks at 1, 2 and 5 times the powers of ten. Values that are not
    /// positive are left out.
    pub fn log(name: &str, values: impl IntoIterator<Item = f64>) -> Self {
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        for value in values.into_iter().filter(|value| *value > 0.0 && value.is_finite()) {
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            (low, high) = (1.0, 10.0);
        }
        let round = || (-12..=15).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power)));
        let below = round().take_while(|&tick| tick <= low * 1.000_001).last().unwrap_or(low);
        let above = round().find(|&tick| tick >= high * 0.999_999 && tick > below).unwrap_or(high);
        let ticks: Vec<_> = round().filter(|tick| (below..=above).contains(tick)).collect();
        // Beyond two or three decades the powers of ten are enough.
        let few = ticks.len() > 10;
        let ticks = ticks.into_iter().filter(|tick| !few || (tick.log10().round() - tick.log10()).abs() < 1e-9);
        Self { ticks: ticks.map(|tick| (tick, label(tick))).collect(), name: name.into(), low: below, high: above }
    }

    /// Where `value` stands: 0 at the low end, 1 at the high end. Values beyond stand at the end.
    pub fn share(&self, value: f64) -> f64 {
        if self.high <= self.low {
            return 0.5;
        }
        ((value / self.low).ln() / (self.high / self.low).ln()).clamp(0.0, 1.0)
    }

    /// The ticks and their labels.
    pub fn ticks(&self) -> &[(f64, String)] {
        &self.ticks
    }
}

/// `value` as briefly as can be: `0.5`, `20`, `5k`, `2M`.
fn label(value: f64) -> String {
    match value {
        value if value >= 1e6 => format!("{}M", round(value / 1e6)),
        value if value >= 1e4 => format!("{}k", round(value / 1e3)),
        value => round(value),
    }
}

fn round(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_enclose_the_values() {
        let axis = Axis::log("ns", [3.0, 70.0]);
        let ticks: Vec<_> = axis.ticks().iter().map(|(_, label)| label.clone()).collect();
        assert_eq!(ticks, ["2", "5", "10", "20", "50", "100"]);
        let wide: Vec<_> = Axis::log("ns", [0.02, 7e6]).ticks().iter().map(|(_, label)| label.clone()).collect();
        assert_eq!(wide, ["0.1", "1", "10", "100", "1000", "10k", "100k", "1M", "10M"]);
    }

    #[test]
    fn equal_ratios_are_equally_far_apart() {
        let axis = Axis::at("threads", [1.0, 4.0, 16.0]);
        assert!((axis.share(1.0) - 0.0).abs() < 1e-9);
        assert!((axis.share(4.0) - 0.5).abs() < 1e-9);
        assert!((axis.share(16.0) - 1.0).abs() < 1e-9);
        assert!((axis.share(64.0) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn an_axis_of_nothing_or_of_one_value_still_stands() {
        assert!(!Axis::log("x", []).ticks().is_empty());
        let one = Axis::log("x", [20.0]);
        assert!((0.0..=1.0).contains(&one.share(20.0)) && one.ticks().len() >= 2);
        assert!((Axis::at("x", [3.0]).share(3.0) - 0.5).abs() < 1e-9);
    }
}
