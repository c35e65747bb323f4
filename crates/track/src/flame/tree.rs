//! A tree of calls from a source of calls: which frames it has, and what each of them costs.
//!
//! Frames are opened in the order of their cost, so that a bounded tree has the expensive ones. Of
//! every frame, the own cost, the frames below and what was left out add up to its inclusive cost,
//! to the unit; the root has the total.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Bounds of a tree.
#[derive(Clone, Copy, Debug)]
pub struct TreeLimits {
    /// A frame that costs less than this part of the total, from 0 to 1, is left out; its cost is
    /// in [`Frame::left_out`] of its caller.
    pub share_min: f64,
    /// Largest number of frames.
    pub frames_max: usize,
    /// Deepest frame; the root is 0.
    pub depth_max: usize,
}

impl Default for TreeLimits {
    /// Frames of a 5,000th of the total and more, 20,000 of them, 200 deep.
    fn default() -> TreeLimits {
        TreeLimits { share_min: 2e-4, frames_max: 20_000, depth_max: 200 }
    }
}

/// A function on a path of calls, on `N` sides: one profile, or two beside each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame<const N: usize> {
    /// Index into [`CallTree::functions`]; `None` for the root.
    pub function: Option<usize>,
    /// Index of the caller's frame, always smaller than this one's; `None` for the root.
    pub parent: Option<usize>,
    /// Distance from the root.
    pub depth: usize,
    /// Spent in the function and below it, on this path.
    pub inclusive: [u64; N],
    /// Spent in the function itself, on this path.
    pub own: [u64; N],
    /// Spent below it in frames that the tree's limits left out.
    pub left_out: [u64; N],
}

impl<const N: usize> Frame<N> {
    fn new(function: Option<usize>, parent: Option<(usize, usize)>, inclusive: [u64; N]) -> Self {
        let depth = parent.map_or(0, |(_, depth)| depth + 1);
        let parent = parent.map(|(index, _)| index);
        Frame { function, parent, depth, inclusive, own: [0; N], left_out: [0; N] }
    }

    /// The larger of the inclusive costs.
    fn most(&self) -> u64 {
        self.inclusive.into_iter().max().unwrap_or(0)
    }
}

/// A function of a tree, with its exact costs over all paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeFunction<const N: usize> {
    /// Its name, without what compilers add.
    pub name: String,
    /// Last part of the path of its file.
    pub file: String,
    /// Last part of the path of its program or library.
    pub object: String,
    /// Spent in itself.
    pub own: [u64; N],
    /// Spent in itself and below; of a member of a cycle, a lower bound.
    pub inclusive: [u64; N],
    /// Whether it calls itself through others.
    pub in_cycle: bool,
}

/// A profile as a tree of calls.
#[derive(Clone, Debug)]
pub struct CallTree<const N: usize> {
    /// The event that costs are counts of.
    pub event: String,
    /// The frames, callers before callees; the first is the root.
    pub frames: Vec<Frame<N>>,
    /// The functions.
    pub functions: Vec<TreeFunction<N>>,
}

impl<const N: usize> CallTree<N> {
    /// The total of each side.
    pub fn total(&self) -> [u64; N] {
        self.frames[0].inclusive
    }

    /// The name of a frame's function; empty for the root.
    pub fn name(&self, frame: usize) -> &str {
        self.frames[frame].function.map_or("", |function| &self.functions[function].name)
    }

    /// The frames below each frame, the most expensive first.
    pub fn below(&self) -> Vec<Vec<usize>> {
        let mut below = vec![Vec::new(); self.frames.len()];
        for (index, frame) in self.frames.iter().enumerate() {
            if let Some(parent) = frame.parent {
                below[parent].push(index);
            }
        }
        below
    }
}

/// A source of calls. A place is a function in a context that decides what it costs and calls.
pub(crate) trait Calls {
    /// A place.
    type Place: Copy;

    /// The cost of everything.
    fn total(&self) -> u64;

    /// Where programs and threads begin, with the cost of each.
    fn roots(&mut self) -> Vec<(Self::Place, u64)>;

    /// What a place's cost consists of. Only the proportions count.
    fn below(&mut self, place: Self::Place) -> Costs<Self::Place>;

    /// The function of a place.
    fn function(&self, place: Self::Place) -> usize;
}

/// The parts of a place's cost.
pub(crate) struct Costs<P> {
    /// In the function itself.
    pub(crate) own: u64,
    /// In calls that the source does not tell apart.
    pub(crate) left_out: u64,
    /// In each call; a function is called once at most.
    pub(crate) calls: Vec<(P, u64)>,
}

