//! Joins rows by parents and links, and cuts cycles.

use crate::Hop;
use chronoscope_model::{ChainId, ClassId, TransactionId};
use std::collections::HashMap;

/// A transaction of any chain.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its chain.
    pub chain: ChainId,
    /// Its place in the chain, and its times.
    pub hop: Hop,
    /// The root of its chain, where its correlator carried it.
    pub root: Option<KnownRoot>,
}

/// The root above a row, as a correlator gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownRoot {
    /// The root's class.
    pub class: ClassId,
    /// Start of the root: UTC, nanoseconds since 1970.
    pub start_ns: i64,
    /// Steps from the root to the row.
    pub level: u16,
}

/// A link: a row takes a message of another transaction that is not its parent.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// Index of the row that takes it.
    pub row: usize,
    /// Chain of the other transaction.
    pub chain: ChainId,
    /// Its id.
    pub id: TransactionId,
    /// The root above it, where the link carries it.
    pub root: Option<KnownRoot>,
}

/// An edge towards the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) to: u32,
    /// Steps that it stands for: more than 1 where the rows between are missing.
    pub(super) steps: u16,
    pub(super) is_link: bool,
}

/// A parent or an input of a row that is not there, or that was cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnknownInput {
    pub(super) row: u32,
    /// Its chain; [`ChainId::NONE`] where that is not known either.
    pub(super) chain: ChainId,
    /// The root that a correlator gives in its place.
    pub(super) root: Option<u32>,
}

/// Rows of all chains, joined.
#[derive(Debug)]
pub struct Graph {
    /// The rows, then the roots that only correlators know.
    pub(super) rows: Vec<Row>,
    /// Edges of all rows; those of row `i` are `ends[i]..ends[i + 1]`.
    edges: Vec<Edge>,
    ends: Vec<u32>,
    /// Rows by index, all that is above a row before it.
    pub(super) order: Vec<u32>,
    /// Another row names this one, on a cycle or not.
    has_child: Vec<bool>,
    /// By row: something directly above it is not known.
    pub(super) doubtful: Vec<bool>,
    /// Another row has the same chain and id, and is the one that counts.
    pub(super) duplicate: Vec<bool>,
    /// Chains of which something above a row may be.
    pub(super) unknown: Vec<UnknownInput>,
    /// Number of `rows` that were given.
    pub(super) given: usize,
    /// Links to rows that are not there, and that carry no root.
    pub unknown_inputs: u64,
    /// Edges that were cut because they lie on a cycle.
    pub cut_edges: u64,
}

impl Graph {
    /// Joins rows of all chains, in any order.
    ///
    /// # Panics
    /// At 2³¹ rows and links, and when an input names a row that is not given.
    pub fn new(rows: Vec<Row>, inputs: &[Input]) -> Self {
        assert!(rows.len() + inputs.len() < 1 << 31, "{} rows", rows.len());
        let given = rows.len();
        let mut joiner = Joiner::new(rows);
        let mut sorted: Vec<&Input> = inputs.iter().collect();
        sorted.sort_by_key(|input| input.row);
        let mut rest = &sorted[..];
        let (mut edges, mut ends) = (Vec::with_capacity(given + inputs.len()), vec![0]);
        for row in 0..given {
            let first = edges.len();
            joiner.parent(row, &mut edges);
            let own = rest.partition_point(|input| input.row == row);
            for input in &rest[..own] {
                if let Some(edge) = joiner.input(row, input)
                    && edges[first..].iter().all(|other: &Edge| other.to != edge.to)
                {
                    edges.push(edge);
                }
            }
            rest = &rest[own..];
            ends.push(index(edges.len()));
        }
        assert!(rest.is_empty(), "an input of row {} of {given}", rest[0].row);
        ends.resize(joiner.rows.len() + 1, index(edges.len()));
        joiner.doubtful.resize(joiner.rows.len(), false);
        joiner.duplicate.resize(joiner.rows.len(), false);
        let mut graph = Self {
            rows: joiner.rows,
            edges,
            ends,
            order: Vec::new(),
            has_child: Vec::new(),
            doubtful: joiner.doubtful,
            duplicate: joiner.duplicate,
            unknown: joiner.unknown,
            given,
            unknown_inputs: joiner.unknown_inputs,
            cut_edges: 0,
        };
        graph.cut_cycles();
        graph
    }

    /// Edges from a row towards the root.
    pub(super) fn above(&self, row: usize) -> &[Edge] {
        &self.edges[self.ends[row] as usize..self.ends[row + 1] as usize]
    }

    /// Whether the row is the end of its chain: none names it, and it is no duplicate.
    pub(super) fn is_childless(&self, row: usize) -> bool {
        !self.has_child[row] && !self.duplicate[row]
    }

    /// Orders the rows, all that is above a row before it, and cuts the edges within each strongly
    /// connected component (Tarjan 1972; without recursion, because chains may be long).
    fn cut_cycles(&mut self) {
        let component = self.components();
        let mut has_child = vec![false; self.rows.len()];
        let (mut edges, mut ends) = (Vec::with_capacity(self.edges.len()), vec![0]);
        for row in 0..self.rows.len() {
            for edge in &self.edges[self.ends[row] as usize..self.ends[row + 1] as usize] {
                // Also where the edge is cut: the row is named by another, and is no leaf.
                has_child[edge.to as usize] = true;
                if component[row] == component[edge.to as usize] {
                    self.doubtful[row] = true;
                    let chain = self.rows[edge.to as usize].chain;
                    self.unknown.push(UnknownInput { row: index(row), chain, root: None });
                    self.cut_edges += 1;
                } else {
                    edges.push(*edge);
                }
            }
            ends.push(index(edges.len()));
        }
        (self.edges, self.ends, self.has_child) = (edges, ends, has_child);
    }

