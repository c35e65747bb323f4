//! The order of rows in a segment, and what their chains say about them.

use super::words::Words;
use crate::Kind;
use crate::rows::Rows;
use chronoscope_chain::Hop;
use chronoscope_chain::links::Linker;

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
    pub const fn of(kind: Kind) -> Self {
        match kind {
            Kind::Native => Self::Path,
            Kind::Foreign => Self::Chain,
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
pub(crate) fn sort(rows: &Rows, words: &Words, order: Order) -> Vec<Sorted> {
    let by_chain = match order {
        Order::Chain => sort_by_chain(rows),
        Order::Path | Order::RootStart => sort_by_root_start(rows),
    };
    let sorted = link(rows, &by_chain);
    if order == Order::Path { group_by_path(rows, words, &sorted) } else { sorted }
}

/// Indices by chain and start.
fn sort_by_chain(rows: &Rows) -> Vec<u32> {
    let mut keys: Vec<(u64, u64, i64, u32)> = (0..)
        .zip(&rows.records)
        .map(|(index, record)| (record.chain_high, record.chain_low, record.start_ns, index))
        .collect();
    keys.sort_unstable();
    keys.into_iter().map(|(.., index)| index).collect()
}

/// Indices by root start, chain and start.
fn sort_by_root_start(rows: &Rows) -> Vec<u32> {
    let first = rows.records.iter().map(|record| record.root_start_ns).min().unwrap_or(0);
    let keys = (0..).zip(&rows.records).map(|(index, record)| {
        (record.root_start_ns.abs_diff(first), index) // not below `first`
    });
    let mut keys: Vec<(u64, u32)> = keys.collect();
    radix_sort(&mut keys);
    // Rows of one chain share its root start; other chains rarely do.
    let full_key = |index: u32| {
        let record = &rows.records[index as usize];
        (record.chain_high, record.chain_low, record.start_ns, index)
    };
    for run in keys.chunk_by_mut(|a, b| a.0 == b.0) {
        run.sort_unstable_by_key(|(_, index)| full_key(*index));
    }
    keys.into_iter().map(|(_, index)| index).collect()
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

/// Links the chains of rows that stand together.
fn link(rows: &Rows, by_chain: &[u32]) -> Vec<Sorted> {
    let record = |index: u32| &rows.records[index as usize];
    let mut linker = Linker::default();
    let mut hops = Vec::new();
    let mut sorted = Vec::with_capacity(by_chain.len());
    for chain in by_chain.chunk_by(|a, b| record(*a).chain() == record(*b).chain()) {
        hops.clear();
        hops.extend(chain.iter().map(|index| Hop::from(record(*index))));
        let places = linker.link(&hops);
        let placed = chain.iter().zip(places);
        sorted.extend(placed.map(|(index, place)| Sorted { index: *index, links: place.links }));
    }
    sorted
}

/// Groups rows by the rank of their path and keeps their order within a path.
fn group_by_path(rows: &Rows, words: &Words, sorted: &[Sorted]) -> Vec<Sorted> {
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
