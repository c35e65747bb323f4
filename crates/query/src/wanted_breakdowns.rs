//! The durations whose hop breakdowns are looked for, while rows are read.

use crate::series::Point;
use chronoscope_model::ChainId;
use std::collections::HashSet;

/// The durations whose hop breakdowns are looked for.
#[derive(Debug, Default)]
pub(crate) struct WantedBreakdowns {
    /// The chains that they belong to; `None` where that is not known.
    pub(crate) chains: Option<ChainSet>,
    /// The durations.
    pub(crate) points: HashSet<Point>,
}

/// Some thousand chains, of which millions of rows are asked: most are answered by a few bits.
#[derive(Debug, Default)]
pub(crate) struct ChainSet {
    /// A bit for each value of [`ChainSet::bit`].
    bits: Vec<u64>,
    chains: HashSet<ChainId>,
}

impl ChainSet {
    /// Bits, as a power of two: 8 KiB, which stay in the first-level cache.
    const LOG2_BITS: u32 = 16;

    pub(crate) fn of(chains: impl Iterator<Item = ChainId>) -> Self {
        let mut set = Self { bits: vec![0; 1 << (Self::LOG2_BITS - 6)], chains: chains.collect() };
        for chain in &set.chains {
            let (word, bit) = Self::bit(*chain);
            set.bits[word] |= bit;
        }
        set
    }

    #[inline]
    pub(crate) fn contains(&self, chain: ChainId) -> bool {
        let (word, bit) = Self::bit(chain);
        self.bits.get(word).is_some_and(|bits| bits & bit != 0) && self.chains.contains(&chain)
    }

    #[inline]
    fn bit(chain: ChainId) -> (usize, u64) {
        let mixed =
            (chain.low() ^ chain.high().rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let number = mixed >> (u64::BITS - Self::LOG2_BITS);
        (usize::try_from(number / 64).unwrap_or(0), 1 << (number % 64))
    }
}
