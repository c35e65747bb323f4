//! A tree of calls as text and as JSON.

use super::tree::CallTree;
use chronoscope_figures::numbers::{grouped, share};
use serde::Serialize;
use std::fmt::Write;

/// The tree as a page of text: a line for each frame of at least `share_min` of the total (from 0
/// to 1), callees below their callers, `rows` lines at most.
pub fn text(tree: &CallTree<1>, share_min: f64, rows: usize) -> String {
    let [total] = tree.total();
    let mut page = format!("{} {}\n\n", tree.event, grouped(total));
    let _ = writeln!(page, "{:>18}  {:>10}  {:>18}  function", "inclusive", "of total", "own");
    let below = tree.below();
    let mut open: Vec<usize> = below[0].iter().rev().copied().collect();
    let (mut shown, mut left) = (0, 0);
    while let Some(index) = open.pop() {
        let frame = &tree.frames[index];
        let ([cost], [own]) = (frame.inclusive, frame.own);
        if (cost as f64) < share_min * total as f64 || shown == rows {
            left += 1;
            continue;
        }
        shown += 1;
        let (cost, part) = (grouped(cost), share(cost, total, 2));
        let indent = "  ".repeat(frame.depth - 1);
        // Writing into a string cannot fail.
        let _ = writeln!(
            page,
            "{cost:>18}  {part:>10}  {:>18}  {indent}{}",
            grouped(own),
            tree.name(index)
        );
        open.extend(below[index].iter().rev());
    }
    if left > 0 {
        let _ = writeln!(page, "{left} more paths are not shown");
    }
    page
}

/// The JSON form of a tree, version 1.
#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    event: &'a str,
    total: u64,
    /// Whether costs are of whole stacks; else they are divided among callers.
    stacks: bool,
    functions: Vec<FunctionRow<'a>>,
    frames: Vec<FrameRow>,
}

#[derive(Serialize)]
struct FunctionRow<'a> {
    name: &'a str,
    file: &'a str,
    object: &'a str,
    own: u64,
    inclusive: u64,
    in_cycle: bool,
}

#[derive(Serialize)]
struct FrameRow {
    function: Option<usize>,
    parent: Option<usize>,
    inclusive: u64,
    own: u64,
    left_out: u64,
}

/// The tree with all its functions as JSON, version 1 (docs/track.md).
///
/// # Errors
/// When it cannot be written as JSON, which would be a bug here.
pub fn json(tree: &CallTree<1>, stacks: bool) -> Result<String, serde_json::Error> {
    let functions = tree.functions.iter().map(|function| FunctionRow {
        name: &function.name,
        file: &function.file,
        object: &function.object,
        own: function.own[0],
        inclusive: function.inclusive[0],
        in_cycle: function.in_cycle,
    });
    let frames = tree.frames.iter().map(|frame| FrameRow {
        function: frame.function,
        parent: frame.parent,
        inclusive: frame.inclusive[0],
        own: frame.own[0],
        left_out: frame.left_out[0],
    });
    serde_json::to_string(&Document {
        version: 1,
        event: &tree.event,
        total: tree.total()[0],
        stacks,
        functions: functions.collect(),
        frames: frames.collect(),
    })
}

#[cfg(test)]
mod tests {
    use crate::callgrind::{Limits, read};
    use crate::flame::{MeasuredProfile, TreeLimits};

    #[test]
    fn a_tree_is_read_from_top_to_bottom() {
        let text = "events: Ir\nfn=main\n3 10\ncfn=work\ncalls=2 8\n4 90\nfn=work\n8 90\n";
        let profile = read(text.as_bytes(), Limits::default()).unwrap();
        let tree = MeasuredProfile::of_callgrind(&profile, None).unwrap();
        let tree = tree.tree(TreeLimits::default());
        let page = super::text(&tree, 0.5, 10);
        let lines: Vec<_> = page.lines().map(|line| line.split_whitespace().collect()).collect();
        let lines: Vec<Vec<&str>> = lines;
        assert_eq!(lines[0], ["Ir", "100"]);
        assert_eq!(lines[3], ["100", "100.00", "%", "10", "main"]);
        assert_eq!(lines[4], ["90", "90.00", "%", "90", "work"]);
        assert!(super::text(&tree, 0.95, 10).ends_with("1 more paths are not shown\n"));
        let json: serde_json::Value =
            serde_json::from_str(&super::json(&tree, false).unwrap()).unwrap();
        assert_eq!((&json["version"], &json["total"]), (&1.into(), &100.into()));
        assert_eq!(json["frames"][2]["parent"], 1);
    }
}
