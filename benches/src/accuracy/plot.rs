//! The differences as a drawing.

use core::fmt::Write as _;

use super::measured::{Measured, groups};
use tollgate_replay::judge::comparison::share;
use tollgate_replay::show::figures::percent;

const WIDTH: f64 = 960.0;
/// Where the zero line stands.
const MIDDLE: f64 = 520.0;
/// From the zero line to the longest bar's end.
const REACH: f64 = 300.0;
const TOP: f64 = 112.0;
const BAR: f64 = 12.0;
const GAP: f64 = 16.0;

/// Readable on white and on black.
const COLOURS: [&str; 6] = ["#3987e5", "#d95926", "#199e70", "#c98500", "#9085e9", "#d55181"];

/// Bars to the right for what was admitted against the log, to the left for what was denied against it.
///
/// Text takes the colour of its surroundings where a style sheet can say so, and a middle grey elsewhere.
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

    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" role=\"img\">\n\
         <title>Decisions that differ from an exact sliding log's</title>\n\
         <style>text{{font:13px system-ui,sans-serif;fill:#767676}}.t{{font-size:17px;font-weight:600}}.n{{font-size:10.5px}}\n\
         @media(prefers-color-scheme:dark){{text{{fill:#c9d1d9}}}}@media(prefers-color-scheme:light){{text{{fill:#424a53}}}}</style>\n\
         <text class=\"t\" x=\"16\" y=\"28\">Decisions that differ from an exact sliding log's</text>\n"
    );
    let mut x = 16.0;
    for (group, colour) in groups.iter().zip(COLOURS) {
        let label = group.iter().map(|algorithm| algorithm.name()).collect::<Vec<_>>().join(", ");
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"44\" width=\"12\" height=\"12\" rx=\"2\" fill=\"{colour}\"/><text x=\"{}\" y=\"54.5\">{label}</text>",
            x + 18.0
        );
        x += 42.0 + group.iter().map(|algorithm| 7.2 * width(algorithm.name()) + 9.0).sum::<f64>();
    }
    let _ = writeln!(
        svg,
        "<text text-anchor=\"end\" x=\"{}\" y=\"90\">denied, the log admits \u{2190}</text>",
        MIDDLE - 10.0
    );
    let _ = writeln!(svg, "<text x=\"{}\" y=\"90\">\u{2192} admitted, the log denies</text>", MIDDLE + 10.0);
    let mut y = TOP;
    for one in measured {
        let _ = writeln!(svg, "<text x=\"16\" y=\"{}\">{}</text>", y + lanes / 2.0 + 4.5, escaped(&one.name));
        for (lane, ((over, under), colour)) in bars(one).into_iter().zip(COLOURS).enumerate() {
            let top = y + BAR * f64::from(u32::try_from(lane).unwrap_or_default());
            let mut bar = |share: f64, to_the_right: bool| {
                let length = share / longest * REACH;
                let start = if to_the_right { MIDDLE } else { MIDDLE - length };
                let (anchor, label_at) =
                    if to_the_right { ("start", MIDDLE + length + 4.0) } else { ("end", MIDDLE - length - 4.0) };
                if share > 0.0 {
                    let _ = writeln!(
                        svg,
                        "<rect x=\"{start:.1}\" y=\"{:.1}\" width=\"{length:.1}\" height=\"{}\" rx=\"1\" fill=\"{colour}\"/>\
                         <text class=\"n\" text-anchor=\"{anchor}\" x=\"{label_at:.1}\" y=\"{:.1}\">{}</text>",
                        top + 1.0,
                        BAR - 2.0,
                        top + BAR - 2.5,
                        percent(share).replace('<', "&lt;"),
                    );
                }
            };
            bar(over, true);
            bar(under, false);
        }
        y += lanes + GAP;
    }
    let _ = writeln!(svg, "<path d=\"M{MIDDLE} {} V{}\" stroke=\"#8a8a86\"/>\n</svg>", TOP - 10.0, y - GAP + 8.0);
    svg
}

/// A text's length in characters.
fn width(text: &str) -> f64 {
    text.chars().map(|_| 1.0).sum()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
