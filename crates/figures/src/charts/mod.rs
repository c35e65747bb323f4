//! Charts over two axes: lines, points, bars and cells, with marks and a legend.

mod area;
mod axis;
mod bars;
mod frame;
mod legend;
mod series;
mod shapes;

pub use area::Area;
pub use axis::{Axis, Scale, round_times, ticks};
pub use bars::{BarRow, Bars};
pub use frame::Mark;
pub use series::{Series, Style};

use crate::svg::{self, Element};
use crate::theme::{Colour, Theme};
use frame::{Frame, Values};
use shapes::{MARGIN, TITLE, label, rectangle};

/// A chart.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The line above the chart; empty: none.
    pub title: String,
    /// To the right.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// In the order in which they are drawn.
    pub series: Vec<Series>,
    /// Values that are marked by a line across the chart.
    pub marks: Vec<Mark>,
}

impl Chart {
    /// A chart without series and marks.
    #[must_use]
    pub fn new(title: &str, x: Axis, y: Axis) -> Self {
        Self { title: title.to_owned(), x, y, series: Vec::new(), marks: Vec::new() }
    }

    /// A document that stands alone, of this size in pixels.
    #[must_use]
    pub fn document(&self, width: f64, height: f64, theme: Theme) -> Element {
        let paper = rectangle(0.0, 0.0, width, height).set("fill", theme.paint(Colour::Paper));
        let area = Area { x: 0.0, y: 0.0, width, height };
        svg::document(width, height).with(paper).with(self.draw(area, theme))
    }

    /// The chart as a group of elements that takes an area of a document.
    #[must_use]
    pub fn draw(&self, area: Area, theme: Theme) -> Element {
        let frame = self.frame(area, theme);
        let mut group = Element::new("g").set("font-family", "sans-serif");
        if !self.title.is_empty() {
            let (x, y) = (area.x + area.width / 2.0, area.y + MARGIN + TITLE);
            let title = label(x, y, &self.title, theme.paint(Colour::Ink));
            group.push(title.set("font-size", TITLE).set("text-anchor", "middle"));
        }
        group.push(frame.axes(&self.x.label, &self.y.label));
        for series in &self.series {
            group.push(series.draw(&frame));
        }
        group.extend(self.marks.iter().filter_map(|mark| frame.mark(mark)));
        group.extend(legend::draw(&self.series, &self.marks, &frame));
        group
    }

    /// The frame of the chart, with room for all its values.
    fn frame(&self, area: Area, theme: Theme) -> Frame {
        let values = Values { x: self.values(true).collect(), y: self.values(false).collect() };
        let axes = [&self.x, &self.y];
        Frame::new(!self.title.is_empty(), axes, &values, area, theme)
    }

    /// The values of an axis that the chart has to have room for.
    fn values(&self, upright: bool) -> impl Iterator<Item = f64> + '_ {
        let marks = self.marks.iter().filter(move |mark| mark.upright == upright);
        let corners = self.series.iter().flat_map(Series::corners);
        let series = corners.map(move |(x, y)| if upright { x } else { y });
        series.chain(marks.map(|mark| mark.at))
    }
}

#[cfg(test)]
mod tests;
