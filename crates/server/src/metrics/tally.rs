//! Counts of the rows that come into the store, by class and by chain, for as long as the server
//! runs: Prometheus's counters begin at 0 with it.
//!
//! Rows of spans do not carry their root. Their chains are put together as they come
//! ([`chronoscope_chain::live`]), and each row counts once, when its root has come. Rows of our
//! recorder take part in that from the first span on, because they may be parents of spans.
//!
//! Cost: some 50 ns a row, and some 500 ns of a span, on a thread of its own; 2 × 500 series at most,
//! each with 25 classic buckets, and native ones from its smallest to its largest duration: some
//! 300 of eight bytes for durations from a millisecond to a second.

use super::histogram::{DurationHistogram, DurationSource};
use chronoscope_chain::live::Reached;
use chronoscope_model::{Batch, ChainId, ClassId, Flags, Names, PathId, ProcessId, Record, Status};
use chronoscope_store::Aliases;
use std::collections::HashMap;

/// Largest number of series of classes, and of chains: it bounds the size of a scrape.
const SERIES_MAX: usize = 500;

/// Counts of one class on one host.
#[derive(Clone, Debug)]
pub(super) struct ClassSeries {
    pub(super) application: String,
    pub(super) class: String,
    pub(super) host: String,
    pub(super) elapsed: DurationHistogram,
    /// Count by [`Status`], indexed by its number.
    pub(super) status: [u64; Status::ALL.len()],
    pub(super) cpu_ns: u128,
}

/// Counts of chains from a root to a class.
#[derive(Clone, Debug)]
pub(super) struct ChainSeries {
    pub(super) root: String,
    pub(super) leaf: String,
    pub(super) level: u16,
    /// From the root's start to the leaf's end (ACPD).
    pub(super) duration: DurationHistogram,
}

/// All counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) classes: Vec<ClassSeries>,
    pub(super) chains: Vec<ChainSeries>,
    /// Rows of classes beyond the series that are kept.
    pub(super) rows_without_series: u64,
    /// Chains that ended before they began, by clocks that disagree.
    pub(super) negative: u64,
    /// Rows that do not carry the root of their chain (spans of OpenTelemetry).
    pub(super) foreign_rows: u64,
    /// Rows that came and were not seen.
    pub(super) missed_rows: u64,
    class_of: HashMap<(ClassId, ProcessId), Option<usize>>,
    chain_of: HashMap<(PathId, u16), Option<usize>>,
    foreign_of: HashMap<(ClassId, ClassId, u16), Option<usize>>,
}

impl Tally {
    /// Counts rows that came at `now_ns` (UTC, nanoseconds since 1970).
    pub(super) fn add(&mut self, batch: &Batch, names: &Names, aliases: &Aliases, now_ns: i64) {
        // Processes come and go for ever; the series they have found are found again.
        if self.class_of.len() > 64 * SERIES_MAX {
            self.class_of.clear();
        }
        if self.chain_of.len() > 64 * SERIES_MAX {
            self.chain_of.clear();
        }
        if self.foreign_of.len() > 64 * SERIES_MAX {
            self.foreign_of.clear();
        }
        for record in batch.records() {
            let is_foreign = record.flags().contains(Flags::FOREIGN);
            let of = DurationSource {
                chain: aliases.resolve(record.chain()),
                is_trace: is_foreign,
                end_ns: record.end_ns(),
                now_ns,
            };
            self.add_class(record, names, of);
            if is_foreign {
                self.foreign_rows += 1;
            } else if record.level > 0 {
                self.add_chain(record, names, of);
            }
        }
    }

    fn add_class(&mut self, record: &Record, names: &Names, of: DurationSource) {
        let key = (record.class, record.process);
        let known = self.class_of.get(&key).copied();
        let series = known.unwrap_or_else(|| {
            let series = self.class_series(record, names);
            self.class_of.insert(key, series);
            series
        });
        let Some(series) = series else { return self.rows_without_series += 1 };
        let series = &mut self.classes[series];
        series.elapsed.add(record.elapsed_ns, of);
        series.status[record.status() as usize] += 1;
        series.cpu_ns += u128::from(record.cpu_ns);
    }

    fn class_series(&mut self, record: &Record, names: &Names) -> Option<usize> {
        let name = names.class(record.class);
        let class = name.map_or_else(|| format!("?{}", record.class), |name| name.class.clone());
        let application = name.map_or_else(String::new, |name| name.application.clone());
        let host = names.process(record.process).map_or_else(String::new, |p| p.host.clone());
        let same = |series: &ClassSeries| {
            (&series.application, &series.class, &series.host) == (&application, &class, &host)
        };
        if let Some(known) = self.classes.iter().position(same) {
            return Some(known);
        }
        if self.classes.len() == SERIES_MAX {
            return None;
        }
        let (elapsed, status) = (DurationHistogram::default(), Default::default());
        self.classes.push(ClassSeries { application, class, host, elapsed, status, cpu_ns: 0 });
        Some(self.classes.len() - 1)
    }

    fn add_chain(&mut self, record: &Record, names: &Names, of: DurationSource) {
        let key = (record.path, record.level);
        let known = self.chain_of.get(&key).copied();
        let series = known.unwrap_or_else(|| {
            let root = names.path(record.path).and_then(|path| path.first());
            let series =
                root.and_then(|root| self.chain_series(*root, record.class, record.level, names));
            self.chain_of.insert(key, series);
            series
        });
        // Without a series for the chain the row still counts in its class.
        if let (Some(series), Some(ns)) = (series, record.since_root_ns()) {
            self.add_duration(series, ns, of);
        }
    }

