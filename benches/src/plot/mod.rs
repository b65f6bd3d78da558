//! Line plots as SVG: direct labels instead of a legend, readable on light and on dark, text as text.

pub mod axis;
pub mod labels;

use crate::engine::Kind;
use axis::Axis;
use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::io;
use std::path::Path;

/// The colour of a line or a text. Each is chosen for a light background and exchanged for a brighter one on a dark
/// background, by a style sheet in the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// This crate.
    Ours,
    /// Other crates.
    Peer,
    /// Mutexes.
    Baseline,
    /// The physical floor.
    Floor,
    /// Titles and axis labels.
    Text,
    /// Lines of the grid.
    Grid,
}

impl Ink {
    const ALL: [Self; 6] = [Self::Ours, Self::Peer, Self::Baseline, Self::Floor, Self::Text, Self::Grid];

    /// On a light background, and on a dark one.
    const fn colours(self) -> [&'static str; 2] {
        match self {
            Self::Ours => ["#0969DA", "#58A6FF"],
            Self::Peer => ["#BC4C00", "#F0883E"],
            Self::Baseline => ["#8250DF", "#BC8CFF"],
            Self::Floor => ["#1A7F37", "#3FB950"],
            Self::Text => ["#424A53", "#C9D1D9"],
            Self::Grid => ["#D1D9E0", "#30363D"],
        }
    }

    fn colour(self) -> RGBColor {
        let hex = u32::from_str_radix(&self.colours()[0][1..], 16).expect("six hexadecimal digits").to_be_bytes();
        RGBColor(hex[1], hex[2], hex[3])
    }
}

impl From<Kind> for Ink {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Ours => Self::Ours,
            Kind::Floor => Self::Floor,
            Kind::Baseline => Self::Baseline,
            Kind::Peer => Self::Peer,
        }
    }
}

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
    /// A range of the horizontal axis that is shaded, and why.
    pub shaded: Option<(f64, String)>,
    /// The lines.
    pub series: Vec<Series>,
}

/// Panels side by side under one title.
#[derive(Clone, Debug)]
pub struct Plot {
    /// What the picture shows.
    pub title: String,
    /// How it was measured.
    pub subtitle: String,
    /// The panels, from left to right.
    pub panels: Vec<Panel>,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn core::error::Error>>;

const PANEL: (u32, u32) = (600, 520);
const HEAD: u32 = 64;
const LEFT: i32 = 52;
const RIGHT: i32 = 190;
const TOP: i32 = 30;
const BOTTOM: i32 = 44;
const SMALL: f64 = 15.0;

impl Plot {
    /// Draws the plot to a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        std::fs::write(path, self.svg())
    }

    /// The picture.
    ///
    /// # Panics
    ///
    /// Never: drawing to a string cannot fail.
    pub fn svg(&self) -> String {
        let mut picture = String::new();
        let width = PANEL.0 * u32::try_from(self.panels.len().max(1)).expect("a few panels");
        self.draw(&SVGBackend::with_string(&mut picture, (width, HEAD + PANEL.1)).into_drawing_area())
            .expect("drawing to a string cannot fail");
        let body = picture.find('>').map_or(0, |end| end + 1); // behind the opening tag
        picture.insert_str(body, &style_sheet());
        picture
    }

    fn draw(&self, area: &Area<'_>) -> Drawn {
        let (head, body) = area.split_vertically(HEAD);
        text(&head, &self.title, (16, 18), Ink::Text, 22.0, HPos::Left)?;
        text(&head, &self.subtitle, (16, 42), Ink::Text, SMALL, HPos::Left)?;
        for (panel, area) in self.panels.iter().zip(body.split_evenly((1, self.panels.len().max(1)))) {
            panel.draw(&area)?;
        }
        area.present()?;
        Ok(())
    }
}

