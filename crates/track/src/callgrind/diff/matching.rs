//! Matching of the functions of two profiles.
//!
//! First by name, file and object; then by a name that only one function has, whatever its file or
//! object; then, for remaining functions of sufficient cost, by similarity ([`LIKENESS_MIN`]).

use std::collections::{BTreeMap, BTreeSet};

use crate::callgrind::graph::{Graph, Node};

/// Rule by which two functions were matched.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "snake_case", tag = "by")]
pub enum Same {
    /// Name, file and object are equal.
    Name,
    /// The name is; the file or the object is another.
    Moved,
    /// The name is another, and so much is alike, from 0 to 1.
    Renamed {
        /// Weighted mean of the likeness of file, callers, callees, costs and name.
        likeness: f64,
    },
}

/// Two functions are a renamed one when so much is alike. The parts and their weights: cost 0.3
/// (own and inclusive cost and number of calls, the smaller by the larger); file 0.2; callers 0.2
/// and callees 0.2 (shared by all); name 0.1 (shared pairs of letters). A function without callers
/// or callees on both sides has no say there, and the rest counts for more.
pub const LIKENESS_MIN: f64 = 0.65;

/// Largest number of functions on each side that are compared by similarity, the most expensive
/// first.
const CANDIDATES: usize = 500;

/// The pairs, and what has none.
pub(super) struct Matching {
    /// For each function before, its index after.
    pub(super) after: Vec<Option<(usize, Same)>>,
    /// For each function after, its index before.
    pub(super) before: Vec<Option<usize>>,
}

impl Matching {
    /// Matches the functions of two graphs; those that cost less than `floor` are not compared by
    /// likeness.
    pub(super) fn of(before: &Graph, after: &Graph, floor: u64) -> Matching {
        let mut matching = Matching {
            after: vec![None; before.nodes.len()],
            before: vec![None; after.nodes.len()],
        };
        let full = |node: &Node| (node.name.clone(), node.file.clone(), node.object.clone());
        let none = String::new;
        matching.by_key(before, after, Same::Name, full);
        matching.by_key(before, after, Same::Moved, |n| (n.name.clone(), none(), n.object.clone()));
        matching.by_key(before, after, Same::Moved, |n| (n.name.clone(), n.file.clone(), none()));
        matching.by_key(before, after, Same::Moved, |n| (n.name.clone(), none(), none()));
        while matching.by_likeness(before, after, floor) {}
        matching
    }

    fn join(&mut self, before: usize, after: usize, same: Same) {
        self.after[before] = Some((after, same));
        self.before[after] = Some(before);
    }

    /// Joins what has a key that one function on each side has, of those that are left.
    fn by_key<K: Ord>(
        &mut self,
        before: &Graph,
        after: &Graph,
        same: Same,
        key: impl Fn(&Node) -> K,
    ) {
        let mut groups = BTreeMap::<K, [Vec<usize>; 2]>::new();
        for (index, node) in before.nodes.iter().enumerate() {
            if self.after[index].is_none() {
                groups.entry(key(node)).or_default()[0].push(index);
            }
        }
        for (index, node) in after.nodes.iter().enumerate() {
            if self.before[index].is_none() {
                groups.entry(key(node)).or_default()[1].push(index);
            }
        }
        for group in groups.into_values() {
            if let [[before], [after]] = group.each_ref().map(Vec::as_slice) {
                self.join(*before, *after, same);
            }
        }
    }

