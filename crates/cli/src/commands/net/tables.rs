//! Content of the tables of who loads the network.

use crate::args::net::Direction;
use chronoscope_net::activity::Host;
use chronoscope_net::table::{ActivityTable, HostRow, Measure, Overview};

/// Everything that the tables show.
pub(super) struct Tables {
    pub(super) overview: Overview,
    pub(super) picture: ActivityTable,
    /// Hosts that did not answer, in some or in all scans.
    pub(super) silent: Vec<(String, Host)>,
    pub(super) measure: Direction,
    pub(super) threshold_percent: f64,
}

impl Tables {
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
