//! The picture of a distribution: its histogram, and below it the scattergram (time of day against
//! duration), as SVG or PNG.
//!
//! The scattergram is counted into cells of a few pixels: five million chains make a picture of the
//! same size as five hundred, and the shade of a cell shows their number.

use crate::text;
use crate::times::Zone;
use chronoscope_figures::charts::{Area, Axis, Chart, Mark, Series, Style};
use chronoscope_figures::svg::{self, Element};
use chronoscope_figures::theme::{Colour, Theme};
use chronoscope_query::Point;
use chronoscope_statistics::{Bins, Grid};
use chronoscope_statistics::{Quantile, nearest_rank};
use std::path::Path;

const SIZE: (u32, u32) = (1200, 900); // pixels
const HEADER: f64 = 96.0; // pixels
const HISTOGRAM: f64 = 362.0; // pixels
const BINS: usize = 120;
/// Cells of the scattergram: about two by two pixels.
const CELLS: (usize, usize) = (550, 180);

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
        let octets = encode(self.svg().to_string()).map_err(fail)?;
        std::fs::write(path, octets).map_err(|error| fail(error.to_string()))
    }

    fn svg(&self) -> Element {
        let (width, height) = (f64::from(SIZE.0), f64::from(SIZE.1));
        let (paper, ink) = (Theme::Light.paint(Colour::Paper), Theme::Light.paint(Colour::Ink));
        let ground = Element::new("rect").set("width", width).set("height", height);
        let mut document = svg::document(width, height).with(ground.set("fill", paper));
        let mut head = Element::new("g").set("font-family", "sans-serif").set("fill", ink);
        let line = |y: f64, letters: f64, text: &str| {
            let at = Element::new("text").set("x", 24.0).set("y", y);
            at.set("font-size", letters).text(text)
        };
        head.push(line(34.0, 24.0, self.title));
        for (row, note) in self.notes.iter().enumerate() {
            head.push(line(59.0 + row as f64 * 20.0, 15.0, note));
        }
        document.push(head);
        let upper = Area { x: 0.0, y: HEADER, width, height: HISTOGRAM };
        let top = HEADER + HISTOGRAM;
        let lower = Area { x: 0.0, y: top, width, height: height - top };
        document.push(self.histogram().draw(upper, Theme::Light));
        document.push(self.scattergram().draw(lower, Theme::Light));
        document
    }

    /// Durations up to a little beyond the 99.9 % quantile in equal bins; those beyond are counted
    /// in the label.
    fn histogram(&self) -> Chart {
        let shown = nearest_rank(self.durations_ns, Quantile::P99_9).unwrap_or(0);
        let bins = Bins::of_ascending(self.durations_ns, 0..shown + shown / 20 + 1, BINS);
        let tallest = bins.counts.iter().max().copied().unwrap_or(1).max(1) as f64 * 1.08;
        let right = ms(bins.range_ns.end);
        let beyond = match bins.above {
            0 => String::new(),
            above => format!(" ({} beyond the edge)", text::count(above)),
        };
        let filled = bins.counts.iter().enumerate().filter(|(_, n)| **n > 0);
        let bars = filled.map(|(bin, n)| (ms(bins.edge_ns(bin)), *n as f64));
        let x = Axis::linear(&format!("duration in ms{beyond}")).within(0.0, right);
        Chart {
            series: vec![Series::new("", Style::Bars(right / BINS as f64), bars)],
            marks: self.limit(true).into_iter().collect(),
            ..Chart::new("", x, Axis::linear("chains").within(0.0, tallest))
        }
    }

    /// Every chain at its start and duration, counted into cells.
    fn scattergram(&self) -> Chart {
        let starts = || self.points.iter().map(|point| point.start_ns);
        let first = starts().min().unwrap_or(0);
        let last = starts().max().unwrap_or(0).max(first.saturating_add(1_000_000));
        let longest = self.durations_ns.last().copied().unwrap_or(0);
        let top = longest + longest / 20 + 1;
        let (columns, rows) = CELLS;
        let mut grid = Grid::new(first..last + 1, 0..top, columns, rows);
        for point in self.points {
            grid.add(point.start_ns, point.duration_ns);
        }
        let seconds = last.abs_diff(first) as f64 / 1e9;
        let (width, height) = (seconds / columns as f64, ms(top) / rows as f64);
        let cells = (0..rows).flat_map(|row| {
            let filled = grid.row(row).iter().enumerate().filter(|(_, n)| **n > 0);
            let at = |(column, n): (usize, &u32)| {
                [column as f64 * width, row as f64 * height, f64::from(*n)]
            };
            filled.map(at).collect::<Vec<_>>()
        });
        let zone = self.zone;
        let name = format!("start of the chain ({})", zone.name());
        let x = Axis::time(&name, [first, last], zone.offset_ns(first), |at| zone.time_of_day(at));
        Chart {
            series: vec![Series::cells(width, height, cells.collect())],
            marks: self.limit(false).into_iter().collect(),
            ..Chart::new("", x, Axis::linear("duration in ms").within(0.0, ms(top)))
        }
    }

    fn limit(&self, upright: bool) -> Option<Mark> {
        let at = self.limit_ns.map(ms)?;
        Some(Mark { upright, at, label: String::new() })
    }
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
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
