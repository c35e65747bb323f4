//! Parts of a batch of rows, and its rows under other chains.

use chronoscope_model::{Batch, ChainId, Flags, ProcessId, Record};
use chronoscope_store::ChainAlias;
use std::collections::{BTreeMap, HashMap};

/// Tolerance for the order of spans of one source: an SDK exports them in the order in which
/// they ended, except that one thread may be overtaken by another between end and queue.
const ORDERED_WITHIN_NS: i64 = 2_000_000_000;

/// Delivery of the sources of foreign rows with this batch: up to the latest end of each source.
/// Native rows come with a delivery note of the reader of their ring.
pub(super) fn exported_with(batch: &Batch) -> Vec<(ProcessId, i64)> {
    let mut delivered: BTreeMap<ProcessId, i64> = BTreeMap::new();
    let foreign = batch.records().iter().filter(|record| record.flags().contains(Flags::FOREIGN));
    for record in foreign.filter(|record| !record.process.is_none()) {
        let until_ns = delivered.entry(record.process).or_insert(i64::MIN);
        *until_ns = record.end_ns().max(*until_ns);
    }
    let ordered =
        |(id, until_ns): (ProcessId, i64)| (id, until_ns.saturating_sub(ORDERED_WITHIN_NS));
    delivered.into_iter().map(ordered).collect()
}

/// The rows under the chains that they continue; `None` where no alias speaks of them.
pub(super) fn renamed(batch: &Batch, aliases: &[ChainAlias]) -> Option<Batch> {
    if aliases.is_empty() {
        return None;
    }
    let continues: HashMap<ChainId, ChainId> =
        aliases.iter().map(|alias| (alias.chain, alias.continues)).collect();
    let mut renamed = Batch::default();
    for record in batch.records() {
        // From one to the next, and never in circles.
        let next = |chain: &ChainId| continues.get(chain).copied();
        let last = std::iter::successors(Some(record.chain()), next).take(aliases.len() + 1).last();
        let chain = last.unwrap_or(record.chain());
        let record = Record { chain_high: chain.high(), chain_low: chain.low(), ..*record };
        renamed.push(record, batch.context(&record));
    }
    Some(renamed)
}

/// The first `count` rows of a batch.
pub(super) fn first_rows(batch: &Batch, count: usize) -> Batch {
    let mut first = Batch::default();
    for record in &batch.records()[..count] {
        first.push(*record, batch.context(record));
    }
    first
}

/// The rows of a batch without the first `count` of them.
pub(super) fn without_first(batch: &Batch, count: u64) -> Batch {
    let mut rest = Batch::default();
    let skipped = usize::try_from(count).unwrap_or(usize::MAX);
    for record in batch.records().iter().skip(skipped) {
        rest.push(*record, batch.context(record));
    }
    rest
}
