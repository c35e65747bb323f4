//! The picture of a distribution: its histogram, and below it the scattergram (time of day against
//! duration), as SVG or PNG.
//!
//! The scattergram is counted into cells of a few pixels: five million chains make a picture of the
//! same size as five hundred, and the shade of a cell shows their number.

use crate::text;
use crate::times::Zone;
use chronoscope_query::Point;
use chronoscope_statistics::{Bins, Grid};
use chronoscope_statistics::{Quantile, nearest_rank};
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use std::path::Path;

const SIZE: (u32, u32) = (1200, 900); // pixels
const HEADER: i32 = 96; // pixels
const BINS: usize = 120;
const CELL: usize = 2; // pixels
const INK: RGBColor = RGBColor(0x20, 0x26, 0x2e);
const GRID: RGBColor = RGBColor(0xdd, 0xe2, 0xe8);
const DATA: RGBColor = RGBColor(0x1f, 0x6f, 0xb4);
const LIMIT: RGBColor = RGBColor(0xc4, 0x2b, 0x2b);

/// Contents of a picture.
pub(crate) struct Picture<'a> {
    /// Title line: the chain.
    pub(crate) title: &'a str,
    /// Further lines: numbers and verdict.
    pub(crate) notes: &'a [String],
    /// The durations, ascending, in nanoseconds.
    pub(crate) durations_ns: &'a [u64],
    /// The durations with their starts, in any order.
    pub(crate) points: &'a [Point],
    /// The limit, in nanoseconds.
    pub(crate) limit_ns: Option<u64>,
    /// The time zone of the time axis.
    pub(crate) zone: &'a Zone,
}

/// Reason why there is no picture.
#[derive(Debug, thiserror::Error)]
#[error("cannot draw {path}: {reason}")]
pub(crate) struct PictureError {
    path: String,
    reason: String,
}

