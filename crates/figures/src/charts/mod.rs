//! Charts over two axes: lines, points, bars and cells, with marks and a legend.

mod axis;
mod bars;
mod legend;
mod series;

pub use axis::{Axis, Scale, round_times, ticks};
pub use bars::{BarRow, Bars};
pub use series::{Series, Style};

use crate::svg::{self, Element};
use crate::theme::{Colour, Theme};
use unicode_width::UnicodeWidthStr as _;

/// Size of the letters of labels, in pixels.
const LETTERS: f64 = 13.0;
/// Size of the letters of a title, in pixels.
const TITLE: f64 = 17.0;
/// Room around a chart, in pixels.
const MARGIN: f64 = 12.0;
/// Room right of the last tick for half of its label, in pixels.
const MARGIN_RIGHT: f64 = 32.0;

/// A chart.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The line above the chart; empty: none.
    pub title: String,
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// In the order in which they are drawn.
    pub series: Vec<Series>,
    /// Values that are marked by a line across the chart.
    pub marks: Vec<Mark>,
}

/// A line across a chart.
#[derive(Clone, Debug)]
pub struct Mark {
    /// Whether the line stands at a value of x; otherwise it lies at a value of y.
    pub upright: bool,
    /// The value.
    pub at: f64,
    /// Text beside the line; empty: none.
    pub label: String,
}

/// Where a chart is within a document, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// The left edge.
    pub x: f64,
    /// The upper edge.
    pub y: f64,
    /// To the right edge.
    pub width: f64,
    /// To the lower edge.
    pub height: f64,
}

impl Area {
    fn right(&self) -> f64 {
        self.x + self.width
    }

    fn bottom(&self) -> f64 {
        self.y + self.height
    }
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
        let frame = Frame::new(self, area, theme);
        let mut group = Element::new("g").set("font-family", "sans-serif");
        if !self.title.is_empty() {
            let (x, y) = (area.x + area.width / 2.0, area.y + MARGIN + TITLE);
            let title = label(x, y, &self.title, theme.paint(Colour::Ink));
            group.push(title.set("font-size", TITLE).set("text-anchor", "middle"));
        }
        group.push(frame.axes(self));
        for series in &self.series {
            group.push(series.draw(&frame));
        }
        group.extend(self.marks.iter().filter_map(|mark| frame.mark(mark)));
        group.extend(legend::draw(self, &frame));
        group
    }

    /// The values of an axis that the chart has to have room for.
    fn values(&self, upright: bool) -> impl Iterator<Item = f64> + '_ {
        let marks = self.marks.iter().filter(move |mark| mark.upright == upright);
        let corners = self.series.iter().flat_map(Series::corners);
        let series = corners.map(move |(x, y)| if upright { x } else { y });
        series.chain(marks.map(|mark| mark.at))
    }
}

/// The area between the axes, and where values are in it.
struct Frame {
    plot: Area,
    outer: Area,
    theme: Theme,
    x: axis::Fitted,
    y: axis::Fitted,
}

