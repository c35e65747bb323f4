//! The legend: names of series with their colours, in the corner that hides least.

use super::area::Area;
use super::frame::{Frame, Mark};
use super::series::Series;
use super::shapes::{LETTERS, label, rectangle, text_width};
use crate::svg::Element;
use crate::theme::Colour;

const ROW: f64 = LETTERS + 6.0;
const SWATCH: f64 = 14.0;
const PADDING: f64 = 8.0;
/// Points between two points of a line at which it is taken to be.
const BETWEEN: u32 = 8;

/// The legend; none where no series has a name.
pub(super) fn draw(series: &[Series], marks: &[Mark], frame: &Frame) -> Option<Element> {
    let named: Vec<_> = series.iter().filter(|series| !series.name.is_empty()).collect();
    let widest = named.iter().map(|series| text_width(&series.name)).reduce(f64::max)?;
    let size = (widest + SWATCH + 3.0 * PADDING, named.len() as f64 * ROW + PADDING);
    let area = place(series, marks, frame, size);
    let mut group = Element::new("g").set("class", "legend").set("font-size", LETTERS);
    let ground = rectangle(area.x, area.y, area.width, area.height);
    let ground = ground.set("fill", frame.paint(Colour::Paper)).set("fill-opacity", 0.85);
    group.push(ground.set("stroke", frame.paint(Colour::Grid)));
    let mut y = area.y + PADDING / 2.0;
    for series in named {
        let swatch = rectangle(area.x + PADDING, y + ROW / 2.0 - 4.0, SWATCH, 8.0);
        group.push(swatch.set("fill", frame.paint(series.colour)));
        let x = area.x + 2.0 * PADDING + SWATCH;
        let ink = frame.paint(Colour::Ink);
        group.push(label(x, y + ROW / 2.0 + LETTERS * 0.36, &series.name, ink));
        y += ROW;
    }
    Some(group)
}

/// The corner with the fewest points; of equal ones the upper right.
fn place(series: &[Series], marks: &[Mark], frame: &Frame, (width, height): (f64, f64)) -> Area {
    let plot = frame.plot;
    let [left, right] = [plot.x + PADDING, plot.right() - width - PADDING];
    let [top, bottom] = [plot.y + PADDING, plot.bottom() - height - PADDING];
    let corners = [(right, top), (left, top), (right, bottom), (left, bottom)];
    let areas = corners.map(|(x, y)| Area { x, y, width, height });
    let taken = taken(series, marks, frame);
    let hidden = |area: &Area| {
        let inside = |(x, y): &&(f64, f64)| {
            (area.x..area.right()).contains(x) && (area.y..area.bottom()).contains(y)
        };
        taken.iter().filter(inside).count()
    };
    areas.into_iter().min_by_key(hidden).unwrap_or(areas[0])
}

/// Pixels at which something is drawn, those between the points of a line included.
fn taken(series: &[Series], marks: &[Mark], frame: &Frame) -> Vec<(f64, f64)> {
    let mut taken = Vec::new();
    for series in series {
        let corners: Vec<(f64, f64)> =
            series.corners().map(|(x, y)| (frame.x(x), frame.y(y))).collect();
        for pair in corners.windows(2) {
            let ((x1, y1), (x2, y2)) = (pair[0], pair[1]);
            let parts = (0..=BETWEEN).map(|n| f64::from(n) / f64::from(BETWEEN));
            taken.extend(parts.map(|part| (x1 + (x2 - x1) * part, y1 + (y2 - y1) * part)));
        }
    }
    for mark in marks.iter().filter(|mark| !mark.label.is_empty()) {
        let width = text_width(&mark.label);
        let letters = (0..=BETWEEN).map(|n| width * f64::from(n) / f64::from(BETWEEN));
        taken.extend(letters.map(|at| match mark.upright {
            true => (frame.x(mark.at) + at, frame.plot.y + LETTERS),
            false => (frame.plot.right() - at, frame.y(mark.at) - LETTERS / 2.0),
        }));
    }
    taken
}
