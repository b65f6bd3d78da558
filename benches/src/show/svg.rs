//! [`Svg`]: a picture as text, readable on light and on dark.

use crate::engine::label::Kind;
use core::fmt::Write;

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
    /// Something else.
    Other,
    /// Something else again.
    Another,
    /// Titles and axis labels.
    Text,
    /// Lines of the grid.
    Grid,
}

impl Ink {
    /// All of them; the first six tell things apart.
    pub const ALL: [Self; 8] =
        [Self::Ours, Self::Peer, Self::Floor, Self::Baseline, Self::Other, Self::Another, Self::Text, Self::Grid];

    /// On a light background, and on a dark one.
    const fn colours(self) -> [&'static str; 2] {
        match self {
            Self::Ours => ["#0969DA", "#58A6FF"],
            Self::Peer => ["#BC4C00", "#F0883E"],
            Self::Baseline => ["#8250DF", "#BC8CFF"],
            Self::Floor => ["#1A7F37", "#3FB950"],
            Self::Other => ["#9A6700", "#D29922"],
            Self::Another => ["#BF3989", "#DB61A2"],
            Self::Text => ["#424A53", "#C9D1D9"],
            Self::Grid => ["#D1D9E0", "#30363D"],
        }
    }

    fn colour(self) -> &'static str {
        self.colours()[0]
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

/// Which point of a text stands where it is asked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its left end.
    Start,
    /// Its middle.
    Middle,
    /// Its right end.
    End,
}

/// A picture under construction. Places are pixels from the top left corner.
#[derive(Clone, Debug)]
pub struct Svg(String);

impl Svg {
    /// An empty picture.
    pub fn new(width: f64, height: f64) -> Self {
        let rule = |ink: Ink| {
            let [light, dark] = ink.colours();
            format!("[fill=\"{light}\"]{{fill:{dark}}}[stroke=\"{light}\"]{{stroke:{dark}}}")
        };
        let rules: String = Ink::ALL.into_iter().map(rule).collect();
        Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} \
             {height}\" font-family=\"system-ui,sans-serif\">\n\
             <style>@media (prefers-color-scheme:dark){{{rules}}}</style>\n"
        ))
    }

    /// Adds an element.
    fn element(&mut self, element: core::fmt::Arguments<'_>) {
        let _ = writeln!(self.0, "{element}"); // a string takes it all
    }

    /// `what`, with its middle line at `at`.
    pub fn text(&mut self, what: &str, at: (f64, f64), ink: Ink, size: f64, anchor: Anchor) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let what = what.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let (x, y, fill) = (at.0, at.1 + size * 0.35, ink.colour());
        self.element(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"{fill}\">{what}</text>"
        ));
    }

    /// A line through `points`, of this width; with dashes if `dashed`.
    pub fn line(&mut self, points: &[(f64, f64)], ink: Ink, width: f64, dashed: bool) {
        let points: Vec<_> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let style = if dashed { " stroke-dasharray=\"6 4\"" } else { "" };
        self.element(format_args!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\"{style}/>",
            points.join(" "),
            ink.colour()
        ));
    }

    /// A point.
    pub fn dot(&mut self, (x, y): (f64, f64), ink: Ink) {
        self.element(format_args!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2\" fill=\"{}\"/>", ink.colour()));
    }

    /// A filled rectangle.
    pub fn bar(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), ink: Ink, opacity: f64) {
        self.element(format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{}\" \
             fill-opacity=\"{opacity}\"/>",
            ink.colour()
        ));
    }

    /// The picture.
    pub fn finish(self) -> String {
        self.0 + "</svg>\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_colour_has_a_twin_for_dark_backgrounds_and_text_is_text() {
        let mut svg = Svg::new(10.0, 10.0);
        for ink in Ink::ALL {
            svg.text("a <b> & c", (1.0, 2.0), ink, 12.0, Anchor::Middle);
            svg.line(&[(0.0, 0.0), (1.0, 2.0)], ink, 1.0, true);
        }
        let svg = svg.finish();
        let style = &svg[svg.find("<style>").unwrap()..svg.find("</style>").unwrap()];
        let body = &svg[svg.find("</style>").unwrap()..];
        for attribute in ["fill=\"#", "stroke=\"#"] {
            let mut places = body.match_indices(attribute).peekable();
            assert!(places.peek().is_some());
            for (at, _) in places {
                let colour = &body[at..at + attribute.len() + 7];
                assert!(style.contains(colour), "no twin for {colour}");
            }
        }
        assert!(svg.contains(">a &lt;b&gt; &amp; c</text>") && svg.ends_with("</svg>\n"), "{svg}");
    }
}
