//! Two profiles as one flame graph: the width is the cost after, the colour the change.
//!
//! A profile knows callers, not stacks. The cost below a function is divided among its callers in
//! proportion to the inclusive costs of their calls; that is exact for a function with the same
//! cost for every caller. A stack ends where a cycle closes, and where less than [`SHARE_MIN`] of
//! the total remains.

use chronoscope_figures::numbers;
use chronoscope_figures::svg::{self, Element};
use std::collections::BTreeMap;
use std::fmt::Write;

use super::changes::Options;
use super::comparison::Comparison;
use super::matching::Matching;
use crate::callgrind::graph::{Graph, GraphError};
use crate::callgrind::profile::Profile;

/// Stacks that cost less than this part of the total are in their caller's frame.
const SHARE_MIN: f64 = 2e-4;
/// Deepest stack.
const DEPTH_MAX: usize = 200;
/// Largest number of stacks. Consistent costs give some thousands; a contradictory file could give
/// any number.
const STACKS_MAX: usize = 200_000;

/// Cost before and after of each stack, the root first, names joined by `;`.
type Stacks = BTreeMap<Vec<String>, [f64; 2]>;

/// The stacks as lines `a;b;c BEFORE AFTER`, which tools for differential flame graphs read.
///
/// # Errors
/// As [`diff`](super::diff).
pub fn folded(before: &Profile, after: &Profile, options: &Options) -> Result<String, GraphError> {
    let mut text = String::new();
    for (stack, [was, is]) in stacks(before, after, options)? {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{} {:.0} {:.0}", stack.join(";"), was.round(), is.round());
    }
    Ok(text)
}

/// The flame graph as an SVG picture that stands alone.
///
/// # Errors
/// As [`diff`](super::diff).
pub fn svg(before: &Profile, after: &Profile, options: &Options) -> Result<String, GraphError> {
    let mut root = Frame::default();
    for (stack, costs) in stacks(before, after, options)? {
        root.add(&stack, costs);
    }
    Ok(picture(&root, &options.event))
}

fn stacks(before: &Profile, after: &Profile, options: &Options) -> Result<Stacks, GraphError> {
    let (before, after) = (Graph::of(before, &options.event)?, Graph::of(after, &options.event)?);
    let comparison = Comparison::new(&before, &after, options);
    let names = names_of(&before, &after, &comparison.matching);
    let mut stacks = Stacks::new();
    for (side, graph) in [&before, &after].into_iter().enumerate() {
        let mut walk = Walk {
            graph,
            callees: graph.callees(),
            least: graph.total as f64 * SHARE_MIN,
            names: &names[side],
            on_path: vec![false; graph.nodes.len()],
            path: Vec::new(),
            stacks: &mut stacks,
            side,
            left: STACKS_MAX,
        };
        let callers = graph.callers();
        for (root, callers) in callers.iter().enumerate() {
            if callers.iter().all(|caller| *caller == root) {
                walk.descend(root, 1.0);
            }
        }
    }
    Ok(stacks)
}

/// Name of each function in the picture: its name after the change, so that both sides meet.
fn names_of(before: &Graph, after: &Graph, matching: &Matching) -> [Vec<String>; 2] {
    let clean = |name: &str| name.replace(';', ":").replace(char::is_whitespace, " ");
    let is: Vec<_> = after.nodes.iter().map(|node| clean(&node.name)).collect();
    let was = before.nodes.iter().enumerate().map(|(index, node)| match matching.after[index] {
        Some((after, _)) => is[after].clone(),
        None => clean(&node.name),
    });
    [was.collect(), is]
}

struct Walk<'a> {
    graph: &'a Graph,
    callees: Vec<Vec<usize>>,
    least: f64,
    names: &'a [String],
    on_path: Vec<bool>,
    path: Vec<String>,
    stacks: &'a mut Stacks,
    side: usize,
    left: usize,
}

impl Walk<'_> {
    /// Books `share` of a function's cost on the path that leads to it. Recursion is as deep as
    /// the path, which is bounded.
    fn descend(&mut self, function: usize, share: f64) {
        let node = &self.graph.nodes[function];
        self.left = self.left.saturating_sub(1);
        self.path.push(self.names[function].clone());
        self.on_path[function] = true;
        let mut own = node.own as f64 * share;
        for index in 0..self.callees[function].len() {
            let callee = self.callees[function][index];
            if self.on_path[callee] {
                continue; // its cost is in its own, further up
            }
            let below = self.graph.edges[&(function, callee)].inclusive as f64 * share;
            let whole = self.graph.nodes[callee].inclusive as f64;
            if below < self.least || self.path.len() >= DEPTH_MAX || self.left == 0 {
                own += below;
            } else if whole > 0.0 {
                self.descend(callee, (below / whole).min(1.0));
            }
        }
        if own > 0.0 {
            let costs = self.stacks.entry(self.path.clone()).or_default();
            costs[self.side] += own;
        }
        self.on_path[function] = false;
        self.path.pop();
    }
}

