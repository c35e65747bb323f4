//! Load of groups of hosts, and of what their links can carry.
//!
//! A group is a ring, a segment, a building ([`Groups`]). Its load is the sum of its hosts'. What one
//! host of it sends to another is counted by both: the traffic on the group's link is between half of
//! the sum, where all of it stays within the group, and the whole sum.

use crate::counters::Counters;
use crate::groups::Groups;
use crate::table::{HostRow, Measure, Overview};
use serde::Serialize;
use std::collections::BTreeMap;

/// Speed of each host's fastest interface in bits per second, as far as hosts tell it.
pub type Speeds = BTreeMap<String, u64>;

/// Load of the hosts of a group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupLoad {
    /// Name of the group; `None`: hosts that are in none.
    pub group: Option<String>,
    /// Names of its hosts.
    pub hosts: Vec<String>,
    /// Sums over its hosts.
    pub counters: Counters,
    /// Share of the total of all hosts in percent, by [`Measure::COUNTED`]; `None` where that is 0.
    pub share_percent: [Option<f64>; 4],
    /// Sum of the hosts' speeds, in octets per second.
    pub speed: f64,
    /// Actual average speed: half of the sum, in octets per second.
    pub actual_speed: f64,
    /// Capacity of its link, in bits per second; `None`: not known.
    pub capacity_bits_per_s: Option<f64>,
    /// Actual average speed to the capacity, in percent.
    pub capacity_percent: Option<f64>,
}

/// Load of each group by name, and of the hosts without one at the end.
#[must_use]
pub fn by_group(overview: &Overview, groups: &Groups, speeds: &Speeds) -> Vec<GroupLoad> {
    let mut hosts: BTreeMap<Option<&str>, Vec<&HostRow>> = BTreeMap::new();
    for line in &overview.lines {
        hosts.entry(groups.of(&line.host)).or_default().push(line);
    }
    let without = hosts.remove(&None);
    let named = hosts.into_iter().chain(without.map(|lines| (None, lines)));
    named.map(|(group, lines)| load(overview, group, &lines, groups, speeds)).collect()
}

fn load(
    overview: &Overview,
    group: Option<&str>,
    lines: &[&HostRow],
    groups: &Groups,
    speeds: &Speeds,
) -> GroupLoad {
    let mut counters = Counters::default();
    lines.iter().for_each(|line| counters += line.counters);
    let speed: f64 = lines.iter().map(|line| line.speed).sum();
    let capacity = groups.capacity(group).or_else(|| usual_speed(lines, speeds));
    let share = |measure: Measure| {
        let (part, whole) = (measure.of(&counters), measure.of(&overview.total));
        (whole > 0).then(|| part as f64 * 100.0 / whole as f64)
    };
    GroupLoad {
        group: group.map(str::to_owned),
        hosts: lines.iter().map(|line| line.host.clone()).collect(),
        counters,
        share_percent: Measure::COUNTED.map(share),
        speed,
        actual_speed: speed / 2.0,
        capacity_bits_per_s: capacity,
        capacity_percent: capacity.map(|bits| percent_of(speed / 2.0, bits)),
    }
}

/// What a host sends and receives, to the capacity of its group's link or else to its own
/// interface's speed, in percent; `None` where neither is known.
#[must_use]
pub fn capacity_percent(line: &HostRow, groups: &Groups, speeds: &Speeds) -> Option<f64> {
    let own = || speeds.get(&line.host).map(|bits| *bits as f64);
    let bits = groups.capacity(groups.of(&line.host)).or_else(own)?;
    Some(percent_of(line.speed, bits))
}

/// The speed that most hosts have, by the middle one of those who tell it.
fn usual_speed(lines: &[&HostRow], speeds: &Speeds) -> Option<f64> {
    let known = lines.iter().filter_map(|line| speeds.get(&line.host));
    chronoscope_statistics::median(known.map(|bits| *bits as f64))
}