/// The frames of `N` sources in one tree; `keys` has the tree's function for each of a source's.
pub(crate) fn frames<const N: usize, C: Calls>(
    mut sides: [C; N],
    keys: [&[usize]; N],
    limits: TreeLimits,
) -> Vec<Frame<N>> {
    let totals = std::array::from_fn(|side| sides[side].total());
    let mut frames = vec![Frame::new(None, None, totals)];
    let mut places: Vec<[Option<C::Place>; N]> = vec![[None; N]];
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of u64")]
    let least = (frames[0].most() as f64 * limits.share_min) as u64;
    let mut open = BinaryHeap::from([(frames[0].most(), Reverse(0))]);
    while let Some((_, Reverse(index))) = open.pop() {
        let mut below = BTreeMap::<usize, Below<N, C>>::new();
        for side in 0..N {
            let parts = match places[index][side] {
                Some(place) => sides[side].below(place),
                None if index == 0 => Costs { own: 0, left_out: 0, calls: sides[side].roots() },
                None => continue,
            };
            let weights = [parts.own, parts.left_out].into_iter();
            let weights: Vec<u64> = weights.chain(parts.calls.iter().map(|call| call.1)).collect();
            let pieces = apportioned(frames[index].inclusive[side], &weights);
            frames[index].own[side] = pieces[0];
            frames[index].left_out[side] = pieces[1];
            for ((place, _), piece) in parts.calls.into_iter().zip(&pieces[2..]) {
                let key = keys[side][sides[side].function(place)];
                let entry = below.entry(key).or_insert(([0; N], [None; N]));
                entry.0[side] += piece;
                entry.1[side] = Some(place);
            }
        }
        let mut below: Vec<_> = below.into_iter().collect();
        below.sort_by_key(|(key, (costs, _))| (Reverse(most(costs)), *key));
        let depth = frames[index].depth;
        for (key, (costs, at)) in below {
            let cost = most(&costs);
            if cost <= least || depth >= limits.depth_max || frames.len() >= limits.frames_max {
                for (sum, cost) in frames[index].left_out.iter_mut().zip(costs) {
                    *sum += cost;
                }
                continue;
            }
            open.push((cost, Reverse(frames.len())));
            frames.push(Frame::new(Some(key), Some((index, depth)), costs));
            places.push(at);
        }
    }
    frames
}

/// What is below a frame in one function: costs, and places.
type Below<const N: usize, C> = ([u64; N], [Option<<C as Calls>::Place>; N]);

fn most<const N: usize>(costs: &[u64; N]) -> u64 {
    costs.iter().copied().max().unwrap_or(0)
}

/// Divides a cost in proportion to weights; the pieces add up to it, and equal the weights where
/// these do. Without any weight the first gets all.
pub(super) fn apportioned(cost: u64, weights: &[u64]) -> Vec<u64> {
    let mut whole: u128 = weights.iter().copied().map(u128::from).sum();
    // The product below has to fit: weights of a contradictory file lose their last bits.
    let shift = (128 - whole.leading_zeros()).saturating_sub(64);
    if shift > 0 {
        whole = weights.iter().map(|weight| u128::from(weight >> shift)).sum();
    }
    let (mut reached, mut given) = (0_u128, 0_u64);
    let mut pieces = Vec::with_capacity(weights.len());
    for weight in weights {
        reached += u128::from(weight >> shift);
        let until = match whole {
            0 => cost,
            _ => u64::try_from(u128::from(cost) * reached / whole).unwrap_or(cost),
        };
        pieces.push(until - given);
        given = until;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_divided_without_a_rest() {
        assert_eq!(apportioned(100, &[10, 60, 30]), [10, 60, 30]);
        assert_eq!(apportioned(10, &[1, 1, 1]), [3, 3, 4]);
        assert_eq!(apportioned(7, &[0, 0]), [7, 0]);
        assert_eq!(apportioned(7, &[]), [0; 0]);
        assert_eq!(apportioned(9, &[u64::MAX; 3]), [3, 3, 3]);
    }

    proptest::proptest! {
        #[test]
        fn pieces_add_up(cost: u64, weights in proptest::collection::vec(proptest::arbitrary::any::<u64>(), 1..50)) {
            let pieces = apportioned(cost, &weights);
            let sum: u128 = pieces.iter().copied().map(u128::from).sum();
            proptest::prop_assert_eq!(sum, u128::from(cost));
        }
    }
}
