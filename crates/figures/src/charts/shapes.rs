//! The shapes of which charts are made, and their measures in pixels.

use crate::svg::{self, Element};
use unicode_width::UnicodeWidthStr as _;

/// Size of the letters of labels, in pixels.
pub(super) const LETTERS: f64 = 13.0;
/// Size of the letters of a title, in pixels.
pub(super) const TITLE: f64 = 17.0;
/// Room around a chart, in pixels.
pub(super) const MARGIN: f64 = 12.0;
/// Room right of the last tick for half of its label, in pixels.
pub(super) const MARGIN_RIGHT: f64 = 32.0;

/// Width of text in pixels, estimated from above: no letter of the font is wider.
pub(super) fn text_width(text: &str) -> f64 {
    text.width() as f64 * LETTERS * 0.6
}

/// Text whose baseline begins at a point.
pub(super) fn label(x: f64, y: f64, text: &str, fill: String) -> Element {
    Element::new("text").set("x", x).set("y", y).set("fill", fill).text(text)
}

/// A straight line between two points.
pub(super) fn line([x1, y1]: [f64; 2], [x2, y2]: [f64; 2], stroke: String, width: f64) -> Element {
    let d = svg::path([(x1, y1), (x2, y2)]);
    Element::new("path").set("d", d).set("stroke", stroke).set("stroke-width", width)
}

/// A rectangle by its upper left corner and its size.
pub(super) fn rectangle(x: f64, y: f64, width: f64, height: f64) -> Element {
    let at = Element::new("rect").set("x", x).set("y", y);
    at.set("width", width).set("height", height)
}
