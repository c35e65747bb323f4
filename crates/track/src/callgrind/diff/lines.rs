//! Matching of a function's source lines when the source around them has moved.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::matching::nearness;
use crate::callgrind::graph::SourceLine;

/// Lines of one file in one function, with their costs.
type Lines = Vec<(u32, u64)>;

/// Beyond so many lines of one file in one function, lines are paired by their numbers.
const ALIGNED_MAX: usize = 1500;

/// A line on both sides; a side that has none is `None`.
pub(super) struct Pair {
    pub(super) file: Arc<str>,
    pub(super) before: Option<(u32, u64)>,
    pub(super) after: Option<(u32, u64)>,
}

/// Pairs the lines of a function: within each file in order, with the largest sum of smaller cost
/// divided by larger cost (an optimal alignment).
pub(super) fn align(
    before: &BTreeMap<SourceLine, u64>,
    after: &BTreeMap<SourceLine, u64>,
) -> Vec<Pair> {
    let mut files = BTreeMap::<Arc<str>, [Lines; 2]>::new();
    for (side, lines) in [before, after].into_iter().enumerate() {
        for ((file, line), cost) in lines {
            files.entry(file.clone()).or_default()[side].push((*line, *cost));
        }
    }
    let mut pairs = Vec::new();
    for (file, [before, after]) in files {
        let numbered = before.len().max(after.len()) > ALIGNED_MAX;
        let found = if numbered { by_number(&before, &after) } else { in_order(&before, &after) };
        pairs.extend(found.into_iter().map(|(b, a)| Pair {
            file: file.clone(),
            before: b.map(|index| before[index]),
            after: a.map(|index| after[index]),
        }));
    }
    pairs
}

type Indices = Vec<(Option<usize>, Option<usize>)>;

fn by_number(before: &Lines, after: &Lines) -> Indices {
    let mut found = BTreeMap::<u32, (Option<usize>, Option<usize>)>::new();
    for (index, (line, _)) in before.iter().enumerate() {
        found.entry(*line).or_default().0 = Some(index);
    }
    for (index, (line, _)) in after.iter().enumerate() {
        found.entry(*line).or_default().1 = Some(index);
    }
    found.into_values().collect()
}

/// Needleman and Wunsch: gaps cost nothing, a pair is worth the likeness of its costs, and a
/// little more when the line has kept its number.
fn in_order(before: &Lines, after: &Lines) -> Indices {
    let worth = |i: usize, j: usize| {
        let stays = if before[i].0 == after[j].0 { 0.01 } else { 0.0 };
        nearness(before[i].1, after[j].1) + stays
    };
    let width = after.len() + 1;
    let mut best = vec![0.0_f32; (before.len() + 1) * width];
    for i in 0..before.len() {
        for j in 0..after.len() {
            #[expect(clippy::cast_possible_truncation, reason = "a likeness needs no 53 bits")]
            let paired = best[i * width + j] + worth(i, j) as f32;
            let gap = best[i * width + j + 1].max(best[(i + 1) * width + j]);
            best[(i + 1) * width + j + 1] = paired.max(gap);
        }
    }
    let (mut i, mut j) = (before.len(), after.len());
    let mut found = Vec::new();
    while i > 0 || j > 0 {
        let here = best[i * width + j];
        if i > 0 && best[(i - 1) * width + j] >= here {
            i -= 1;
            found.push((Some(i), None));
        } else if j > 0 && best[i * width + j - 1] >= here {
            j -= 1;
            found.push((None, Some(j)));
        } else {
            (i, j) = (i - 1, j - 1);
            found.push((Some(i), Some(j)));
        }
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(lines: &[(u32, u64)]) -> BTreeMap<SourceLine, u64> {
        lines.iter().map(|(line, cost)| (("a.c".into(), *line), *cost)).collect()
    }

    fn aligned(before: &[(u32, u64)], after: &[(u32, u64)]) -> Vec<(Option<u32>, Option<u32>)> {
        let pairs = align(&lines(before), &lines(after));
        pairs.iter().map(|pair| (pair.before.map(|b| b.0), pair.after.map(|a| a.0))).collect()
    }

    #[test]
    fn moved_lines_are_paired_with_what_they_were() {
        let found = aligned(&[(10, 100), (11, 7), (12, 900)], &[(30, 100), (31, 7), (32, 905)]);
        assert_eq!(found, [(Some(10), Some(30)), (Some(11), Some(31)), (Some(12), Some(32))]);
    }

    #[test]
    fn a_new_line_between_others_has_no_pair() {
        let found = aligned(&[(10, 100), (11, 900)], &[(10, 100), (11, 50), (12, 900)]);
        assert_eq!(found, [(Some(10), Some(10)), (None, Some(11)), (Some(11), Some(12))]);
    }
}
