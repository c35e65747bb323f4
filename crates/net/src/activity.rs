//! Many scans in little memory: what the tables of activity are made of.
//!
//! Rows of a scan are added as they come out of a store, in about any order. Kept are sums by host,
//! a bounded number of cells of time for the picture, and since when a host does not answer.

use crate::rows::{Outcome, ScanRow};
use crate::table::{ActivityTable, HostTotals, Measure, Observation, Overview};
use chronoscope_statistics::{Quantile, nearest_rank};
use std::collections::BTreeMap;

/// Most cells of time that are kept for each host.
pub const CELLS_MAX: u64 = 2048;

/// Number of observations from which the interval of scans is estimated.
const LOOKED_AT: usize = 2048;

/// Most hosts that are told apart; rows of further hosts are counted and left out.
pub const HOSTS_MAX: usize = 20_000;

/// Scans of a network over some time.
#[derive(Clone, Debug)]
pub struct Activity {
    measure: Measure,
    start_ns: i64,
    interval_ns: Option<u64>,
    sums: HostTotals,
    hosts: BTreeMap<String, Host>,
    cells: Cells,
    rows: u64,
    left_out: u64,
}

/// State of one host beyond its counters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Host {
    /// Time of the last successful query: UTC, nanoseconds since 1970.
    pub answered_ns: Option<i64>,
    /// Time since which it has not answered; `None` where it answered the last query.
    pub silent_since_ns: Option<i64>,
    /// Number of queries without an answer, over all the time.
    pub silent_count: u64,
    /// Reason why its last answer was invalid; `None` where there was none, or all were valid.
    pub why: Option<String>,
    /// Speed of its fastest interface in bits per second, as it told last.
    pub bits_per_s: Option<u64>,
    /// Time of the last failure.
    failed_ns: Option<i64>,
    /// Measured nanoseconds, by cell.
    cells: BTreeMap<i64, u64>,
}

/// The division of time into cells.
#[derive(Clone, Debug)]
enum Cells {
    /// Cells are not made yet: host, middle and length of the interval, measured value.
    Waiting(Vec<(String, i64, u64, u64)>),
    /// Cell 0 begins at `start_ns`; those in use are from `first` to `last`.
    Made { start_ns: i64, width_ns: u64, first: i64, last: i64 },
}

impl Activity {
    /// With a picture of `measure` in intervals of `interval_ns` from `start_ns` on (UTC, nanoseconds
    /// since 1970), or in the scans' own. Where there would be more than [`CELLS_MAX`] intervals,
    /// they become twice as long.
    #[must_use]
    pub fn new(measure: Measure, start_ns: i64, interval_ns: Option<u64>) -> Self {
        Self {
            measure,
            start_ns,
            interval_ns,
            sums: HostTotals::default(),
            hosts: BTreeMap::new(),
            cells: Cells::Waiting(Vec::new()),
            rows: 0,
            left_out: 0,
        }
    }

    /// Adds what one scan learned of one host.
    pub fn add(&mut self, row: &ScanRow) {
        self.rows += 1;
        if !self.hosts.contains_key(&row.host) && self.hosts.len() >= HOSTS_MAX {
            self.left_out += 1;
            return;
        }
        self.hosts.entry(row.host.clone()).or_default().add(row);
        let Some(observation) = row.observation() else { return };
        self.sums.add(&observation);
        let half_ns = i64::try_from(observation.interval_ns / 2).unwrap_or(i64::MAX);
        let middle_ns = observation.start_ns.saturating_add(half_ns);
        let value = self.measure.of(&observation.counters);
        self.draw(&observation, middle_ns, value);
    }

    fn draw(&mut self, observation: &Observation, middle_ns: i64, value: u64) {
        match &mut self.cells {
            Cells::Made { .. } => self.put(&observation.host, middle_ns, value),
            Cells::Waiting(waiting) => {
                let host = observation.host.clone();
                waiting.push((host, middle_ns, observation.interval_ns, value));
                if waiting.len() >= LOOKED_AT {
                    self.make_cells();
                }
            }
        }
    }

