//! The durations that a question selects in one chain.
//!
//! Rules for incomplete and contradictory chains:
//! * A duration counts from the *recorded* start of its root. Where the correlator carried the
//!   root's start, the duration is exact even though rows in between (or the root's own) are
//!   missing: it is used, and counted as incomplete.
//! * Where the selected root's row is missing and its start was not carried, or where the root may
//!   be among unknown ancestors, there is no duration: counted as [`Counts::root_missing`].
//! * A negative duration (the clocks of two hosts disagree by more than the duration) is not used:
//!   counted.
//! * A leaf that starts before its parent is used, since only its root's start and its own end
//!   matter: counted, because it shows that clocks disagree.
//! * A duplicate row is not used: counted.

use crate::links::bits;
use crate::{Chain, ChainPosition, LastLeaves, LeafLevel, PathIndex, Paths, steps_to_root};
use chronoscope_model::ClassId;
use std::collections::HashSet;
use std::ops::Range;

/// Roots and leaves that a question selects.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// The classes that the root may have.
    pub roots: HashSet<ClassId>,
    /// The classes that the leaf may have (it may have children of its own); `None` for every
    /// transaction without children.
    pub leaves: Option<HashSet<ClassId>>,
    /// Level of the leaf below the root.
    pub level: LeafLevel,
    /// Start of the selected root: UTC, nanoseconds since 1970.
    pub root_start_ns: Range<i64>,
}

/// Meaning of a path for a selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Not selected: the leaf class differs, or no selected root is above.
    None,
    /// The leaf fits, and its root may be among ancestors that are not known.
    Hidden,
    /// The selected root is this many steps above.
    Below {
        /// Steps from the selected root to the leaf.
        steps: u16,
        /// Whether that is the root of the whole chain, whose start the correlator carries.
        from_top: bool,
    },
}

impl Selection {
    /// Meaning of a path (root first) for the ACPD. `level` is the leaf's level in the whole chain,
    /// where it is known.
    pub fn meaning(&self, path: &[ClassId], level: Option<u16>) -> Meaning {
        let fits = |leaf| self.leaves.as_ref().is_none_or(|leaves| leaves.contains(leaf));
        if !path.last().is_some_and(fits) {
            return Meaning::None;
        }
        let steps = steps_to_root(path, level, |class| self.roots.contains(&class), self.level);
        match steps {
            Some(steps) => Meaning::Below { steps, from_top: Some(steps) == level },
            None if path.contains(&ClassId::NONE) => Meaning::Hidden,
            None => Meaning::None,
        }
    }

    /// Meaning of a leaf's path by the rows above it, where the correlator had dropped ancestors.
    pub(crate) fn meaning_by_rows(&self, chain: &Chain<'_>, leaf: usize) -> Meaning {
        let up = std::iter::successors(Some(leaf), |at| chain.places[*at].parent());
        let mut way: Vec<ClassId> = up.map(|at| chain.hops[at].class).collect();
        if chain.places[leaf].has(bits::ANCESTOR_MISSING) {
            way.push(ClassId::NONE);
        }
        way.reverse();
        self.meaning(&way, None)
    }
}

/// Number of durations found, and of those left out, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Durations that are used.
    pub used: u64,
    /// Used, with a row missing between the root and the leaf (or above the root).
    pub incomplete: u64,
    /// Used, with a leaf that starts before its parent.
    pub before_parent: u64,
    /// Used, and assembled from rows without ancestors in their correlators.
    pub foreign: u64,
    /// Not used: negative.
    pub negative: u64,
    /// Not used: the root is not among the rows, or may be among missing ones. Since its start is
    /// not known, the leaf's own start decides whether it belongs to the time range.
    pub root_missing: u64,
    /// Rows left out because another has the same id.
    pub duplicates: u64,
}

impl Counts {
    /// Adds the counts of another part.
    pub fn add(&mut self, other: &Self) {
        self.used += other.used;
        self.incomplete += other.incomplete;
        self.before_parent += other.before_parent;
        self.foreign += other.foreign;
        self.negative += other.negative;
        self.root_missing += other.root_missing;
        self.duplicates += other.duplicates;
    }

    /// Subtracts the counts of durations that turned out not to be selected.
    pub const fn take_back(&mut self, counted: &Self) {
        self.negative -= counted.negative;
        self.used -= counted.used;
        self.incomplete -= counted.incomplete;
        self.before_parent -= counted.before_parent;
        self.foreign -= counted.foreign;
    }

