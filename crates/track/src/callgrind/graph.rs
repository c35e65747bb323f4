//! The call graph of one event: functions with the same plain name are folded, and inclusive costs
//! are correct under recursion.
//!
//! Callgrind adds a call's inclusive cost to its caller each time, so that within a cycle of calls
//! the same instructions are counted once per level. Here a cycle (a strongly connected component)
//! is one unit: its inclusive cost is the own cost of its members plus that of the functions it
//! calls outside, once. A member's inclusive cost is its own plus that of its calls that leave the
//! cycle: exact for a function that only calls itself, a lower bound for a cycle of many members.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::names::plain;
use super::profile::{Callable, Profile};

/// Reason why there is no graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    /// The profile did not count this.
    #[error("the profile has no event {event:?}; it has {}", has.join(", "))]
    NoEvent {
        /// The requested name.
        event: String,
        /// The available names.
        has: Vec<String>,
    },
    /// A sum does not fit.
    #[error("costs of {function:?} exceed 64 bits")]
    Overflow {
        /// The function.
        function: String,
    },
}

/// A source line: the last component of the file's path, and the line number, 0 when unknown.
pub type SourceLine = (Arc<str>, u32);

/// A function: all that have the same plain name, file and object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The name without what compilers add.
    pub name: String,
    /// The names as the profile has them, sorted.
    pub variants: BTreeSet<String>,
    /// Last part of the path of the file that it begins in.
    pub file: String,
    /// Last part of the path of the program or library.
    pub object: String,
    /// Spent in itself, inlined code included.
    pub own: u64,
    /// Spent in itself and below; see the module about recursion.
    pub inclusive: u64,
    /// Number of calls by other functions.
    pub calls: u64,
    /// Own costs by place.
    pub lines: BTreeMap<SourceLine, u64>,
    /// Index into [`Graph::cycles`] when it calls itself through others.
    pub cycle: Option<usize>,
}

/// Calls from one function to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edge {
    /// Number of calls.
    pub calls: u64,
    /// Inclusive cost of the calls.
    pub inclusive: u64,
}

/// Functions that call each other in a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// Indices of the functions.
    pub members: Vec<usize>,
    /// Spent in all of them and below, once.
    pub inclusive: u64,
}

/// The call graph of one event.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// All functions.
    pub nodes: Vec<Node>,
    /// Calls by caller and callee.
    pub edges: BTreeMap<(usize, usize), Edge>,
    /// Cycles of more than one function.
    pub cycles: Vec<Cycle>,
    /// Sum of all own costs.
    pub total: u64,
}

impl Graph {
    /// The graph of `event`.
    ///
    /// # Errors
    /// [`GraphError`] when the profile has no such event, or a sum exceeds 64 bits.
    pub fn of(profile: &Profile, event: &str) -> Result<Graph, GraphError> {
        let column = profile.event(event).ok_or_else(|| GraphError::NoEvent {
            event: event.to_owned(),
            has: profile.events.clone(),
        })?;
        let mut graph = Graph::default();
        let nodes = graph.fold_functions(profile);
        let files: HashMap<u32, Arc<str>> = profile
            .lines
            .keys()
            .map(|site| (site.file, base(profile.names.get(site.file)).into()))
            .collect();
        for (site, costs) in &profile.lines {
            let node = &mut graph.nodes[nodes[site.function as usize]];
            let cost = costs.get(column);
            add(&mut node.own, cost, &node.name)?;
            add(&mut graph.total, cost, &node.name)?;
            // Cannot exceed what `own` holds.
            *node.lines.entry((files[&site.file].clone(), site.line)).or_default() += cost;
        }
        for ((site, callee), call) in &profile.calls {
            let key = (nodes[site.function as usize], nodes[*callee as usize]);
            let edge = graph.edges.entry(key).or_default();
            let name = &graph.nodes[key.1].name;
            add(&mut edge.calls, call.count, name)?;
            add(&mut edge.inclusive, call.inclusive.get(column), name)?;
        }
        graph.fill_in_calls()?;
        Ok(graph)
    }

