//! The chains that have foreign rows, and the native rows of these chains.

use chronoscope_model::ChainId;
use chronoscope_model::schema::column;
use chronoscope_store::segment_file::{SegmentColumns, SegmentFile};
use chronoscope_store::{Minute, StoreError};
use std::collections::{BTreeSet, HashSet};

/// The chains that have foreign rows.
#[derive(Debug, Default)]
pub(crate) struct ForeignChains {
    /// With the number of rows that stand together: ascending, and several times where they stand
    /// in several places.
    pub(crate) chains: Vec<(ChainId, u64)>,
    /// A bit for every hash of a chain, so that most others need not be searched for. Its length
    /// is a power of two; empty where there are no chains.
    bits: Vec<u64>,
}

impl ForeignChains {
    pub(crate) fn new(mut chains: Vec<(ChainId, u64)>) -> Self {
        chains.sort_unstable();
        if chains.is_empty() {
            return Self::default();
        }
        // Sixteen bits and more for every chain: of the others few have to be searched for.
        let mut bits = vec![0; (chains.len() / 4).next_power_of_two()];
        for (chain, _) in &chains {
            let (word, bit) = place(*chain, bits.len());
            bits[word] |= bit;
        }
        Self { chains, bits }
    }

    /// Whether a chain has foreign rows.
    #[inline]
    pub(crate) fn contains(&self, chain: ChainId) -> bool {
        if self.bits.is_empty() {
            return false;
        }
        let (word, bit) = place(chain, self.bits.len());
        self.bits[word] & bit != 0
            && self.chains.binary_search_by_key(&chain, |(chain, _)| *chain).is_ok()
    }

    /// The native rows of a segment whose chains have foreign rows too, by number, ascending; and
    /// these chains.
    pub(crate) fn rows_in(
        &self,
        file: &SegmentFile,
    ) -> Result<(Vec<usize>, Vec<ChainId>), StoreError> {
        let (mut rows, mut chains) = (Vec::new(), Vec::new());
        if self.chains.is_empty() {
            return Ok((rows, chains));
        }
        let mut first = 0;
        for batch in file.read(&[column::CHAIN_HIGH, column::CHAIN_LOW], None, None)? {
            let batch = batch.map_err(file.unreadable())?;
            let columns = SegmentColumns { file, batch: &batch };
            let halves =
                columns.ids(column::CHAIN_HIGH)?.iter().zip(columns.ids(column::CHAIN_LOW)?);
            for (row, (high, low)) in halves.enumerate() {
                let chain = ChainId::from_halves(*high, *low);
                if self.contains(chain) {
                    rows.push(first + row);
                    chains.push(chain);
                }
            }
            first += batch.num_rows();
        }
        Ok((rows, chains))
    }

    /// The chains whose foreign rows do not all stand together.
    pub(crate) fn in_several_places(&self) -> impl Iterator<Item = ChainId> {
        let pairs = self.chains.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        pairs.map(|pair| pair[0].0)
    }

    /// Number of foreign rows of the given chains.
    pub(crate) fn rows_of(&self, chains: &HashSet<ChainId>) -> u64 {
        let of = self.chains.iter().filter(|(chain, _)| chains.contains(chain));
        of.map(|(_, rows)| rows).sum()
    }
}

/// Word and bit of a chain, in a filter of so many words. Ids may be counters, or have one half
/// empty.
#[inline]
#[allow(clippy::cast_possible_truncation)] // the low bits choose a word
fn place(chain: ChainId, words: usize) -> (usize, u64) {
    let mixed = (chain.low() ^ chain.high().rotate_left(31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed >> 24) as usize & (words - 1), 1 << (mixed >> 58))
}

/// Native rows that were skipped, because their chains have foreign rows too.
#[derive(Debug, Default)]
pub(crate) struct MixedChainRows {
    /// The chains.
    pub(crate) chains: HashSet<ChainId>,
    /// Number of native rows of these chains.
    pub(crate) rows: u64,
    /// The minute was not read, because no root in it started in the time range of the question.
    pub(crate) passed_over: bool,
    /// The minutes of these rows.
    pub(crate) minutes: BTreeSet<Minute>,
    /// The minutes that were not read.
    pub(crate) outside: BTreeSet<Minute>,
}

impl MixedChainRows {
    /// Counts a native row of a chain that has foreign rows too: true.
    pub(crate) fn meet(&mut self, chain: ChainId) -> bool {
        self.chains.insert(chain);
        self.rows += 1;
        true
    }

    /// Adds what was found in a minute.
    pub(crate) fn add(&mut self, minute: Minute, found: Self) {
        if found.passed_over {
            self.outside.insert(minute);
        }
        if found.rows > 0 {
            self.minutes.insert(minute);
        }
        self.merge(found);
    }

    /// Adds what was found elsewhere.
    pub(crate) fn merge(&mut self, other: Self) {
        self.chains.extend(other.chains);
        self.rows += other.rows;
        self.minutes.extend(other.minutes);
        self.outside.extend(other.outside);
    }
}
