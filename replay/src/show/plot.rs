//! What was offered and admitted over time, and the worst clients, as a picture.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::found::{Found, Worst};
use super::output::shown;
use crate::figures::{count, span};

const WIDTH: u32 = 900;
/// Of what is drawn over time.
const COURSE: u32 = 360;
/// Of one client.
const BAR: i32 = 24;
const OFFERED: RGBColor = RGBColor(0xC0, 0x55, 0x2D);
const ADMITTED: RGBColor = RGBColor(0x2B, 0x6C, 0xB0);
const INK: RGBColor = RGBColor(0x42, 0x4A, 0x53);

/// The picture, in SVG.
///
/// # Panics
///
/// Never: a string takes all that is drawn on it.
pub fn svg(found: &Found) -> String {
    let worst = found.worst();
    let bars = if worst.is_empty() { 0 } else { 48 + BAR.unsigned_abs() * u32::try_from(worst.len()).unwrap_or(1_000) };
    let mut text = String::new();
    {
        let whole = SVGBackend::with_string(&mut text, (WIDTH, COURSE + bars)).into_drawing_area();
        let (above, below) = whole.split_vertically(COURSE);
        whole
            .fill(&WHITE)
            .and_then(|()| draw_course(&above, found))
            .and_then(|()| if worst.is_empty() { Ok(()) } else { draw_worst(&below, &worst, found.judge()) })
            .and_then(|()| whole.present())
            .expect("a string takes all");
    }
    text
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<<SVGBackend<'static> as DrawingBackend>::ErrorType>>;

#[allow(clippy::cast_precision_loss)] // a picture
fn draw_course(area: &Area<'_>, found: &Found) -> Drawn {
    let (course, judge) = (&found.course, found.judge());
    let length = course.length().as_secs_f64();
    let rate = |tokens: u64| tokens as f64 / length;
    let most = course.stretches().iter().map(|one| rate(one.offered)).fold(f64::MIN_POSITIVE, f64::max);
    let end = course.stretches().len() as f64 * length;
    let mut chart = ChartBuilder::on(area)
        .caption("Tokens per second", ("sans-serif", 18).into_font().color(&INK))
        .margin(12)
        .x_label_area_size(32)
        .y_label_area_size(72)
        .build_cartesian_2d(0.0..end, 0.0..most * 1.05)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .x_labels(6)
        .x_label_formatter(&|&seconds| span(core::time::Duration::from_secs_f64(seconds.max(0.0))))
        .label_style(("sans-serif", 12).into_font().color(&INK))
        .draw()?;
    let steps = |tokens: fn(&crate::judge::course::Stretch) -> u64| {
        let points = course.stretches().iter().enumerate().flat_map(move |(place, one)| {
            let start = place as f64 * length;
            [(start, rate(tokens(one))), (start + length, rate(tokens(one)))]
        });
        points.collect::<Vec<_>>()
    };
    let key = |colour: RGBColor| move |(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], colour.filled());
    chart.draw_series(LineSeries::new(steps(|one| one.offered), OFFERED))?.label("offered").legend(key(OFFERED));
    chart
        .draw_series(LineSeries::new(steps(|one| one.admitted), ADMITTED))?
        .label(format!("admitted by {judge}"))
        .legend(key(ADMITTED));
    chart.configure_series_labels().background_style(WHITE.mix(0.8)).border_style(TRANSPARENT).draw()?;
    Ok(())
}

#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)] // a picture
fn draw_worst(area: &Area<'_>, worst: &[Worst<'_>], judge: &str) -> Drawn {
    const LEFT: i32 = 330;
    const REACH: f64 = 440.0;
    let style = ("sans-serif", 13).into_font().color(&INK);
    area.draw(&Text::new(format!("Worst clients: admitted and denied by {judge}"), (16, 12), style.clone()))?;
    let most = worst.iter().map(|one| one.arrivals).max().unwrap_or(1).max(1) as f64;
    for (place, one) in (0..).zip(worst) {
        let top = 38 + place * BAR;
        let length = |arrivals: u64| (arrivals as f64 / most * REACH).round() as i32;
        let (middle, end) = (LEFT + length(one.arrivals - one.denied), LEFT + length(one.arrivals));
        area.draw(&Text::new(shown(one.name), (16, top + 3), style.clone()))?;
        area.draw(&Rectangle::new([(LEFT, top), (middle, top + BAR - 6)], ADMITTED.filled()))?;
        area.draw(&Rectangle::new([(middle, top), (end, top + BAR - 6)], OFFERED.filled()))?;
        let label = format!("{} of {} denied", count(one.denied), count(one.arrivals));
        area.draw(&Text::new(label, (end + 6, top + 3), style.clone()))?;
    }
    Ok(())
}
