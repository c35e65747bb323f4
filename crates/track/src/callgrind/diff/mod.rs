//! Differences between two profiles: by function, by call, by source line.
//!
//! Functions are matched ([`matching`](Same)) by name without compiler suffixes, then by
//! similarity. A function that became inlined, or is no longer, is found by its source lines, and
//! its cost is assigned to it as if it were still a function. A rename, an `inline` attribute or a
//! moved line is thus no change of cost.

mod flame;
mod inlined;
mod lines;
mod matching;
mod text;

use std::collections::BTreeMap;

use serde::Serialize;

use super::graph::{Graph, GraphError};
use super::profile::Profile;
pub use flame::{folded, svg};
use inlined::Move;
use matching::Matching;
pub use matching::{LIKENESS_MIN, Same};
pub use text::text;

/// Event to compare, and smallest change to report.
#[derive(Clone, Debug)]
pub struct Options {
    /// The event.
    pub event: String,
    /// Changes up to this part of the total before are not reported: 1e-5 (10 ppm) for a serialised
    /// program, 5e-4 for one with threads.
    pub floor: f64,
}

impl Default for Options {
    fn default() -> Options {
        Options { event: "Ir".to_owned(), floor: 1e-5 }
    }
}

/// A count on both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Cost in the first profile.
    pub before: u64,
    /// Cost in the second profile.
    pub after: u64,
}

impl Change {
    /// After minus before.
    pub fn delta(&self) -> i128 {
        i128::from(self.after) - i128::from(self.before)
    }

    /// The difference as a part of `whole`, or of 1 when that is 0.
    pub fn share_of(&self, whole: u64) -> f64 {
        self.delta() as f64 / whole.max(1) as f64
    }
}

/// Presence of a function on the two sides.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// In both profiles.
    Kept(Same),
    /// Only in the first profile, and its lines are nowhere in the second.
    Gone,
    /// Only in the second profile.
    New,
    /// Only in the first profile; its callers now contain its lines.
    Inlined,
    /// Only in the second profile; its callers contained its lines before.
    OutOfLine,
}

/// A function whose own or inclusive cost changed.
#[derive(Clone, Debug, Serialize)]
pub struct FunctionChange {
    /// The function's name; the one after the change where there are two.
    pub name: String,
    /// The name before, when it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name_before: Option<String>,
    /// Last part of the path of its file.
    pub file: String,
    /// Last part of the path of its program or library.
    pub object: String,
    /// Presence on the two sides.
    pub fate: Fate,
    /// Own cost. Cost that moved by inlining is booked on the function that was inlined.
    pub own: Change,
    /// Own cost as Callgrind booked it.
    pub own_booked: Change,
    /// Own cost plus that of the functions it calls; a lower bound for one that calls itself
    /// through others.
    pub inclusive: Change,
    /// Number of calls by other functions.
    pub calls: Change,
    /// Part of a cycle of several functions, on either side.
    pub in_cycle: bool,
    /// The way to it: its dearest caller, that one's, and so on to the root.
    pub chain: Vec<String>,
}

/// A call whose inclusive cost changed.
#[derive(Clone, Debug, Serialize)]
pub struct CallChange {
    /// The calling function.
    pub caller: String,
    /// The called function.
    pub callee: String,
    /// Number of calls.
    pub calls: Change,
    /// Inclusive cost of the calls.
    pub inclusive: Change,
}

/// A source line whose own cost changed, of a function that changed.
#[derive(Clone, Debug, Serialize)]
pub struct LineChange {
    /// The function that the code is in.
    pub function: String,
    /// Last part of the path of the file that the code is written in.
    pub file: String,
    /// Line number before; `None` when the line is new.
    pub line_before: Option<u32>,
    /// Line number after; `None` when the line was removed.
    pub line_after: Option<u32>,
    /// Own cost of the line.
    pub own: Change,
}

/// A function that was inlined, or no longer is.
#[derive(Clone, Debug, Serialize)]
pub struct InlineChange {
    /// The function.
    pub name: String,
    /// True: it was inlined. False: it was, and is a function now.
    pub inlined: bool,
    /// Its own cost on the side where it is a function, and its callers' cost on its lines on the
    /// other side.
    pub own: Change,
    /// Functions that contain, or contained, its lines, with their cost on these lines.
    pub callers: Vec<(String, u64)>,
}

/// A cycle of functions whose cost changed, matched by its members.
#[derive(Clone, Debug, Serialize)]
pub struct CycleChange {
    /// Names of the members after.
    pub members: Vec<String>,
    /// Cost of all of them and below, counted once.
    pub inclusive: Change,
}

