//! Pictures of tables, as SVG and PNG.

use crate::table::Table;
use anyhow::{Context as _, Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::path::Path;

const SIZE: (u32, u32) = (1100, 700); // pixels
const INK: RGBColor = RGBColor(0x20, 0x26, 0x2e);
const MESH: RGBColor = RGBColor(0xdd, 0xe2, 0xe8);
const COLOURS: [RGBColor; 6] = [
    RGBColor(0x1f, 0x6f, 0xb4),
    RGBColor(0xc4, 0x2b, 0x2b),
    RGBColor(0x2e, 0x8b, 0x57),
    RGBColor(0x8a, 0x5a, 0xb0),
    RGBColor(0xd0, 0x84, 0x1a),
    RGBColor(0x55, 0x5f, 0x6b),
];

/// Lines over common axes, both logarithmic.
pub(crate) struct Picture {
    /// Of the files, without ending.
    pub(crate) name: &'static str,
    pub(crate) title: String,
    pub(crate) x: &'static str,
    pub(crate) y: &'static str,
    /// Where there are no points.
    pub(crate) legend: SeriesLabelPosition,
    /// Each with its points, x ascending.
    pub(crate) lines: Vec<(String, Vec<(f64, f64)>)>,
}

impl Picture {
    /// A line from two columns of a table, where a third has this text.
    pub(crate) fn line(
        &mut self,
        name: &str,
        table: &Table,
        x: &str,
        y: &str,
        only: Option<(&str, &str)>,
    ) {
        let points = table.series(x, y, only);
        if points.iter().filter(|(x, y)| *x > 0.0 && *y > 0.0).count() > 1 {
            self.lines.push((name.to_owned(), points));
        }
    }

    /// Writes NAME.svg and NAME.png into a folder; nothing where there is no line.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        if self.lines.is_empty() {
            return Ok(());
        }
        let mut svg = String::new();
        self.draw(&SVGBackend::with_string(&mut svg, SIZE).into_drawing_area())?;
        let svg = chronoscope_escape::xml_text(&svg);
        for (ending, octets) in
            [("png", chronoscope_figures::png(&svg)?), ("svg", svg.into_bytes())]
        {
            let path = folder.join(format!("{}.{ending}", self.name));
            let written = std::fs::write(&path, octets);
            written.with_context(|| format!("the picture {}", path.display()))?;
        }
        Ok(())
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<()> {
        let say = |e: DrawingAreaErrorKind<B::ErrorType>| anyhow!("{}: {e}", self.name);
        area.fill(&WHITE).map_err(say)?;
        let points = || {
            let all = self.lines.iter().flat_map(|(_, points)| points);
            all.copied().filter(|(x, y)| *x > 0.0 && *y > 0.0)
        };
        let range = |of: fn((f64, f64)) -> f64| {
            let (least, most) = points()
                .map(of)
                .fold((f64::MAX, f64::MIN), |(least, most), v| (least.min(v), most.max(v)));
            (least * 0.8)..(most * 1.25)
        };
        let mut chart = ChartBuilder::on(area)
            .margin(18)
            .caption(&self.title, ("sans-serif", 22).into_font().color(&INK))
            .x_label_area_size(46)
            .y_label_area_size(80)
            .build_cartesian_2d(range(|p| p.0).log_scale(), range(|p| p.1).log_scale())
            .map_err(say)?;
        chart
            .configure_mesh()
            .x_desc(self.x)
            .y_desc(self.y)
            .light_line_style(WHITE)
            .bold_line_style(MESH)
            .label_style(("sans-serif", 14).into_font().color(&INK))
            .draw()
            .map_err(say)?;
        for ((name, line), colour) in self.lines.iter().zip(COLOURS.iter().cycle()) {
            let shown: Vec<(f64, f64)> =
                line.iter().copied().filter(|(x, y)| *x > 0.0 && *y > 0.0).collect();
            let marks = shown.iter().map(|point| Circle::new(*point, 3, colour.filled()));
            chart.draw_series(marks).map_err(say)?;
            chart
                .draw_series(LineSeries::new(shown, colour.stroke_width(2)))
                .map_err(say)?
                .label(name)
                .legend(|(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
        }
        chart
            .configure_series_labels()
            .position(self.legend.clone())
            .background_style(WHITE.mix(0.85))
            .border_style(MESH)
            .label_font(("sans-serif", 14).into_font().color(&INK))
            .draw()
            .map_err(say)?;
        area.present().map_err(say)
    }
}

#[cfg(test)]
mod tests {
    use super::{Picture, SeriesLabelPosition};

    #[test]
    fn a_picture_is_written_twice() {
        let folder = tempfile::tempdir().unwrap();
        let mut picture = Picture {
            name: "rates",
            title: "Rates".to_owned(),
            x: "octets",
            y: "Mbit/s",
            legend: SeriesLabelPosition::LowerRight,
            lines: vec![(
                "ours\u{1b}\u{9b}\u{202e}".to_owned(),
                vec![(100.0, 1.0), (1000.0, 10.0), (2000.0, 0.0)],
            )],
        };
        picture.write(folder.path()).unwrap();
        let svg = std::fs::read_to_string(folder.path().join("rates.svg")).unwrap();
        assert!(svg.contains("octets") && svg.contains("ours"));
        let is_obeyed = |letter| letter != '\n' && chronoscope_escape::is_control(letter);
        assert!(!svg.contains(is_obeyed), "{svg}");
        let png = std::fs::read(folder.path().join("rates.png")).unwrap();
        assert!(png.starts_with(b"\x89PNG"));
        picture.lines.clear();
        picture.name = "nothing";
        picture.write(folder.path()).unwrap();
        assert!(!folder.path().join("nothing.svg").exists());
    }
}