/// A frame of the picture, with those above it.
#[derive(Default)]
struct Frame {
    costs: [f64; 2],
    above: BTreeMap<String, Frame>,
}

impl Frame {
    fn add(&mut self, stack: &[String], costs: [f64; 2]) {
        self.costs[0] += costs[0];
        self.costs[1] += costs[1];
        if let Some((first, rest)) = stack.split_first() {
            self.above.entry(first.clone()).or_default().add(rest, costs);
        }
    }

    /// Frames without a cost after the change keep their width before, so that removed cost is
    /// visible.
    fn width(&self) -> f64 {
        let above: f64 = self.above.values().map(Frame::width).sum();
        let own = if self.costs[1] > 0.0 { self.costs[1] } else { self.costs[0] };
        own.max(above)
    }

    fn depth(&self) -> usize {
        1 + self.above.values().map(Frame::depth).max().unwrap_or(0)
    }
}

const WIDTH: f64 = 1200.0;
const ROW: f64 = 17.0;

fn picture(root: &Frame, event: &str) -> String {
    let height = (root.depth() + 2) as f64 * ROW;
    let ground = Element::new("rect").set("width", "100%").set("height", "100%");
    let change = (root.costs[1] - root.costs[0]) / root.costs[0].max(1.0);
    let head = format!(
        "{event} before {:.0}, after {:.0} ({}); width: after; red: more, blue: less",
        root.costs[0],
        root.costs[1],
        numbers::signed_percent(change, 3),
    );
    let mut svg = svg::document(WIDTH, height)
        .set("font-family", "monospace")
        .set("font-size", "11")
        .with(ground.set("fill", "white"))
        .with(Element::new("text").set("x", 4.0).set("y", 12.0).text(&head));
    let width = root.width().max(1.0);
    // The colour is full at the largest difference of a frame on its own.
    let largest = largest_difference(root);
    let scale = Scale { x: WIDTH / width, total: root.costs[0].max(1.0), largest, height };
    let mut at = 0.0;
    for (name, frame) in &root.above {
        draw(&mut svg, name, frame, (at, 1), &scale);
        at += frame.width();
    }
    svg.to_string()
}

struct Scale {
    x: f64,
    total: f64,
    largest: f64,
    height: f64,
}

fn own_difference(frame: &Frame) -> f64 {
    let above = frame
        .above
        .values()
        .fold([0.0, 0.0], |sum, frame| [sum[0] + frame.costs[0], sum[1] + frame.costs[1]]);
    (frame.costs[1] - above[1]) - (frame.costs[0] - above[0])
}

fn largest_difference(frame: &Frame) -> f64 {
    let above = frame.above.values().map(largest_difference);
    above.fold(own_difference(frame).abs(), f64::max)
}

fn draw(svg: &mut Element, name: &str, frame: &Frame, (at, level): (f64, usize), scale: &Scale) {
    let (x, width) = (at * scale.x, frame.width() * scale.x);
    if width < 0.3 {
        return;
    }
    let y = scale.height - (level + 1) as f64 * ROW;
    let [before, after] = frame.costs;
    let strength = own_difference(frame) / scale.largest.max(1.0);
    let change = numbers::signed_percent((after - before) / scale.total, 3);
    let title = format!("{name}: {before:.0} -> {after:.0} ({change} of all)");
    let frame_box = Element::new("rect").set("x", x).set("y", y).set("width", width);
    let frame_box = frame_box.set("height", ROW - 1.0).set("fill", colour(strength));
    let mut group = Element::new("g")
        .with(Element::new("title").text(&title))
        .with(frame_box.set("stroke", "white").set("stroke-width", "0.5"));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 200")]
    let letters = ((width - 4.0) / 6.7).max(0.0) as usize;
    if letters >= 3 {
        let short: String = name.chars().take(letters).collect();
        group.push(Element::new("text").set("x", x + 2.0).set("y", y + 12.0).text(&short));
    }
    svg.push(group);
    let mut at = at;
    for (name, above) in &frame.above {
        draw(svg, name, above, (at, level + 1), scale);
        at += above.width();
    }
}

/// White at 0, red at 1, blue at -1.
fn colour(strength: f64) -> String {
    // The root: small differences are still seen.
    let pale = 235.0 * (1.0 - strength.abs().min(1.0).sqrt());
    if strength > 0.0 {
        format!("rgb(255,{pale:.0},{pale:.0})")
    } else if strength < 0.0 {
        format!("rgb({pale:.0},{pale:.0},255)")
    } else {
        "rgb(235,235,235)".to_owned()
    }
}