/// Differences between two profiles. Lists begin with the largest change.
#[derive(Clone, Debug, Serialize)]
pub struct Diff {
    /// Version of this structure as JSON; grows when something changes its meaning.
    pub version: u32,
    /// The event.
    pub event: String,
    /// Total cost.
    pub total: Change,
    /// Changes up to this many events are not reported.
    pub floor: u64,
    /// Functions whose own or inclusive cost changed.
    pub functions: Vec<FunctionChange>,
    /// Calls whose inclusive cost changed.
    pub calls: Vec<CallChange>,
    /// Source lines whose own cost changed.
    pub lines: Vec<LineChange>,
    /// Functions that were inlined, or no longer are.
    pub inlined: Vec<InlineChange>,
    /// Functions that have another name, with their likeness, whether or not their cost moved.
    pub renamed: Vec<(String, String, f64)>,
    /// Cycles of several functions.
    pub cycles: Vec<CycleChange>,
}

impl Diff {
    /// True when nothing moved by more than the floor.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty() && self.total.delta().unsigned_abs() <= u128::from(self.floor)
    }

    /// The differences as versioned JSON.
    ///
    /// # Errors
    /// None that a diff made here can cause.
    pub fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self)
    }
}

/// Compares two profiles.
///
/// # Errors
/// [`GraphError`] when one of them did not count the event, or its sums exceed 64 bits.
pub fn diff(before: &Profile, after: &Profile, options: &Options) -> Result<Diff, GraphError> {
    let before = Graph::of(before, &options.event)?;
    let after = Graph::of(after, &options.event)?;
    Ok(Comparison::new(&before, &after, options).diff(options))
}

/// Two graphs and the matching of their functions.
struct Comparison<'a> {
    before: &'a Graph,
    after: &'a Graph,
    matching: Matching,
    inlined: Vec<Move>,
    out_of_line: Vec<Move>,
    floor: u64,
}

/// A function: its indices before and after.
type Sides = (Option<usize>, Option<usize>);

impl<'a> Comparison<'a> {
    fn new(before: &'a Graph, after: &'a Graph, options: &Options) -> Comparison<'a> {
        // A NaN or an infinite share ends at a bound: the conversion from float to integer
        // saturates.
        #[expect(clippy::cast_possible_truncation, reason = "a share of a u64 total")]
        let floor = (before.total as f64 * options.floor).floor() as u64;
        let matching = Matching::of(before, after, floor);
        let [inlined, out_of_line] = inlined::both(before, after, &matching, floor);
        Comparison { before, after, matching, inlined, out_of_line, floor }
    }

    fn diff(&self, options: &Options) -> Diff {
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
        by_size(&mut lines, |change: &LineChange| (change.own, Change::default()));
        let mut calls = self.calls();
        by_size(&mut calls, |change| (change.inclusive, change.calls));
        Diff {
            version: 1,
            event: options.event.clone(),
            total: Change { before: self.before.total, after: self.after.total },
            floor: self.floor,
            functions,
            calls,
            lines,
            inlined: self.inlines(),
            renamed: self.renamed(),
            cycles: self.cycles(),
        }
    }

    fn moved(&self, change: &Change) -> bool {
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
        let change = |of: &dyn Fn(&super::graph::Node) -> u64| Change {
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
                Fate::Inlined
            }
            (None, Some(_)) if out_of_line.is_some() => {
                own.before = out_of_line.map_or(0, sum);
                inclusive.before = inclusive.after.saturating_sub(own.after) + own.before;
                Fate::OutOfLine
            }
            (Some(index), Some(_)) => {
                Fate::Kept(self.matching.after[index].map_or(Same::Name, |(_, same)| same))
            }
            (Some(_), None) => Fate::Gone,
            (None, _) => Fate::New,
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
            own: Change {
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
        let mut edges = BTreeMap::<_, [super::graph::Edge; 2]>::new();
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
            calls: Change { before: before.calls, after: after.calls },
            inclusive: Change { before: before.inclusive, after: after.inclusive },
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
                own: Change { before, after },
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
            let inclusive = Change {
                before: old.map_or(0, |old| self.before.cycles[old].inclusive),
                after: cycle.inclusive,
            };
            if self.moved(&inclusive) {
                let name = |member: &usize| self.after.nodes[*member].name.clone();
                let members = cycle.members.iter().map(name).collect();
                found.push(CycleChange { members, inclusive });
            }
        }
        by_size(&mut found, |change| (change.inclusive, Change::default()));
        found
    }
}

/// Order: largest change first, then the largest second change, then the smaller thing. A function
/// that became slower thus stands before all those that call it.
fn by_size<T>(changes: &mut [T], size: impl Fn(&T) -> (Change, Change)) {
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
