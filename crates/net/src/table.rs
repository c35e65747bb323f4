//! Load of the network by host: three tables from hosts' counters.
//!
//! They are those of J. Navratil, *Time and Load Measuring in the SPS/LEP Control System*, section
//! II: (1) all hosts ([`Overview`]), (2) the most active ones ([`Overview::active`]), (3) activity
//! over time ([`ActivityTable`]). The activity of a host is its share of the total of all hosts, in
//! percent, for each measured value by itself.

use crate::counters::Counters;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// Counters of one host in one interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Name of the host.
    pub host: String,
    /// Begin of the interval, UTC nanoseconds.
    pub start_ns: i64,
    /// Length of the interval, in nanoseconds.
    pub interval_ns: u64,
    /// Difference of the counters in it.
    pub counters: Counters,
    /// The host began to count anew in it: the counters are at least so much.
    pub restarted: bool,
}

/// A measured value for which shares are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Packets received.
    InPackets,
    /// Packets that went out.
    OutPackets,
    /// Octets received.
    InBytes,
    /// Octets that went out.
    OutBytes,
    /// Octets in and out.
    Bytes,
    /// Packets in and out.
    Packets,
}

impl Measure {
    /// The four that hosts count, in the order of the tables.
    pub const COUNTED: [Self; 4] =
        [Self::InPackets, Self::OutPackets, Self::InBytes, Self::OutBytes];

    /// Value of the measure in `counters`.
    #[must_use]
    pub fn of(self, counters: &Counters) -> u64 {
        match self {
            Self::InPackets => counters.in_packets,
            Self::OutPackets => counters.out_packets,
            Self::InBytes => counters.in_bytes,
            Self::OutBytes => counters.out_bytes,
            Self::Bytes => counters.in_bytes.saturating_add(counters.out_bytes),
            Self::Packets => counters.in_packets.saturating_add(counters.out_packets),
        }
    }

    /// Heading of its column.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::InPackets => "input packets",
            Self::OutPackets => "output packets",
            Self::InBytes => "input bytes",
            Self::OutBytes => "output bytes",
            Self::Bytes => "bytes",
            Self::Packets => "packets",
        }
    }
}

/// Row of one host in the table of all hosts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HostRow {
    /// Name of the host.
    pub host: String,
    /// Measured time, in nanoseconds.
    pub measured_ns: u64,
    /// Counters of the host.
    pub counters: Counters,
    /// Share of the total in percent, by [`Measure::COUNTED`]; `None` where the total is 0.
    pub share_percent: [Option<f64>; 4],
    /// Octets in and out divided by the measured time, in octets per second.
    pub speed: f64,
    /// Intervals in which it began to count anew: its values are at least so much.
    pub restarts: u32,
}

/// All hosts: the first table.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Overview {
    /// A line for each host, by name.
    pub lines: Vec<HostRow>,
    /// Sums over all hosts.
    pub total: Counters,
    /// The longest time that a host was measured, in nanoseconds.
    pub measured_ns: u64,
    /// Sum of the hosts' speeds, in octets per second.
    pub speed: f64,
    /// Actual average speed of the network, in octets per second: half the sum, as what one host
    /// sends to another is counted by both. Where hosts talk to others that are not measured, it is
    /// between this and the sum.
    pub actual_speed: f64,
}

/// Totals of hosts' counters, added up as the observations arrive.
#[derive(Clone, Debug, Default)]
pub struct HostTotals {
    hosts: BTreeMap<String, Sum>,
    total: Counters,
}

#[derive(Clone, Debug, Default)]
struct Sum {
    measured_ns: u64,
    counters: Counters,
    restarts: u32,
}

impl HostTotals {
    /// Adds an interval of a host.
    pub fn add(&mut self, observation: &Observation) {
        if !self.hosts.contains_key(&observation.host) {
            self.hosts.insert(observation.host.clone(), Sum::default());
        }
        let Some(sum) = self.hosts.get_mut(&observation.host) else { return };
        sum.measured_ns = sum.measured_ns.saturating_add(observation.interval_ns);
        sum.counters += observation.counters;
        sum.restarts = sum.restarts.saturating_add(u32::from(observation.restarted));
        self.total += observation.counters;
    }

    /// All hosts so far.
    #[must_use]
    pub fn overview(&self) -> Overview {
        let line = |(host, sum): (&String, &Sum)| HostRow {
            host: host.clone(),
            measured_ns: sum.measured_ns,
            counters: sum.counters,
            share_percent: Measure::COUNTED
                .map(|measure| percent(measure.of(&sum.counters), measure.of(&self.total))),
            speed: speed(&sum.counters, sum.measured_ns),
            restarts: sum.restarts,
        };
        let lines: Vec<HostRow> = self.hosts.iter().map(line).collect();
        let speed: f64 = lines.iter().map(|line| line.speed).sum();
        let measured_ns = lines.iter().map(|line| line.measured_ns).max().unwrap_or(0);
        Overview { lines, total: self.total, measured_ns, speed, actual_speed: speed / 2.0 }
    }
}

