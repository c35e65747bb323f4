//! Series of a chart: the content between its axes.

use super::frame::Frame;
use super::shapes::rectangle;
use crate::svg::{self, Element};
use crate::theme::Colour;

/// Values that are drawn in one colour.
#[derive(Clone, Debug)]
pub struct Series {
    /// For the legend; empty: none.
    pub name: String,
    /// Its colour.
    pub colour: Colour,
    /// Shape of the series.
    pub style: Style,
    /// x and y; of cells a third value: their count.
    pub points: Vec<[f64; 3]>,
}

/// Shape of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Style {
    /// A line through points; the points are seen where there are at most a hundred.
    Line,
    /// One mark for each point.
    Points,
    /// Bars of this width, to the right of each x.
    Bars(f64),
    /// Cells of this width and height, to the right of and above each point; the larger the count,
    /// the darker.
    Cells(f64, f64),
}

/// Most points that are seen on a line.
const SEEN_MAX: usize = 100;

impl Series {
    /// A series in the first colour.
    #[must_use]
    pub fn new(name: &str, style: Style, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let points = points.into_iter().map(|(x, y)| [x, y, 0.0]).collect();
        Self { name: name.to_owned(), colour: Colour::Series(0), style, points }
    }

    /// Cells with their counts.
    #[must_use]
    pub fn cells(width: f64, height: f64, points: Vec<[f64; 3]>) -> Self {
        Self { points, ..Self::new("", Style::Cells(width, height), []) }
    }

    /// The same in another colour.
    #[must_use]
    pub fn coloured(self, colour: Colour) -> Self {
        Self { colour, ..self }
    }

    /// The corners of what the series takes.
    pub(super) fn corners(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.points.iter().flat_map(|[x, y, _]| {
            let far = match self.style {
                Style::Line | Style::Points => (*x, *y),
                Style::Bars(width) => (x + width, 0.0),
                Style::Cells(width, height) => (x + width, y + height),
            };
            [(*x, *y), far]
        })
    }

    pub(super) fn draw(&self, frame: &Frame) -> Element {
        let paint = frame.paint(self.colour);
        let points: Vec<[f64; 3]> = self
            .points
            .iter()
            .copied()
            .filter(|[x, y, _]| frame.x.is_drawn(*x) && frame.y.is_drawn(*y))
            .collect();
        let at = |point: &[f64; 3]| (frame.x(point[0]), frame.y(point[1]));
        let dot = |point: &[f64; 3], radius: f64| {
            let (x, y) = at(point);
            Element::new("circle").set("cx", x).set("cy", y).set("r", radius)
        };
        let mut group = Element::new("g").set("class", "series").set("fill", paint.clone());
        match self.style {
            Style::Line => {
                let line = Element::new("path").set("d", svg::path(points.iter().map(at)));
                group.push(line.set("fill", "none").set("stroke", paint).set("stroke-width", 2.0));
                if points.len() <= SEEN_MAX {
                    group.extend(points.iter().map(|point| dot(point, 2.5)));
                }
            }
            Style::Points => group.extend(points.iter().map(|point| dot(point, 3.0))),
            Style::Bars(width) => group.extend(points.iter().map(|[x, y, _]| {
                let ground = if frame.y.low < 0.0 { 0.0 } else { frame.y.low };
                boxed(frame, [*x, ground], [x + width, *y])
            })),
            Style::Cells(width, height) => {
                group = group.set("shape-rendering", "crispEdges");
                let most = points.iter().map(|[_, _, count]| *count).fold(1.0, f64::max);
                group.extend(points.iter().map(|[x, y, count]| {
                    // A cell with one is seen, too.
                    let shade = 0.25 + 0.75 * count.ln_1p() / most.ln_1p();
                    boxed(frame, [*x, *y], [x + width, y + height]).set("fill-opacity", shade)
                }));
            }
        }
        group
    }
}

/// The rectangle between two corners, in pixels.
fn boxed(frame: &Frame, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2]) -> Element {
    let ([x1, x2], [y1, y2]) = ([frame.x(x1), frame.x(x2)], [frame.y(y1), frame.y(y2)]);
    rectangle(x1.min(x2), y1.min(y2), (x2 - x1).abs(), (y2 - y1).abs())
}
