//! Tree linking: the parent of every row within one chain, and the row's place.
//!
//! Input are the rows of *one* chain in any order; the result does not depend on the order. Rows
//! come from outside and are not trusted: ids may be duplicated, parents may be missing, be the row
//! itself, or form a circle. Cost: linear; a reused [`Linker`] allocates nothing once it has seen
//! its largest chain.

use crate::Hop;
use chronoscope_model::TransactionId;

/// Properties of a row's place; the same bits as the stored column `links`.
pub mod bits {
    /// No row of the chain names this one as parent.
    pub const LEAF: u8 = 0x01;
    /// The row is the leaf of its chain that starts last; of several the one that takes longest.
    pub const LAST_LEAF: u8 = 0x02;
    /// The parent or a further ancestor is not among the rows, or the ancestors form a circle.
    pub const ANCESTOR_MISSING: u8 = 0x04;
    /// The row starts before its parent does: the clocks of their hosts disagree.
    pub const BEFORE_PARENT: u8 = 0x08;
    /// The row's own correlator told no ancestors: its path and its root's start were assembled from
    /// its chain. In no segment of a store: there such rows have segments of their own.
    pub const ASSEMBLED: u8 = 0x80;
}

/// Position of a row in its chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainPosition {
    parent: u32,
    /// Index of the topmost row that can be reached from it: the root, where nothing is missing.
    pub top: u32,
    /// Steps from `top`, saturating.
    pub level: u16,
    /// [`bits`], combined.
    pub links: u8,
    /// Another row of the chain has the same id and is the one that counts; this one is to be
    /// left out of every evaluation. It is neither leaf nor parent.
    pub duplicate: bool,
}

/// Value of [`ChainPosition::parent`] for a root.
const ROOT: u32 = u32::MAX;
/// Value of [`ChainPosition::parent`] when the named parent is not among the rows.
const MISSING: u32 = u32::MAX - 1;
/// Value of `ChainPosition::top` before it is known.
const UNPLACED: u32 = u32::MAX;
/// Value of `ChainPosition::top` on the upward walk in progress.
const WALKED: u32 = u32::MAX - 1;

impl ChainPosition {
    /// Index of the parent's row; `None` for a root and where the parent is missing.
    pub const fn parent(&self) -> Option<usize> {
        if self.parent < MISSING { Some(self.parent as usize) } else { None }
    }

    /// Whether all bits of `links` are set.
    pub const fn has(&self, links: u8) -> bool {
        self.links & links == links
    }

    /// Whether the row is the root of its chain: it has no parent.
    pub const fn is_root(&self) -> bool {
        self.parent == ROOT
    }
}

/// Links chains, one after the other, in reused memory.
#[derive(Debug, Default)]
pub struct Linker {
    places: Vec<ChainPosition>,
    finder: Finder,
    way: Vec<u32>,
    order: Vec<u32>,
}

impl Linker {
    /// The places of the rows of one chain, in the order of the rows.
    ///
    /// # Panics
    /// When there are 2³² − 2 rows or more.
    pub fn link(&mut self, hops: &[Hop]) -> &[ChainPosition] {
        assert!(hops.len() < MISSING as usize, "a chain of {} rows", hops.len());
        self.find_parents(hops);
        self.order.clear();
        for index in 0..hops.len() {
            if self.places[index].top == UNPLACED {
                self.place(index);
            }
        }
        self.mark_leaves(hops);
        &self.places
    }

    /// The result of the last [`Self::link`].
    pub fn places(&self) -> &[ChainPosition] {
        &self.places
    }

    /// All rows of the last chain by index, every parent before its children.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    #[allow(clippy::cast_possible_truncation)] // `link` bounds the number of rows
    fn find_parents(&mut self, hops: &[Hop]) {
        self.places.clear();
        self.finder.fill(hops);
        let mut last = (TransactionId::NONE, ROOT);
        for (index, hop) in hops.iter().enumerate() {
            // Siblings often stand side by side: remember the last answer.
            if hop.parent != last.0 {
                let found = self.finder.find(hops, hop.parent).map(|parent| parent as u32);
                let none = if hop.parent.is_none() { ROOT } else { MISSING };
                last = (hop.parent, found.unwrap_or(none));
            }
            let parent = last.1;
            let before = parent < MISSING && hop.start_ns < hops[parent as usize].start_ns;
            self.places.push(ChainPosition {
                parent,
                top: UNPLACED,
                level: 0,
                links: bits::LEAF | if before { bits::BEFORE_PARENT } else { 0 },
                duplicate: self.finder.is_duplicate(index),
            });
        }
    }

