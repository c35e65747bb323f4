//! Finds durations in a graph.

use super::graph::Graph;
use crate::{LeafLevel, Selection};
use std::collections::{BTreeMap, VecDeque};

/// The inputs of a leaf that are measured from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum InputCase {
    /// One duration for each root above a leaf.
    #[default]
    All,
    /// From the root that started last: the freshest input.
    Best,
    /// From the root that started first: the oldest input.
    Worst,
    /// Message age: from the start of each transaction of the root's class that is a parent of the
    /// leaf, or linked by it, to the start of the leaf. The level does not matter.
    Age,
}

/// Limits of the search.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Largest number of links on a way from root to leaf.
    pub links_max: u8,
    /// Largest number of rows visited by [`InputCase::All`], over all leaves.
    pub visits_max: u64,
}

impl Default for Options {
    /// 8 links, and 200 million visits (some seconds).
    fn default() -> Self {
        Self { links_max: 8, visits_max: 200_000_000 }
    }
}

/// A duration between a root and a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundDuration {
    /// Index of the leaf's row.
    pub leaf: usize,
    /// Index of the root, as [`GraphRoot::index`](super::GraphRoot::index); `None` for the best and
    /// the worst, of which only the start is found.
    pub root: Option<usize>,
    /// Start of the root: UTC, nanoseconds since 1970.
    pub start_ns: i64,
    /// The duration, in nanoseconds.
    pub duration_ns: u64,
}

/// Number of durations found, and of those left out, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FanInCounts {
    /// Durations that are used.
    pub used: u64,
    /// Used, with something above the leaf that is not known: a parent or a linked row.
    pub incomplete: u64,
    /// Not used: negative. The clocks of hosts disagree.
    pub negative: u64,
    /// Leaves without a root, above which something is not known.
    pub root_missing: u64,
    /// Leaves with a way of more than [`Options::links_max`] links to a root: it was not followed.
    pub beyond_links: u64,
    /// Rows left out because another has the same chain and id.
    pub duplicates: u64,
}

/// [`InputCase::All`] was given up: more rows lie between roots and leaves than may be visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "more than {visits} ways between roots and leaves, of {pairs} pairs so far; ask for the best \
     or the worst input of each leaf, or for a shorter time"
)]
pub struct TooManyWays {
    /// Rows visited.
    pub visits: u64,
    /// Pairs of a root and a leaf found until then.
    pub pairs: u64,
}

impl Graph {
    /// The durations that `selection` asks for, by leaf.
    ///
    /// # Errors
    /// [`TooManyWays`] for [`InputCase::All`] only.
    pub fn durations(
        &self,
        selection: &Selection,
        case: InputCase,
        options: Options,
        each: impl FnMut(FoundDuration),
    ) -> Result<FanInCounts, TooManyWays> {
        let mut search = Search::new(self, selection, options, each);
        match case {
            InputCase::All => search.all()?,
            InputCase::Best => search.extreme(i64::max),
            InputCase::Worst => search.extreme(i64::min),
            InputCase::Age => search.age(),
        }
        Ok(search.counts)
    }
}

/// A search for the durations of one selection.
struct Search<'a, F> {
    graph: &'a Graph,
    selection: &'a Selection,
    options: Options,
    each: F,
    counts: FanInCounts,
    /// Leaves that are measured to.
    leaves: Vec<usize>,
    /// Whether durations count from the row: of the root's class, and at any level without
    /// another above it.
    is_root: Vec<bool>,
    /// By row: something above it is not known.
    doubtful: Vec<bool>,
}

impl<'a, F: FnMut(FoundDuration)> Search<'a, F> {
    fn new(graph: &'a Graph, selection: &'a Selection, options: Options, each: F) -> Self {
        let mut doubtful = graph.doubtful.clone();
        for row in &graph.order {
            let row = *row as usize;
            for edge in graph.above(row) {
                doubtful[row] |= doubtful[edge.to as usize];
            }
        }
        let (is_root, leaves) = (graph.are_roots(selection), graph.leaves(selection));
        let duplicates = graph.duplicate.iter().filter(|duplicate| **duplicate).count() as u64;
        let counts = FanInCounts { duplicates, ..FanInCounts::default() };
        Self { graph, selection, options, each, counts, leaves, is_root, doubtful }
    }