impl Overview {
    /// Table of observations; several intervals of a host are added.
    #[must_use]
    pub fn new<'a>(observations: impl IntoIterator<Item = &'a Observation>) -> Self {
        let mut sums = HostTotals::default();
        observations.into_iter().for_each(|observation| sums.add(observation));
        sums.overview()
    }

    /// Share of a host's line in a measure, in percent; `None` where the total is 0.
    #[must_use]
    pub fn share_percent(&self, line: &HostRow, measure: Measure) -> Option<f64> {
        percent(measure.of(&line.counters), measure.of(&self.total))
    }

    /// The most active hosts, the second table: those with a share of at least `threshold_percent`
    /// in any of `measures`, by name.
    pub fn active(&self, threshold_percent: f64, measures: &[Measure]) -> Vec<&HostRow> {
        let active = |line: &&HostRow| {
            let shares = measures.iter().filter_map(|measure| self.share_percent(line, *measure));
            shares.into_iter().any(|share| share >= threshold_percent)
        };
        self.lines.iter().filter(active).collect()
    }
}

/// Activity over time, the third table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ActivityTable {
    /// Begin of each interval, UTC nanoseconds.
    pub starts_ns: Vec<i64>,
    /// Length of the intervals, in nanoseconds.
    pub interval_ns: u64,
    /// Each host with its share in percent in each interval; `None` where it was not measured, or
    /// the total is 0.
    pub hosts: Vec<(String, Vec<Option<f64>>)>,
}

/// Most intervals of a [`ActivityTable`].
pub const INTERVALS_MAX: usize = 100_000;

impl ActivityTable {
    /// A picture without hosts.
    pub(crate) const fn empty() -> Self {
        Self { starts_ns: Vec::new(), interval_ns: 0, hosts: Vec::new() }
    }

    /// Shares of values that hosts have in intervals.
    pub(crate) fn of_values(
        starts_ns: Vec<i64>,
        interval_ns: u64,
        values: Vec<(String, Vec<Option<u64>>)>,
    ) -> Self {
        let mut totals = vec![0u64; starts_ns.len()];
        for (_, values) in &values {
            for (total, value) in totals.iter_mut().zip(values) {
                *total = total.saturating_add(value.unwrap_or(0));
            }
        }
        let share = |(value, total): (Option<u64>, &u64)| percent(value?, *total);
        let shares =
            |values: Vec<Option<u64>>| values.into_iter().zip(&totals).map(share).collect();
        let hosts = values.into_iter().map(|(host, values)| (host, shares(values)));
        Self { hosts: hosts.collect(), starts_ns, interval_ns }
    }

    /// Shares of `measure` in intervals of `interval_ns` over `range_ns`. An observation belongs to
    /// the interval in which its middle is. Beyond [`INTERVALS_MAX`] intervals the range is cut.
    #[must_use]
    pub fn new(
        observations: &[Observation],
        measure: Measure,
        range_ns: Range<i64>,
        interval_ns: u64,
    ) -> Self {
        let interval_ns = interval_ns.max(1);
        let length_ns = u64::try_from(range_ns.end.saturating_sub(range_ns.start)).unwrap_or(0);
        let intervals = usize::try_from(length_ns.div_ceil(interval_ns)).unwrap_or(usize::MAX);
        let intervals = intervals.min(INTERVALS_MAX);
        let start_ns = |interval: usize| {
            let offset_ns = interval_ns.saturating_mul(interval as u64);
            range_ns.start.saturating_add(i64::try_from(offset_ns).unwrap_or(i64::MAX))
        };
        let mut totals = vec![0u64; intervals];
        let mut hosts: BTreeMap<&str, Vec<Option<u64>>> = BTreeMap::new();
        for observation in observations {
            let half_ns = i64::try_from(observation.interval_ns / 2).unwrap_or(i64::MAX);
            let middle_ns = observation.start_ns.saturating_add(half_ns);
            let values = hosts.entry(&observation.host).or_insert_with(|| vec![None; intervals]);
            let Ok(offset_ns) = u64::try_from(middle_ns.saturating_sub(range_ns.start)) else {
                continue;
            };
            let interval = usize::try_from(offset_ns / interval_ns).unwrap_or(usize::MAX);
            let Some(value) = values.get_mut(interval).filter(|_| middle_ns < range_ns.end) else {
                continue;
            };
            let measured = measure.of(&observation.counters);
            *value = Some(value.unwrap_or(0).saturating_add(measured));
            totals[interval] = totals[interval].saturating_add(measured);
        }
        let shares = |values: Vec<Option<u64>>| {
            let share = |(value, total): (Option<u64>, &u64)| percent(value?, *total);
            values.into_iter().zip(&totals).map(share).collect()
        };
        let hosts = hosts.into_iter().map(|(host, values)| (host.to_owned(), shares(values)));
        Self {
            hosts: hosts.collect(),
            starts_ns: (0..intervals).map(start_ns).collect(),
            interval_ns,
        }
    }
}

fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 * 100.0 / whole as f64)
}