    /// The number of the strongly connected component of each row; fills `order`.
    fn components(&mut self) -> Vec<u32> {
        const NEW: u32 = u32::MAX;
        let count = self.rows.len();
        let (mut seen, mut low) = (vec![NEW; count], vec![0; count]);
        let mut component = vec![NEW; count];
        let (mut clock, mut components) = (0, 0);
        let mut open: Vec<u32> = Vec::new();
        let mut way: Vec<(u32, u32)> = Vec::new(); // row, and its edges that were followed
        for start in 0..count {
            if seen[start] != NEW {
                continue;
            }
            way.push((index(start), 0));
            while let Some((row, done)) = way.last_mut() {
                let at = *row as usize;
                if *done == 0 {
                    (seen[at], low[at]) = (clock, clock);
                    clock += 1;
                    open.push(*row);
                }
                if let Some(edge) = self.above(at).get(*done as usize) {
                    *done += 1;
                    let to = edge.to as usize;
                    if seen[to] == NEW {
                        way.push((edge.to, 0));
                    } else if component[to] == NEW {
                        low[at] = low[at].min(seen[to]);
                    }
                    continue;
                }
                way.pop();
                if low[at] == seen[at] {
                    while let Some(member) = open.pop() {
                        component[member as usize] = components;
                        self.order.push(member);
                        if member as usize == at {
                            break;
                        }
                    }
                    components += 1;
                }
                if let Some((below, _)) = way.last() {
                    let below = *below as usize;
                    low[below] = low[below].min(low[at]);
                }
            }
        }
        component
    }
}

/// Finds the rows that parents and links name.
struct Joiner {
    rows: Vec<Row>,
    by_id: HashMap<(ChainId, TransactionId), u32>,
    /// Roots by chain and start: those among the rows, and those that only correlators know.
    roots: HashMap<(ChainId, i64), u32>,
    doubtful: Vec<bool>,
    duplicate: Vec<bool>,
    unknown: Vec<UnknownInput>,
    unknown_inputs: u64,
}

impl Joiner {
    fn new(rows: Vec<Row>) -> Self {
        let mut by_id: HashMap<_, u32> = HashMap::with_capacity(rows.len());
        let mut roots = HashMap::new();
        let mut duplicate = vec![false; rows.len()];
        for (at, Row { chain, hop, .. }) in rows.iter().enumerate() {
            if hop.id.is_none() {
                continue;
            }
            let held = by_id.entry((*chain, hop.id)).or_insert(index(at));
            let other = *held as usize;
            if other != at {
                // As within one chain: the row that ranks lowest counts.
                let lower = hop.rank() < rows[other].hop.rank();
                duplicate[if lower { other } else { at }] = true;
                if lower {
                    *held = index(at);
                }
            }
        }
        for (at, Row { chain, hop, .. }) in rows.iter().enumerate() {
            if hop.parent.is_none() && !duplicate[at] {
                roots.entry((*chain, hop.start_ns)).or_insert(index(at));
            }
        }
        let doubtful = vec![false; rows.len()];
        let unknown = Vec::new();
        Self { rows, by_id, roots, doubtful, duplicate, unknown, unknown_inputs: 0 }
    }

    /// The edge to a row's parent, where it has one.
    fn parent(&mut self, row: usize, edges: &mut Vec<Edge>) {
        let Row { chain, hop, root } = self.rows[row];
        if hop.parent.is_none() {
            return;
        }
        if let Some(to) = self.by_id.get(&(chain, hop.parent)) {
            edges.push(Edge { to: *to, steps: 1, is_link: false });
            return;
        }
        let root = root.filter(|root| root.level > 0);
        let edge =
            root.map(|root| Edge { to: self.root(chain, root), steps: root.level, is_link: false });
        self.note_unknown(row, chain, edge);
        edges.extend(edge);
    }

    fn note_unknown(&mut self, row: usize, chain: ChainId, instead: Option<Edge>) {
        self.doubtful[row] = true;
        let root = instead.map(|edge| edge.to);
        self.unknown.push(UnknownInput { row: index(row), chain, root });
    }

    /// The edge of a link; `None` where what it leads to is not known.
    fn input(&mut self, row: usize, input: &Input) -> Option<Edge> {
        if let Some(to) = self.by_id.get(&(input.chain, input.id)) {
            return Some(Edge { to: *to, steps: 1, is_link: true });
        }
        self.unknown_inputs += u64::from(input.root.is_none());
        let edge = input.root.map(|root| Edge {
            to: self.root(input.chain, root),
            steps: root.level.saturating_add(1),
            is_link: true,
        });
        self.note_unknown(row, input.chain, edge);
        edge
    }

    /// The root of a chain as a correlator gives it: the row, or one that stands for it.
    fn root(&mut self, chain: ChainId, root: KnownRoot) -> u32 {
        *self.roots.entry((chain, root.start_ns)).or_insert_with(|| {
            let (id, parent) = (TransactionId::NONE, TransactionId::NONE);
            let KnownRoot { class, start_ns, .. } = root;
            let hop = Hop { id, parent, class, start_ns, elapsed_ns: 0 };
            self.rows.push(Row { chain, hop, root: None });
            index(self.rows.len() - 1)
        })
    }
}

#[allow(clippy::cast_possible_truncation)] // `Graph::new` bounds rows and edges
const fn index(at: usize) -> u32 {
    at as u32
}
