//! Rows that are known to be lost, each loss with the time in which it happened.
//!
//! A verdict on arrivals asks of every root without a leaf whether the leaf may be among what was
//! lost. That needs the time of a loss: a total by process would make every root of that process
//! doubtful for ever.
//!
//! Limits: at most [`INTERVALS_MAX`] intervals of one process; beyond, the two that lie closest
//! together become one that covers both, which makes more roots doubtful and none less.

use chronoscope_model::ProcessId;
use std::collections::BTreeMap;

/// Most intervals of one process: some 2 kB of the manifest.
pub const INTERVALS_MAX: usize = 64;

/// Rows of one process that were lost between two instants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loss {
    /// The process that recorded them, or would have.
    pub process: ProcessId,
    /// No lost transaction ended before: UTC, nanoseconds since 1970, by the clock of the host.
    pub from_ns: i64,
    /// No lost transaction ended after: as `from_ns`.
    pub until_ns: i64,
    /// How many were lost.
    pub rows: u64,
}

/// What is known of losses, by process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LossTable(BTreeMap<ProcessId, Vec<Loss>>);

impl LossTable {
    /// Takes in a loss. The same interval again replaces what was said of it: a note may be read
    /// twice after a crash.
    pub(crate) fn insert(&mut self, loss: Loss) {
        let losses = self.0.entry(loss.process).or_default();
        let same =
            |known: &&mut Loss| (known.from_ns, known.until_ns) == (loss.from_ns, loss.until_ns);
        if let Some(known) = losses.iter_mut().find(same) {
            known.rows = known.rows.max(loss.rows);
            return;
        }
        let at = losses.partition_point(|known| known.from_ns <= loss.from_ns);
        losses.insert(at, loss);
        if losses.len() > INTERVALS_MAX {
            join_closest(losses);
        }
    }

    /// All of them, by process and beginning.
    pub fn iter(&self) -> impl Iterator<Item = &Loss> {
        self.0.values().flatten()
    }

    /// How many rows of a process were lost in known intervals.
    pub fn rows(&self, process: ProcessId) -> u64 {
        let losses = self.0.get(&process).map_or(&[][..], Vec::as_slice);
        losses.iter().fold(0, |sum, loss| sum.saturating_add(loss.rows))
    }
}

/// Makes one interval of the two neighbours with the shortest time between them.
fn join_closest(losses: &mut Vec<Loss>) {
    let gap = |pair: &[Loss]| pair[1].from_ns.saturating_sub(pair[0].until_ns);
    let Some((at, _)) = losses.windows(2).enumerate().min_by_key(|(_, pair)| gap(pair)) else {
        return;
    };
    let next = losses.remove(at + 1);
    let first = &mut losses[at];
    first.until_ns = first.until_ns.max(next.until_ns);
    first.rows = first.rows.saturating_add(next.rows);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const P: ProcessId = ProcessId(7);

    fn loss(from_ns: i64, until_ns: i64, rows: u64) -> Loss {
        Loss { process: P, from_ns, until_ns, rows }
    }

    #[test]
    fn a_note_that_is_read_twice_counts_once() {
        let mut table = LossTable::default();
        table.insert(loss(10, 20, 3));
        table.insert(loss(10, 20, 3));
        table.insert(loss(30, 40, 1));
        assert_eq!(table.rows(P), 4);
        assert_eq!(table.rows(ProcessId(8)), 0);
    }

    proptest! {
        /// However many there are: the table stays small, loses no row, and covers every instant.
        #[test]
        fn what_was_lost_stays_covered(
            spans in prop::collection::btree_map((0i64..9_000, 0i64..50), 1u64..9, 0..200),
        ) {
            let mut table = LossTable::default();
            for ((from, length), rows) in &spans {
                table.insert(loss(*from, from + length, *rows));
            }
            prop_assert!(table.iter().count() <= INTERVALS_MAX);
            prop_assert_eq!(table.rows(P), spans.values().sum::<u64>());
            for (from, length) in spans.keys() {
                let covers = |l: &&Loss| l.from_ns <= *from && from + length <= l.until_ns;
                prop_assert!(table.iter().any(|l| covers(&l)), "{from}+{length}");
            }
        }
    }
}
