//! The picture of a distribution: its histogram, and below it the scattergram (time of day against
//! duration), as SVG or PNG.
//!
//! The scattergram is binned to the pixels it is drawn on: five million chains make a picture of
//! the same size as five hundred, and the shade of a point says how many lie on it.

use crate::text;
use crate::times::Zone;
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Once;

const SIZE: (u32, u32) = (1200, 900); // pixels
const HEADER: i32 = 96; // pixels
const BINS: usize = 120;
const INK: RGBColor = RGBColor(0x20, 0x26, 0x2e);
const GRID: RGBColor = RGBColor(0xdd, 0xe2, 0xe8);
const DATA: RGBColor = RGBColor(0x1f, 0x6f, 0xb4);
const LIMIT: RGBColor = RGBColor(0xc4, 0x2b, 0x2b);

/// What is drawn.
pub struct Picture<'a> {
    /// One line: the chain.
    pub title: &'a str,
    /// Further lines: numbers and verdict.
    pub notes: &'a [String],
    /// Start (UTC nanoseconds) and duration (nanoseconds) of every chain, in any order.
    pub points: &'a [(i64, i64)],
    /// The limit, in nanoseconds.
    pub limit_ns: Option<i64>,
    /// The time zone of the time axis.
    pub zone: &'a Zone,
}

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
#[error("cannot draw {path}: {reason}")]
pub struct PictureError {
    path: String,
    reason: String,
}

impl Picture<'_> {
    /// Writes the picture as SVG.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_svg(&self, path: &Path) -> Result<(), PictureError> {
        self.write(path, |picture| {
            let mut svg = String::new();
            picture.draw(&SVGBackend::with_string(&mut svg, SIZE).into_drawing_area())?;
            std::fs::write(path, svg).map_err(|e| e.to_string())
        })
    }

    /// Writes the picture as PNG.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_png(&self, path: &Path) -> Result<(), PictureError> {
        self.write(path, |picture| {
            picture.draw(&BitMapBackend::new(path, SIZE).into_drawing_area())
        })
    }

    fn write(
        &self,
        path: &Path,
        how: impl FnOnce(&Self) -> Result<(), String>,
    ) -> Result<(), PictureError> {
        static FONT: Once = Once::new();
        FONT.call_once(|| {
            let font = epaint_default_fonts::UBUNTU_LIGHT;
            // A refused font shows as an error of the first text drawn.
            let _ = register_font("sans-serif", FontStyle::Normal, font);
        });
        let fail = |reason| PictureError { path: path.display().to_string(), reason };
        if self.points.is_empty() {
            return Err(fail("there is nothing to draw".to_owned()));
        }
        how(self).map_err(fail)
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

    /// Durations up to the 99.9 % quantile (or the limit, if that is further out) in equal bins;
    /// what lies beyond is said, not drawn.
    fn draw_histogram<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        let mut durations: Vec<i64> = self.points.iter().map(|p| p.1).collect();
        durations.sort_unstable();
        let shown = chronoscope_model::nearest_rank(&durations, chronoscope_model::Quantile::P99_9);
        let from = durations[0].min(0) as f64 / 1e6;
        let to = (shown.unwrap_or(0) as f64 / 1e6 * 1.05).max(from + 1e-6);
        let step = (to - from) / BINS as f64;
        let mut bins = [0u64; BINS];
        let mut beyond = 0;
        for ns in &durations {
            let bin = ((*ns as f64 / 1e6 - from) / step) as usize;
            bins.get_mut(bin).map_or_else(|| beyond += 1, |count| *count += 1);
        }
        let tallest = bins.iter().max().copied().unwrap_or(1).max(1);
        let mut chart = ChartBuilder::on(area)
            .margin(16)
            .x_label_area_size(36)
            .y_label_area_size(70)
            .build_cartesian_2d(from..to, 0.0..tallest as f64 * 1.08)?;
        let beyond = if beyond > 0 {
            format!("duration in ms ({} beyond the edge)", text::count(beyond))
        } else {
            "duration in ms".to_owned()
        };
        mesh(&mut chart, &beyond, "chains", |ms| plain(*ms))?;
        chart.draw_series(bins.iter().enumerate().filter(|(_, n)| **n > 0).map(|(i, n)| {
            let x = from + i as f64 * step;
            Rectangle::new([(x, 0.0), (x + step, *n as f64)], DATA.filled())
        }))?;
        if let Some(limit) = self.limit_ns.map(|ns| ns as f64 / 1e6).filter(|ms| *ms < to) {
            let line = [(limit, 0.0), (limit, tallest as f64 * 1.08)];
            chart.draw_series(LineSeries::new(line, LIMIT.stroke_width(2)))?;
        }
        Ok(())
    }

    /// Every chain at its start and duration, binned to pixels.
    fn draw_scattergram<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        let first = self.points.iter().map(|p| p.0).min().unwrap_or(0);
        let last = self.points.iter().map(|p| p.0).max().unwrap_or(0);
        let low = self.points.iter().map(|p| p.1).min().unwrap_or(0).min(0) as f64 / 1e6;
        let high = self.points.iter().map(|p| p.1).max().unwrap_or(0) as f64 / 1e6 * 1.05;
        let seconds = ((last - first) as f64 / 1e9).max(1e-3);
        let mut chart = ChartBuilder::on(area)
            .margin(16)
            .x_label_area_size(40)
            .y_label_area_size(70)
            .build_cartesian_2d(0.0..seconds * 1.01, low..high.max(low + 1e-6))?;
        let zone = self.zone;
        let axis = format!("start of the chain ({})", zone.name());
        let label = |s: &f64| zone.time_of_day(first.saturating_add((*s * 1e9) as i64));
        mesh(&mut chart, &axis, "duration in ms", label)?;
        let plane = chart.plotting_area();
        let mut cells: HashMap<(i32, i32), u32> = HashMap::new();
        for (start, duration) in self.points {
            let at = ((*start - first) as f64 / 1e9, *duration as f64 / 1e6);
            *cells.entry(plane.map_coordinate(&at)).or_default() += 1;
        }
        let (left, top) = area.get_base_pixel();
        let mut cells: Vec<_> = cells.into_iter().collect();
        cells.sort_unstable(); // the same points make the same file
        for ((x, y), n) in cells {
            let shade = (0.35 + f64::from(n).ln() * 0.12).min(1.0);
            let (x, y) = (x - left, y - top);
            area.draw(&Rectangle::new([(x, y), (x + 2, y + 2)], DATA.mix(shade).filled()))?;
        }
        if let Some(limit) = self.limit_ns.map(|ns| ns as f64 / 1e6).filter(|ms| *ms < high) {
            let line = [(0.0, limit), (seconds * 1.01, limit)];
            chart.draw_series(LineSeries::new(line, LIMIT.stroke_width(2)))?;
        }
        Ok(())
    }
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
    fn points() -> Vec<(i64, i64)> {
        let start = 1_795_262_400_000_000_000;
        let mut points: Vec<_> = (0..10_000i64)
            .map(|i| {
                (start + i * 180_000_000, 40_000_000 + (i * 7919 % 1009) * (i * 31 % 97) * 1_300)
            })
            .collect();
        points.push((start, 1_500_000_000));
        points
    }

    fn draw(points: &[(i64, i64)], how: impl FnOnce(&Picture<'_>)) {
        how(&Picture {
            title: "MRTS::decodePlots to CWP::TargetView_redraw",
            notes: &["10,001 chains, mean 77.1 ms".to_owned(), "the requirement holds".to_owned()],
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
