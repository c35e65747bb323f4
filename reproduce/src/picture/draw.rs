//! Charts as SVG within a page, in the page's colours.
//!
//! `plotters` knows fixed colours only. So charts are drawn in colours that stand for the page's,
//! and these are put in their places afterwards.

use super::{Axis, Chart, Series, Style};
use plotters::coord::Shift;
use plotters::coord::combinators::LogCoord;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use std::ops::Range;

const SIZE: (u32, u32) = (820, 380); // pixels
/// Stand for `--ink`, `--soft`, `--grid`, and colours of series.
const INK: RGBColor = RGBColor(1, 0, 1);
const SOFT: RGBColor = RGBColor(1, 0, 2);
const GRID: RGBColor = RGBColor(1, 0, 3);
const PAPER: RGBColor = RGBColor(1, 0, 4);
const SERIES: [RGBColor; 5] =
    [RGBColor(2, 0, 0), RGBColor(2, 0, 1), RGBColor(2, 0, 2), RGBColor(2, 0, 3), RGBColor(2, 0, 4)];

type Failed = DrawingAreaErrorKind<std::io::Error>;

/// The chart; words instead where it cannot be drawn.
pub(super) fn svg(chart: &Chart) -> String {
    let mut svg = String::new();
    let drawn = draw(chart, &SVGBackend::with_string(&mut svg, SIZE).into_drawing_area());
    if let Err(why) = drawn {
        let title = crate::report::escaped(&chart.title);
        return format!("<p>{title}: cannot be drawn: {}</p>", crate::report::escaped(&why));
    }
    themed(&svg, &chart.title)
}

/// With the page's colours, its width and a name.
fn themed(svg: &str, title: &str) -> String {
    let hex = |RGBColor(r, g, b): RGBColor| format!("\"#{r:02X}{g:02X}{b:02X}\"");
    let mut svg = svg.to_owned();
    for (colour, name) in [(INK, "ink"), (SOFT, "soft"), (GRID, "grid"), (PAPER, "paper")] {
        svg = svg.replace(&hex(colour), &format!("\"var(--{name})\""));
    }
    for (index, colour) in SERIES.iter().enumerate() {
        svg = svg.replace(&hex(*colour), &format!("\"var(--c{index})\""));
    }
    let (width, height) = SIZE;
    let begin = svg.find("viewBox").unwrap_or(0);
    let rest = svg.get(begin..).unwrap_or("");
    let rest = rest.replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1);
    let title = crate::report::escaped(title);
    let size = format!("width=\"{width}\" height=\"{height}\"");
    format!("<svg role=\"img\" aria-label=\"{title}\" {size} {rest}")
}

/// An axis of either kind.
enum Scale {
    Even(RangedCoordf64),
    Log(LogCoord<f64>),
}

impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        match self {
            Self::Even(scale) => scale.map(value, limit),
            Self::Log(scale) => scale.map(value, limit),
        }
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        match self {
            Self::Even(scale) => scale.key_points(hint),
            Self::Log(scale) => scale.key_points(hint),
        }
    }

    fn range(&self) -> Range<f64> {
        match self {
            Self::Even(scale) => scale.range(),
            Self::Log(scale) => scale.range(),
        }
    }
}

impl ValueFormatter<f64> for Scale {
    fn format_ext(&self, value: &f64) -> String {
        crate::report::number(*value)
    }
}

impl Scale {
    /// Over all values of an axis, with some room.
    fn of(axis: &Axis, values: impl Iterator<Item = f64>) -> Self {
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| value.is_finite() && (!axis.log || *value > 0.0)) {
            (least, most) = (least.min(value), most.max(value));
        }
        if least > most {
            (least, most) = (0.0, 1.0);
        }
        if axis.log {
            let [from, to] = axis.range.unwrap_or([least / 1.3, most * 1.3]);
            return Self::Log((from.max(1e-12)..to.max(from.max(1e-12) * 2.0)).log_scale().into());
        }
        let from = if least >= 0.0 { 0.0 } else { least * 1.06 };
        let to = if most > from { most + (most - from) * 0.06 } else { from + 1.0 };
        let [from, to] = axis.range.unwrap_or([from, to]);
        Self::Even((from..to).into())
    }
}

fn draw(chart: &Chart, area: &DrawingArea<SVGBackend<'_>, Shift>) -> Result<(), String> {
    let points = || chart.series.iter().flat_map(extents);
    let marked = |upright| {
        chart.marks.iter().filter(move |mark| mark.upright == upright).map(|mark| mark.at)
    };
    let x = Scale::of(&chart.x, points().map(|[x, _]| x).chain(marked(true)));
    let y = Scale::of(&chart.y, points().map(|[_, y]| y).chain(marked(false)));
    compose(chart, area, x, y).map_err(|error| error.to_string())
}

/// The corners of what a series takes.
fn extents(series: &Series) -> Vec<[f64; 2]> {
    let corners = |[x, y, _]: &[f64; 3]| match series.style {
        Style::Line | Style::Points => vec![[*x, *y]],
        Style::Bars(width) => vec![[*x, *y], [x + width, 0.0]],
        Style::Cells(width, height) => vec![[*x, *y], [x + width, y + height]],
    };
    series.points.iter().flat_map(corners).collect()
}