    /// Places a row and all its ancestors that are not placed yet.
    #[allow(clippy::cast_possible_truncation)] // `link` bounds the number of rows
    fn place(&mut self, index: usize) {
        self.way.clear();
        let mut at = index as u32;
        loop {
            let place = &mut self.places[at as usize];
            match place.top {
                UNPLACED => {}
                WALKED => {
                    self.cut_circle(at);
                    break;
                }
                _ => break,
            }
            if place.parent >= MISSING {
                place.top = at;
                place.links |= if place.parent == MISSING { bits::ANCESTOR_MISSING } else { 0 };
                self.order.push(at);
                break;
            }
            place.top = WALKED;
            self.way.push(at);
            at = place.parent;
        }
        while let Some(at) = self.way.pop() {
            let parent = self.places[self.places[at as usize].parent as usize];
            let place = &mut self.places[at as usize];
            place.top = parent.top;
            place.level = parent.level.saturating_add(1);
            place.links |= parent.links & bits::ANCESTOR_MISSING;
            self.order.push(at);
        }
    }

    /// Cuts a circle of parents: every member loses its parent. Which of them came first cannot be
    /// known, and cutting all makes the result independent of where the walk began.
    fn cut_circle(&mut self, entry: u32) {
        while let Some(at) = self.way.pop() {
            let place = &mut self.places[at as usize];
            let parent = std::mem::replace(&mut place.parent, MISSING);
            place.top = at;
            self.order.push(at);
            place.links |= bits::ANCESTOR_MISSING;
            place.links &= !bits::BEFORE_PARENT;
            // Another row still names it as parent, which `mark_leaves` can no longer see after the
            // cut.
            self.places[parent as usize].links &= !bits::LEAF;
            if at == entry {
                break;
            }
        }
    }

    fn mark_leaves(&mut self, hops: &[Hop]) {
        for index in 0..self.places.len() {
            let place = self.places[index];
            if place.duplicate {
                self.places[index].links &= !bits::LEAF;
            }
            if place.parent < MISSING {
                self.places[place.parent as usize].links &= !bits::LEAF;
            }
        }
        let leaves = self.places.iter().enumerate().filter(|(_, place)| place.has(bits::LEAF));
        if let Some((last, _)) = leaves.max_by_key(|(index, _)| hops[*index].rank()) {
            self.places[last].links |= bits::LAST_LEAF;
        }
    }
}

/// Up to here a search through all ids (several at a time, side by side) beats a table.
const FEW: usize = 16;

/// Finds rows by id. Of several rows with one id it knows the one that ranks lowest.
#[derive(Debug, Default)]
struct Finder {
    /// Open addressing: index + 1, 0 for free. Unused while there are few rows.
    table: Vec<u32>,
    shift: u32,
    ids: Vec<TransactionId>,
    duplicates: Vec<u32>,
}

impl Finder {
    #[allow(clippy::cast_possible_truncation)] // `link` bounds the number of rows
    fn fill(&mut self, hops: &[Hop]) {
        self.ids.clear();
        self.duplicates.clear();
        if hops.len() <= FEW {
            self.ids.extend(hops.iter().map(|hop| hop.id));
            self.find_duplicates(hops);
            return;
        }
        let size = (hops.len() * 2).next_power_of_two();
        self.shift = 64 - size.trailing_zeros();
        self.table.clear();
        self.table.resize(size, 0);
        for index in 0..hops.len() {
            if !hops[index].id.is_none() {
                self.insert(hops, index as u32);
            }
        }
        self.duplicates.sort_unstable();
    }

    /// The duplicates among few rows.
    #[allow(clippy::cast_possible_truncation)] // they are few
    fn find_duplicates(&mut self, hops: &[Hop]) {
        for index in 1..self.ids.len() {
            let id = self.ids[index];
            if self.ids[..index].contains(&id) && !id.is_none() {
                // Rare: all rows with the id but the lowest, once for every such pair.
                let same = |i: &usize| self.ids[*i] == id;
                let lowest = (0..hops.len()).filter(same).min_by_key(|i| hops[*i].rank());
                let others = (0..hops.len()).filter(same).filter(|i| Some(*i) != lowest);
                let others: Vec<u32> = others.map(|i| i as u32).collect();
                self.duplicates.extend(others);
            }
        }
        self.duplicates.sort_unstable();
        self.duplicates.dedup();
    }