fn speed(counters: &Counters, measured_ns: u64) -> f64 {
    if measured_ns == 0 {
        return 0.0;
    }
    Measure::Bytes.of(counters) as f64 / (measured_ns as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: u64 = 1_000_000_000;

    fn observation(host: &str, start_s: i64, seconds: u64, values: [u64; 4]) -> Observation {
        let [in_packets, out_packets, in_bytes, out_bytes] = values;
        let counters =
            Counters { in_packets, out_packets, in_bytes, out_bytes, ..Counters::default() };
        let start_ns = start_s * 1_000_000_000;
        let host = host.to_owned();
        Observation { host, start_ns, interval_ns: seconds * SECOND, counters, restarted: false }
    }

    /// Two of the ring's hosts of the paper's Table 1, the others as one.
    #[test]
    fn shares_of_the_published_ring() {
        let observations = [
            observation("aldev5", 0, 4450, [5431, 5096, 1, 1]),
            observation("cons11", 0, 4450, [1568, 1673, 1, 1]),
            observation("others", 0, 4450, [44_736 - 5431 - 1568, 39_140 - 5096 - 1673, 8, 8]),
        ];
        let overview = Overview::new(&observations);
        let shares =
            |line: &HostRow| line.share_percent.map(|s| (s.unwrap() * 100.0).round() / 100.0);
        assert_eq!(shares(&overview.lines[0])[..2], [12.14, 13.02]);
        assert_eq!(shares(&overview.lines[1])[..2], [3.51, 4.27]);
        let names = |lines: Vec<&HostRow>| lines.iter().map(|l| l.host.clone()).collect::<Vec<_>>();
        assert_eq!(names(overview.active(1.5, &Measure::COUNTED)), ["aldev5", "cons11", "others"]);
        assert_eq!(names(overview.active(4.0, &[Measure::InPackets])), ["aldev5", "others"]);
        assert_eq!(
            names(overview.active(4.0, &[Measure::OutPackets])),
            ["aldev5", "cons11", "others"]
        );
    }

    #[test]
    fn speeds_are_octets_both_ways_by_time() {
        let observations = [
            observation("a", 0, 10, [1, 1, 1000, 3000]),
            observation("a", 10, 10, [1, 1, 2000, 2000]),
            observation("b", 0, 20, [1, 1, 5000, 3000]),
        ];
        let overview = Overview::new(&observations);
        assert_eq!(overview.lines[0].measured_ns, 20 * SECOND);
        assert_eq!([overview.lines[0].speed, overview.lines[1].speed], [400.0, 400.0]);
        assert_eq!((overview.speed, overview.actual_speed), (800.0, 400.0));
        assert_eq!(overview.total.in_bytes, 8000);
    }

    #[test]
    fn nobody_did_anything() {
        let overview = Overview::new(&[observation("a", 0, 1, [0; 4])]);
        assert_eq!(overview.lines[0].share_percent, [None; 4]);
        assert!(overview.active(0.0, &Measure::COUNTED).is_empty());
        assert_eq!(Overview::new([]), Overview::default());
    }

    #[test]
    fn a_picture_has_a_place_for_every_host_and_interval() {
        let observations = [
            observation("a", 0, 10, [0, 0, 30, 0]),
            observation("b", 0, 10, [0, 0, 10, 0]),
            observation("b", 10, 10, [0, 0, 10, 0]),
            observation("late", 30, 10, [0, 0, 10, 0]),
        ];
        let picture =
            ActivityTable::new(&observations, Measure::Bytes, 0..30_000_000_000, 10 * SECOND);
        assert_eq!(picture.starts_ns, [0, 10_000_000_000, 20_000_000_000]);
        let expected = [
            ("a".to_owned(), vec![Some(75.0), None, None]),
            ("b".to_owned(), vec![Some(25.0), Some(100.0), None]),
            ("late".to_owned(), vec![None; 3]),
        ];
        assert_eq!(picture.hosts, expected);
    }

    proptest! {
        /// Shares of a measure add up to 100 %, or there was nothing of it.
        #[test]
        fn shares_are_shares(values in prop::collection::vec(prop::array::uniform4(0u64..1 << 40), 1..40)) {
            let observations: Vec<_> = (0..).zip(&values)
                .map(|(n, values)| observation(&format!("h{}", n % 7), n, 1, *values)).collect();
            let overview = Overview::new(&observations);
            for (index, measure) in Measure::COUNTED.into_iter().enumerate() {
                let sum: f64 = overview.lines.iter().filter_map(|l| l.share_percent[index]).sum();
                let expected = if measure.of(&overview.total) == 0 { 0.0 } else { 100.0 };
                prop_assert!((sum - expected).abs() < 1e-6);
            }
        }

        #[test]
        fn any_picture_is_drawn(
            start_ns in any::<i64>(), end_ns in any::<i64>(), interval_ns in 1u64 << 50.., at in any::<i64>(),
        ) {
            let mut seen = observation("a", 0, 1, [1; 4]);
            seen.start_ns = at;
            let picture = ActivityTable::new(&[seen], Measure::Packets, start_ns..end_ns, interval_ns);
            prop_assert!(picture.starts_ns.len() <= INTERVALS_MAX);
        }
    }
}
