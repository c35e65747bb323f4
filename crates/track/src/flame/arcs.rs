//! Calls of a profile that has callers and not stacks, such as Callgrind's.
//!
//! The cost of a function is divided among its callers as the inclusive costs of their calls are:
//! exact for a function with one caller, or with the same cost for every caller, and an assumption
//! for others. Within a cycle, calls that lead back to a function on the way are left out, and the
//! own costs of the members, with what they call outside, are divided among the calls that remain:
//! nothing is counted twice, and no path is endless.

use super::tree::{Calls, Costs, apportioned};
use crate::callgrind::Graph;
use std::collections::HashMap;
use std::rc::Rc;

/// Largest number of calls within cycles that are looked at. A cycle is looked at once for each
/// function by which it is entered; beyond this, its most expensive members are shown below the
/// entry, without their calls of each other.
const CYCLE_CALLS_MAX: usize = 1_000_000;
/// Number of members that are shown then.
const FLAT_MEMBERS_MAX: usize = 200;

/// The source of a graph's calls.
pub(crate) struct Arcs<'a> {
    graph: &'a Graph,
    entered: HashMap<usize, Rc<Entered>>,
    calls_left: usize,
    /// Number of calls within each cycle that was entered.
    call_counts: HashMap<usize, usize>,
    /// The most expensive members of cycles whose calls are not looked at.
    expensive: HashMap<usize, Vec<usize>>,
}

/// A function; in a cycle, also the function by which the cycle was entered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArcPlace {
    function: usize,
    entry: Option<usize>,
}

/// A cycle as it is from one entry.
#[derive(Default)]
struct Entered {
    /// Calls without a way back: caller, callee, share of the cycle's cost; by caller.
    calls: Vec<(usize, usize, u64)>,
    /// Share of members that are not told apart: below the entry.
    left_out: u64,
}

impl Entered {
    fn of(&self, caller: usize) -> &[(usize, usize, u64)] {
        let begin = self.calls.partition_point(|call| call.0 < caller);
        let end = self.calls.partition_point(|call| call.0 <= caller);
        &self.calls[begin..end]
    }
}

impl<'a> Arcs<'a> {
    pub(crate) fn new(graph: &'a Graph) -> Arcs<'a> {
        Arcs {
            graph,
            entered: HashMap::new(),
            calls_left: CYCLE_CALLS_MAX,
            call_counts: HashMap::new(),
            expensive: HashMap::new(),
        }
    }

    fn place(&self, function: usize) -> ArcPlace {
        let entry = self.graph.nodes[function].cycle.map(|_| function);
        ArcPlace { function, entry }
    }

    fn entered(&mut self, entry: usize, cycle: usize) -> Rc<Entered> {
        if let Some(entered) = self.entered.get(&entry) {
            return entered.clone();
        }
        let calls = match self.call_counts.get(&cycle) {
            Some(calls) => *calls,
            None => {
                let members = self.graph.cycles[cycle].members.iter();
                let calls = members.map(|member| self.inner(*member).count()).sum();
                self.call_counts.insert(cycle, calls);
                calls
            }
        };
        let found = match self.calls_left.checked_sub(calls) {
            Some(left) => {
                self.calls_left = left;
                self.divided(entry)
            }
            None => self.flat(entry, cycle),
        };
        let entered = Rc::new(found);
        self.entered.insert(entry, entered.clone());
        entered
    }

    /// Calls of a member to other members of its cycle.
    fn inner(&self, member: usize) -> impl Iterator<Item = (usize, u64)> + use<'a> {
        let graph = self.graph;
        let calls = graph.calls_from(member);
        calls
            .filter(move |(callee, _)| *callee != member && graph.is_recursive(member, *callee))
            .map(|(callee, edge)| (callee, edge.inclusive))
    }

    /// The most expensive other members below the entry.
    fn flat(&mut self, entry: usize, cycle: usize) -> Entered {
        let (graph, found) = (self.graph, &self.graph.cycles[cycle]);
        let most = self.expensive.entry(cycle).or_insert_with(|| {
            let mut members = found.members.clone();
            members.sort_by_key(|m| (std::cmp::Reverse(graph.nodes[*m].inclusive), *m));
            members.truncate(FLAT_MEMBERS_MAX + 1); // the entry may be one of them
            members
        });
        let others = most.iter().filter(|member| **member != entry).take(FLAT_MEMBERS_MAX);
        let calls: Vec<_> =
            others.map(|member| (entry, *member, graph.nodes[*member].inclusive)).collect();
        // Both sums are within the cycle's, which fits.
        let shown: u64 = calls.iter().map(|call| call.2).sum();
        Entered { calls, left_out: found.inclusive - graph.nodes[entry].inclusive - shown }
    }