impl Panel {
    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // pixels
    fn draw(&self, area: &Area<'_>) -> Drawn {
        let (width, height) = area.dim_in_pixel();
        let (right, bottom) = (width as i32 - RIGHT, height as i32 - BOTTOM);
        let x = |value: f64| LEFT + (self.x.share(value) * f64::from(right - LEFT)).round() as i32;
        let y = |value: f64| bottom - (self.y.share(value) * f64::from(bottom - TOP)).round() as i32;
        text(area, &self.title, (LEFT, 12), Ink::Text, 18.0, HPos::Left)?;
        if let Some((from, reason)) = &self.shaded {
            let fill = Ink::Grid.colour().mix(0.35).filled();
            area.draw(&Rectangle::new([(x(*from), TOP), (right, bottom)], fill))?;
            text(area, reason, (right - 4, bottom - 10), Ink::Text, 13.0, HPos::Right)?;
        }
        for &(value, ref label) in self.y.ticks() {
            area.draw(&PathElement::new([(LEFT, y(value)), (right, y(value))], Ink::Grid.colour()))?;
            text(area, label, (LEFT - 6, y(value)), Ink::Text, SMALL, HPos::Right)?;
        }
        for &(value, ref label) in self.x.ticks() {
            area.draw(&PathElement::new([(x(value), bottom), (x(value), bottom + 4)], Ink::Text.colour()))?;
            text(area, label, (x(value), bottom + 14), Ink::Text, SMALL, HPos::Center)?;
        }
        text(area, &self.x.name, (i32::midpoint(LEFT, right), bottom + 32), Ink::Text, SMALL, HPos::Center)?;
        text(area, &self.y.name, (LEFT - 6, 14), Ink::Text, SMALL, HPos::Right)?;
        let visible = self.series.iter().filter(|series| !series.points.is_empty());
        let visible: Vec<_> = visible.collect();
        let ends: Vec<_> = visible.iter().map(|series| y(series.points[series.points.len() - 1].1)).collect();
        let places = labels::spread(&ends, 14, (TOP, bottom));
        for ((series, end), place) in visible.iter().zip(ends).zip(places) {
            let points: Vec<_> = series.points.iter().map(|&(across, up)| (x(across), y(up))).collect();
            let style = series.ink.colour().stroke_width(if series.dashed { 1 } else { 2 });
            if series.dashed {
                area.draw(&DashedPathElement::new(points.iter().copied(), 6, 4, style))?;
            } else {
                area.draw(&PathElement::new(points.clone(), style))?;
            }
            for &point in &points {
                area.draw(&Circle::new(point, 2, series.ink.colour().filled()))?;
            }
            let last = points[points.len() - 1].0;
            area.draw(&PathElement::new([(last + 4, end), (right + 14, place)], series.ink.colour().mix(0.5)))?;
            text(area, &series.label, (right + 17, place), series.ink, SMALL, HPos::Left)?;
        }
        Ok(())
    }
}

/// Writes `what` with its middle line at `at`.
fn text(area: &Area<'_>, what: &str, at: (i32, i32), ink: Ink, size: f64, anchor: HPos) -> Drawn {
    let style = ("sans-serif", size).into_font().color(&ink.colour()).pos(Pos::new(anchor, VPos::Center));
    area.draw_text(what, &style, at)?;
    Ok(())
}

/// Exchanges each colour for its brighter twin where the reader prefers a dark background.
fn style_sheet() -> String {
    let rule = |ink: Ink| {
        let [light, dark] = ink.colours();
        format!("[fill=\"{light}\"]{{fill:{dark}}}[stroke=\"{light}\"]{{stroke:{dark}}}")
    };
    let rules: String = Ink::ALL.into_iter().map(rule).collect();
    format!("\n<style>@media (prefers-color-scheme:dark){{{rules}}}</style>\n")
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
        for label in ["ours", "floor", "admit", "threads", "Mops/s", "oversubscribed", "A title &lt;with&gt; markup"] {
            assert!(svg.contains(&format!("\n{label}\n")) && svg.contains("<text"), "{label} is missing: {svg}");
        }
    }

    #[test]
    fn every_colour_has_a_twin_for_dark_backgrounds() {
        let svg = plot().svg();
        let style = &svg[svg.find("<style>").unwrap()..svg.find("</style>").unwrap()];
        let body = &svg[svg.find("</style>").unwrap()..];
        for attribute in ["fill=\"#", "stroke=\"#"] {
            for (at, _) in body.match_indices(attribute) {
                let colour = &body[at..at + attribute.len() + 7];
                assert!(style.contains(colour), "no twin for {colour}");
            }
        }
    }
}
