//! Compares two graphs, function by function.

use super::changes::{
    CallChange, CostChange, CycleChange, Diff, FunctionChange, FunctionPresence, InlineChange,
    LineChange, Options,
};
use super::inlined::{self, Move};
use super::lines;
use super::matching::{Matching, Same};
use crate::callgrind::graph::Graph;
use std::collections::BTreeMap;

/// Two graphs and the matching of their functions.
pub(super) struct Comparison<'a> {
    before: &'a Graph,
    after: &'a Graph,
    pub(super) matching: Matching,
    inlined: Vec<Move>,
    out_of_line: Vec<Move>,
    floor: u64,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(before: &'a Graph, after: &'a Graph, options: &Options) -> Comparison<'a> {
        // A NaN or an infinite share ends at a bound: the conversion from float to integer
        // saturates.
        #[expect(clippy::cast_possible_truncation, reason = "a share of a u64 total")]
        let floor = (before.total as f64 * options.floor).floor() as u64;
        let matching = Matching::of(before, after, floor);
        let [inlined, out_of_line] = inlined::both(before, after, &matching, floor);
        Comparison { before, after, matching, inlined, out_of_line, floor }
    }

    pub(super) fn diff(&self, options: &Options) -> Diff {
        let sides = self.sides();
        let mut functions: Vec<FunctionChange> = Vec::new();
        let mut lines = Vec::new();
        let booked_elsewhere = self.moved_costs();
        let routes = [Routes::of(self.before), Routes::of(self.after)];
        for pair in &sides {
            let change = self.function(*pair, &booked_elsewhere, &routes);
            if self.moved(&change.own) {
                lines.extend(self.lines(*pair, &change.name));
            }
            if self.moved(&change.own) || self.moved(&change.inclusive) {
                functions.push(change);
            }
        }
        by_size(&mut functions, |change| (change.own, change.inclusive));
        by_size(&mut lines, |change: &LineChange| (change.own, CostChange::default()));
        let mut calls = self.calls();
        by_size(&mut calls, |change| (change.inclusive, change.calls));
        Diff {
            version: 1,
            event: options.event.clone(),
            total: CostChange { before: self.before.total, after: self.after.total },
            floor: self.floor,
            functions,
            calls,
            lines,
            inlined: self.inlines(),
            renamed: self.renamed(),
            cycles: self.cycles(),
            system_ns: CostChange::default(),
            system: Vec::new(),
        }
    }

    fn moved(&self, change: &CostChange) -> bool {
        change.delta().unsigned_abs() > u128::from(self.floor)
    }

    fn sides(&self) -> Vec<Sides> {
        let pairs = self.matching.after.iter().enumerate();
        let pairs = pairs.map(|(before, after)| (Some(before), after.map(|(after, _)| after)));
        let new = self.matching.before.iter().enumerate();
        let new = new.filter(|(_, before)| before.is_none()).map(|(after, _)| (None, Some(after)));
        pairs.chain(new).collect()
    }

    /// Cost that inlining moved, by function: own cost to subtract (before, after).
    fn moved_costs(&self) -> [BTreeMap<usize, u64>; 2] {
        let mut taken = [BTreeMap::new(), BTreeMap::new()];
        for (side, moves) in [(1, &self.inlined), (0, &self.out_of_line)] {
            for (function, cost) in moves.iter().flat_map(|found| &found.into) {
                *taken[side].entry(*function).or_default() += cost;
            }
        }
        taken
    }

    fn function(
        &self,
        (was, is): Sides,
        [taken_before, taken_after]: &[BTreeMap<usize, u64>; 2],
        [routes_before, routes_after]: &[Routes; 2],
    ) -> FunctionChange {
        let before = was.map(|index| &self.before.nodes[index]);
        let after = is.map(|index| &self.after.nodes[index]);
        let node = after.or(before).expect("a function is on one side at least");
        let change = |of: &dyn Fn(&crate::callgrind::graph::Node) -> u64| CostChange {
            before: before.map_or(0, of),
            after: after.map_or(0, of),
        };
        let own_booked = change(&|node| node.own);
        let mut own = own_booked;
        own.before -= was.and_then(|index| taken_before.get(&index)).unwrap_or(&0);
        own.after -= is.and_then(|index| taken_after.get(&index)).unwrap_or(&0);
        let sum = |found: &Move| found.into.iter().map(|(_, cost)| cost).sum::<u64>();
        let inlined = self.inlined.iter().find(|found| Some(found.function) == was);
        let out_of_line = self.out_of_line.iter().find(|found| Some(found.function) == is);
        let mut inclusive = change(&|node| node.inclusive);
        let fate = match (was, is) {
            (Some(_), None) if inlined.is_some() => {
                own.after = inlined.map_or(0, sum);
                inclusive.after = inclusive.before.saturating_sub(own.before) + own.after;
                FunctionPresence::Inlined
            }
            (None, Some(_)) if out_of_line.is_some() => {
                own.before = out_of_line.map_or(0, sum);
                inclusive.before = inclusive.after.saturating_sub(own.after) + own.before;
                FunctionPresence::OutOfLine
            }
            (Some(index), Some(_)) => FunctionPresence::Kept(
                self.matching.after[index].map_or(Same::Name, |(_, same)| same),
            ),
            (Some(_), None) => FunctionPresence::Gone,
            (None, _) => FunctionPresence::New,
        };
        FunctionChange {
            name: node.name.clone(),
            name_before: before.filter(|old| old.name != node.name).map(|old| old.name.clone()),
            file: node.file.clone(),
            object: node.object.clone(),
            fate,
            own,
            own_booked,
            inclusive,
            calls: change(&|node| node.calls),
            in_cycle: [before, after].into_iter().flatten().any(|node| node.cycle.is_some()),
            chain: match (was, is) {
                (_, Some(index)) => routes_after.to(self.after, index),
                (Some(index), None) => routes_before.to(self.before, index),
                (None, None) => Vec::new(),
            },
        }
    }

    fn lines(&self, (was, is): Sides, function: &str) -> Vec<LineChange> {
        let (Some(was), Some(is)) = (was, is) else { return Vec::new() };
        let pairs = lines::align(&self.before.nodes[was].lines, &self.after.nodes[is].lines);
        let changes = pairs.into_iter().map(|pair| LineChange {
            function: function.to_owned(),
            file: pair.file.to_string(),
            line_before: pair.before.map(|(line, _)| line),
            line_after: pair.after.map(|(line, _)| line),
            own: CostChange {
                before: pair.before.map_or(0, |(_, cost)| cost),
                after: pair.after.map_or(0, |(_, cost)| cost),
            },
        });
        changes.filter(|change| self.moved(&change.own)).collect()
    }

    fn calls(&self) -> Vec<CallChange> {
        // The key is the function after the change where both sides have it, so that both ends of a
        // call meet.
        let key = |index: usize| match self.matching.after[index] {
            Some((after, _)) => (1, after),
            None => (0, index),
        };
        let mut edges = BTreeMap::<_, [crate::callgrind::graph::Edge; 2]>::new();
        for ((caller, callee), edge) in &self.before.edges {
            edges.entry((key(*caller), key(*callee))).or_default()[0] = *edge;
        }
        for ((caller, callee), edge) in &self.after.edges {
            edges.entry(((1, *caller), (1, *callee))).or_default()[1] = *edge;
        }
        let name = |(side, index): (i32, usize)| match side {
            1 => self.after.nodes[index].name.clone(),
            _ => self.before.nodes[index].name.clone(),
        };
        let changes = edges.into_iter().map(|((caller, callee), [before, after])| CallChange {
            caller: name(caller),
            callee: name(callee),
            calls: CostChange { before: before.calls, after: after.calls },
            inclusive: CostChange { before: before.inclusive, after: after.inclusive },
        });
        changes.filter(|change| self.moved(&change.inclusive)).collect()
    }

    fn inlines(&self) -> Vec<InlineChange> {
        let make = |found: &Move, inlined: bool| {
            let (here, there) =
                if inlined { (self.before, self.after) } else { (self.after, self.before) };
            let moved = found.into.iter().map(|(_, cost)| cost).sum();
            let own = here.nodes[found.function].own;
            let (before, after) = if inlined { (own, moved) } else { (moved, own) };
            let callers = found.into.iter();
            InlineChange {
                name: here.nodes[found.function].name.clone(),
                inlined,
                own: CostChange { before, after },
                callers: callers.map(|(i, cost)| (there.nodes[*i].name.clone(), *cost)).collect(),
            }
        };
        let inlined = self.inlined.iter().map(|found| make(found, true));
        inlined.chain(self.out_of_line.iter().map(|found| make(found, false))).collect()
    }

    fn renamed(&self) -> Vec<(String, String, f64)> {
        let pairs = self.matching.after.iter().enumerate();
        let renamed = pairs.filter_map(|(before, pair)| match pair {
            Some((after, Same::Renamed { likeness })) => {
                let names = (&self.before.nodes[before].name, &self.after.nodes[*after].name);
                Some((names.0.clone(), names.1.clone(), *likeness))
            }
            _ => None,
        });
        renamed.collect()
    }

    /// A cycle after is the one before that has most of its members.
    fn cycles(&self) -> Vec<CycleChange> {
        let mut found = Vec::new();
        for cycle in &self.after.cycles {
            let was = |member: &usize| self.before.nodes[self.matching.before[*member]?].cycle;
            let mut votes = BTreeMap::<usize, usize>::new();
            for old in cycle.members.iter().filter_map(was) {
                *votes.entry(old).or_default() += 1;
            }
            let old = votes.into_iter().max_by_key(|(_, count)| *count).map(|(old, _)| old);
            let inclusive = CostChange {
                before: old.map_or(0, |old| self.before.cycles[old].inclusive),
                after: cycle.inclusive,
            };
            if self.moved(&inclusive) {
                let name = |member: &usize| self.after.nodes[*member].name.clone();
                let members = cycle.members.iter().map(name).collect();
                found.push(CycleChange { members, inclusive });
            }
        }
        by_size(&mut found, |change| (change.inclusive, CostChange::default()));
        found
    }
}