fn compose(
    chart: &Chart,
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    x: Scale,
    y: Scale,
) -> Result<(), Failed> {
    let (x_range, y_range) = (x.range(), y.range());
    let mut drawn = ChartBuilder::on(area)
        .margin(10)
        .margin_right(24)
        .x_label_area_size(44)
        .y_label_area_size(74)
        .build_cartesian_2d(x, y)?;
    let text = |colour: &RGBColor| ("sans-serif", 13).into_font().color(colour);
    drawn
        .configure_mesh()
        .x_desc(&chart.x.label)
        .y_desc(&chart.y.label)
        .axis_style(SOFT)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .x_labels(10)
        .y_labels(8)
        .label_style(text(&SOFT))
        .axis_desc_style(text(&INK))
        .draw()?;
    for (series, colour) in chart.series.iter().zip(SERIES.iter().cycle()) {
        let shown: Vec<[f64; 3]> = (series.points.iter().copied())
            .filter(|[x, y, _]| x.is_finite() && y.is_finite())
            .filter(|[x, y, _]| (!chart.x.log || *x > 0.0) && (!chart.y.log || *y > 0.0))
            .collect();
        let most = shown.iter().map(|[_, _, count]| *count).fold(1.0, f64::max);
        let low = y_range.start;
        let legend = match series.style {
            Style::Line => {
                let line = shown.iter().map(|[x, y, _]| (*x, *y));
                drawn.draw_series(LineSeries::new(line, colour.stroke_width(2)))?;
                let dots = shown.iter().map(|[x, y, _]| Circle::new((*x, *y), 2, colour.filled()));
                drawn.draw_series(dots)?
            }
            Style::Points => {
                let dots = shown.iter().map(|[x, y, _]| Circle::new((*x, *y), 3, colour.filled()));
                drawn.draw_series(dots)?
            }
            Style::Bars(width) => {
                drawn.draw_series(shown.iter().map(|[x, y, _]| {
                    Rectangle::new([(*x, low), (x + width, *y)], colour.filled())
                }))?
            }
            Style::Cells(width, height) => {
                drawn.draw_series(shown.iter().map(|[x, y, count]| {
                    // A cell with one is seen, too.
                    let shade = 0.25 + 0.75 * count.ln_1p() / most.ln_1p();
                    Rectangle::new([(*x, *y), (x + width, y + height)], colour.mix(shade).filled())
                }))?
            }
        };
        if !series.name.is_empty() {
            let colour = *colour;
            legend.label(&series.name).legend(move |(x, y)| {
                Rectangle::new([(x, y - 4), (x + 14, y + 4)], colour.filled())
            });
        }
    }
    for mark in &chart.marks {
        let line = if mark.upright {
            [(mark.at, y_range.start), (mark.at, y_range.end)]
        } else {
            [(x_range.start, mark.at), (x_range.end, mark.at)]
        };
        drawn.draw_series(LineSeries::new(line, SERIES[1].stroke_width(1)))?;
        let at = if mark.upright { (mark.at, y_range.end) } else { (x_range.end, mark.at) };
        let (x, y) = drawn.backend_coord(&at);
        let width = i32::try_from(8 * mark.label.len()).unwrap_or(i32::MAX); // some 8 pixels a letter
        let place = if mark.upright { (x + 4, y + 4) } else { (x.saturating_sub(width), y - 15) };
        area.draw_text(&mark.label, &text(&SERIES[1]), place)?;
    }
    if chart.series.iter().any(|series| !series.name.is_empty()) {
        drawn
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .background_style(PAPER.filled())
            .border_style(GRID)
            .label_font(text(&INK))
            .draw()?;
    }
    area.present()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::Mark;

    fn chart() -> Chart {
        Chart {
            title: "Rates & more".to_owned(),
            x: Axis::log("octets"),
            y: Axis::new("Mbit/s"),
            series: vec![
                Series::line("ours", [(100.0, 1.0), (1000.0, 10.0), (0.0, 5.0)]),
                Series::points("published", [(100.0, 0.5)]),
                Series::new("", Style::Bars(3.0), [(100.0, 0.5)]),
                Series {
                    name: String::new(),
                    style: Style::Cells(9.0, 1.0),
                    points: vec![[200.0, 2.0, 7.0]],
                },
            ],
            marks: vec![Mark { upright: false, at: 4.0, label: "limit".to_owned() }],
        }
    }

    /// Colours stand for the page's: none is left that would not be seen on dark paper.
    #[test]
    fn all_colours_are_the_pages() {
        let svg = svg(&chart());
        assert!(svg.starts_with("<svg role=\"img\" aria-label=\"Rates &amp; more\""), "{svg}");
        assert!(svg.contains("var(--c0)") && svg.contains("var(--ink)") && svg.contains("limit"));
        assert!(!svg.contains("\"#") && !svg.contains("http"), "{svg}");
    }

    #[test]
    fn a_chart_without_points_is_drawn() {
        let empty = Chart { series: vec![Series::line("", [])], ..chart() };
        assert!(svg(&empty).contains("octets"));
        let even =
            Chart { x: Axis::new("x"), series: vec![Series::points("", [(0.0, 0.0)])], ..chart() };
        assert!(svg(&even).contains("<svg"));
    }
}