    /// The cost of the cycle, divided among the calls that do not lead back.
    fn divided(&self, entry: usize) -> Entered {
        let (order, callers) = self.ways(entry);
        let mut calls = Vec::new();
        let mut below = HashMap::<usize, u64>::new();
        // Callees come before callers: what a member needs is known when its callers' turn comes.
        for member in order {
            // Their sum is within the cycle's, which fits.
            let needs = self.graph.nodes[member].inclusive + below.get(&member).unwrap_or(&0);
            let Some(callers) = callers.get(&member) else { continue };
            let weights: Vec<u64> = callers.iter().map(|(_, weight)| *weight).collect();
            for ((caller, _), piece) in callers.iter().zip(apportioned(needs, &weights)) {
                calls.push((*caller, member, piece));
                *below.entry(*caller).or_default() += piece;
            }
        }
        calls.sort_unstable();
        calls.shrink_to_fit();
        Entered { calls, left_out: 0 }
    }

    /// The members that are reached from an entry, callees before callers; and for each but the
    /// entry its callers by calls that do not lead back, with the costs of the calls. Expensive
    /// calls are followed first, so that cheap ones are those that lead back.
    fn ways(&self, entry: usize) -> (Vec<usize>, HashMap<usize, Vec<(usize, u64)>>) {
        let by_cost = |member: usize| {
            let mut calls: Vec<_> = self.inner(member).collect();
            calls.sort_by_key(|(callee, cost)| (*cost, std::cmp::Reverse(*callee)));
            calls // the most expensive is last and taken first
        };
        let mut on_path = HashMap::from([(entry, true)]);
        let mut path = vec![(entry, by_cost(entry))];
        let (mut order, mut callers) = (Vec::new(), HashMap::<usize, Vec<(usize, u64)>>::new());
        while let Some((member, calls)) = path.last_mut() {
            let member = *member;
            let Some((callee, cost)) = calls.pop() else {
                on_path.insert(member, false);
                order.push(member);
                path.pop();
                continue;
            };
            if on_path.get(&callee) == Some(&true) {
                continue; // leads back
            }
            callers.entry(callee).or_default().push((member, cost));
            if !on_path.contains_key(&callee) {
                on_path.insert(callee, true);
                path.push((callee, by_cost(callee)));
            }
        }
        (order, callers)
    }
}

impl Calls for Arcs<'_> {
    type Place = ArcPlace;

    fn total(&self) -> u64 {
        self.graph.total
    }

    /// Functions whose cost is more than that of all calls of them: nobody calls them, or a thread
    /// or a program begins with them. In a cycle, the member that calls most.
    fn roots(&mut self) -> Vec<(ArcPlace, u64)> {
        let graph = self.graph;
        let mut called = vec![0_u64; graph.nodes.len()];
        let mut cycles_called = vec![0_u64; graph.cycles.len()];
        for ((caller, callee), edge) in &graph.edges {
            if graph.is_recursive(*caller, *callee) {
                continue;
            }
            let sum = match graph.nodes[*callee].cycle {
                Some(cycle) => &mut cycles_called[cycle],
                None => &mut called[*callee],
            };
            *sum = sum.saturating_add(edge.inclusive);
        }
        let alone = graph.nodes.iter().zip(called).enumerate();
        let alone = alone.filter(|(_, (node, _))| node.cycle.is_none());
        let alone = alone.map(|(index, (node, called))| (index, node.inclusive, called));
        let cycles = graph.cycles.iter().zip(cycles_called).map(|(cycle, called)| {
            let calls =
                |member: usize| self.inner(member).fold(0_u64, |a, b| a.saturating_add(b.1));
            let first = cycle.members.iter().copied().max_by_key(|member| calls(*member));
            (first.unwrap_or_default(), cycle.inclusive, called)
        });
        let all = alone.chain(cycles).filter(|(_, inclusive, called)| inclusive > called);
        all.map(|(index, inclusive, called)| (self.place(index), inclusive - called)).collect()
    }

    fn below(&mut self, ArcPlace { function, entry }: ArcPlace) -> Costs<ArcPlace> {
        let graph = self.graph;
        let calls = graph.calls_from(function);
        let calls = calls.filter(|(callee, _)| !graph.is_recursive(function, *callee));
        let calls = calls.map(|(callee, edge)| (self.place(callee), edge.inclusive)).collect();
        let mut costs = Costs { own: graph.nodes[function].own, left_out: 0, calls };
        if let (Some(entry), Some(cycle)) = (entry, graph.nodes[function].cycle) {
            let entered = self.entered(entry, cycle);
            let inner = entered.of(function).iter();
            let place = |callee: &usize| ArcPlace { function: *callee, entry: Some(entry) };
            costs.calls.extend(inner.map(|(_, callee, cost)| (place(callee), *cost)));
            if function == entry {
                costs.left_out = entered.left_out;
            }
        }
        costs
    }

    fn function(&self, place: ArcPlace) -> usize {
        place.function
    }
}
