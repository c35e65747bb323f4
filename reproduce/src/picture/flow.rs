//! Steps of processing as boxes in columns, with arrows between them.

use super::Flow;
use crate::report::escaped;
use std::fmt::Write;

const WIDTH: f64 = 820.0; // pixels, as charts
const ROW: f64 = 74.0;
const HEAD: f64 = 34.0;
const BOX_HEIGHT: f64 = 46.0;
const BOX_WIDTH_MAX: f64 = 190.0;

/// Draws the picture as SVG.
pub(super) fn svg(flow: &Flow) -> String {
    let mut out = String::new();
    // Writing into a string cannot fail.
    let _ = write_svg(&mut out, flow);
    out
}

fn write_svg(out: &mut String, flow: &Flow) -> std::fmt::Result {
    let rows = flow.columns.iter().map(|(_, steps)| steps.len()).max().unwrap_or(0);
    let height = HEAD + rows as f64 * ROW;
    let column = WIDTH / flow.columns.len().max(1) as f64;
    let wide = (column - 40.0).min(BOX_WIDTH_MAX);
    let middle = |at: usize| (at as f64 + 0.5) * column;
    let top = |row: usize| HEAD + row as f64 * ROW + (ROW - BOX_HEIGHT) / 2.0;
    writeln!(
        out,
        "<svg role=\"img\" aria-label=\"{}\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\">",
        escaped(&flow.title)
    )?;
    for (from, to, words) in &flow.arrows {
        let (y1, y2) = (top(from[1]) + BOX_HEIGHT / 2.0, top(to[1]) + BOX_HEIGHT / 2.0);
        let words = escaped(words);
        if from[0] == to[0] {
            let (x, y1, y2) = (middle(from[0]), top(from[1]) + BOX_HEIGHT, top(to[1]));
            arrow(out, [x, y1], [x, y2])?;
            let y = (y1 + y2) / 2.0 + 4.0;
            writeln!(out, "<text class=\"soft\" x=\"{:.0}\" y=\"{y:.0}\">{words}</text>", x + 8.0)?;
            continue;
        }
        let side = if to[0] > from[0] { wide / 2.0 } else { -wide / 2.0 };
        let (x1, x2) = (middle(from[0]) + side, middle(to[0]) - side);
        arrow(out, [x1, y1], [x2, y2])?;
        let (x, y) = ((x1 + x2) / 2.0, (y1 + y2) / 2.0 - 8.0);
        writeln!(
            out,
            "<text class=\"soft\" text-anchor=\"middle\" x=\"{x:.0}\" y=\"{y:.0}\">{words}</text>"
        )?;
    }
    for (at, (name, steps)) in flow.columns.iter().enumerate() {
        let x = middle(at);
        let name = escaped(name);
        writeln!(
            out,
            "<text class=\"head\" text-anchor=\"middle\" x=\"{x:.0}\" y=\"20\">{name}</text>"
        )?;
        for (row, (step, below)) in steps.iter().enumerate() {
            let (left, y) = (x - wide / 2.0, top(row));
            writeln!(
                out,
                "<rect class=\"box\" x=\"{left:.0}\" y=\"{y:.0}\" width=\"{wide:.0}\" \
                 height=\"{BOX_HEIGHT}\" rx=\"5\"/>\
                 <text class=\"ink\" text-anchor=\"middle\" x=\"{x:.0}\" y=\"{:.0}\">{}</text>\
                 <text class=\"soft\" text-anchor=\"middle\" x=\"{x:.0}\" y=\"{:.0}\">{}</text>",
                y + 19.0,
                escaped(step),
                y + 37.0,
                escaped(below),
            )?;
        }
    }
    writeln!(out, "</svg>")
}

/// A line with a head at its end.
fn arrow(out: &mut String, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2]) -> std::fmt::Result {
    let (dx, dy) = (x2 - x1, y2 - y1);
    let length = dx.hypot(dy).max(1.0);
    let (ux, uy) = (dx / length * 7.0, dy / length * 7.0);
    let (ax, ay) = (x2 - ux - uy / 2.0, y2 - uy + ux / 2.0);
    let (bx, by) = (x2 - ux + uy / 2.0, y2 - uy - ux / 2.0);
    writeln!(
        out,
        "<path class=\"arrow\" d=\"M{x1:.0} {y1:.0}L{x2:.0} {y2:.0}M{ax:.1} {ay:.1}\
         L{x2:.0} {y2:.0}L{bx:.1} {by:.1}\"/>"
    )
}