/// A function: its indices before and after.
type Sides = (Option<usize>, Option<usize>);

/// Order: largest change first, then the largest second change, then the smaller thing. A function
/// that became slower thus stands before all those that call it.
fn by_size<T>(changes: &mut [T], size: impl Fn(&T) -> (CostChange, CostChange)) {
    changes.sort_by_key(|change| {
        let (first, second) = size(change);
        let sizes = (first.delta().unsigned_abs(), second.delta().unsigned_abs());
        (std::cmp::Reverse(sizes), first.before)
    });
}

/// Callers of each function, to find the dearest way to one.
struct Routes(Vec<Vec<usize>>);

impl Routes {
    fn of(graph: &Graph) -> Routes {
        Routes(graph.callers())
    }

    /// The dearest caller, that one's, and so on, until there is none or a circle closes.
    fn to(&self, graph: &Graph, function: usize) -> Vec<String> {
        let (mut chain, mut seen) = (Vec::new(), vec![function]);
        let mut at = function;
        while chain.len() < 64 {
            let free = self.0[at].iter().filter(|caller| !seen.contains(caller));
            let Some(next) = free.max_by_key(|caller| graph.edges[&(**caller, at)].inclusive)
            else {
                break;
            };
            chain.push(graph.nodes[*next].name.clone());
            seen.push(*next);
            at = *next;
        }
        chain
    }
}
