//! The roots of a chain, and the leaves below each.

use super::root::{Doubts, Leaf, Root};
use crate::links::bits;
use crate::{Chain, LeafLevel, Meaning, PathIndex, Paths, Selection};
use chronoscope_model::{ClassId, Status};

/// Status and receiver of a row, which its [`Hop`](crate::Hop) lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowOutcome {
    /// Status at the end.
    pub status: Status,
    /// Receiver: the caller's number of a process or host.
    pub receiver: u32,
}

/// Finds roots and their leaves, chain by chain, in reused memory.
#[derive(Debug)]
pub struct ArrivalFinder {
    selection: Selection,
    /// By path: its meaning for a leaf, and what it shows about ancestors of a root.
    meanings: Vec<Option<Meaning>>,
    outermost: Vec<Option<RootStanding>>,
    roots: Vec<Root>,
    /// Number of leaves whose root is unknown, because rows above them are missing.
    pub unlinked_leaves: u64,
    /// Transactions of the leaf's class that stand below no such root, though all above is known.
    pub leaves_elsewhere: u64,
    /// A transaction of the root's class was seen below another one, and is no root for it: with
    /// leaves at any level.
    pub nested: bool,
}

/// Ancestors of the root's class above a transaction of the same class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RootStanding {
    /// No ancestor is of its class.
    Outermost,
    /// No known ancestor is of its class, but some ancestors are unknown.
    Hidden,
    /// Another of its class.
    Inner,
}

impl ArrivalFinder {
    /// A finder for a selection of leaves by class.
    pub fn new(selection: Selection) -> Self {
        Self {
            selection,
            meanings: Vec::new(),
            outermost: Vec::new(),
            roots: Vec::new(),
            unlinked_leaves: 0,
            leaves_elsewhere: 0,
            nested: false,
        }
    }

    /// Passes every root of a chain that started in the selected time to `each`. `doubts` are those
    /// of the whole chain. `outcome` and `raw_start_ns` are by row number: the chain's own stamps
    /// may be corrected.
    pub fn find(
        &mut self,
        chain: &Chain<'_>,
        paths: &Paths,
        mut doubts: Doubts,
        outcome: impl Fn(usize) -> RowOutcome,
        raw_start_ns: impl Fn(usize) -> i64,
        mut each: impl FnMut(&Root),
    ) {
        self.find_roots(chain, paths, raw_start_ns);
        for index in 0..chain.hops.len() {
            let is_leaf = |class| {
                self.selection.leaves.as_ref().is_some_and(|leaves| leaves.contains(&class))
            };
            if chain.places[index].duplicate || !is_leaf(chain.hops[index].class) {
                continue;
            }
            match self.root_of(chain, paths, index) {
                Above::Root(root) => self.add_leaf(chain, root, index, outcome(index)),
                Above::Inner => {}
                Above::Nothing => self.leaves_elsewhere += 1,
                Above::Missing => {
                    self.unlinked_leaves += 1;
                    doubts = doubts.with(Doubts::UNLINKED_LEAF);
                }
            }
        }
        for root in self.roots.iter_mut().filter(|root| root.in_range) {
            root.doubts = root.doubts.with(doubts);
            each(root);
        }
    }

    fn find_roots(
        &mut self,
        chain: &Chain<'_>,
        paths: &Paths,
        raw_start_ns: impl Fn(usize) -> i64,
    ) {
        self.roots.clear();
        for (index, hop) in chain.hops.iter().enumerate() {
            let is_root = self.selection.roots.contains(&hop.class);
            if !is_root || chain.places[index].duplicate {
                continue;
            }
            // A leaf at a level has its root that many steps above it, whatever stands above that.
            let standing = match self.selection.level {
                LeafLevel::Any => self.standing(paths, chain.standings[index].path),
                LeafLevel::Exactly(_) => RootStanding::Outermost,
            };
            if standing == RootStanding::Inner {
                self.nested = true;
                continue;
            }
            self.roots.push(Root {
                start_ns: hop.start_ns,
                row: Some(index),
                in_range: self.selection.root_start_ns.contains(&raw_start_ns(index)),
                hidden: standing == RootStanding::Hidden,
                foreign: chain.standings[index].foreign,
                ..Root::default()
            });
        }
    }

