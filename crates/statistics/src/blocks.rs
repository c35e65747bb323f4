//! Whether two sets differ whose members depend on each other in time: chance relabels whole blocks
//! of time.
//!
//! What is near in time is alike: requests of one customer come together, a slow second makes a
//! hundred durations slow. Tests that take each member as independent then find differences where
//! there are none. Here the time is cut into blocks, all members of a block are relabelled
//! together, and a difference counts as one where few relabellings have a difference as large, of
//! whatever is tested (P. Westfall, S. Young, Resampling-Based Multiple Testing, 1993, step-down).
//! So the answer is corrected for the number of tests, and tests of nearly the same members cost
//! nothing.
//!
//! It holds as far as blocks are independent of each other: for dependence that is shorter than a
//! block.

use crate::Random;

/// Relative margin by which sums that are equal differ by rounding.
const ROUNDING: f64 = 1e-9;

/// How chance may relabel the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockDesign {
    /// Both sets have members in every block, and a score is the difference between them: chance
    /// exchanges the sets within a block, which turns the sign of its score.
    Exchanged,
    /// The first so many blocks are of the first set and the others of the second: chance deals
    /// the blocks anew.
    Dealt {
        /// Number of blocks of the first set.
        first: usize,
    },
}

/// A test of many differences by the same blocks.
#[derive(Clone, Copy, Debug)]
pub struct BlockTest {
    /// How chance may relabel the blocks.
    pub design: BlockDesign,
    /// Number of relabellings drawn: no probability is below its reciprocal.
    pub draws: usize,
    /// Seed of the draws.
    pub seed: u64,
}

/// The scores of one difference, with their sums.
struct Scores<'a> {
    scores: &'a [f64],
    sum: f64,
    squares: f64,
}

impl BlockTest {
    /// The size of a difference, from its scores block by block, which are scaled so that their
    /// variance is 1 where members are independent of each other: Student's t of the difference,
    /// with a variance of at least 1. Never negative.
    pub fn size(&self, scores: &[f64]) -> f64 {
        let observed = self.observed(scores.len());
        self.size_with(&Scores::of(scores), weighted(scores, &observed))
    }

