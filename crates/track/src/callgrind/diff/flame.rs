//! Two profiles as one flame graph: the width is the cost after, the colour the change.
//!
//! The paths are those of [`flame`](crate::flame), where the cost below a function is divided among
//! its callers.

use chronoscope_figures::numbers;
use std::collections::BTreeMap;
use std::fmt::Write;

use super::changes::Options;
use super::comparison::Comparison;
use crate::callgrind::graph::{Graph, GraphError};
use crate::callgrind::profile::Profile;
use crate::flame::arcs::Arcs;
use crate::flame::picture::{Look, draw};
use crate::flame::tree::{CallTree, TreeFunction, TreeLimits, frames};

/// The stacks as lines `a;b;c BEFORE AFTER`, which tools for differential flame graphs read.
///
/// # Errors
/// As [`diff`](super::diff).
pub fn folded(before: &Profile, after: &Profile, options: &Options) -> Result<String, GraphError> {
    let tree = tree(before, after, options)?;
    let clean = |name: &str| name.replace(';', ":").replace(char::is_whitespace, " ");
    let mut paths: Vec<Vec<String>> = Vec::with_capacity(tree.frames.len());
    let mut stacks = BTreeMap::<Vec<String>, [u64; 2]>::new();
    for (index, frame) in tree.frames.iter().enumerate() {
        let mut path = frame.parent.map(|parent| paths[parent].clone()).unwrap_or_default();
        if frame.function.is_some() {
            path.push(clean(tree.name(index)));
        }
        let costs = [0, 1].map(|side| frame.own[side] + frame.left_out[side]);
        if costs != [0, 0] {
            let sums = stacks.entry(path.clone()).or_default();
            *sums = [sums[0] + costs[0], sums[1] + costs[1]];
        }
        paths.push(path);
    }
    let mut text = String::new();
    for (stack, [was, is]) in stacks {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{} {was} {is}", stack.join(";"));
    }
    Ok(text)
}

/// The flame graph as an SVG picture that stands alone.
///
/// # Errors
/// As [`diff`](super::diff).
pub fn svg(before: &Profile, after: &Profile, options: &Options) -> Result<String, GraphError> {
    Ok(picture(&tree(before, after, options)?))
}

fn tree(before: &Profile, after: &Profile, options: &Options) -> Result<CallTree<2>, GraphError> {
    let (before, after) = (Graph::of(before, &options.event)?, Graph::of(after, &options.event)?);
    let (keys, functions) = paired(&before, &after, options);
    let sides = [Arcs::new(&before), Arcs::new(&after)];
    let frames = frames(sides, [&keys[0], &keys[1]], TreeLimits::default());
    Ok(CallTree { event: options.event.clone(), frames, functions })
}

/// The functions of two graphs, matched: for each function of each side its number in the list,
/// which begins with the functions after and has the names after the change.
pub(crate) fn paired(
    before: &Graph,
    after: &Graph,
    options: &Options,
) -> ([Vec<usize>; 2], Vec<TreeFunction<2>>) {
    let matching = Comparison::new(before, after, options).matching;
    let mut functions = Vec::with_capacity(after.nodes.len());
    let [was, is] = [before, after].map(|graph| {
        let nodes = graph.nodes.iter();
        nodes.map(|node| (node.own, node.inclusive, node.cycle.is_some())).collect::<Vec<_>>()
    });
    let function = |node: &crate::callgrind::graph::Node, own, inclusive, in_cycle| TreeFunction {
        name: node.name.clone(),
        file: node.file.clone(),
        object: node.object.clone(),
        own,
        inclusive,
        in_cycle,
    };
    for (index, node) in after.nodes.iter().enumerate() {
        let (own, inclusive, cycle) = matching.before[index].map_or((0, 0, false), |i| was[i]);
        let is = is[index];
        let in_cycle = cycle || is.2;
        functions.push(function(node, [own, is.0], [inclusive, is.1], in_cycle));
    }
    let mut keys = Vec::with_capacity(before.nodes.len());
    for (index, node) in before.nodes.iter().enumerate() {
        keys.push(match matching.after[index] {
            Some((after, _)) => after,
            None => {
                let (own, inclusive, in_cycle) = was[index];
                functions.push(function(node, [own, 0], [inclusive, 0], in_cycle));
                functions.len() - 1
            }
        });
    }
    ([keys, (0..after.nodes.len()).collect()], functions)
}

fn picture(tree: &CallTree<2>) -> String {
    let [before, after] = tree.total().map(|cost| cost as f64);
    let change = (after - before) / before.max(1.0);
    let head = format!(
        "{} before {before:.0}, after {after:.0} ({}); width: after; red: more, blue: less",
        tree.event,
        numbers::signed_percent(change, 3),
    );
    let own = |frame: usize| {
        let frame = &tree.frames[frame];
        let [before, after] = [0, 1].map(|side| (frame.own[side] + frame.left_out[side]) as f64);
        after - before
    };
    // The colour is full at the largest difference of a frame on its own.
    let largest = (0..tree.frames.len()).map(|frame| own(frame).abs()).fold(1.0, f64::max);
    let title = |frame: usize| {
        let [was, is] = tree.frames[frame].inclusive;
        let change = numbers::signed_percent((is as f64 - was as f64) / before.max(1.0), 3);
        format!("{}: {was} -> {is} ({change} of all)", tree.name(frame))
    };
    let fill = |frame: usize| colour(own(frame) / largest);
    draw(tree, &Look { head, title: &title, fill: &fill })
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