    /// Whether the path of a root shows ancestors of the same class.
    fn standing(&mut self, paths: &Paths, path: PathIndex) -> RootStanding {
        let known = remembered(&mut self.outermost, path, paths.len());
        *known.get_or_insert_with(|| {
            let classes = paths.classes(path);
            let above = &classes[..classes.len().saturating_sub(1)];
            if above.iter().any(|class| self.selection.roots.contains(class)) {
                RootStanding::Inner
            } else if above.contains(&ClassId::NONE) {
                RootStanding::Hidden
            } else {
                RootStanding::Outermost
            }
        })
    }

    fn add_leaf(&mut self, chain: &Chain<'_>, root: usize, leaf: usize, outcome: RowOutcome) {
        let root = &mut self.roots[root];
        let duration_ns = chain.hops[leaf].end_ns().saturating_sub(root.start_ns);
        if duration_ns < 0 {
            root.doubts = root.doubts.with(Doubts::NEGATIVE);
        }
        root.leaves.push(Leaf {
            duration_ns,
            receiver: outcome.receiver,
            failed: matches!(outcome.status, Status::Failed | Status::Aborted),
        });
    }

    fn root_of(&mut self, chain: &Chain<'_>, paths: &Paths, leaf: usize) -> Above {
        let standing = chain.standings[leaf];
        let meaning = self.meaning(paths, standing.path, standing.level);
        let by_rows = meaning == Meaning::Hidden;
        let meaning = if by_rows { self.selection.meaning_by_rows(chain, leaf) } else { meaning };
        let missing = chain.places[leaf].has(bits::ANCESTOR_MISSING);
        let (steps, from_top) = match meaning {
            Meaning::None if by_rows && missing => return Above::Missing,
            Meaning::None => return Above::Nothing,
            Meaning::Hidden => return Above::Missing,
            Meaning::Below { steps, from_top } => (steps, from_top && !by_rows),
        };
        if let Some(row) = chain.ancestor(leaf, steps) {
            let known = self.roots.iter().position(|root| root.row == Some(row));
            return known.map_or(Above::Inner, Above::Root);
        }
        match standing.root_start_ns.filter(|_| from_top) {
            Some(start_ns) => Above::Root(self.top(chain, start_ns)),
            None => Above::Missing,
        }
    }

    /// The root of the whole chain, with this start: its own row, or what its descendants carry.
    fn top(&mut self, chain: &Chain<'_>, start_ns: i64) -> usize {
        let is_top = |root: &Root| {
            root.start_ns == start_ns && root.row.is_none_or(|row| chain.places[row].is_root())
        };
        if let Some(known) = self.roots.iter().position(is_top) {
            return known;
        }
        let in_range = self.selection.root_start_ns.contains(&start_ns);
        self.roots.push(Root { start_ns, in_range, ..Root::default() });
        self.roots.len() - 1
    }

    /// As in the evaluation of durations: a path with a gap is evaluated again at every level.
    fn meaning(&mut self, paths: &Paths, path: PathIndex, level: Option<u16>) -> Meaning {
        if let Some(known) = *remembered(&mut self.meanings, path, paths.len()) {
            return known;
        }
        let classes = paths.classes(path);
        let meaning = self.selection.meaning(&classes, level);
        if !classes.contains(&ClassId::NONE) {
            self.meanings[path.0 as usize] = Some(meaning);
        }
        meaning
    }
}

/// Root above a leaf.
enum Above {
    /// The root with this number.
    Root(usize),
    /// A transaction of the root's class that is not the outermost.
    Inner,
    /// There is no such root.
    Nothing,
    /// Rows above it are missing, and a root may be among them.
    Missing,
}

/// Cache entry of a path.
fn remembered<T: Clone>(all: &mut Vec<Option<T>>, path: PathIndex, paths: usize) -> &mut Option<T> {
    let index = path.0 as usize;
    if all.len() <= index {
        all.resize(paths.max(index + 1), None);
    }
    &mut all[index]
}
