//! Functions that disappeared because they were inlined into their callers.
//!
//! Callgrind assigns the cost of inlined code to the caller, at the source lines where the code was
//! written. The lines of a vanished function are therefore searched in its former callers: their
//! additional cost on these lines is the cost that moved.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::matching::Matching;
use crate::callgrind::graph::{Graph, SourceLine};

/// A function whose code moved into (or, seen backwards, out of) others.
pub(super) struct Move {
    /// The function that is on one side only: its index there.
    pub(super) function: usize,
    /// Functions with its lines on the other side: index there, and their additional cost on these
    /// lines.
    pub(super) into: Vec<(usize, u64)>,
}

/// Smallest part of its own cost that must be found again. Inlined code is optimised together with
/// its surroundings, so that it may be much less than all.
const FOUND_MIN: f64 = 0.3;

/// Lines that an edit between the versions may have moved a function by.
const SHIFT_MAX: u32 = 32;

/// Functions of `here` without a pair whose lines occur in functions of `there`. `pair` maps a
/// function of `here` to the same one in `there`.
pub(super) fn moves(
    here: &Graph,
    there: &Graph,
    pair: &dyn Fn(usize) -> Option<usize>,
    floor: u64,
) -> Vec<Move> {
    let callers = here.callers();
    let mut claimed = BTreeSet::<(usize, SourceLine)>::new();
    let mut found = Vec::new();
    let mut gone: Vec<usize> = (0..here.nodes.len())
        .filter(|index| pair(*index).is_none() && here.nodes[*index].own > floor)
        .collect();
    gone.sort_by_key(|index| std::cmp::Reverse(here.nodes[*index].own));
    for function in gone {
        let spans = spans(&here.nodes[function].lines);
        let mut into = Vec::new();
        for caller in surviving_callers(function, &callers, pair) {
            let Some(other) = pair(caller) else { continue };
            let was = &here.nodes[caller].lines;
            let mut more = 0;
            for (place, cost) in &there.nodes[other].lines {
                let within = spans.get(&place.0).is_some_and(|span| span.contains(&place.1));
                if within && !claimed.contains(&(other, place.clone())) {
                    let gain = cost.saturating_sub(was.get(place).copied().unwrap_or(0));
                    if gain > 0 {
                        more += gain;
                        claimed.insert((other, place.clone()));
                    }
                }
            }
            if more > 0 {
                into.push((other, more));
            }
        }
        let moved: u64 = into.iter().map(|(_, more)| more).sum();
        if moved as f64 >= FOUND_MIN * here.nodes[function].own as f64 {
            into.sort_by_key(|(_, more)| std::cmp::Reverse(*more));
            found.push(Move { function, into });
        }
    }
    found
}

/// The lines of each file between the first and the last that cost something.
fn spans(lines: &BTreeMap<SourceLine, u64>) -> BTreeMap<Arc<str>, std::ops::RangeInclusive<u32>> {
    let mut spans = BTreeMap::<Arc<str>, (u32, u32)>::new();
    for (file, line) in lines.keys() {
        let span = spans.entry(file.clone()).or_insert((*line, *line));
        *span = (span.0.min(*line), span.1.max(*line));
    }
    let wide = |(first, last): (u32, u32)| {
        first.saturating_sub(SHIFT_MAX)..=last.saturating_add(SHIFT_MAX)
    };
    spans.into_iter().map(|(file, span)| (file, wide(span))).collect()
}

/// Its callers that exist on both sides, reached through callers that vanished with it.
fn surviving_callers(
    function: usize,
    callers: &[Vec<usize>],
    pair: &dyn Fn(usize) -> Option<usize>,
) -> Vec<usize> {
    let (mut seen, mut surviving) = (BTreeSet::from([function]), Vec::new());
    let mut open = vec![function];
    while let Some(next) = open.pop() {
        for caller in &callers[next] {
            if seen.insert(*caller) {
                if pair(*caller).is_some() {
                    surviving.push(*caller);
                } else {
                    open.push(*caller);
                }
            }
        }
    }
    surviving
}

/// Both directions: functions that became inlined, and functions that are no longer inlined.
pub(super) fn both(
    before: &Graph,
    after: &Graph,
    matching: &Matching,
    floor: u64,
) -> [Vec<Move>; 2] {
    let inlined = moves(before, after, &|index| Some(matching.after[index]?.0), floor);
    let out_of_line = moves(after, before, &|index| matching.before[index], floor);
    [inlined, out_of_line]
}