    fn put(&mut self, host: &str, middle_ns: i64, value: u64) {
        let Cells::Made { start_ns, width_ns, first, last } = &mut self.cells else { return };
        loop {
            let cell = cell(*start_ns, *width_ns, middle_ns);
            let (from, to) = ((*first).min(cell), (*last).max(cell));
            if to.abs_diff(from) < CELLS_MAX {
                (*first, *last) = (from, to);
                let Some(host) = self.hosts.get_mut(host) else { return };
                let sum = host.cells.entry(cell).or_default();
                *sum = sum.saturating_add(value);
                return;
            }
            *width_ns = width_ns.saturating_mul(2);
            (*first, *last) = (first.div_euclid(2), last.div_euclid(2));
            self.hosts.values_mut().for_each(Host::widen);
        }
    }

    /// Divides time into cells: the first scan lies in the middle of one.
    fn make_cells(&mut self) {
        let Cells::Waiting(waiting) = &mut self.cells else { return };
        let waiting = std::mem::take(waiting);
        let mut intervals: Vec<u64> = waiting.iter().map(|(_, _, interval, _)| *interval).collect();
        intervals.sort_unstable();
        let own_ns = nearest_rank(&intervals, Quantile::P50).unwrap_or(1);
        let width_ns = self.interval_ns.unwrap_or(own_ns).max(1);
        let first_ns = waiting.iter().map(|(_, middle_ns, _, _)| *middle_ns).min();
        let first_ns = first_ns.unwrap_or(self.start_ns);
        let start_ns = match self.interval_ns {
            Some(_) => self.start_ns,
            None => first_ns.saturating_sub_unsigned(width_ns / 2),
        };
        let first = cell(start_ns, width_ns, first_ns);
        self.cells = Cells::Made { start_ns, width_ns, first, last: first };
        for (host, middle_ns, _, value) in waiting {
            self.put(&host, middle_ns, value);
        }
    }

    /// Rows that were added.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Rows of hosts beyond [`HOSTS_MAX`].
    #[must_use]
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }

    /// All hosts that counted something: the first table.
    #[must_use]
    pub fn overview(&self) -> Overview {
        self.sums.overview()
    }

    /// All hosts, by name.
    pub fn hosts(&self) -> impl Iterator<Item = (&str, &Host)> {
        self.hosts.iter().map(|(name, host)| (name.as_str(), host))
    }

    /// Activity over time, from the first interval with data to the last. Where no interval was
    /// given, scans are merged into at most `intervals_max` intervals.
    #[must_use]
    pub fn picture(&mut self, intervals_max: usize) -> ActivityTable {
        self.make_cells();
        let Cells::Made { start_ns, width_ns, .. } = self.cells else {
            return ActivityTable::empty();
        };
        let used = |host: &Host| Some((*host.cells.keys().next()?, *host.cells.keys().last()?));
        let used = self.hosts.values().filter_map(used);
        let used = used.reduce(|(a, b), (c, d)| (a.min(c), b.max(d)));
        let Some((first, last)) = used else { return ActivityTable::empty() };
        let count = last.abs_diff(first) + 1;
        let together = match self.interval_ns {
            Some(_) => 1,
            None => count.div_ceil(u64::try_from(intervals_max.max(1)).unwrap_or(u64::MAX)),
        };
        let intervals = usize::try_from(count.div_ceil(together)).unwrap_or(0);
        let interval_ns = width_ns.saturating_mul(together);
        let width_ns = i64::try_from(width_ns).unwrap_or(i64::MAX);
        let at = |interval: usize| {
            let cell = first.saturating_add_unsigned(together.saturating_mul(interval as u64));
            start_ns.saturating_add(cell.saturating_mul(width_ns))
        };
        let values = self.hosts.iter().filter(|(_, host)| !host.cells.is_empty());
        let values = values.map(|(name, host)| {
            let mut values: Vec<Option<u64>> = vec![None; intervals];
            for (cell, value) in &host.cells {
                let interval = usize::try_from(cell.abs_diff(first) / together).unwrap_or(0);
                let sum = values[interval].unwrap_or(0).saturating_add(*value);
                values[interval] = Some(sum);
            }
            (name.clone(), values)
        });
        let values = values.collect();
        ActivityTable::of_values((0..intervals).map(at).collect(), interval_ns, values)
    }
}

