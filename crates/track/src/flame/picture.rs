//! A tree of calls as an SVG picture that stands alone: the width of a frame is its cost, callees
//! stand on their callers.

use super::tree::CallTree;
use chronoscope_figures::numbers::{grouped, share};
use chronoscope_figures::svg::{self, Element};

const WIDTH: f64 = 1200.0;
const ROW: f64 = 17.0;
/// Narrower frames are not drawn, pixels.
const WIDTH_MIN: f64 = 0.3;
/// Width of a letter, pixels.
const LETTER: f64 = 6.7;

/// What a picture says and how it is coloured.
pub(crate) struct Look<'a> {
    /// The line above.
    pub(crate) head: String,
    /// The words of a frame, by its index.
    pub(crate) title: &'a dyn Fn(usize) -> String,
    /// The colour of a frame, by its index.
    pub(crate) fill: &'a dyn Fn(usize) -> String,
}

/// A profile as a flame graph. Functions of one program or library have one colour.
pub fn svg(tree: &CallTree<1>) -> String {
    let [total] = tree.total();
    let title = |frame: usize| {
        let [cost] = tree.frames[frame].inclusive;
        let [own] = tree.frames[frame].own;
        let part = share(cost, total, 2);
        format!("{}: {} ({part} of all), own {}", tree.name(frame), grouped(cost), grouped(own))
    };
    let fill = |frame: usize| {
        let function = tree.frames[frame].function.map(|index| &tree.functions[index]);
        let object = function.map_or("", |function| &function.object);
        let hue = object.bytes().fold(7_u32, |sum, byte| (sum * 31 + u32::from(byte)) % 3600) / 10;
        format!("hsl({hue},60%,82%)")
    };
    let head = format!("{} {}; width: inclusive cost", tree.event, grouped(total));
    draw(tree, &Look { head, title: &title, fill: &fill })
}

/// Draws a tree.
pub(crate) fn draw<const N: usize>(tree: &CallTree<N>, look: &Look<'_>) -> String {
    let widths = widths(tree);
    let scale = WIDTH / (widths[0].max(1) as f64);
    let depth = tree.frames.iter().map(|frame| frame.depth).max().unwrap_or(0);
    let height = (depth + 2) as f64 * ROW;
    let ground = Element::new("rect").set("width", "100%").set("height", "100%");
    let mut svg = svg::document(WIDTH, height)
        .set("font-family", "monospace")
        .set("font-size", "11")
        .with(ground.set("fill", "white"))
        .with(Element::new("text").set("x", 4.0).set("y", 12.0).text(&look.head));
    // Where the next frame above each begins, in costs.
    let mut next = vec![0_u64; tree.frames.len()];
    for (index, frame) in tree.frames.iter().enumerate() {
        let Some(parent) = frame.parent else { continue };
        let at = next[parent];
        next[parent] = at.saturating_add(widths[index]);
        next[index] = at;
        let (x, width) = (at as f64 * scale, widths[index] as f64 * scale);
        if width >= WIDTH_MIN {
            let y = height - (frame.depth + 1) as f64 * ROW;
            svg.push(drawn(tree.name(index), (x, y, width), look, index));
        }
    }
    svg.to_string()
}

fn drawn(name: &str, (x, y, width): (f64, f64, f64), look: &Look<'_>, frame: usize) -> Element {
    let box_of = Element::new("rect").set("x", x).set("y", y).set("width", width);
    let box_of = box_of.set("height", ROW - 1.0).set("fill", (look.fill)(frame));
    let mut group = Element::new("g")
        .with(Element::new("title").text(&(look.title)(frame)))
        .with(box_of.set("stroke", "white").set("stroke-width", "0.5"));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 200")]
    let letters = ((width - 4.0) / LETTER).max(0.0) as usize;
    if letters >= 3 {
        let short: String = name.chars().take(letters).collect();
        group.push(Element::new("text").set("x", x + 2.0).set("y", y + 12.0).text(&short));
    }
    group
}

/// The width of each frame: its cost on the last side, or what is gone there, on a side before; at
/// least that of the frames above it.
pub(crate) fn widths<const N: usize>(tree: &CallTree<N>) -> Vec<u64> {
    let cost = |costs: &[u64; N]| costs.iter().rev().copied().find(|cost| *cost > 0).unwrap_or(0);
    let mut widths: Vec<u64> = tree.frames.iter().map(|frame| cost(&frame.inclusive)).collect();
    let mut above = vec![0_u64; widths.len()];
    for (index, frame) in tree.frames.iter().enumerate().rev() {
        widths[index] = widths[index].max(above[index]);
        if let Some(parent) = frame.parent {
            above[parent] = above[parent].saturating_add(widths[index]);
        }
    }
    widths
}
