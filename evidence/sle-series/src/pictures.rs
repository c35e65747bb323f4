//! Pictures of tables, as SVG and PNG.

use crate::table::Table;
use anyhow::{Context as _, Result};
use chronoscope_figures::charts::{Axis, Chart, Series, Style};
use chronoscope_figures::theme::{Colour, Theme};
use std::path::Path;

const SIZE: (f64, f64) = (1100.0, 700.0); // pixels

/// Lines over common axes, both logarithmic.
pub(crate) struct Picture {
    /// Of the files, without ending.
    pub(crate) name: &'static str,
    pub(crate) title: String,
    pub(crate) x: &'static str,
    pub(crate) y: &'static str,
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
        let svg = self.chart().document(SIZE.0, SIZE.1, Theme::Light).to_string();
        for (ending, octets) in
            [("png", chronoscope_figures::png(&svg)?), ("svg", svg.into_bytes())]
        {
            let path = folder.join(format!("{}.{ending}", self.name));
            let written = std::fs::write(&path, octets);
            written.with_context(|| format!("the picture {}", path.display()))?;
        }
        Ok(())
    }

    fn chart(&self) -> Chart {
        let series = self.lines.iter().enumerate().map(|(number, (name, points))| {
            let shown = points.iter().copied().filter(|(x, y)| *x > 0.0 && *y > 0.0);
            Series::new(name, Style::Line, shown).coloured(Colour::Series(number))
        });
        let (x, y) = (Axis::log(self.x), Axis::log(self.y));
        Chart { series: series.collect(), ..Chart::new(&self.title, x, y) }
    }
}

#[cfg(test)]
mod tests {
    use super::Picture;

    #[test]
    fn a_picture_is_written_twice() {
        let folder = tempfile::tempdir().unwrap();
        let mut picture = Picture {
            name: "rates",
            title: "Rates".to_owned(),
            x: "octets",
            y: "Mbit/s",
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