    /// Makes the nodes; the node of each of the profile's functions.
    fn fold_functions(&mut self, profile: &Profile) -> Vec<usize> {
        let mut known = HashMap::<(String, String, String), usize>::new();
        let mut node_of = |callable: &Callable| {
            let [name, file, object] =
                [callable.name, callable.file, callable.object].map(|id| profile.names.get(id));
            let key = (plain(name), base(file).to_owned(), base(object).to_owned());
            let index = *known.entry(key.clone()).or_insert_with(|| {
                let (name, file, object) = key;
                self.nodes.push(Node {
                    name,
                    file,
                    object,
                    variants: BTreeSet::new(),
                    own: 0,
                    inclusive: 0,
                    calls: 0,
                    lines: BTreeMap::new(),
                    cycle: None,
                });
                self.nodes.len() - 1
            });
            self.nodes[index].variants.insert(name.to_owned());
            index
        };
        profile.functions.iter().map(&mut node_of).collect()
    }

    /// Inclusive costs, counts of calls, cycles.
    fn fill_in_calls(&mut self) -> Result<(), GraphError> {
        let component = self.components();
        let mut members = BTreeMap::<usize, Vec<usize>>::new();
        for (node, component) in component.iter().enumerate() {
            members.entry(*component).or_default().push(node);
        }
        for node in &mut self.nodes {
            node.inclusive = node.own;
        }
        for ((caller, callee), edge) in &self.edges {
            if caller != callee {
                let callee = &mut self.nodes[*callee];
                add(&mut callee.calls, edge.calls, &callee.name)?;
            }
            if component[*caller] != component[*callee] {
                let caller = &mut self.nodes[*caller];
                add(&mut caller.inclusive, edge.inclusive, &caller.name)?;
            }
        }
        for members in members.into_values().filter(|members| members.len() > 1) {
            let mut inclusive = 0;
            for member in &members {
                let node = &mut self.nodes[*member];
                node.cycle = Some(self.cycles.len());
                // Calls that leave the cycle are in the members' inclusive costs.
                add(&mut inclusive, node.inclusive, &node.name)?;
            }
            self.cycles.push(Cycle { members, inclusive });
        }
        Ok(())
    }

    /// The strongly connected component of each node (Tarjan), without recursion: call graphs of
    /// real programs are deep.
    fn components(&self) -> Vec<usize> {
        let callees = self.callees();
        let mut search = Search {
            order: vec![None; self.nodes.len()],
            low: vec![0; self.nodes.len()],
            component: vec![usize::MAX; self.nodes.len()],
            open: Vec::new(),
            seen: 0,
            found: 0,
        };
        for start in 0..self.nodes.len() {
            if search.order[start].is_none() {
                search.from(start, &callees);
            }
        }
        search.component
    }

    /// Calls from a function, by callee.
    pub fn calls_from(&self, caller: usize) -> impl Iterator<Item = (usize, Edge)> + use<'_> {
        let calls = self.edges.range((caller, 0)..=(caller, usize::MAX));
        calls.map(|((_, callee), edge)| (*callee, *edge))
    }

    /// Whether a call stays within a cycle: its inclusive cost has the same instructions once per
    /// level.
    pub fn is_recursive(&self, caller: usize, callee: usize) -> bool {
        let cycle = self.nodes[caller].cycle;
        caller == callee || (cycle.is_some() && cycle == self.nodes[callee].cycle)
    }

    /// Callees of each node.
    pub(super) fn callees(&self) -> Vec<Vec<usize>> {
        let mut callees = vec![Vec::new(); self.nodes.len()];
        for (caller, callee) in self.edges.keys() {
            callees[*caller].push(*callee);
        }
        callees
    }

    /// Callers of each node.
    pub(super) fn callers(&self) -> Vec<Vec<usize>> {
        let mut callers = vec![Vec::new(); self.nodes.len()];
        for (caller, callee) in self.edges.keys() {
            callers[*callee].push(*caller);
        }
        callers
    }
}

struct Search {
    order: Vec<Option<usize>>,
    low: Vec<usize>,
    component: Vec<usize>,
    open: Vec<usize>,
    seen: usize,
    found: usize,
}

impl Search {
    fn enter(&mut self, node: usize) {
        self.order[node] = Some(self.seen);
        self.low[node] = self.seen;
        self.seen += 1;
        self.open.push(node);
    }

