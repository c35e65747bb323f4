//! Rows that are known to be lost, each loss with the time in which it happened.
//!
//! A verdict on arrivals asks of every root without a leaf whether the leaf may be among what was
//! lost. That needs the time of a loss: a total by process would make every root of that process
//! doubtful for ever.
//!
//! Limits: at most [`INTERVALS_MAX`] intervals of one process; beyond, the two that lie closest
//! together become one that covers both, which makes more roots doubtful and none less. One with
//! a count is not joined to one without: the sum would be a count, and too small.

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
    /// Number of lost rows; 0 where it is unknown.
    pub rows: u64,
}

impl Loss {
    /// The entry for unknown losses of any process up to then: the record of them is lost itself.
    pub const fn forgotten(until_ns: i64) -> Self {
        Self { process: ProcessId::NONE, from_ns: i64::MIN, until_ns, rows: 0 }
    }

    /// Whether this entry marks losses that a rebuilt manifest no longer knows.
    pub fn is_forgotten(&self) -> bool {
        self.process.is_none() && self.from_ns == i64::MIN
    }
}

/// Known losses by process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LossTable(BTreeMap<ProcessId, Vec<Loss>>);

impl LossTable {
    /// Takes in a loss. The same interval again replaces what was said of it: a note may be read
    /// twice after a crash.
    pub fn insert(&mut self, loss: Loss) {
        let losses = self.0.entry(loss.process).or_default();
        let same =
            |known: &&mut Loss| (known.from_ns, known.until_ns) == (loss.from_ns, loss.until_ns);
        if let Some(known) = losses.iter_mut().find(same) {
            let is_counted = known.rows > 0 && loss.rows > 0;
            known.rows = if is_counted { known.rows.max(loss.rows) } else { 0 };
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

    /// In how many intervals rows of some process were lost that nobody counted. What exporters of
    /// spans may have dropped while no collector was here is not among them.
    pub fn uncounted(&self) -> u64 {
        self.iter().filter(|loss| loss.rows == 0 && !loss.process.is_none()).count() as u64
    }

    /// Number of rows of a process lost in known intervals, as far as they were counted.
    pub fn rows(&self, process: ProcessId) -> u64 {
        let losses = self.0.get(&process).map_or(&[][..], Vec::as_slice);
        losses.iter().fold(0, |sum, loss| sum.saturating_add(loss.rows))
    }
}

/// Makes one interval of the two with the shortest time between them, both counted or both not.
fn join_closest(losses: &mut Vec<Loss>) {
    let is_counted = |at: &usize| losses[*at].rows > 0;
    let (counted, unknown): (Vec<usize>, Vec<usize>) = (0..losses.len()).partition(is_counted);
    let pairs = counted.windows(2).chain(unknown.windows(2)).map(|pair| (pair[0], pair[1]));
    let gap = |(first, next): &(usize, usize)| {
        losses[*next].from_ns.saturating_sub(losses[*first].until_ns)
    };
    let Some((at, next)) = pairs.min_by_key(gap) else { return };
    let next = losses.remove(next);
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

    #[test]
    fn a_loss_of_unknown_size_stays_unknown() {
        let mut table = LossTable::default();
        table.insert(loss(10, 20, 3));
        table.insert(loss(10, 20, 0));
        for n in 0..100 {
            table.insert(loss(1000 + n * 10, 1005 + n * 10, u64::from(n % 2 == 0)));
        }
        assert!(table.iter().count() <= INTERVALS_MAX);
        let unknown =
            |at: i64| table.iter().any(|l| l.rows == 0 && l.from_ns <= at && at <= l.until_ns);
        assert!(unknown(15) && (0..50).all(|n| unknown(1010 + n * 20)));
        assert_eq!(table.rows(P), 50);
        let unknown = table.iter().filter(|loss| loss.rows == 0).count() as u64;
        assert!(unknown > 0);
        table.insert(Loss { process: ProcessId::NONE, ..loss(1, 2, 0) });
        assert_eq!(table.uncounted(), unknown, "of exporters nothing is known to be lost");
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