    /// For each difference the chance that one of its size or larger is found anywhere among those
    /// that are not larger than it, corrected for all; 1 for differences below `at_least`. Every
    /// difference has a score for each block, scaled as for [`Self::size`].
    ///
    /// Costs a multiplication for each draw, block, and difference that some relabelling could
    /// bring to `at_least`.
    pub fn corrected(&self, scores: &[Vec<f64>], at_least: f64) -> Vec<f64> {
        let blocks = scores.first().map_or(0, Vec::len);
        let mut larger: Vec<(f64, usize, Scores<'_>)> = Vec::new();
        for (at, scores) in scores.iter().enumerate() {
            let scores = Scores::of(scores);
            if self.size_max(&scores) >= at_least {
                larger.push((self.size(scores.scores), at, scores));
            }
        }
        larger.sort_by(|a, b| b.0.total_cmp(&a.0));
        let asked = larger.iter().take_while(|(size, ..)| *size >= at_least).count();
        let mut as_large = vec![1_usize; asked]; // the one that was observed
        let mut random = Random(self.seed);
        let mut weights = self.observed(blocks);
        for _ in 0..if asked > 0 { self.draws } else { 0 } {
            self.relabel(&mut random, &mut weights);
            let mut largest = 0.0_f64;
            for (rank, (size, _, scores)) in larger.iter().enumerate().rev() {
                largest = largest.max(self.size_with(scores, weighted(scores.scores, &weights)));
                if rank < asked && largest >= size * (1.0 - ROUNDING) {
                    as_large[rank] += 1;
                }
            }
        }
        let mut corrected = vec![1.0; scores.len()];
        let mut before = 0.0_f64;
        for ((_, at, _), count) in larger.iter().zip(as_large) {
            before = before.max(count as f64 / (self.draws + 1) as f64);
            corrected[*at] = before;
        }
        corrected
    }

    /// The weights of the blocks as they are: the signs, or 1 for those of the second set.
    fn observed(&self, blocks: usize) -> Vec<f64> {
        match self.design {
            BlockDesign::Exchanged => vec![1.0; blocks],
            BlockDesign::Dealt { first } => {
                (0..blocks).map(|block| if block < first { 0.0 } else { 1.0 }).collect()
            }
        }
    }

    /// The size of a difference whose weighted scores have this sum.
    fn size_with(&self, scores: &Scores<'_>, sum: f64) -> f64 {
        let blocks = scores.scores.len() as f64;
        match self.design {
            BlockDesign::Exchanged if blocks > 0.0 => {
                let within = scores.squares - sum * sum / blocks;
                sum.abs() / (blocks * variance(within, blocks - 1.0)).sqrt()
            }
            BlockDesign::Dealt { first } => {
                let a = first as f64;
                let b = blocks - a;
                if a < 1.0 || b < 1.0 {
                    return 0.0;
                }
                let (mean_a, mean_b) = ((scores.sum - sum) / a, sum / b);
                let within = scores.squares - a * mean_a * mean_a - b * mean_b * mean_b;
                let variance = variance(within, blocks - 2.0);
                (mean_b - mean_a).abs() / (variance * (1.0 / a + 1.0 / b)).sqrt()
            }
            BlockDesign::Exchanged => 0.0,
        }
    }

    /// The largest size that relabelling can bring forth: it grows with the sum.
    fn size_max(&self, scores: &Scores<'_>) -> f64 {
        match self.design {
            BlockDesign::Exchanged => {
                self.size_with(scores, scores.scores.iter().map(|score| score.abs()).sum())
            }
            BlockDesign::Dealt { first } => {
                let ascending = crate::ascending(scores.scores.iter().copied());
                let second = ascending.len().saturating_sub(first);
                let least = ascending.iter().take(second).sum();
                let most = ascending.iter().rev().take(second).sum();
                self.size_with(scores, least).max(self.size_with(scores, most))
            }
        }
    }

    fn relabel(&self, random: &mut Random, weights: &mut [f64]) {
        match self.design {
            BlockDesign::Exchanged => {
                weights.iter_mut().for_each(|weight| {
                    *weight = if random.bits() >> 63 == 0 { 1.0 } else { -1.0 };
                });
            }
            BlockDesign::Dealt { .. } => {
                for end in (1..weights.len()).rev() {
                    weights.swap(end, random.place(end + 1));
                }
            }
        }
    }
}

impl<'a> Scores<'a> {
    fn of(scores: &'a [f64]) -> Self {
        let squares = scores.iter().map(|score| score * score).sum();
        Self { scores, sum: scores.iter().sum(), squares }
    }
}

/// The variance within sets, at least 1: with few blocks a small one is chance.
fn variance(squares: f64, freedom: f64) -> f64 {
    if freedom > 0.0 { (squares / freedom).max(1.0) } else { 1.0 }
}

fn weighted(scores: &[f64], weights: &[f64]) -> f64 {
    scores.iter().zip(weights).map(|(score, weight)| score * weight).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EXCHANGED: BlockTest = BlockTest { design: BlockDesign::Exchanged, draws: 999, seed: 5 };

    /// Ten blocks of the same sign come once in 512 times. A difference of a single block, however
    /// large, has its sign by chance, and does not hide the others.
    #[test]
    fn a_difference_in_every_block_is_found_and_one_in_a_single_block_is_not() {
        let mut one = vec![0.0; 10];
        one[3] = 900.0;
        let found = EXCHANGED.corrected(&[one, vec![3.0; 10], vec![2.0; 10]], 0.0);
        assert!(found[0] > 0.9, "{found:?}");
        assert!(found[1..].iter().all(|p| (0.001..0.006).contains(p)), "{found:?}");
        assert_eq!(EXCHANGED.corrected(&[vec![3.0; 10], vec![2.0; 10]], 9.0)[1], 1.0);
        assert!((EXCHANGED.size(&[3.0; 10]) - 30.0 / 10f64.sqrt()).abs() < 1e-9);
    }

    /// Four blocks against four: 2 of 70 divisions are as extreme as the one that separates them.
    #[test]
    fn blocks_are_dealt_anew() {
        let test = BlockTest { design: BlockDesign::Dealt { first: 4 }, draws: 9999, seed: 5 };
        let scores = vec![0.1, 0.2, 0.0, 0.1, 0.9, 0.8, 0.7, 0.9];
        assert!((test.size(&scores) - 0.725 / 0.5f64.sqrt()).abs() < 1e-9);
        let found = test.corrected(&[scores], 0.0)[0];
        assert!((found - 2.0 / 70.0).abs() < 0.006, "{found}");
        assert!(test.corrected(&[], 0.0).is_empty());
        assert_eq!(test.corrected(&[Vec::new()], 0.0), [1.0], "no block says nothing");
    }

    /// Scores that depend on their neighbours within a block only: of many draws at most the
    /// expected share has a finding.
    #[test]
    fn of_pure_chance_one_in_twenty_is_found() {
        let mut random = Random(11);
        let draws = 400_u32;
        for design in [BlockDesign::Exchanged, BlockDesign::Dealt { first: 8 }] {
            let found = (0..draws).filter(|draw| {
                let scores: Vec<Vec<f64>> =
                    (0..30).map(|_| (0..16).map(|_| 3.0 * random.normal()).collect()).collect();
                let test = BlockTest { design, draws: 199, seed: u64::from(*draw) };
                test.corrected(&scores, 0.0).iter().any(|p| *p <= 0.05)
            });
            // 400 draws of 5 %: 20, with a standard deviation of 4.4.
            let found = found.count();
            assert!((5..=35).contains(&found), "{found} of {draws} ({design:?})");
        }
    }

    proptest! {
        /// What cannot reach the least size changes nothing, and larger differences are more
        /// certain.
        #[test]
        fn small_ones_do_not_count(
            scores in prop::collection::vec(prop::collection::vec(-3.0..3.0_f64, 8), 1..12),
            at_least in 0.5..8.0_f64,
            dealt in any::<bool>(),
        ) {
            let design =
                if dealt { BlockDesign::Dealt { first: 4 } } else { BlockDesign::Exchanged };
            let test = BlockTest { design, draws: 99, seed: 1 };
            let all = test.corrected(&scores, 0.0);
            let some = test.corrected(&scores, at_least);
            for (scores, (all, some)) in scores.iter().zip(all.iter().zip(&some)) {
                let expected = if test.size(scores) >= at_least { *all } else { 1.0 };
                prop_assert_eq!(*some, expected);
                prop_assert!((0.01..=1.0).contains(all));
            }
        }
    }
}