fn percent_of(octets_per_s: f64, bits_per_s: f64) -> f64 {
    octets_per_s * 8.0 * 100.0 / bits_per_s
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Observation;
    use proptest::prelude::*;

    fn overview(hosts: &[(&str, u64, u64)]) -> Overview {
        let observation = |(host, packets, octets): &(&str, u64, u64)| Observation {
            host: (*host).to_owned(),
            start_ns: 0,
            interval_ns: 10_000_000_000,
            counters: Counters {
                in_packets: *packets,
                out_packets: *packets,
                in_bytes: *octets,
                ..Counters::default()
            },
            restarted: false,
        };
        Overview::new(&hosts.iter().map(observation).collect::<Vec<_>>())
    }

    fn groups() -> Groups {
        let mut groups = Groups::default();
        groups.add("PCR=aldev5,fsPCR").unwrap();
        groups.add("lma=bile28").unwrap();
        groups
    }

    /// Two hosts of a ring of 4 Mbit/s: 500 kB in 10 s on each, what one sends the other receives.
    #[test]
    fn a_ring_is_as_busy_as_half_of_what_its_hosts_count() {
        let overview = overview(&[
            ("aldev5", 300, 500_000),
            ("bile28", 100, 100_000),
            ("fsPCR", 500, 500_000),
            ("stranger", 100, 0),
        ]);
        let mut groups = groups();
        groups.add_capacity("PCR=4M").unwrap();
        let found = by_group(&overview, &groups, &Speeds::new());
        let names: Vec<Option<&str>> = found.iter().map(|group| group.group.as_deref()).collect();
        assert_eq!(names, [Some("PCR"), Some("lma"), None]);
        let ring = &found[0];
        assert_eq!(ring.hosts, ["aldev5", "fsPCR"]);
        assert_eq!((ring.counters.in_packets, ring.share_percent[0]), (800, Some(80.0)));
        assert_eq!((ring.speed, ring.actual_speed), (100_000.0, 50_000.0));
        assert_eq!((ring.capacity_bits_per_s, ring.capacity_percent), (Some(4e6), Some(10.0)));
        assert_eq!((found[1].capacity_percent, found[1].share_percent[3]), (None, None));
        let of = |at: usize| capacity_percent(&overview.lines[at], &groups, &Speeds::new());
        assert_eq!([of(0), of(1)], [Some(10.0), None]);
    }

    /// Where nobody says what links carry, hosts' interfaces do.
    #[test]
    fn speeds_of_interfaces_are_capacities() {
        let overview = overview(&[("aldev5", 1, 500_000), ("bile28", 1, 1000), ("fsPCR", 1, 0)]);
        let speeds: Speeds = [("aldev5".to_owned(), 10_000_000), ("fsPCR".to_owned(), 4_000_000)]
            .into_iter()
            .collect();
        let found = by_group(&overview, &groups(), &speeds);
        assert_eq!(found[0].capacity_bits_per_s, Some(4e6), "of an even number the lower middle");
        assert_eq!(found[1].capacity_bits_per_s, None);
        assert_eq!(capacity_percent(&overview.lines[0], &groups(), &speeds), Some(4.0));
        // What is given counts before what is read.
        let mut given = groups();
        given.add_capacity("8M").unwrap();
        assert_eq!(by_group(&overview, &given, &speeds)[0].capacity_bits_per_s, Some(8e6));
    }

    proptest! {
        /// Every host is in one group, and the groups' sums are the total.
        #[test]
        fn groups_add_up_to_all(values in prop::collection::vec((0..9_usize, 0..1_000_000_u64), 1..30)) {
            let names = ["aldev5", "fsPCR", "bile28", "x", "y", "z", "10.1.1.1", "10.2.1.1", "w"];
            let hosts: Vec<(&str, u64, u64)> =
                values.iter().map(|(at, value)| (names[*at], value + 1, *value)).collect();
            let overview = overview(&hosts);
            let mut groups = groups();
            groups.add("net=10.1.0.0/16").unwrap();
            let found = by_group(&overview, &groups, &Speeds::new());
            let all: usize = found.iter().map(|group| group.hosts.len()).sum();
            prop_assert_eq!(all, overview.lines.len());
            let mut sum = Counters::default();
            found.iter().for_each(|group| sum += group.counters);
            prop_assert_eq!(sum, overview.total);
            let shares: f64 = found.iter().filter_map(|group| group.share_percent[0]).sum();
            prop_assert!((shares - 100.0).abs() < 1e-6);
        }
    }
}
