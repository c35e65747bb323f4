//! The order of rows in a segment, and what their chains say about them.

use super::dictionaries::Dictionaries;
use crate::RowKind;
use crate::rows::Rows;
use chronoscope_chain::Hop;
use chronoscope_chain::links::Linker;
use chronoscope_model::Record;

/// Orders that were compared; see `docs/formats/segment.md` for the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By path, then as [`Order::RootStart`]. What native rows are written in.
    Path,
    /// By root start, chain, start.
    RootStart,
    /// By chain, start. What foreign rows are written in.
    Chain,
}

impl Order {
    /// The order that rows of a kind are written in.
    pub const fn of(kind: RowKind) -> Self {
        match kind {
            RowKind::Native => Self::Path,
            RowKind::Foreign => Self::Chain,
        }
    }
}

/// A row's place in the file, and the bits of its column `links`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sorted {
    pub(crate) index: u32,
    pub(crate) links: u8,
}

/// Sorts rows and links their chains.
pub(crate) fn sort(rows: &Rows, words: &Dictionaries, order: Order) -> Vec<Sorted> {
    let sorted = match order {
        Order::Chain => by_chain(rows),
        Order::Path | Order::RootStart => by_root_start(rows),
    };
    if order == Order::Path { group_by_path(rows, words, &sorted) } else { sorted }
}

/// Sort key of rows with one root start (chain and start), and the row's index.
type ChainKey = ((u64, u64), i64, u32);

fn chain_key(record: &Record, index: u32) -> ChainKey {
    ((record.chain_high, record.chain_low), record.start_ns, index)
}

/// Rows by chain and start, linked.
fn by_chain(rows: &Rows) -> Vec<Sorted> {
    let keys = (0..).zip(&rows.records).map(|(index, record)| chain_key(record, index));
    let mut keys: Vec<ChainKey> = keys.collect();
    keys.sort_unstable();
    let mut chains = Chains::new(rows);
    keys.iter().for_each(|key| chains.add(key));
    chains.finish()
}

/// Rows by root start, chain and start, linked.
fn by_root_start(rows: &Rows) -> Vec<Sorted> {
    let first = rows.records.iter().map(|record| record.root_start_ns).min().unwrap_or(0);
    let keys = (0..).zip(&rows.records).map(|(index, record)| {
        (record.root_start_ns.abs_diff(first), index) // not below `first`
    });
    let mut keys: Vec<(u64, u32)> = keys.collect();
    radix_sort(&mut keys);
    // Rows of one chain share its root start; other chains rarely do. They are sorted and linked
    // while their records are in the core's cache: a minute's records are not.
    let mut chains = Chains::new(rows);
    let mut chain_keys: Vec<ChainKey> = Vec::new();
    for run in keys.chunk_by(|a, b| a.0 == b.0) {
        chain_keys.clear();
        let key = |index: u32| chain_key(&rows.records[index as usize], index);
        chain_keys.extend(run.iter().map(|(_, index)| key(*index)));
        if !chain_keys.is_sorted() {
            chain_keys.sort_unstable();
        }
        chain_keys.iter().for_each(|key| chains.add(key));
    }
    chains.finish()
}

/// Sorts by the number, stably, in linear time: a minute's root starts differ in 36 bits.
fn radix_sort(keys: &mut Vec<(u64, u32)>) {
    const BITS: u32 = 12;
    let max = keys.iter().map(|(key, _)| *key).max().unwrap_or(0);
    let mut other = vec![(0, 0); keys.len()];
    let mut shift = 0;
    while shift < u64::BITS && max >> shift > 0 {
        #[allow(clippy::cast_possible_truncation)] // masked to BITS
        let digit = |key: u64| (key >> shift) as usize & ((1 << BITS) - 1);
        let mut starts = [0usize; 1 << BITS];
        keys.iter().for_each(|(key, _)| starts[digit(*key)] += 1);
        let mut sum = 0;
        for start in &mut starts {
            (*start, sum) = (sum, sum + *start);
        }
        for pair in keys.iter() {
            let start = &mut starts[digit(pair.0)];
            other[*start] = *pair;
            *start += 1;
        }
        std::mem::swap(keys, &mut other);
        shift += BITS;
    }
}

/// Links the chains of rows that come together.
struct Chains<'a> {
    rows: &'a Rows,
    linker: Linker,
    /// Id of the current chain.
    chain: (u64, u64),
    hops: Vec<Hop>,
    /// All rows so far; those of the current chain are not linked yet.
    sorted: Vec<Sorted>,
}

impl<'a> Chains<'a> {
    fn new(rows: &'a Rows) -> Self {
        let sorted = Vec::with_capacity(rows.records.len());
        Self { rows, linker: Linker::default(), chain: (0, 0), hops: Vec::new(), sorted }
    }

    fn add(&mut self, (chain, _, index): &ChainKey) {
        if *chain != self.chain {
            self.link();
            self.chain = *chain;
        }
        self.hops.push(Hop::from(&self.rows.records[*index as usize]));
        self.sorted.push(Sorted { index: *index, links: 0 });
    }

    fn link(&mut self) {
        if self.hops.is_empty() {
            return;
        }
        let first = self.sorted.len() - self.hops.len();
        for (row, place) in self.sorted[first..].iter_mut().zip(self.linker.link(&self.hops)) {
            row.links = place.links;
        }
        self.hops.clear();
    }

    fn finish(mut self) -> Vec<Sorted> {
        self.link();
        self.sorted
    }
}

/// Groups rows by the rank of their path and keeps their order within a path.
fn group_by_path(rows: &Rows, words: &Dictionaries, sorted: &[Sorted]) -> Vec<Sorted> {
    let ranks: Vec<u32> = rows
        .records
        .iter()
        .map(|record| words.paths.get(&record.path.0).map_or(0, |words| words.rank))
        .collect();
    let mut starts = vec![0usize; words.paths.len() + 1];
    ranks.iter().for_each(|rank| starts[*rank as usize + 1] += 1);
    for rank in 1..starts.len() {
        starts[rank] += starts[rank - 1];
    }
    let mut grouped = vec![Sorted { index: 0, links: 0 }; sorted.len()];
    for row in sorted {
        let start = &mut starts[ranks[row.index as usize] as usize];
        grouped[*start] = *row;
        *start += 1;
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn radix_is_a_stable_sort(keys in prop::collection::vec(any::<u64>().prop_map(|k| k >> (k % 64)), 0..400)) {
            let mut sorted: Vec<(u64, u32)> = keys.iter().copied().zip(0..).collect();
            let mut expected = sorted.clone();
            expected.sort();
            radix_sort(&mut sorted);
            prop_assert_eq!(sorted, expected);
        }
    }
}
