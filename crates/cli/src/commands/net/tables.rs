//! Content of the tables of who loads the network.

use crate::args::net::Direction;
use chronoscope_net::activity::{Activity, Host};
use chronoscope_net::group_load::{GroupLoad, Speeds, by_group, capacity_percent};
use chronoscope_net::groups::Groups;
use chronoscope_net::table::{ActivityTable, HostRow, Measure, Overview};

/// Everything that the tables show.
pub(super) struct Tables {
    pub(super) overview: Overview,
    pub(super) picture: ActivityTable,
    /// Hosts that did not answer, in some or in all scans.
    pub(super) silent: Vec<(String, Host)>,
    pub(super) measure: Direction,
    pub(super) threshold_percent: f64,
    pub(super) groups: Groups,
    pub(super) speeds: Speeds,
}

/// Speeds of interfaces that hosts told.
pub(super) fn speeds(activity: &Activity) -> Speeds {
    let told =
        activity.hosts().filter_map(|(name, host)| Some((name.to_owned(), host.bits_per_s?)));
    told.collect()
}

impl Tables {
    /// Load of each group, where groups or a capacity of the network are given.
    pub(super) fn by_group(&self) -> Vec<GroupLoad> {
        if self.groups.is_empty() && self.groups.capacity(None).is_none() {
            return Vec::new();
        }
        by_group(&self.overview, &self.groups, &self.speeds)
    }

    /// Traffic of a host to what its link carries, in percent.
    pub(super) fn capacity_percent(&self, line: &HostRow) -> Option<f64> {
        capacity_percent(line, &self.groups, &self.speeds)
    }

    /// A host with its group before it.
    pub(super) fn in_group(&self, host: &str) -> String {
        match self.groups.of(host) {
            Some(group) => format!("{group}/{host}"),
            None => host.to_owned(),
        }
    }

    /// The measures that are columns of the table of the most active hosts.
    pub(super) fn columns(&self) -> &'static [Measure] {
        columns(self.measure)
    }

    /// The most active hosts.
    pub(super) fn active(&self) -> Vec<&HostRow> {
        self.overview.active(self.threshold_percent, self.columns())
    }
}

/// The measured values that are shown side by side.
const fn columns(measure: Direction) -> &'static [Measure] {
    match measure {
        Direction::Packets => &[Measure::InPackets, Measure::OutPackets],
        Direction::Bytes => &[Measure::InBytes, Measure::OutBytes],
        Direction::InPackets => &[Measure::InPackets],
        Direction::OutPackets => &[Measure::OutPackets],
        Direction::InBytes => &[Measure::InBytes],
        Direction::OutBytes => &[Measure::OutBytes],
    }
}

/// The measure whose shares are shown over time.
pub(super) const fn over_time(measure: Direction) -> Measure {
    match measure {
        Direction::Packets => Measure::Packets,
        Direction::Bytes => Measure::Bytes,
        Direction::InPackets => Measure::InPackets,
        Direction::OutPackets => Measure::OutPackets,
        Direction::InBytes => Measure::InBytes,
        Direction::OutBytes => Measure::OutBytes,
    }
}