    fn insert(&mut self, hops: &[Hop], index: u32) {
        let hop = &hops[index as usize];
        let mut slot = self.slot(hop.id);
        loop {
            let held = self.table[slot];
            if held == 0 {
                self.table[slot] = index + 1;
                return;
            }
            let other = &hops[held as usize - 1];
            if other.id == hop.id {
                let lower = hop.rank() < other.rank();
                self.duplicates.push(if lower { held - 1 } else { index });
                if lower {
                    self.table[slot] = index + 1;
                }
                return;
            }
            slot = (slot + 1) & (self.table.len() - 1);
        }
    }

    /// The row with this id; `None` also for [`TransactionId::NONE`].
    fn find(&self, hops: &[Hop], id: TransactionId) -> Option<usize> {
        if id.is_none() {
            return None;
        }
        if hops.len() <= FEW {
            let first = self.ids.iter().position(|other| *other == id)?;
            if self.duplicates.is_empty() {
                return Some(first);
            }
            let same = (first..hops.len()).filter(|index| self.ids[*index] == id);
            return same.min_by_key(|index| hops[*index].rank());
        }
        let mut slot = self.slot(id);
        loop {
            let held = (self.table[slot] as usize).checked_sub(1)?;
            if hops[held].id == id {
                return Some(held);
            }
            slot = (slot + 1) & (self.table.len() - 1);
        }
    }