    fn from(&mut self, start: usize, callees: &[Vec<usize>]) {
        self.enter(start);
        let mut path = vec![(start, 0)];
        while let Some((node, next)) = path.last_mut() {
            let node = *node;
            if let Some(callee) = callees[node].get(*next).copied() {
                *next += 1;
                match self.order[callee] {
                    None => {
                        self.enter(callee);
                        path.push((callee, 0));
                    }
                    Some(order) if self.component[callee] == usize::MAX => {
                        self.low[node] = self.low[node].min(order);
                    }
                    Some(_) => {}
                }
                continue;
            }
            path.pop();
            if let Some((parent, _)) = path.last() {
                self.low[*parent] = self.low[*parent].min(self.low[node]);
            }
            if self.order[node] == Some(self.low[node]) {
                while let Some(member) = self.open.pop() {
                    self.component[member] = self.found;
                    if member == node {
                        break;
                    }
                }
                self.found += 1;
            }
        }
    }
}

fn add(sum: &mut u64, cost: u64, function: &str) -> Result<(), GraphError> {
    let overflow = || GraphError::Overflow { function: function.to_owned() };
    *sum = sum.checked_add(cost).ok_or_else(overflow)?;
    Ok(())
}

/// The last part of a path.
fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::callgrind::{Limits, read};

    fn graph(text: &str) -> Graph {
        Graph::of(&read(text.as_bytes(), Limits::default()).unwrap(), "Ir").unwrap()
    }

    fn node<'a>(graph: &'a Graph, name: &str) -> &'a Node {
        graph.nodes.iter().find(|node| node.name == name).unwrap()
    }

    /// fib(2): main calls it once, it calls itself twice. Callgrind reports 8 for the inner level
    /// and 24 for the outer one; the true cost is 24.
    #[test]
    fn recursion_is_counted_once() {
        let graph = graph(
            "events: Ir\nfn=main\n1 5\ncfn=fib\ncalls=1 9\n2 24\n\
             fn=fib\n9 8\ncfn=fib'2\ncalls=2 9\n10 16\nfn=fib'2\n9 16\n",
        );
        let fib = node(&graph, "fib");
        assert_eq!((fib.own, fib.inclusive, fib.calls, fib.cycle), (24, 24, 1, None));
        assert_eq!(fib.variants.len(), 2);
        assert_eq!(node(&graph, "main").inclusive, 29);
        assert_eq!(graph.total, 29);
    }

    /// even and odd call each other, and leaf: 1 call from main, then 3 within.
    #[test]
    fn a_cycle_of_two_is_one_thing() {
        let graph = graph(
            "events: Ir\nfn=main\n1 5\ncfn=even\ncalls=1 9\n2 66\n\
             fn=even\n9 20\ncfn=odd\ncalls=2 9\n10 60\ncfn=leaf\ncalls=2 9\n10 6\n\
             fn=odd\n9 40\ncfn=even\ncalls=1 9\n10 33\nfn=leaf\n9 6\n",
        );
        assert_eq!(graph.cycles.len(), 1);
        assert_eq!(graph.cycles[0].inclusive, 66);
        assert_eq!(node(&graph, "even").inclusive, 26);
        assert_eq!(node(&graph, "odd").inclusive, 40);
        assert_eq!(node(&graph, "main").inclusive, 71);
        assert_eq!(node(&graph, "main").inclusive, graph.total);
    }

    #[test]
    fn an_event_that_was_not_counted_is_named() {
        let profile = read("events: Ir Dr\n".as_bytes(), Limits::default()).unwrap();
        let error = Graph::of(&profile, "Bc").unwrap_err();
        assert_eq!(error.to_string(), "the profile has no event \"Bc\"; it has Ir, Dr");
    }

    #[test]
    fn a_deep_chain_of_calls_takes_no_stack() {
        let mut text = "events: Ir\n".to_owned();
        for level in 0..20_000 {
            let next = level + 1;
            text += &format!("fn=f{level}x\n1 1\ncfn=f{next}x\ncalls=1 1\n1 {}\n", 20_000 - next);
        }
        let graph = graph(&text);
        assert_eq!(node(&graph, "f0x").inclusive, 20_000);
        assert!(graph.cycles.is_empty());
    }
}
