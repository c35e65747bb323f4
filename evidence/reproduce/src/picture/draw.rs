//! Charts as SVG within a page, in the page's colours.

use super::{Axis, Chart, Series, Style};
use chronoscope_figures::charts::{self, Area};
use chronoscope_figures::svg;
use chronoscope_figures::theme::{Colour, Theme};

const WIDTH: f64 = 820.0; // pixels
const HEIGHT: f64 = 380.0; // pixels

/// The chart.
pub(super) fn svg(chart: &Chart) -> String {
    let marks = chart.marks.iter().map(|mark| charts::Mark {
        upright: mark.upright,
        at: mark.at,
        label: mark.label.clone(),
    });
    // The title is the page's, above the picture.
    let drawn = charts::Chart {
        series: chart.series.iter().enumerate().map(series).collect(),
        marks: marks.collect(),
        ..charts::Chart::new("", axis(&chart.x), axis(&chart.y))
    };
    let area = Area { x: 0.0, y: 0.0, width: WIDTH, height: HEIGHT };
    svg::inline(&chart.title, WIDTH, HEIGHT).with(drawn.draw(area, Theme::Page)).to_string()
}

fn axis(axis: &Axis) -> charts::Axis {
    let drawn = match axis.log {
        true => charts::Axis::log(&axis.label),
        false => charts::Axis::linear(&axis.label),
    };
    charts::Axis { range: axis.range, ..drawn }
}

fn series((number, series): (usize, &Series)) -> charts::Series {
    charts::Series {
        name: series.name.clone(),
        colour: Colour::Series(number),
        style: match series.style {
            Style::Line => charts::Style::Line,
            Style::Points => charts::Style::Points,
            Style::Bars(width) => charts::Style::Bars(width),
            Style::Cells(width, height) => charts::Style::Cells(width, height),
        },
        points: series.points.clone(),
    }
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
