//! [`Plot`]: line plots with direct labels instead of a legend.

use super::axis::Axis;
use super::labels;
use super::svg::{Anchor, Ink, Svg};

/// One line.
#[derive(Clone, Debug)]
pub struct Series {
    /// What stands at its end.
    pub label: String,
    /// Its colour.
    pub ink: Ink,
    /// Drawn with dashes.
    pub dashed: bool,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// One coordinate system.
#[derive(Clone, Debug)]
pub struct Panel {
    /// What stands above it.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// From where on the horizontal axis is shaded, and why.
    pub shaded: Option<(f64, String)>,
    /// The lines.
    pub series: Vec<Series>,
}

/// Panels under one title.
#[derive(Clone, Debug)]
pub struct Plot {
    /// What the picture shows.
    pub title: String,
    /// How it was measured.
    pub subtitle: String,
    /// The panels, from left to right and then from the top down.
    pub panels: Vec<Panel>,
}

const PANEL: (f64, f64) = (600.0, 520.0);
const HEAD: f64 = 64.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = PANEL.0 - 190.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = PANEL.1 - 44.0;
const SMALL: f64 = 13.0;
/// From the end of the horizontal axis to the labels of the lines.
const TO_LABELS: f64 = 17.0;
/// No label's letters are wider on average.
const LETTER: f64 = 0.56 * SMALL;
/// The most panels that stand side by side.
const ACROSS: usize = 3;

impl Plot {
    /// The picture.
    pub fn svg(&self) -> String {
        let width = self.panel_width();
        let wide = self.panels.iter().take(ACROSS).map(|_| width).sum::<f64>().max(width);
        let high = self.panels.chunks(ACROSS).map(|_| PANEL.1).sum::<f64>().max(PANEL.1);
        let mut svg = Svg::new(wide, HEAD + high);
        svg.text(&self.title, (16.0, 18.0), Ink::Text, 19.0, Anchor::Start);
        svg.text(&self.subtitle, (16.0, 42.0), Ink::Text, SMALL, Anchor::Start);
        let mut at = (0.0, HEAD);
        for line in self.panels.chunks(ACROSS) {
            for panel in line {
                panel.draw(&mut svg, at);
                at.0 += width;
            }
            at = (0.0, at.1 + PANEL.1);
        }
        svg.finish()
    }

    /// Wide enough for the longest label.
    #[allow(clippy::cast_precision_loss)] // a few letters
    fn panel_width(&self) -> f64 {
        let labels = self.panels.iter().flat_map(|panel| &panel.series).map(|series| series.label.chars().count());
        PANEL.0.max((RIGHT + TO_LABELS + LETTER * labels.max().unwrap_or(0) as f64 + SMALL).ceil())
    }
}

impl Panel {
    /// Draws the panel with its upper left corner at `at`.
    fn draw(&self, svg: &mut Svg, at: (f64, f64)) {
        let (left, right, top, bottom) = (at.0 + LEFT, at.0 + RIGHT, at.1 + TOP, at.1 + BOTTOM);
        let x = |value: f64| left + self.x.share(value) * (right - left);
        let y = |value: f64| bottom - self.y.share(value) * (bottom - top);
        let title = format!("{}, {}", self.title, self.y.name);
        svg.text(&title, (left, at.1 + 12.0), Ink::Text, 16.0, Anchor::Start);
        if let Some((from, reason)) = &self.shaded {
            svg.bar((x(*from), top), (right - x(*from), bottom - top), Ink::Grid, 0.35);
            svg.text(reason, (right - 4.0, bottom - 10.0), Ink::Text, 11.0, Anchor::End);
        }
        for &(value, ref label) in self.y.ticks() {
            svg.line(&[(left, y(value)), (right, y(value))], Ink::Grid, 1.0, false);
            svg.text(label, (left - 6.0, y(value)), Ink::Text, SMALL, Anchor::End);
        }
        for &(value, ref label) in self.x.ticks() {
            svg.line(&[(x(value), bottom), (x(value), bottom + 4.0)], Ink::Text, 1.0, false);
            svg.text(label, (x(value), bottom + 14.0), Ink::Text, SMALL, Anchor::Middle);
        }
        svg.text(&self.x.name, (f64::midpoint(left, right), bottom + 32.0), Ink::Text, SMALL, Anchor::Middle);
        let visible: Vec<_> = self.series.iter().filter(|series| !series.points.is_empty()).collect();
        let ends: Vec<_> = visible.iter().map(|series| y(series.points[series.points.len() - 1].1)).collect();
        let places = labels::spread(&ends, 14.0, (top, bottom));
        for ((series, end), place) in visible.iter().zip(ends).zip(places) {
            let points: Vec<_> = series.points.iter().map(|&(across, up)| (x(across), y(up))).collect();
            svg.line(&points, series.ink, if series.dashed { 1.0 } else { 2.0 }, series.dashed);
            for &point in &points {
                svg.dot(point, series.ink);
            }
            let last = points[points.len() - 1].0;
            svg.line(&[(last + 4.0, end), (right + TO_LABELS - 3.0, place)], series.ink, 0.5, false);
            svg.text(&series.label, (right + TO_LABELS, place), series.ink, SMALL, Anchor::Start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot() -> Plot {
        let series = |label: &str, ink, dashed| Series {
            label: label.into(),
            ink,
            dashed,
            points: vec![(1.0, 10.0), (2.0, 20.0), (16.0, 15.0)],
        };
        Plot {
            title: "A title <with> markup".into(),
            subtitle: "and how".into(),
            panels: vec![Panel {
                title: "admit".into(),
                x: Axis::log("threads", [1.0, 2.0, 16.0]),
                y: Axis::log("Mops/s", [10.0, 20.0]),
                shaded: Some((2.0, "oversubscribed".into())),
                series: vec![series("ours", Ink::Ours, false), series("floor", Ink::Floor, true)],
            }],
        }
    }

    #[test]
    fn text_is_text_and_labels_stand_in_the_picture() {
        let svg = plot().svg();
        for label in ["ours", "floor", "admit, Mops/s", "threads", "oversubscribed", "A title &lt;with&gt; markup"] {
            assert!(svg.contains(&format!(">{label}</text>")), "{label} is missing: {svg}");
        }
    }

    #[test]
    fn panels_stand_in_rows() {
        let panel = plot().panels[0].clone();
        let size = |panels| Plot { panels: vec![panel.clone(); panels], ..plot() }.svg();
        assert!(size(2).contains("width=\"1200\" height=\"584\""), "one row");
        assert!(size(5).contains("width=\"1800\" height=\"1104\""), "two rows");
        assert_eq!(size(5).matches(">admit, Mops/s<").count(), 5);
    }

    #[test]
    fn the_longest_label_ends_within_the_picture() {
        let mut plot = plot();
        assert!(plot.svg().contains("width=\"600\""));
        plot.panels[0].series[0].label = "a label of thirty-two characters".into();
        let width: f64 =
            plot.svg().split('"').skip_while(|part| !part.ends_with("width=")).nth(1).unwrap().parse().unwrap();
        assert!(width > RIGHT + TO_LABELS + 32.0 * 7.0, "{width}");
    }
}
