//! Steps of processing as boxes in columns, with arrows between them.

use super::Flow;
use chronoscope_figures::svg::{self, Element};

const WIDTH: f64 = 820.0; // pixels, as charts
const ROW: f64 = 74.0;
const HEAD: f64 = 34.0;
const BOX_HEIGHT: f64 = 46.0;
const BOX_WIDTH_MAX: f64 = 190.0;

/// Draws the picture as SVG.
pub(super) fn svg(flow: &Flow) -> String {
    let rows = flow.columns.iter().map(|(_, steps)| steps.len()).max().unwrap_or(0);
    let column = WIDTH / flow.columns.len().max(1) as f64;
    let places = Places { column, wide: (column - 40.0).min(BOX_WIDTH_MAX) };
    let mut picture = svg::inline(&flow.title, WIDTH, HEAD + rows as f64 * ROW);
    for (from, to, words) in &flow.arrows {
        picture.extend(places.arrow(*from, *to, words));
    }
    for (at, (name, steps)) in flow.columns.iter().enumerate() {
        picture.push(centred("head", [places.middle(at), 20.0], name));
        for (row, step) in steps.iter().enumerate() {
            picture.extend(places.step(at, row, step));
        }
    }
    picture.to_string()
}

/// Positions of columns and rows.
struct Places {
    /// Width of a column.
    column: f64,
    /// Width of a box.
    wide: f64,
}

impl Places {
    fn middle(&self, column: usize) -> f64 {
        (column as f64 + 0.5) * self.column
    }

    fn top(row: usize) -> f64 {
        HEAD + row as f64 * ROW + (ROW - BOX_HEIGHT) / 2.0
    }

    /// An arrow from step to step, with its words beside or above it.
    fn arrow(&self, from: [usize; 2], to: [usize; 2], words: &str) -> [Element; 2] {
        let [x1, x2] = [from, to].map(|[column, _]| self.middle(column));
        let [y1, y2] = [from, to].map(|[_, row]| Self::top(row));
        if from[0] == to[0] {
            let y1 = y1 + BOX_HEIGHT;
            let words = label("soft", [x1 + 8.0, f64::midpoint(y1, y2) + 4.0], words);
            return [arrow([x1, y1], [x2, y2]), words];
        }
        let side = if to[0] > from[0] { self.wide / 2.0 } else { -self.wide / 2.0 };
        let (x1, x2, half) = (x1 + side, x2 - side, BOX_HEIGHT / 2.0);
        let (y1, y2) = (y1 + half, y2 + half);
        let place = [f64::midpoint(x1, x2), f64::midpoint(y1, y2) - 8.0];
        [arrow([x1, y1], [x2, y2]), centred("soft", place, words)]
    }

    /// A box with the name of a step and a line below it.
    fn step(&self, column: usize, row: usize, (name, below): &(String, String)) -> [Element; 3] {
        let (x, y) = (self.middle(column), Self::top(row));
        let place = Element::new("rect").set("class", "box").set("x", x - self.wide / 2.0);
        let place = place.set("y", y).set("width", self.wide).set("height", BOX_HEIGHT);
        let [upper, lower] = [[x, y + 19.0], [x, y + 37.0]];
        [place.set("rx", 5.0), centred("ink", upper, name), centred("soft", lower, below)]
    }
}

fn label(class: &str, [x, y]: [f64; 2], text: &str) -> Element {
    Element::new("text").set("class", class).set("x", x).set("y", y).text(text)
}

fn centred(class: &str, at: [f64; 2], text: &str) -> Element {
    label(class, at, text).set("text-anchor", "middle")
}

/// A line with a head at its end.
fn arrow([x1, y1]: [f64; 2], [x2, y2]: [f64; 2]) -> Element {
    let (dx, dy) = (x2 - x1, y2 - y1);
    let length = dx.hypot(dy).max(1.0);
    let (ux, uy) = (dx / length * 7.0, dy / length * 7.0);
    let left = (x2 - ux - uy / 2.0, y2 - uy + ux / 2.0);
    let right = (x2 - ux + uy / 2.0, y2 - uy - ux / 2.0);
    let d = svg::path([(x1, y1), (x2, y2), left, (x2, y2), right]);
    Element::new("path").set("class", "arrow").set("d", d)
}