    /// Counts one duration by the `links` of its leaf; whether it is to be used.
    pub fn count(&mut self, duration_ns: i64, links: u8, foreign: bool) -> bool {
        if duration_ns < 0 {
            self.negative += 1;
            return false;
        }
        self.used += 1;
        self.incomplete += u64::from(links & bits::ANCESTOR_MISSING != 0);
        self.before_parent += u64::from(links & bits::BEFORE_PARENT != 0);
        self.foreign += u64::from(foreign);
        true
    }
}

/// A duration of a chain from a selected root to a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainDuration {
    /// The leaf's row.
    pub leaf: usize,
    /// Steps from the selected root to the leaf; `None` where they are not known, because the leaf
    /// is known to be below the root and the rows between are not.
    pub steps: Option<u16>,
    /// Start time of the selected root: UTC, nanoseconds since 1970.
    pub start_ns: i64,
    /// The duration in nanoseconds.
    pub duration_ns: u64,
    /// The correlator had dropped the classes between root and leaf, but the rows between them are
    /// complete and determine the path.
    pub by_rows: bool,
    /// The `links` of its leaf, by which [`Counts::count`] counted it.
    pub links: u8,
    /// Assembled from rows without ancestors in their correlators.
    pub foreign: bool,
}

/// A duration that is not used, because it is negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Negative {
    /// The negative duration's root and leaf; its duration is 0 here.
    pub found: ChainDuration,
    /// The duration in nanoseconds; below 0.
    pub duration_ns: i64,
}

/// Start and root from which a duration counts.
struct SelectedRoot {
    steps: Option<u16>,
    start_ns: i64,
    by_rows: bool,
}

/// Finds the durations that a selection asks for, chain by chain, and counts.
#[derive(Debug)]
pub struct Evaluator {
    selection: Selection,
    /// Cache: meaning of each path, once evaluated.
    meanings: Vec<Option<Meaning>>,
    last_leaves: LastLeaves,
    /// Counts over all chains so far.
    pub counts: Counts,
    /// Negative durations since they were last taken; `None` where they are not requested.
    pub negatives: Option<Vec<Negative>>,
}

impl Evaluator {
    /// An evaluator that has seen nothing yet.
    pub fn new(selection: Selection) -> Self {
        let (meanings, last_leaves) = (Vec::new(), LastLeaves::default());
        Self { selection, meanings, last_leaves, counts: Counts::default(), negatives: None }
    }

    /// The selection.
    pub const fn selection(&self) -> &Selection {
        &self.selection
    }

    /// ACPD: one duration per leaf.
    pub fn acpd(&mut self, chain: &Chain<'_>, paths: &Paths, mut each: impl FnMut(ChainDuration)) {
        for (leaf, (place, standing)) in chain.places.iter().zip(chain.standings).enumerate() {
            if place.duplicate {
                self.counts.duplicates += 1;
                continue;
            }
            if self.selection.leaves.is_none() && !place.has(bits::LEAF) {
                continue;
            }
            let meaning = self.meaning(paths, standing.path, standing.level);
            let by_rows = meaning == Meaning::Hidden;
            let meaning =
                if by_rows { self.selection.meaning_by_rows(chain, leaf) } else { meaning };
            let (steps, from_top) = match meaning {
                // Rows prove nothing about the path where some of them are missing.
                Meaning::None if !by_rows || !place.has(bits::ANCESTOR_MISSING) => continue,
                Meaning::None | Meaning::Hidden => {
                    self.root_missing(chain, Some(leaf));
                    continue;
                }
                Meaning::Below { steps, from_top } => (steps, from_top && !by_rows),
            };
            let carried = standing.root_start_ns.filter(|_| from_top);
            let found = || chain.ancestor(leaf, steps).map(|root| chain.hops[root].start_ns);
            match carried.or_else(found) {
                Some(start_ns) => {
                    let way = SelectedRoot { steps: Some(steps), start_ns, by_rows };
                    self.offer(chain, way, leaf, leaf, &mut each);
                }
                None => self.root_missing(chain, Some(leaf)),
            }
        }
    }

