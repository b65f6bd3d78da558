//! The differences as a drawing.

use super::measured::{Measured, groups};
use crate::show::svg::{Anchor, Ink, Svg};
use tollgate_replay::figures::percent;
use tollgate_replay::judge::tally::share;

const WIDTH: f64 = 960.0;
/// Where the zero line stands.
const MIDDLE: f64 = 520.0;
/// From the zero line to the longest bar's end.
const REACH: f64 = 300.0;
const TOP: f64 = 112.0;
const BAR: f64 = 12.0;
const GAP: f64 = 16.0;
const SMALL: f64 = 13.0;

/// Bars to the right for what was admitted against the log, to the left for what was denied against it.
pub(super) fn svg(measured: &[Measured]) -> String {
    // What never differs needs no bars.
    let differs = |group: &Vec<_>| {
        measured.iter().any(|one| one.tally(group[0]).is_some_and(|tally| tally.over + tally.under > 0))
    };
    let groups: Vec<_> = groups(measured).into_iter().filter(differs).collect();
    let bars = |one: &Measured| -> Vec<(f64, f64)> {
        let tallies = groups.iter().map(|group| one.tally(group[0]));
        tallies
            .map(|tally| tally.map_or((0.0, 0.0), |t| (share(t.over, one.arrivals), share(t.under, one.arrivals))))
            .collect()
    };
    let longest = measured.iter().flat_map(bars).fold(0.01, |longest: f64, (over, under)| longest.max(over).max(under));
    let lanes: f64 = groups.iter().map(|_| BAR).sum();
    let height = TOP + measured.iter().map(|_| lanes + GAP).sum::<f64>() + 24.0;

    let mut svg = Svg::new(WIDTH, height);
    svg.text("Decisions that differ from an exact sliding log's", (16.0, 22.0), Ink::Text, 17.0, Anchor::Start);
    let mut x = 16.0;
    for (group, ink) in groups.iter().zip(Ink::ALL) {
        let label = group.iter().map(|algorithm| algorithm.name()).collect::<Vec<_>>().join(", ");
        svg.bar((x, 44.0), (12.0, 12.0), ink, 1.0);
        svg.text(&label, (x + 18.0, 50.0), Ink::Text, SMALL, Anchor::Start);
        x += 42.0 + label.chars().map(|_| 7.2).sum::<f64>();
    }
    svg.text("denied, the log admits \u{2190}", (MIDDLE - 10.0, 85.0), Ink::Text, SMALL, Anchor::End);
    svg.text("\u{2192} admitted, the log denies", (MIDDLE + 10.0, 85.0), Ink::Text, SMALL, Anchor::Start);
    let mut y = TOP;
    for one in measured {
        svg.text(&one.name, (16.0, y + lanes / 2.0), Ink::Text, SMALL, Anchor::Start);
        for ((over, under), ink) in bars(one).into_iter().zip(Ink::ALL) {
            let [right, left] = [over, under].map(|share| share / longest * REACH);
            if over > 0.0 {
                svg.bar((MIDDLE, y + 1.0), (right, BAR - 2.0), ink, 1.0);
                svg.text(&percent(over), (MIDDLE + right + 4.0, y + BAR / 2.0), Ink::Text, 10.5, Anchor::Start);
            }
            if under > 0.0 {
                svg.bar((MIDDLE - left, y + 1.0), (left, BAR - 2.0), ink, 1.0);
                svg.text(&percent(under), (MIDDLE - left - 4.0, y + BAR / 2.0), Ink::Text, 10.5, Anchor::End);
            }
            y += BAR;
        }
        y += GAP;
    }
    svg.line(&[(MIDDLE, TOP - 10.0), (MIDDLE, y - GAP + 8.0)], Ink::Grid, 1.0, false);
    svg.finish()
}