    /// Offers a duration from a root's start to a leaf's `end_ns`.
    fn offer(&mut self, leaf: usize, root: Option<usize>, start_ns: i64, end_ns: i64) {
        if !self.selection.root_start_ns.contains(&start_ns) {
            return;
        }
        match u64::try_from(end_ns.saturating_sub(start_ns)) {
            Ok(duration_ns) => {
                self.counts.used += 1;
                self.counts.incomplete += u64::from(self.doubtful[leaf]);
                (self.each)(FoundDuration { leaf, root, start_ns, duration_ns });
            }
            Err(_) => self.counts.negative += 1,
        }
    }

    /// Counts a leaf for which no root was found.
    fn without_root(&mut self, leaf: usize) {
        let within = self.selection.root_start_ns.contains(&self.graph.rows[leaf].hop.start_ns);
        self.counts.root_missing += u64::from(within && self.doubtful[leaf]);
    }

    fn end_ns(&self, leaf: usize) -> i64 {
        self.graph.rows[leaf].hop.end_ns()
    }

    fn age(&mut self) {
        for leaf in std::mem::take(&mut self.leaves) {
            let (graph, start_ns) = (self.graph, self.graph.rows[leaf].hop.start_ns);
            let mut found = false;
            for edge in graph.above(leaf).iter().filter(|edge| edge.steps == 1) {
                let input = &graph.rows[edge.to as usize].hop;
                if self.selection.roots.contains(&input.class) {
                    found = true;
                    self.offer(leaf, Some(edge.to as usize), input.start_ns, start_ns);
                }
            }
            if !found {
                self.without_root(leaf);
            }
        }
    }

    /// One duration a leaf, from the root whose start is preferred.
    fn extreme(&mut self, prefer: fn(i64, i64) -> i64) {
        let found = match self.selection.level {
            LeafLevel::Any => self.any_level(prefer),
            LeafLevel::Exactly(level) => self.exact_level(level, prefer),
        };
        let width = self.width();
        let many = self.most_links();
        for leaf in std::mem::take(&mut self.leaves) {
            match found[leaf * width + width - 1] {
                Some(start_ns) => self.offer(leaf, None, start_ns, self.end_ns(leaf)),
                None => self.without_root(leaf),
            }
            self.counts.beyond_links += u64::from(many[leaf] > self.options.links_max);
        }
    }

    /// Numbers of links that are told apart: 0 to the largest.
    fn width(&self) -> usize {
        usize::from(self.options.links_max) + 1
    }

    /// For each row, and each largest number of links, the preferred start of a root above it.
    fn any_level(&self, prefer: fn(i64, i64) -> i64) -> Vec<Option<i64>> {
        let width = self.width();
        // Of the row itself or a root above it; the row's own start comes last, because a leaf is
        // not its own root.
        let mut found = vec![None; self.graph.rows.len() * width];
        for row in &self.graph.order {
            let row = *row as usize;
            for edge in self.graph.above(row) {
                let to = edge.to as usize;
                let own = self.is_root[to].then_some(self.graph.rows[to].hop.start_ns);
                for links in usize::from(edge.is_link)..width {
                    let above = found[to * width + links - usize::from(edge.is_link)];
                    let best = preferred(own, above, prefer);
                    let mine = &mut found[row * width + links];
                    *mine = preferred(*mine, best, prefer);
                }
            }
        }
        found
    }

    /// As [`Self::any_level`], of roots that are `level` steps above.
    fn exact_level(&self, level: u16, prefer: fn(i64, i64) -> i64) -> Vec<Option<i64>> {
        let (width, rows) = (self.width(), &self.graph.rows);
        let own = |row: usize| self.is_root[row].then_some(rows[row].hop.start_ns);
        let mut found: Vec<Option<i64>> =
            (0..rows.len()).flat_map(|row| std::iter::repeat_n(own(row), width)).collect();
        for step in 1..=level {
            let mut next = vec![None; found.len()];
            for row in 0..rows.len() {
                for edge in self.graph.above(row) {
                    let to = edge.to as usize;
                    for links in usize::from(edge.is_link)..width {
                        let above = match edge.steps {
                            1 => found[to * width + links - usize::from(edge.is_link)],
                            steps if steps == step => own(to),
                            _ => None,
                        };
                        let mine = &mut next[row * width + links];
                        *mine = preferred(*mine, above, prefer);
                    }
                }
            }
            found = next;
        }
        found
    }