impl Picture<'_> {
    /// Writes the picture as SVG.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn write_svg(&self, path: &Path) -> Result<(), PictureError> {
        self.write(path, |svg| Ok(svg.into_bytes()))
    }

    /// Writes the picture as PNG.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn write_png(&self, path: &Path) -> Result<(), PictureError> {
        self.write(path, |svg| chronoscope_figures::png(&svg).map_err(|e| e.to_string()))
    }

    fn write(
        &self,
        path: &Path,
        encode: impl FnOnce(String) -> Result<Vec<u8>, String>,
    ) -> Result<(), PictureError> {
        let fail = |reason| PictureError { path: path.display().to_string(), reason };
        if self.points.is_empty() {
            return Err(fail("there is nothing to draw".to_owned()));
        }
        let mut svg = String::new();
        self.draw(&SVGBackend::with_string(&mut svg, SIZE).into_drawing_area()).map_err(fail)?;
        // Names of classes may have letters that no XML has.
        let octets = encode(chronoscope_escape::xml_text(&svg)).map_err(fail)?;
        std::fs::write(path, octets).map_err(|error| fail(error.to_string()))
    }

    fn draw<B: DrawingBackend>(&self, root: &DrawingArea<B, Shift>) -> Result<(), String> {
        let say = |e: DrawingAreaErrorKind<B::ErrorType>| e.to_string();
        root.fill(&WHITE).map_err(say)?;
        let (head, body) = root.split_vertically(HEADER);
        let title = ("sans-serif", 24).into_font().color(&INK);
        head.draw_text(self.title, &title, (24, 12)).map_err(say)?;
        let small = ("sans-serif", 15).into_font().color(&INK);
        for (y, note) in (46..).step_by(20).zip(self.notes) {
            head.draw_text(note, &small, (24, y)).map_err(say)?;
        }
        let (upper, lower) = body.split_vertically((SIZE.1 as i32 - HEADER) * 45 / 100);
        self.draw_histogram(&upper).map_err(say)?;
        self.draw_scattergram(&lower).map_err(say)?;
        root.present().map_err(say)
    }

    /// Draws durations up to a little beyond the 99.9 % quantile in equal bins; a note gives the
    /// number beyond.
    fn draw_histogram<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        let shown = nearest_rank(self.durations_ns, Quantile::P99_9).unwrap_or(0);
        let bins = Bins::of_ascending(self.durations_ns, 0..shown + shown / 20 + 1, BINS);
        let tallest = bins.counts.iter().max().copied().unwrap_or(1).max(1) as f64 * 1.08;
        let right = ms(bins.range_ns.end);
        let mut chart = ChartBuilder::on(area)
            .margin(16)
            .x_label_area_size(36)
            .y_label_area_size(70)
            .build_cartesian_2d(0.0..right, 0.0..tallest)?;
        let beyond = match bins.above {
            0 => String::new(),
            above => format!(" ({} beyond the edge)", text::count(above)),
        };
        mesh(&mut chart, &format!("duration in ms{beyond}"), "chains", |ms| plain(*ms))?;
        let filled = bins.counts.iter().enumerate().filter(|(_, n)| **n > 0);
        chart.draw_series(filled.map(|(i, n)| {
            let (from, to) = (ms(bins.edge_ns(i)), ms(bins.edge_ns(i + 1)));
            Rectangle::new([(from, 0.0), (to, *n as f64)], DATA.filled())
        }))?;
        if let Some(limit) = self.limit_ns.map(ms).filter(|limit| *limit < right) {
            let line = [(limit, 0.0), (limit, tallest)];
            chart.draw_series(LineSeries::new(line, LIMIT.stroke_width(2)))?;
        }
        Ok(())
    }

    /// Draws every chain at its start and duration, counted into cells of two by two pixels.
    fn draw_scattergram<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        let starts = || self.points.iter().map(|point| point.start_ns);
        let first = starts().min().unwrap_or(0);
        let last = starts().max().unwrap_or(0).max(first.saturating_add(1_000_000));
        let longest = self.durations_ns.last().copied().unwrap_or(0);
        let top = longest + longest / 20 + 1;
        let seconds = last.abs_diff(first) as f64 / 1e9;
        let mut chart = ChartBuilder::on(area)
            .margin(16)
            .x_label_area_size(40)
            .y_label_area_size(70)
            .build_cartesian_2d(0.0..seconds, 0.0..ms(top))?;
        let zone = self.zone;
        #[allow(clippy::cast_possible_truncation)] // a place on the axis
        let label = |s: &f64| zone.time_of_day(first.saturating_add((*s * 1e9) as i64));
        mesh(
            &mut chart,
            &format!("start of the chain ({})", zone.name()),
            "duration in ms",
            label,
        )?;
        let plane = chart.plotting_area();
        let (width, height) = plane.dim_in_pixel();
        let (columns, rows) = (width as usize / CELL, height as usize / CELL);
        let mut grid = Grid::new(first..last + 1, 0..top, columns, rows);
        for point in self.points {
            grid.add(point.start_ns, point.duration_ns);
        }
        for row in 0..rows {
            let filled = grid.row(row).iter().enumerate().filter(|(_, n)| **n > 0);
            plane_cells(plane, filled, row, (seconds / columns as f64, ms(top) / rows as f64))?;
        }
        if let Some(limit) = self.limit_ns.map(ms).filter(|limit| *limit < ms(top)) {
            let line = [(0.0, limit), (seconds, limit)];
            chart.draw_series(LineSeries::new(line, LIMIT.stroke_width(2)))?;
        }
        Ok(())
    }
}

/// Draws one row of cells; the more chains a cell has, the darker it is.
fn plane_cells<'a, B: DrawingBackend>(
    plane: &DrawingArea<B, Plane>,
    cells: impl Iterator<Item = (usize, &'a u32)>,
    row: usize,
    (width, height): (f64, f64),
) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
    for (column, n) in cells {
        let shade = (0.45 + f64::from(*n).ln() * 0.11).min(1.0);
        let (x, y) = (column as f64 * width, row as f64 * height);
        let cell = [(x, y), (x + width, y + height)];
        plane.draw(&Rectangle::new(cell, DATA.mix(shade).filled()))?;
    }
    Ok(())
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