    /// Joins pairs of which each is the other's best match; returns whether there were any. Each
    /// round knows more callers and callees than the one before.
    fn by_likeness(&mut self, before: &Graph, after: &Graph, floor: u64) -> bool {
        let left = |graph: &Graph, free: &dyn Fn(usize) -> bool| {
            let worth = |index: &usize| free(*index) && graph.nodes[*index].inclusive > floor;
            let mut left: Vec<usize> = (0..graph.nodes.len()).filter(worth).collect();
            left.sort_by_key(|index| std::cmp::Reverse(graph.nodes[*index].inclusive));
            left.truncate(CANDIDATES);
            left
        };
        let gone = left(before, &|index| self.after[index].is_none());
        let new = left(after, &|index| self.before[index].is_none());
        if gone.is_empty() || new.is_empty() {
            return false;
        }
        let sides = [Neighbours::of(before), Neighbours::of(after)];
        let mut best_of_gone = BTreeMap::<usize, (f64, usize)>::new();
        let mut best_of_new = BTreeMap::<usize, (f64, usize)>::new();
        for a in &gone {
            for b in &new {
                let likeness = self.likeness((before, *a), (after, *b), &sides);
                keep_best(&mut best_of_gone, *a, (likeness, *b));
                keep_best(&mut best_of_new, *b, (likeness, *a));
            }
        }
        let mut joined = false;
        for (a, (likeness, b)) in best_of_gone {
            if likeness >= LIKENESS_MIN && best_of_new[&b].1 == a {
                self.join(a, b, Same::Renamed { likeness });
                joined = true;
            }
        }
        joined
    }

    fn likeness(
        &self,
        (before, a): (&Graph, usize),
        (after, b): (&Graph, usize),
        [was, is]: &[Neighbours; 2],
    ) -> f64 {
        let (one, other) = (&before.nodes[a], &after.nodes[b]);
        let costs = [
            nearness(one.own, other.own),
            nearness(one.inclusive, other.inclusive),
            nearness(one.calls, other.calls),
        ];
        let parts = [
            (0.3, Some(costs.iter().sum::<f64>() / 3.0)),
            (0.2, Some(f64::from(u8::from(one.file == other.file)))),
            (0.2, self.shared(&was.callers[a], &is.callers[b])),
            (0.2, self.shared(&was.callees[a], &is.callees[b])),
            (0.1, Some(shared_pairs(&one.name, &other.name))),
        ];
        let known = parts.iter().filter_map(|(weight, part)| Some((*weight, (*part)?)));
        let (weights, sum) =
            known.fold((0.0, 0.0), |(w, s), (weight, part)| (w + weight, s + weight * part));
        sum / weights
    }

    /// The shared part of two sets of neighbours; `None` when both are empty.
    fn shared(&self, before: &[usize], after: &[usize]) -> Option<f64> {
        let mapped: BTreeSet<_> =
            before.iter().filter_map(|index| Some(self.after[*index]?.0)).collect();
        let both = after.iter().filter(|index| mapped.contains(index)).count();
        let all = before.len() + after.len() - both;
        (all > 0).then(|| both as f64 / all as f64)
    }
}

struct Neighbours {
    callers: Vec<Vec<usize>>,
    callees: Vec<Vec<usize>>,
}

impl Neighbours {
    fn of(graph: &Graph) -> Neighbours {
        Neighbours { callers: graph.callers(), callees: graph.callees() }
    }
}

fn keep_best(best: &mut BTreeMap<usize, (f64, usize)>, key: usize, candidate: (f64, usize)) {
    let kept = best.entry(key).or_insert(candidate);
    if candidate.0 > kept.0 {
        *kept = candidate;
    }
}

/// The smaller by the larger; 1 when both are 0.
pub(super) fn nearness(a: u64, b: u64) -> f64 {
    if a == b { 1.0 } else { a.min(b) as f64 / a.max(b) as f64 }
}

/// Pairs of adjacent letters that both names have, by those that they have together (Dice).
fn shared_pairs(a: &str, b: &str) -> f64 {
    let pairs = |name: &str| -> BTreeSet<[u8; 2]> {
        name.as_bytes().windows(2).map(|pair| [pair[0], pair[1]]).collect()
    };
    let (a, b) = (pairs(a), pairs(b));
    let together = a.len() + b.len();
    if together == 0 { 0.0 } else { 2.0 * a.intersection(&b).count() as f64 / together as f64 }
}
