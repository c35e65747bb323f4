//! Assembling a chain: every row's path, level and root start, from the tree.
//!
//! Rows whose correlator carried the ancestors know these already ([`CarriedAncestors`]), exactly,
//! even when rows between them and their root are missing. Foreign rows get them from their
//! parent's row; where that is missing, their path begins with [`PathIndex::GAP`] and their root
//! start is not known. Memory: one chain's rows, and the distinct paths.

use crate::links::{ChainPosition, Linker, bits};
use crate::{Hop, PathIndex, Paths};

/// Ancestors that a row's own correlator carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CarriedAncestors {
    /// The classes from the root to the row, itself included.
    pub path: PathIndex,
    /// Steps from the root.
    pub level: u16,
    /// Start time of the root: UTC, nanoseconds since 1970, by the root's clock.
    pub root_start_ns: i64,
}

/// Path and root of a row, and the source that they are known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The classes from the root to the row, itself included.
    pub path: PathIndex,
    /// Steps from the root; `None` when the way to the root is not known.
    pub level: Option<u16>,
    /// Start time of the root; `None` when it is not known.
    pub root_start_ns: Option<i64>,
    /// The row's own correlator carried no ancestors, or that of the row above from which it was
    /// assembled.
    pub foreign: bool,
}

/// Assembles chains, one after the other, in reused memory.
#[derive(Debug, Default)]
pub struct Assembler {
    linker: Linker,
    standings: Vec<Standing>,
}

/// The assembled rows of one chain. All slices have one entry per row.
#[derive(Clone, Copy, Debug)]
pub struct Chain<'a> {
    /// The rows.
    pub hops: &'a [Hop],
    /// Their places in the tree.
    pub places: &'a [ChainPosition],
    /// Standing of each row below its root.
    pub standings: &'a [Standing],
    order: &'a [u32],
}

impl Assembler {
    /// Assembles the rows of one chain; `told` has one entry per row, `None` for foreign ones.
    ///
    /// # Panics
    /// When the two differ in length, or at 2³² − 2 rows.
    pub fn assemble<'a>(
        &'a mut self,
        hops: &'a [Hop],
        told: impl Fn(usize) -> Option<CarriedAncestors>,
        paths: &mut Paths,
    ) -> Chain<'a> {
        self.linker.link(hops);
        let places = self.linker.places();
        let unplaced =
            Standing { path: PathIndex::EMPTY, level: None, root_start_ns: None, foreign: true };
        self.standings.clear();
        self.standings.resize(hops.len(), unplaced);
        for index in self.linker.order() {
            let index = *index as usize;
            let (hop, place) = (&hops[index], &places[index]);
            self.standings[index] = match (told(index), place.parent()) {
                (Some(CarriedAncestors { path, level, root_start_ns }), _) => Standing {
                    path,
                    level: Some(level),
                    root_start_ns: Some(root_start_ns),
                    foreign: false,
                },
                (None, Some(parent)) => {
                    let above = self.standings[parent];
                    Standing {
                        path: paths.child(above.path, hop.class),
                        level: above.level.map(|level| level.saturating_add(1)),
                        root_start_ns: above.root_start_ns,
                        foreign: true,
                    }
                }
                (None, None) if place.is_root() => Standing {
                    path: paths.child(PathIndex::EMPTY, hop.class),
                    level: Some(0),
                    root_start_ns: Some(hop.start_ns),
                    foreign: true,
                },
                (None, None) => {
                    Standing { path: paths.child(PathIndex::GAP, hop.class), ..unplaced }
                }
            };
        }
        Chain { hops, places, standings: &self.standings, order: self.linker.order() }
    }
}

impl Chain<'_> {
    /// The row `steps` above a row; `None` where that is missing.
    pub fn ancestor(&self, index: usize, steps: u16) -> Option<usize> {
        (0..steps).try_fold(index, |at, _| self.places[at].parent())
    }

    /// ACPD: from the start of the row `root` to the end of the row `leaf`, in nanoseconds.
    /// Negative when the clocks of two hosts disagree by more than that; saturating.
    pub fn acpd_ns(&self, root: usize, leaf: usize) -> i64 {
        self.hops[leaf].end_ns().saturating_sub(self.hops[root].start_ns)
    }

    /// The root of a chain that has exactly one: all rows are then below it, including those whose
    /// ancestors are missing.
    pub fn only_root(&self) -> Option<usize> {
        let mut roots = self.places.iter().enumerate().filter(|(_, p)| p.is_root() && !p.duplicate);
        roots.next().map(|(index, _)| index).filter(|_| roots.next().is_none())
    }

    /// The leaf of the whole chain that starts last; `None` for a chain without rows.
    pub fn last_leaf(&self) -> Option<usize> {
        self.places.iter().position(|place| place.has(bits::LAST_LEAF))
    }

    /// Rows by index, every parent before its children.
    pub fn order(&self) -> &[u32] {
        self.order
    }
}

/// Finds the last leaf below every row of a chain, in reused memory.
#[derive(Debug, Default)]
pub struct LastLeaves {
    leaves: Vec<u32>,
    has_child: Vec<bool>,
}

impl LastLeaves {
    /// For every row, the index of the leaf in its subtree that starts last; its end determines the
    /// row's APCD. A leaf is its own. Of leaves with the same start it is the longest.
    #[allow(clippy::cast_possible_truncation)] // linking bounds the number of rows
    pub fn of(&mut self, chain: &Chain<'_>) -> &[u32] {
        let Chain { hops, places, order, .. } = *chain;
        self.leaves.clear();
        self.leaves.extend(0..hops.len() as u32);
        self.has_child.clear();
        self.has_child.resize(hops.len(), false);
        // Children before parents. The first to arrive replaces the parent's own entry.
        for index in order.iter().rev() {
            let index = *index as usize;
            let Some(parent) = places[index].parent().filter(|_| !places[index].duplicate) else {
                continue;
            };
            let (mine, best) = (self.leaves[index], self.leaves[parent]);
            let later = hops[mine as usize].rank() > hops[best as usize].rank();
            if later || !self.has_child[parent] {
                self.leaves[parent] = mine;
            }
            self.has_child[parent] = true;
        }
        &self.leaves
    }
}