/// A number without needless places: `0.5`, `12`.
fn plain(number: f64) -> String {
    let text = format!("{number:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

type Plane = Cartesian2d<RangedCoordf64, RangedCoordf64>;

/// Grid, axes and their words, the same way in both charts.
fn mesh<B: DrawingBackend>(
    chart: &mut ChartContext<'_, B, Plane>,
    x: &str,
    y: &str,
    label: impl Fn(&f64) -> String,
) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(INK)
        .label_style(("sans-serif", 14).into_font().color(&INK))
        .x_desc(x)
        .y_desc(y)
        .x_label_formatter(&label)
        .y_label_formatter(&|value| plain(*value))
        .draw()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10,000 chains over half an hour around 100 ms, and one of 1.5 s.
    fn points() -> Vec<Point> {
        let start = 1_795_262_400_000_000_000;
        let point = |i: u64| Point {
            start_ns: start + i.cast_signed() * 180_000_000,
            duration_ns: 40_000_000 + (i * 7919 % 1009) * (i * 31 % 97) * 1_300,
        };
        let mut points: Vec<_> = (0..10_000).map(point).collect();
        points.push(Point { start_ns: start, duration_ns: 1_500_000_000 });
        points
    }

    fn draw(points: &[Point], how: impl FnOnce(&Picture<'_>)) {
        let mut durations_ns: Vec<_> = points.iter().map(|point| point.duration_ns).collect();
        durations_ns.sort_unstable();
        how(&Picture {
            title: "MRTS::decodePlots to CWP::TargetView_redraw",
            notes: &["10,001 chains, mean 77.1 ms".to_owned(), "the requirement holds".to_owned()],
            durations_ns: &durations_ns,
            points,
            limit_ns: Some(1_000_000_000),
            zone: &Zone::new(true),
        });
    }

    #[test]
    fn the_svg_says_what_it_shows() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.svg");
        draw(&points(), |picture| picture.write_svg(&path).unwrap());
        let svg = std::fs::read_to_string(&path).unwrap();
        for text in ["decodePlots", "the requirement holds", "12:10:00", "(UTC)", "beyond the edge"]
        {
            assert!(svg.contains(text), "{text}");
        }
        draw(&points(), |picture| picture.write_svg(&dir.path().join("b.svg")).unwrap());
        assert_eq!(svg, std::fs::read_to_string(dir.path().join("b.svg")).unwrap());
    }

    #[test]
    fn a_name_does_not_make_the_svg_malformed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.svg");
        draw(&points(), |picture| {
            let picture = Picture { title: "a\u{1b}[2J\u{8}\u{202e}<b>", ..*picture };
            picture.write_svg(&path).unwrap();
        });
        let svg = std::fs::read_to_string(&path).unwrap();
        assert!(svg.contains("a\u{fffd}[2J\u{fffd}\u{fffd}&lt;b&gt;"), "{svg}");
    }

    #[test]
    fn the_png_has_both_charts() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.png");
        draw(&points(), |picture| picture.write_png(&path).unwrap());
        let image = image::open(&path).unwrap().to_rgb8();
        assert_eq!(image.dimensions(), SIZE);
        let blue = |from: u32, to: u32| {
            let rows = image.enumerate_rows().filter(|(y, _)| (from..to).contains(y));
            let pixels = rows.flat_map(|(_, row)| row);
            pixels.filter(|(_, _, p)| p.0[2] > p.0[0].saturating_add(40)).count()
        };
        assert!(blue(96, 450) > 2_000, "histogram");
        assert!(blue(460, 900) > 2_000, "scattergram");
    }

    #[test]
    fn nothing_and_nowhere_are_errors() {
        let dir = tempfile::tempdir().unwrap();
        draw(&[], |picture| {
            let error = picture.write_svg(&dir.path().join("a.svg")).unwrap_err();
            assert!(error.to_string().ends_with("there is nothing to draw"));
        });
        draw(&points(), |picture| {
            assert!(picture.write_svg(&dir.path().join("no/such/a.svg")).is_err());
        });
    }
}