    /// Fibonacci hashing: ids of one process may be consecutive.
    #[allow(clippy::cast_possible_truncation)] // the shift leaves an index of the table
    fn slot(&self, id: TransactionId) -> usize {
        (id.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    #[allow(clippy::cast_possible_truncation)] // `link` bounds the number of rows
    fn is_duplicate(&self, index: usize) -> bool {
        !self.duplicates.is_empty() && self.duplicates.binary_search(&(index as u32)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_model::ClassId;
    use proptest::prelude::*;

    fn hop(id: u64, parent: u64, start_ns: i64, elapsed_ns: u64) -> Hop {
        let class = ClassId(1);
        Hop { id: TransactionId(id), parent: TransactionId(parent), class, start_ns, elapsed_ns }
    }

    fn links(hops: &[Hop]) -> Vec<u8> {
        Linker::default().link(hops).iter().map(|place| place.links).collect()
    }

    #[test]
    fn a_tree_by_hand() {
        // 1 ─ 2 ─ 3 (before its parent), 1 ─ 4 (starts last); 9's parent 8 is missing, 10 below 9.
        let hops = [
            hop(3, 2, 15, 5),
            hop(1, 0, 10, 1),
            hop(2, 1, 20, 1),
            hop(4, 1, 50, 2),
            hop(10, 9, 45, 1),
            hop(9, 8, 40, 1),
        ];
        let mut linker = Linker::default();
        let places = linker.link(&hops);
        let expected = [
            bits::LEAF | bits::BEFORE_PARENT,
            0,
            0,
            bits::LEAF | bits::LAST_LEAF,
            bits::LEAF | bits::ANCESTOR_MISSING,
            bits::ANCESTOR_MISSING,
        ];
        assert_eq!(places.iter().map(|p| p.links).collect::<Vec<_>>(), expected);
        assert_eq!(places.iter().map(|p| p.level).collect::<Vec<_>>(), [2, 0, 1, 1, 1, 0]);
        assert_eq!(places.iter().map(|p| p.top).collect::<Vec<_>>(), [1, 1, 1, 1, 5, 5]);
        assert_eq!(places[0].parent(), Some(2));
        assert!(places[1].is_root() && !places[5].is_root());
    }

    #[test]
    fn its_own_parent_and_a_circle_have_no_root() {
        assert_eq!(links(&[hop(1, 1, 0, 1)]), [bits::ANCESTOR_MISSING]);
        // 1 → 2 → 3 → 1, and 4 hangs below 2.
        let circle = [hop(4, 2, 9, 1), hop(1, 3, 1, 1), hop(2, 1, 2, 1), hop(3, 2, 3, 1)];
        let mut linker = Linker::default();
        let places = linker.link(&circle);
        assert_eq!(places[0].links, bits::ANCESTOR_MISSING | bits::LEAF | bits::LAST_LEAF);
        assert!(places[1..].iter().all(|p| p.links == bits::ANCESTOR_MISSING && p.level == 0));
        assert_eq!((places[0].top, places[0].level), (2, 1));
    }

    #[test]
    fn of_a_doubled_id_the_first_counts() {
        let hops = [hop(2, 1, 30, 1), hop(1, 0, 10, 1), hop(2, 1, 20, 1), hop(3, 2, 25, 1)];
        let mut linker = Linker::default();
        let places = linker.link(&hops);
        assert_eq!(
            places.iter().map(|p| p.duplicate).collect::<Vec<_>>(),
            [true, false, false, false]
        );
        assert_eq!(places[3].parent(), Some(2));
        assert_eq!(places[0].links, 0);
        assert_eq!(places[3].links, bits::LEAF | bits::LAST_LEAF);
    }

    /// Ids from a small range, so that duplicates, circles and missing parents all occur.
    fn rows(most: usize) -> impl Strategy<Value = Vec<Hop>> {
        let ids = most as u64;
        let row = (0..ids, 0..ids, 0i64..40, 0u64..9).prop_map(|(id, p, s, e)| hop(id, p, s, e));
        prop::collection::vec(row, 0..most)
    }

    /// The definitions read aloud, with nothing clever: ancestors of a row, nearest first; `false`
    /// when a root is not reached.
    fn ancestors(hops: &[Hop], index: usize) -> (Vec<usize>, bool) {
        let kept = |id: TransactionId| {
            let same = (0..hops.len()).filter(|i| hops[*i].id == id && !id.is_none());
            same.min_by_key(|i| hops[*i].rank())
        };
        let mut way = vec![index];
        loop {
            let at = *way.last().unwrap();
            if hops[at].parent.is_none() {
                return (way, true);
            }
            match kept(hops[at].parent) {
                Some(parent) if way.contains(&parent) => return (way, false),
                Some(parent) => way.push(parent),
                None => return (way, false),
            }
        }
    }

    proptest! {
        #[test]
        fn as_the_definitions_say(hops in prop_oneof![rows(9), rows(60)]) {
            let mut linker = Linker::default();
            let places = linker.link(&hops).to_vec();
            let same = |a: usize, b: usize| hops[a].id == hops[b].id && !hops[a].id.is_none();
            for (index, place) in places.iter().enumerate() {
                let (way, reached) = ancestors(&hops, index);
                prop_assert_eq!(place.has(bits::ANCESTOR_MISSING), !reached, "row {}", index);
                if reached {
                    prop_assert_eq!(usize::from(place.level), way.len() - 1);
                    prop_assert_eq!(place.top as usize, *way.last().unwrap());
                    prop_assert_eq!(place.parent(), way.get(1).copied());
                    let before = way.get(1).is_some_and(|p| hops[index].start_ns < hops[*p].start_ns);
                    prop_assert_eq!(place.has(bits::BEFORE_PARENT), before);
                }
                let outranked = (0..hops.len()).any(|other| {
                    let (a, b) = ((hops[other].rank(), other), (hops[index].rank(), index));
                    same(index, other) && a < b
                });
                // Rows that are equal in everything may change places.
                let twins = hops.iter().filter(|h| **h == hops[index]).count();
                prop_assert!(place.duplicate == outranked || twins > 1);
                let named = hops.iter().any(|h| h.parent == hops[index].id && !h.parent.is_none());
                prop_assert_eq!(place.has(bits::LEAF), !named && !place.duplicate);
            }
            let mut placed = vec![false; hops.len()];
            for index in linker.order() {
                let index = *index as usize;
                prop_assert!(places[index].parent().is_none_or(|p| placed[p]) && !placed[index]);
                placed[index] = true;
            }
            prop_assert!(placed.iter().all(|p| *p));
            let leaves = || (0..hops.len()).filter(|i| places[*i].has(bits::LEAF));
            let last = (0..hops.len()).filter(|i| places[*i].has(bits::LAST_LEAF));
            let last: Vec<_> = last.map(|i| hops[i].rank()).collect();
            prop_assert_eq!(last, leaves().map(|i| hops[i].rank()).max().into_iter().collect::<Vec<_>>());
        }

        /// Parts and tails of a minute are read in other orders than the minute sealed whole.
        #[test]
        fn the_order_of_rows_does_not_matter(hops in rows(30), seed in any::<u64>()) {
            let mut order: Vec<usize> = (0..hops.len()).collect();
            order.sort_by_key(|i| (*i as u64 + 1).wrapping_mul(seed | 1).rotate_left(17));
            let shuffled: Vec<Hop> = order.iter().map(|i| hops[*i]).collect();
            let told = |rows: &[Hop]| {
                let mut linker = Linker::default();
                let places = linker.link(rows).iter().zip(rows);
                let mut told: Vec<_> =
                    places.map(|(p, h)| (h.rank(), p.links, p.level, p.duplicate)).collect();
                told.sort_unstable();
                told
            };
            prop_assert_eq!(told(&hops), told(&shuffled));
        }
    }
}