impl Frame {
    fn new(chart: &Chart, outer: Area, theme: Theme) -> Self {
        let top = if chart.title.is_empty() { 0.0 } else { TITLE + MARGIN };
        let below = LETTERS + 10.0 + if chart.x.label.is_empty() { 0.0 } else { LETTERS + 6.0 };
        let height = (outer.height - 2.0 * MARGIN - top - below).max(10.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few")]
        let y = chart.y.fit(chart.values(false), (height / 38.0).clamp(2.0, 10.0) as usize);
        let widest = y.ticks.iter().map(|(_, text)| text_width(text)).fold(0.0, f64::max);
        let beside = widest + 10.0 + if chart.y.label.is_empty() { 0.0 } else { LETTERS + 8.0 };
        let plot = Area {
            x: outer.x + MARGIN + beside,
            y: outer.y + MARGIN + top,
            width: (outer.width - MARGIN - MARGIN_RIGHT - beside).max(10.0),
            height,
        };
        let x = chart.x.fit_within(chart.values(true), plot.width);
        Self { plot, outer, theme, x, y }
    }

    /// The pixel of a value of x; outside values are at the edge.
    fn x(&self, value: f64) -> f64 {
        self.plot.x + self.x.part(value) * self.plot.width
    }

    /// The pixel of a value of y; outside values are at the edge.
    fn y(&self, value: f64) -> f64 {
        self.plot.bottom() - self.y.part(value) * self.plot.height
    }

    fn paint(&self, colour: Colour) -> String {
        self.theme.paint(colour)
    }

    /// Grid, ticks with their labels, and the names of the axes.
    fn axes(&self, chart: &Chart) -> Element {
        let (plot, soft) = (self.plot, self.paint(Colour::Soft));
        let mut group = Element::new("g").set("font-size", LETTERS);
        for (value, text) in &self.x.ticks {
            let (x, bottom) = (self.x(*value), plot.bottom());
            group.push(line([x, plot.y], [x, bottom], self.paint(Colour::Grid), 1.0));
            let text = label(x, bottom + LETTERS + 5.0, text, soft.clone());
            group.push(text.set("text-anchor", "middle"));
        }
        for (value, text) in &self.y.ticks {
            let y = self.y(*value);
            group.push(line([plot.x, y], [plot.right(), y], self.paint(Colour::Grid), 1.0));
            let text = label(plot.x - 8.0, y + LETTERS * 0.36, text, soft.clone());
            group.push(text.set("text-anchor", "end"));
        }
        let corner = [plot.x, plot.bottom()];
        group.push(line(corner, [plot.right(), plot.bottom()], soft.clone(), 1.0));
        group.push(line([plot.x, plot.y], corner, soft, 1.0));
        let (ink, middle) = (self.paint(Colour::Ink), "middle");
        if !chart.x.label.is_empty() {
            let (x, y) = (plot.x + plot.width / 2.0, self.outer.bottom() - MARGIN + 2.0);
            group.push(label(x, y, &chart.x.label, ink.clone()).set("text-anchor", middle));
        }
        if !chart.y.label.is_empty() {
            let (x, y) = (self.outer.x + MARGIN + LETTERS * 0.7, plot.y + plot.height / 2.0);
            let turned = format!("rotate(-90 {} {})", svg::number(x), svg::number(y));
            let text = label(x, y, &chart.y.label, ink).set("text-anchor", middle);
            group.push(text.set("transform", turned));
        }
        group
    }

    /// A mark within the axes; one beyond them is not drawn.
    fn mark(&self, mark: &Mark) -> Option<Element> {
        let axis = if mark.upright { &self.x } else { &self.y };
        if !axis.holds(mark.at) {
            return None;
        }
        let (plot, colour) = (self.plot, self.paint(Colour::Limit));
        let mut group = Element::new("g").set("class", "mark").set("font-size", LETTERS);
        let (at, room) = (self.x(mark.at), text_width(&mark.label) + 10.0);
        if mark.upright {
            group.push(line([at, plot.y], [at, plot.bottom()], colour.clone(), 1.5));
            let before = at + room > self.outer.right();
            let x = if before { at - 5.0 } else { at + 5.0 };
            let text = label(x, plot.y + LETTERS, &mark.label, colour);
            group.push(text.set("text-anchor", if before { "end" } else { "start" }));
        } else {
            let y = self.y(mark.at);
            group.push(line([plot.x, y], [plot.right(), y], colour.clone(), 1.5));
            let down = if y - plot.y < LETTERS + 6.0 { LETTERS + 2.0 } else { -5.0 };
            let text = label(plot.right() - 4.0, y + down, &mark.label, colour);
            group.push(text.set("text-anchor", "end"));
        }
        Some(group)
    }
}

/// Width of text in pixels, estimated from above: no letter of the font is wider.
fn text_width(text: &str) -> f64 {
    text.width() as f64 * LETTERS * 0.6
}

fn label(x: f64, y: f64, text: &str, fill: String) -> Element {
    Element::new("text").set("x", x).set("y", y).set("fill", fill).text(text)
}

fn line([x1, y1]: [f64; 2], [x2, y2]: [f64; 2], stroke: String, width: f64) -> Element {
    let d = svg::path([(x1, y1), (x2, y2)]);
    Element::new("path").set("d", d).set("stroke", stroke).set("stroke-width", width)
}

fn rectangle(x: f64, y: f64, width: f64, height: f64) -> Element {
    let at = Element::new("rect").set("x", x).set("y", y);
    at.set("width", width).set("height", height)
}

#[cfg(test)]
mod tests;
