//! Roots of a graph, for the question which of them arrived.

use super::graph::Graph;
use crate::arrivals::{Doubts, Leaf, Root};
use crate::{LeafLevel, Selection};
use chronoscope_model::ChainId;
use std::collections::HashSet;

/// A root of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphRoot {
    /// Index of its row, or, above all rows, of a root that only correlators know.
    pub index: usize,
    /// Its chain.
    pub chain: ChainId,
    /// Start: UTC, nanoseconds since 1970.
    pub start_ns: i64,
    /// Its own row is there.
    pub is_row: bool,
    /// Its correlator carried no ancestors.
    pub foreign: bool,
    /// Something above it is not known: another of its class may stand there.
    pub hidden: bool,
}

/// The roots that a selection asks for, and for which of them a leaf may be missing.
#[derive(Clone, Debug, Default)]
pub struct GraphRoots {
    /// By ascending index.
    pub roots: Vec<GraphRoot>,
    /// Chains of which something above a leaf may be: a row between is missing, or a link leads to
    /// a row that is not there.
    pub doubtful: HashSet<ChainId>,
    /// Something above a leaf is not known, and may be of any chain.
    pub links_unknown: bool,
    /// A transaction of the root's class stands above another one.
    pub nested: bool,
}

impl Graph {
    /// The roots that `selection` asks for.
    pub fn roots(&self, selection: &Selection) -> GraphRoots {
        let is_root = self.are_roots(selection);
        let leads_to_leaf = self.leads_to(&self.leaves(selection));
        let mut found = GraphRoots::default();
        for (index, row) in self.rows.iter().enumerate() {
            let of_class = !self.duplicate[index] && selection.roots.contains(&row.hop.class);
            found.nested |= of_class && !is_root[index];
            if is_root[index] && selection.root_start_ns.contains(&row.hop.start_ns) {
                let is_row = index < self.given;
                found.roots.push(GraphRoot {
                    index,
                    chain: row.chain,
                    start_ns: row.hop.start_ns,
                    is_row,
                    foreign: is_row && row.root.is_none(),
                    hidden: self.doubtful[index],
                });
            }
        }
        for unknown in self.unknown.iter().filter(|one| leads_to_leaf[one.row as usize]) {
            if unknown.root.is_some_and(|root| is_root[root as usize]) {
                continue; // its root is known, which is all that was asked
            }
            if unknown.chain.is_none() {
                found.links_unknown = true;
            } else {
                found.doubtful.insert(unknown.chain);
            }
        }
        found
    }

    /// Whether each row is a root: of the root's class and, at any level, without another above it.
    pub(super) fn are_roots(&self, selection: &Selection) -> Vec<bool> {
        let count = self.rows.len();
        let of_class = |row: usize| {
            !self.duplicate[row] && selection.roots.contains(&self.rows[row].hop.class)
        };
        let (mut is_root, mut root_above) = (vec![false; count], vec![false; count]);
        for row in &self.order {
            let row = *row as usize;
            for edge in self.above(row) {
                let to = edge.to as usize;
                root_above[row] |= root_above[to] || of_class(to);
            }
            let inner = selection.level == LeafLevel::Any && root_above[row];
            is_root[row] = of_class(row) && !inner;
        }
        is_root
    }

    /// The rows that are measured to.
    pub(super) fn leaves(&self, selection: &Selection) -> Vec<usize> {
        match &selection.leaves {
            None => (0..self.given).filter(|row| self.is_childless(*row)).collect(),
            Some(classes) => (0..self.given)
                .filter(|row| !self.duplicate[*row])
                .filter(|row| classes.contains(&self.rows[*row].hop.class))
                .collect(),
        }
    }

    /// Whether each row is one of these, or above one.
    fn leads_to(&self, leaves: &[usize]) -> Vec<bool> {
        let mut leads = vec![false; self.rows.len()];
        leaves.iter().for_each(|leaf| leads[*leaf] = true);
        for row in self.order.iter().rev() {
            if leads[*row as usize] {
                self.above(*row as usize).iter().for_each(|edge| leads[edge.to as usize] = true);
            }
        }
        leads
    }
}

impl Root {
    /// A root with the leaves that it reaches over parents and links.
    pub fn of_graph(root: &GraphRoot, leaves: Vec<Leaf>, doubts: Doubts) -> Self {
        Self {
            start_ns: root.start_ns,
            row: root.is_row.then_some(root.index),
            leaves,
            doubts,
            foreign: root.foreign,
            hidden: root.hidden,
            in_range: true,
        }
    }
}