    /// For each row the largest number of links on a way to a root above it, saturating.
    fn most_links(&self) -> Vec<u8> {
        let mut most: Vec<Option<u8>> = vec![None; self.graph.rows.len()];
        for row in &self.graph.order {
            let row = *row as usize;
            for edge in self.graph.above(row) {
                let to = edge.to as usize;
                let own = self.is_root[to].then_some(0);
                if let Some(above) = own.max(most[to]) {
                    most[row] = most[row].max(Some(above.saturating_add(u8::from(edge.is_link))));
                }
            }
        }
        most.into_iter().map(Option::unwrap_or_default).collect()
    }

    /// One duration for each root above each leaf.
    fn all(&mut self) -> Result<(), TooManyWays> {
        let mut walk = Walk { visited: vec![0; self.graph.rows.len()], ..Walk::default() };
        let many = self.most_links();
        for leaf in std::mem::take(&mut self.leaves) {
            walk.found.clear();
            match self.selection.level {
                LeafLevel::Any => self.walk_any(leaf, &mut walk),
                LeafLevel::Exactly(level) => self.walk_exactly(leaf, level, &mut walk),
            }
            if walk.visits > self.options.visits_max {
                return Err(TooManyWays { visits: walk.visits, pairs: self.counts.used });
            }
            let end_ns = self.end_ns(leaf);
            for root in &walk.found {
                let root = *root as usize;
                self.offer(leaf, Some(root), self.graph.rows[root].hop.start_ns, end_ns);
            }
            if walk.found.is_empty() {
                self.without_root(leaf);
            }
            self.counts.beyond_links += u64::from(many[leaf] > self.options.links_max);
        }
        Ok(())
    }

    /// Visits all rows above a leaf, those that fewer links reach first.
    fn walk_any(&self, leaf: usize, walk: &mut Walk) {
        walk.round += 1;
        walk.next.push_back((leaf, 0));
        // Rows leave the queue by ascending number of links: the first visit has the fewest.
        while let Some((row, links)) = walk.next.pop_front() {
            if std::mem::replace(&mut walk.visited[row], walk.round) == walk.round {
                continue;
            }
            walk.visits += 1;
            if row != leaf && self.is_root[row] {
                walk.found.push(u32::try_from(row).unwrap_or(u32::MAX));
            }
            for edge in self.graph.above(row) {
                let to = edge.to as usize;
                if !edge.is_link {
                    walk.next.push_front((to, links));
                } else if links < self.options.links_max {
                    walk.next.push_back((to, links + 1));
                }
            }
            if walk.visits > self.options.visits_max {
                walk.next.clear();
            }
        }
        walk.found.sort_unstable();
    }

    /// Visits the rows above a leaf step by step.
    fn walk_exactly(&self, leaf: usize, level: u16, walk: &mut Walk) {
        let mut at = BTreeMap::from([(leaf, 0_u8)]);
        // Roots that only correlators know, by the step at which they are reached.
        let mut far: Vec<usize> = Vec::new();
        for step in 0..level {
            let mut next: BTreeMap<usize, u8> = BTreeMap::new();
            for (row, links) in &at {
                for edge in self.graph.above(*row) {
                    let links = links + u8::from(edge.is_link);
                    if links > self.options.links_max {
                        continue;
                    }
                    if edge.steps == 1 {
                        let known = next.entry(edge.to as usize).or_insert(links);
                        *known = links.min(*known);
                    } else if edge.steps == level - step {
                        far.push(edge.to as usize);
                    }
                }
            }
            walk.visits += next.len() as u64;
            at = next;
            if at.is_empty() || walk.visits > self.options.visits_max {
                break;
            }
        }
        let reached = at.into_keys().chain(far).filter(|row| self.is_root[*row]);
        walk.found.extend(reached.map(|row| u32::try_from(row).unwrap_or(u32::MAX)));
        walk.found.sort_unstable();
        walk.found.dedup();
    }
}

/// Memory of a walk, reused from leaf to leaf.
#[derive(Default)]
struct Walk {
    /// By row: the last round that visited it.
    visited: Vec<u32>,
    round: u32,
    next: VecDeque<(usize, u8)>,
    found: Vec<u32>,
    visits: u64,
}

fn preferred(a: Option<i64>, b: Option<i64>, prefer: fn(i64, i64) -> i64) -> Option<i64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(prefer(a, b)),
        (a, b) => a.or(b),
    }
}