/// The cell in which an instant lies.
fn cell(start_ns: i64, width_ns: u64, at_ns: i64) -> i64 {
    let width_ns = i64::try_from(width_ns).unwrap_or(i64::MAX);
    at_ns.saturating_sub(start_ns).div_euclid(width_ns)
}

impl Host {
    /// Two cells become one.
    fn widen(&mut self) {
        let mut wide: BTreeMap<i64, u64> = BTreeMap::new();
        for (cell, value) in &self.cells {
            let sum = wide.entry(cell.div_euclid(2)).or_default();
            *sum = sum.saturating_add(*value);
        }
        self.cells = wide;
    }

    fn add(&mut self, row: &ScanRow) {
        let at_ns = row.start_ns;
        self.bits_per_s = row.bits_per_s.or(self.bits_per_s);
        let why = match &row.outcome {
            Outcome::Counted { .. } | Outcome::First => {
                self.answered_ns = Some(self.answered_ns.map_or(at_ns, |known| known.max(at_ns)));
                let later = self.failed_ns.filter(|failed_ns| *failed_ns > at_ns);
                let since = self.silent_since_ns.filter(|since_ns| *since_ns > at_ns);
                self.silent_since_ns = since.or(later);
                return;
            }
            Outcome::NoAnswer => None,
            Outcome::NotUnderstood(why) => Some(why.clone()),
        };
        self.silent_count += 1;
        if self.failed_ns.is_none_or(|failed_ns| failed_ns <= at_ns) {
            self.failed_ns = Some(at_ns);
            self.why = why;
        }
        if self.answered_ns.is_none_or(|answered_ns| at_ns > answered_ns) {
            let since_ns = self.silent_since_ns.map_or(at_ns, |known| known.min(at_ns));
            self.silent_since_ns = Some(since_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::Counters;

    const SECOND: i64 = 1_000_000_000;

    fn row(host: &str, at_s: i64, outcome: Outcome) -> ScanRow {
        let (host, by) = (host.to_owned(), "snmp".to_owned());
        ScanRow { host, by, start_ns: at_s * SECOND, elapsed_ns: 0, outcome, bits_per_s: None }
    }

    fn counted(bytes: u64, interval_s: u64) -> Outcome {
        let advance = Counters { in_bytes: bytes, ..Counters::default() };
        Outcome::Counted { interval_ns: interval_s * SECOND as u64, advance, restarted: false }
    }

    /// Scans every 10 s of two hosts, in any order: each scan is a column.
    #[test]
    fn every_scan_has_its_column() {
        let mut activity = Activity::new(Measure::Bytes, 0, None);
        for at in [40, 20, 30] {
            activity.add(&row("a", at, counted(30, 10)));
            activity.add(&row("b", at, counted(10, 10)));
        }
        let picture = activity.picture(100);
        assert_eq!(picture.interval_ns, 10 * SECOND as u64);
        assert_eq!(picture.starts_ns, [10, 20, 30].map(|s| s * SECOND));
        assert_eq!(picture.hosts[0], ("a".to_owned(), vec![Some(75.0); 3]));
        assert_eq!(picture.hosts[1], ("b".to_owned(), vec![Some(25.0); 3]));
        assert_eq!(activity.overview().total.in_bytes, 120);
    }

    #[test]
    fn where_they_do_not_fit_scans_are_put_together() {
        let mut activity = Activity::new(Measure::Bytes, 0, None);
        (1..=9).for_each(|n| activity.add(&row("a", n, counted(1, 1))));
        activity.add(&row("b", 9, counted(3, 1)));
        let picture = activity.picture(3);
        assert_eq!(picture.interval_ns, 3 * SECOND as u64);
        let shares = |host: usize| picture.hosts[host].1.clone();
        assert_eq!(shares(0), [Some(100.0), Some(100.0), Some(50.0)]);
        assert_eq!(shares(1), [None, None, Some(50.0)]);
    }

    #[test]
    fn an_interval_that_is_asked_for_is_kept_while_it_can_be() {
        let mut activity = Activity::new(Measure::Bytes, 0, Some(20_000_000_000));
        (1..=6).for_each(|n| activity.add(&row("a", n * 10, counted(1, 10))));
        let picture = activity.picture(1);
        assert_eq!(picture.starts_ns, [0, 20, 40].map(|s| s * SECOND));
        let mut long = Activity::new(Measure::Bytes, 0, Some(1));
        (1..=6).for_each(|n| long.add(&row("a", n * 10, counted(1, 10))));
        assert!(long.picture(10).starts_ns.len() as u64 <= CELLS_MAX);
    }

    /// However many scans there are, memory is bounded: more than are looked at first, too.
    #[test]
    fn many_scans_are_few_cells() {
        let scans = 3 * LOOKED_AT as i64;
        let mut activity = Activity::new(Measure::Bytes, 0, None);
        (1..scans).for_each(|n| activity.add(&row("a", n, counted(2, 1))));
        let cells = activity.hosts["a"].cells.len() as u64;
        assert!((CELLS_MAX / 2..=CELLS_MAX).contains(&cells), "{cells}");
        assert_eq!(activity.overview().total.in_bytes, 2 * (scans as u64 - 1));
        assert!(activity.picture(10).starts_ns.len() <= 10);
    }

    /// A clock that jumps, or a row that lies, makes cells long and not many.
    #[test]
    fn any_times_are_drawn() {
        let mut activity = Activity::new(Measure::Bytes, i64::MIN, None);
        for at_ns in [0, i64::MAX, i64::MIN, 5, -7] {
            let row = ScanRow { start_ns: at_ns, ..row("a", 0, counted(1, 1)) };
            activity.add(&row);
        }
        let picture = activity.picture(10);
        assert!((1..=10).contains(&picture.starts_ns.len()));
        assert_eq!(activity.overview().total.in_bytes, 5);
    }

    #[test]
    fn who_is_silent_and_since_when() {
        let mut activity = Activity::new(Measure::Bytes, 0, None);
        activity.add(&row("down", 1, Outcome::First));
        activity.add(&row("down", 2, counted(1, 1)));
        for at in 3..6 {
            activity.add(&row("down", at, Outcome::NoAnswer));
            activity.add(&row("lying", at, Outcome::NotUnderstood("no counters".into())));
            activity.add(&row("back", at, Outcome::NoAnswer));
        }
        activity.add(&row("back", 6, Outcome::First));
        let host = |name: &str| activity.hosts[name].clone();
        assert_eq!(host("down").silent_since_ns, Some(3 * SECOND));
        assert_eq!((host("down").silent_count, host("down").why), (3, None));
        assert_eq!(host("down").answered_ns, Some(2 * SECOND));
        assert_eq!(host("lying").why.as_deref(), Some("no counters"));
        assert_eq!(host("lying").answered_ns, None);
        assert_eq!((host("back").silent_since_ns, host("back").silent_count), (None, 3));
        // Rows of one minute may come in any order.
        activity.add(&row("back", 8, Outcome::NoAnswer));
        activity.add(&row("back", 7, counted(1, 1)));
        assert_eq!(activity.hosts["back"].silent_since_ns, Some(8 * SECOND));
    }
}
