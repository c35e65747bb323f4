//! Calls of a profile that has callers and not stacks, such as Callgrind's.
//!
//! The cost of a function is divided among its callers as the inclusive costs of their calls are:
//! exact for a function with one caller, or with the same cost for every caller, and an assumption
//! for others. Within a cycle, calls that lead back to a function on the way are left out, and the
//! own costs of the members, with what they call outside, are divided among the calls that remain:
//! nothing is counted twice, and no path is endless.

use super::tree::Calls;
use super::tree::apportioned;
use crate::callgrind::{Cycle, Graph};
use std::collections::HashMap;
use std::rc::Rc;

/// Largest number of calls within cycles that are looked at. A cycle is looked at once for each
/// function by which it is entered; beyond this, its members are shown below the entry, without
/// their calls of each other.
const CYCLE_CALLS_MAX: usize = 4_000_000;

/// The source of a graph's calls.
pub(crate) struct Arcs<'a> {
    graph: &'a Graph,
    entered: HashMap<usize, Rc<Entered>>,
    calls_left: usize,
}

/// A function; in a cycle, also the function by which the cycle was entered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArcPlace {
    function: usize,
    entry: Option<usize>,
}

/// A cycle as it is from one entry: calls without a way back, by caller, with their share of the
/// cycle's cost.
#[derive(Default)]
struct Entered {
    calls: HashMap<usize, Vec<(usize, u64)>>,
}

impl<'a> Arcs<'a> {
    pub(crate) fn new(graph: &'a Graph) -> Arcs<'a> {
        Arcs { graph, entered: HashMap::new(), calls_left: CYCLE_CALLS_MAX }
    }

    fn place(&self, function: usize) -> ArcPlace {
        let entry = self.graph.nodes[function].cycle.map(|_| function);
        ArcPlace { function, entry }
    }

    fn entered(&mut self, entry: usize, cycle: &Cycle) -> Rc<Entered> {
        if let Some(entered) = self.entered.get(&entry) {
            return entered.clone();
        }
        let calls = cycle.members.iter().map(|member| self.inner(*member).count());
        let found = match self.calls_left.checked_sub(calls.sum()) {
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

    /// All other members below the entry.
    fn flat(&self, entry: usize, cycle: &Cycle) -> Entered {
        let others = cycle.members.iter().copied().filter(|member| *member != entry);
        let calls = others.map(|member| (member, self.graph.nodes[member].inclusive)).collect();
        Entered { calls: [(entry, calls)].into() }
    }

    /// The cost of the cycle, divided among the calls that do not lead back.
    fn divided(&self, entry: usize) -> Entered {
        let (order, callers) = self.ways(entry);
        let mut entered = Entered::default();
        // Callees come before callers: what a member needs is known when its callers' turn comes.
        for member in order {
            let calls = entered.calls.get(&member).into_iter().flatten();
            // Their sum is within the cycle's, which fits.
            let needs = self.graph.nodes[member].inclusive + calls.map(|call| call.1).sum::<u64>();
            let Some(callers) = callers.get(&member) else { continue };
            let weights: Vec<u64> = callers.iter().map(|(_, weight)| *weight).collect();
            for ((caller, _), piece) in callers.iter().zip(apportioned(needs, &weights)) {
                entered.calls.entry(*caller).or_default().push((member, piece));
            }
        }
        entered
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

    fn below(&mut self, ArcPlace { function, entry }: ArcPlace) -> (u64, Vec<(ArcPlace, u64)>) {
        let graph = self.graph;
        let calls = graph.calls_from(function);
        let calls = calls.filter(|(callee, _)| !graph.is_recursive(function, *callee));
        let mut below: Vec<_> =
            calls.map(|(callee, edge)| (self.place(callee), edge.inclusive)).collect();
        if let (Some(entry), Some(cycle)) = (entry, graph.nodes[function].cycle) {
            let entered = self.entered(entry, &graph.cycles[cycle]);
            let inner = entered.calls.get(&function).into_iter().flatten();
            below.extend(
                inner.map(|(callee, cost)| {
                    (ArcPlace { function: *callee, entry: Some(entry) }, *cost)
                }),
            );
        }
        (graph.nodes[function].own, below)
    }

    fn function(&self, place: ArcPlace) -> usize {
        place.function
    }
}