    /// Counts a row of `chain` whose root has come at `now_ns` (UTC, nanoseconds since 1970).
    /// `is_trace`: the chain's id is a trace id.
    pub(super) fn add_reached(
        &mut self,
        row: &Reached,
        names: &Names,
        (chain, is_trace): (ChainId, bool),
        now_ns: i64,
    ) {
        if row.level == 0 {
            return;
        }
        let key = (row.root, row.class, row.level);
        let known = self.foreign_of.get(&key).copied();
        let series = known.unwrap_or_else(|| {
            let series = self.chain_series(row.root, row.class, row.level, names);
            self.foreign_of.insert(key, series);
            series
        });
        if let Some(series) = series {
            let end_ns = row.root_start_ns.saturating_add(row.duration_ns);
            let of = DurationSource { chain, is_trace, end_ns, now_ns };
            self.add_duration(series, row.duration_ns, of);
        }
    }

    fn add_duration(&mut self, series: usize, ns: i64, of: DurationSource) {
        match u64::try_from(ns) {
            Ok(ns) => self.chains[series].duration.add(ns, of),
            Err(_) => self.negative += 1,
        }
    }

    fn chain_series(
        &mut self,
        root: ClassId,
        leaf: ClassId,
        level: u16,
        names: &Names,
    ) -> Option<usize> {
        let (root, leaf) = (names.class_text(root), names.class_text(leaf));
        let same = |series: &ChainSeries| {
            (&series.root, &series.leaf, series.level) == (&root, &leaf, level)
        };
        if let Some(known) = self.chains.iter().position(same) {
            return Some(known);
        }
        if self.chains.len() == SERIES_MAX {
            return None;
        }
        self.chains.push(ChainSeries { root, leaf, level, duration: DurationHistogram::default() });
        Some(self.chains.len() - 1)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use chronoscope_model::{ClassName, ProcessName};

    pub(in super::super) const NOW_NS: i64 = 1_000_000_000;

    /// Names of a root and a leaf, and a row of the leaf.
    pub(in super::super) fn leaf() -> (Names, Record) {
        let mut names = Names::default();
        let class = |a: &str, c: &str| ClassName { application: a.into(), class: c.into() };
        names.add_class(class("A", "in"));
        names.add_class(class("B", "out"));
        let process =
            ProcessName { application: "B".into(), host: "h".into(), pid: 1, start_ns: 1 };
        let (root, leaf) = (ClassId::of("A", "in"), ClassId::of("B", "out"));
        let path = PathId::of(&[root, leaf]);
        names.add_path(path, vec![root, leaf]);
        let record = Record {
            class: leaf,
            path,
            process: process.id(),
            level: 1,
            chain_low: 0xc4,
            start_ns: 2_000_000,
            elapsed_ns: 1_000_000,
            ..Record::default()
        };
        names.add_process(process);
        (names, record)
    }

    #[test]
    fn a_leaf_counts_for_its_class_and_its_chain() {
        let (names, record) = leaf();
        let mut batch = Batch::default();
        batch.push(record, b"");
        batch.push(Record { status: 2, root_start_ns: 9_000_000, ..record }, b"");
        let mut tally = Tally::default();
        tally.add(&batch, &names, &Aliases::default(), NOW_NS);
        let class = &tally.classes[0];
        assert_eq!((class.class.as_str(), class.host.as_str()), ("out", "h"));
        assert_eq!((class.status, class.elapsed.sum_ns), ([1, 0, 1, 0], 2_000_000));
        let chain = &tally.chains[0];
        assert_eq!((chain.root.as_str(), chain.leaf.as_str(), chain.level), ("A::in", "B::out", 1));
        assert_eq!(chain.duration.sum_ns, 3_000_000);
        assert_eq!(tally.negative, 1, "the root's clock is ahead");
    }

    #[test]
    fn rows_of_foreign_chains_count_when_their_root_has_come() {
        let (names, record) = leaf();
        let mut batch = Batch::default();
        batch.push(Record { flags: Flags::FOREIGN.0, path: PathId::NONE, ..record }, b"");
        let mut tally = Tally::default();
        tally.add(&batch, &names, &Aliases::default(), NOW_NS);
        assert_eq!((tally.classes.len(), tally.chains.len(), tally.foreign_rows), (1, 0, 1));
        let reached = Reached {
            root: ClassId::of("A", "in"),
            class: record.class,
            level: 1,
            root_start_ns: 0,
            duration_ns: 7,
        };
        tally.add_reached(&reached, &names, (ChainId(8), true), NOW_NS);
        // The same series as that of our recorder's rows.
        batch.clear();
        batch.push(record, b"");
        tally.add(&batch, &names, &Aliases::default(), NOW_NS);
        let [chain] = &tally.chains[..] else { panic!("{:?}", tally.chains) };
        assert_eq!((chain.root.as_str(), chain.leaf.as_str(), chain.level), ("A::in", "B::out", 1));
        assert_eq!(chain.duration.sum_ns, 3_000_007);
        let shown: Vec<_> = chain.duration.exemplars().iter().map(|e| (e.chain.0, e.ns)).collect();
        assert_eq!(shown, [(8, 7), (0xc4, 3_000_000)]);
    }

    #[test]
    fn what_has_no_series_is_counted() {
        let mut batch = Batch::default();
        for class in 1..=600 {
            batch.push(Record { class: ClassId(class), ..Record::default() }, b"");
        }
        let mut tally = Tally::default();
        tally.add(&batch, &Names::default(), &Aliases::default(), NOW_NS);
        assert_eq!((tally.classes.len(), tally.rows_without_series), (500, 100));
    }
}