    /// APCD: one duration per root of the selected classes, wherever in the chain it is. The rows
    /// under the chain's only root are all its, even where the way up to it is missing. The
    /// selection's leaves and level play no part.
    pub fn apcd(&mut self, chain: &Chain<'_>, paths: &Paths, mut each: impl FnMut(ChainDuration)) {
        let whole = self.whole_chain(chain, paths);
        if let Some((true, start_ns, steps, last)) = whole {
            self.offer(
                chain,
                SelectedRoot { steps, start_ns, by_rows: false },
                last,
                last,
                &mut each,
            );
        }
        if whole.is_none() && !chain.places.iter().any(ChainPosition::is_root) {
            self.root_missing(chain, chain.last_leaf());
        }
        let is_root = |class: &ClassId| self.selection.roots.contains(class);
        let below = |index: usize| whole.is_none() || !chain.places[index].is_root();
        if !(0..chain.hops.len()).any(|index| below(index) && is_root(&chain.hops[index].class)) {
            self.counts.duplicates += chain.places.iter().filter(|p| p.duplicate).count() as u64;
            return;
        }
        let mut last_leaves = std::mem::take(&mut self.last_leaves);
        let leaves = last_leaves.of(chain);
        for (index, hop) in chain.hops.iter().enumerate() {
            let place = chain.places[index];
            if place.duplicate {
                self.counts.duplicates += 1;
            } else if below(index) && self.selection.roots.contains(&hop.class) {
                let last = leaves[index] as usize;
                let steps = Some(chain.places[last].level - place.level);
                let way = SelectedRoot { steps, start_ns: hop.start_ns, by_rows: false };
                self.offer(chain, way, last, index, &mut each);
            }
        }
        self.last_leaves = last_leaves;
    }

    /// The APCD of the chain's root, where the whole chain is known to be below one: whether the
    /// root is of a selected class, its start, the steps to the last leaf, and that leaf.
    fn whole_chain(
        &self,
        chain: &Chain<'_>,
        paths: &Paths,
    ) -> Option<(bool, i64, Option<u16>, usize)> {
        let last = chain.last_leaf()?;
        let standing = chain.standings[last];
        if standing.foreign && chain.places.iter().any(ChainPosition::is_root) {
            let root = chain.only_root()?;
            let steps = (chain.places[last].top as usize == root).then(|| chain.places[last].level);
            let selected = self.selection.roots.contains(&chain.hops[root].class);
            return Some((selected, chain.hops[root].start_ns, steps, last));
        }
        let top = paths.classes(standing.path).first().copied()?;
        let selected = self.selection.roots.contains(&top);
        Some((selected, standing.root_start_ns?, standing.level, last))
    }

    fn root_missing(&mut self, chain: &Chain<'_>, leaf: Option<usize>) {
        let in_range = |leaf: usize| {
            let start_ns = chain.hops[leaf].start_ns;
            self.selection.root_start_ns.contains(&start_ns)
        };
        self.counts.root_missing += u64::from(leaf.is_some_and(in_range));
    }

    fn offer(
        &mut self,
        chain: &Chain<'_>,
        way: SelectedRoot,
        leaf: usize,
        counted: usize,
        mut each: impl FnMut(ChainDuration),
    ) {
        let SelectedRoot { steps, start_ns, by_rows } = way;
        if !self.selection.root_start_ns.contains(&start_ns) {
            return;
        }
        let duration_ns = chain.hops[leaf].end_ns().saturating_sub(start_ns);
        let links = chain.places[leaf].links | chain.places[counted].links & bits::ANCESTOR_MISSING;
        let foreign = chain.standings[leaf].foreign;
        let found =
            ChainDuration { leaf, steps, start_ns, duration_ns: 0, by_rows, links, foreign };
        if self.counts.count(duration_ns, links, foreign) {
            each(ChainDuration { duration_ns: duration_ns.unsigned_abs(), ..found });
        } else if let Some(negatives) = &mut self.negatives {
            negatives.push(Negative { found, duration_ns });
        }
    }

    /// Meaning of a path; computed once per path. The meaning of a path with a gap depends on the
    /// level, so that it is computed each time.
    fn meaning(&mut self, paths: &Paths, path: PathIndex, level: Option<u16>) -> Meaning {
        let index = path.0 as usize;
        if self.meanings.len() <= index {
            self.meanings.resize(paths.len().max(index + 1), None);
        }
        if let Some(meaning) = self.meanings[index] {
            return meaning;
        }
        let classes = paths.classes(path);
        let meaning = self.selection.meaning(&classes, level);
        if !classes.contains(&ClassId::NONE) {
            self.meanings[index] = Some(meaning);
        }
        meaning
    }
}
