//! Sampled stacks of calls: whole paths, so that nothing has to be divided among callers.

use super::tree::{Calls, Costs};
use crate::callgrind::{Edge, Graph, Node, plain};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Largest number of different paths of calls, over all events.
pub(super) const PATHS_MAX: usize = 2 << 20;

/// Samples of one event.
#[derive(Clone, Debug)]
pub struct SampledEvent {
    /// Name of the event, as `cpu-clock`.
    pub event: String,
    /// Number of samples.
    pub samples: u64,
    /// Functions and calls. A sample counts once for each function and call on its path, so that
    /// inclusive costs are exact in recursion too. Calls are numbers of samples.
    pub graph: Graph,
    pub(crate) paths: Paths,
}

/// The paths of an event's samples.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paths {
    /// The first is the root, which stands for no function.
    nodes: Vec<PathNode>,
    below: HashMap<(usize, usize), usize>,
}

#[derive(Clone, Debug, Default)]
struct PathNode {
    function: usize,
    /// The node of the caller.
    caller: usize,
    own: u64,
    inclusive: u64,
    callees: Vec<usize>,
}

impl SampledEvent {
    pub(super) fn new(event: &str) -> SampledEvent {
        let paths = Paths { nodes: vec![PathNode::default()], below: HashMap::new() };
        SampledEvent { event: event.to_owned(), samples: 0, graph: Graph::default(), paths }
    }

    /// Number of different paths.
    pub(super) fn path_count(&self) -> usize {
        self.paths.nodes.len()
    }

    /// The paths of calls that samples ended with, the outermost function first, with their costs.
    pub(super) fn paths(&self) -> impl Iterator<Item = (Vec<usize>, u64)> {
        let nodes = &self.paths.nodes;
        nodes.iter().enumerate().filter(|(_, node)| node.own > 0).map(|(index, node)| {
            let mut path = Vec::new();
            let mut at = index;
            while at != 0 {
                path.push(nodes[at].function);
                at = nodes[at].caller;
            }
            path.reverse();
            (path, node.own)
        })
    }

    /// Counts a sample; `path` has its functions, the outermost first. `None`, and nothing usable,
    /// when a sum would exceed 64 bits.
    #[must_use]
    pub(super) fn add(&mut self, path: &[usize], cost: u64) -> Option<()> {
        self.samples += 1;
        self.graph.total = self.graph.total.checked_add(cost)?; // bounds all other sums
        for function in path.iter().collect::<BTreeSet<_>>() {
            self.graph.nodes[*function].inclusive += cost;
        }
        let calls: BTreeSet<_> = path.windows(2).map(|pair| (pair[0], pair[1])).collect();
        for call in calls {
            let edge: &mut Edge = self.graph.edges.entry(call).or_default();
            edge.calls += 1;
            edge.inclusive += cost;
            if call.0 != call.1 {
                self.graph.nodes[call.1].calls += 1;
            }
        }
        if let Some(innermost) = path.last() {
            self.graph.nodes[*innermost].own += cost;
        }
        self.paths.add(path, cost);
        Some(())
    }
}

impl Paths {
    fn add(&mut self, path: &[usize], cost: u64) {
        let mut at = 0;
        self.nodes[0].inclusive += cost;
        for function in path {
            let next = self.nodes.len();
            let below = *self.below.entry((at, *function)).or_insert(next);
            if below == next {
                self.nodes.push(PathNode {
                    function: *function,
                    caller: at,
                    ..PathNode::default()
                });
                self.nodes[at].callees.push(next);
            }
            at = below;
            self.nodes[at].inclusive += cost;
        }
        self.nodes[at].own += cost;
    }

    fn calls(&self, node: usize) -> Vec<(usize, u64)> {
        let callees = self.nodes[node].callees.iter();
        callees.map(|callee| (*callee, self.nodes[*callee].inclusive)).collect()
    }
}

impl Calls for &Paths {
    type Place = usize;

    fn total(&self) -> u64 {
        self.nodes[0].inclusive
    }

    fn roots(&mut self) -> Vec<(usize, u64)> {
        self.calls(0)
    }

    fn below(&mut self, place: usize) -> Costs<usize> {
        Costs { own: self.nodes[place].own, left_out: 0, calls: self.calls(place) }
    }

    fn function(&self, place: usize) -> usize {
        self.nodes[place].function
    }
}

/// Functions of sampled stacks by their names; the same numbers in the graphs of all events.
#[derive(Debug, Default)]
pub(super) struct FunctionNames {
    numbers: HashMap<(String, String), usize>,
    nodes: Vec<Node>,
}

impl FunctionNames {
    /// Whether a function was named before, under this very name.
    pub(super) fn has(&self, name: &str, object: &str) -> bool {
        let number = self.numbers.get(&(plain_name(name), object.to_owned()));
        number.is_some_and(|number| self.nodes[*number].variants.contains(name))
    }

    /// The number of a function, which is new when the function is.
    pub(super) fn number(&mut self, name: &str, object: &str) -> usize {
        let plain = plain_name(name);
        let next = self.nodes.len();
        let number = *self.numbers.entry((plain.clone(), object.to_owned())).or_insert(next);
        if number == next {
            self.nodes.push(Node {
                name: plain,
                variants: BTreeSet::new(),
                file: String::new(),
                object: object.to_owned(),
                own: 0,
                inclusive: 0,
                calls: 0,
                lines: BTreeMap::new(),
                cycle: None,
            });
        }
        self.nodes[number].variants.insert(name.to_owned());
        number
    }

    /// Makes sure that a graph has all functions so far.
    pub(super) fn extend(&self, graph: &mut Graph) {
        for node in &self.nodes[graph.nodes.len()..] {
            graph.nodes.push(node.clone());
        }
    }
}

/// As [`plain`], where `perf` has no symbol too.
fn plain_name(name: &str) -> String {
    if name == "[unknown]" { "(no symbol)".to_owned() } else { plain(name) }
}
