//! Suppression of reports that arrive twice.
//!
//! Dual networks deliver two copies of every datagram, some milliseconds to seconds apart and not
//! always in the same order or cut. A report is a copy of another where the radar, the stamp and the
//! content that counts for tracking are the same to the last bit: an antenna measures one target
//! once at an instant. Two reports of one aircraft in one turn that differ are not copies; the
//! association knows them.

use super::reports::{Place, TargetReport};
use crate::asterix::DataSource;
use crate::asterix::cat034::{MessageType, ServiceMessage};
use crate::asterix::cat048::Plot;
use std::collections::HashSet;

/// Copies come within this of each other, ns of time of arrival; at most twice as late they are
/// still known.
const WINDOW_NS: i64 = 5_000_000_000;
/// Reports remembered in a window; more end it early.
const REPORTS_MAX: usize = 1 << 16;

/// What makes a report the same as another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Content {
    /// Range in 1/256 NM, azimuth in 360°/2^16, Mode 3/A, level in 1/4, address.
    Plot(u32, u32, Option<u16>, Option<i32>, Option<u32>),
    /// Position in 180°/2^23 or m, address, Mode 3/A, level in 1/4.
    Report(i32, i32, Option<u32>, Option<u16>, Option<i32>),
    /// Kind, and sector in 360°/2^16.
    Service(Option<MessageType>, Option<u32>),
}

type Report = (DataSource, u32, Content);

/// The reports of the last seconds.
#[derive(Debug, Default)]
pub(super) struct Duplicates {
    now: HashSet<Report>,
    before: HashSet<Report>,
    begun_ns: i64,
}

impl Duplicates {
    /// Whether the plot, received at `utc_ns`, was received before. One without stamp or position
    /// is never a copy.
    pub(super) fn is_copy(&mut self, plot: &Plot, utc_ns: i64) -> bool {
        let (Some(time), Some(at)) = (plot.time_of_day, plot.position) else { return false };
        let content = Content::Plot(
            units(at.range_nm * 256.0),
            units(at.azimuth_deg * (65_536.0 / 360.0)),
            plot.mode_a.map(|a| a.code),
            #[allow(clippy::cast_possible_truncation)] // 14 bits on the wire
            plot.flight_level.map(|f| (f.level * 4.0).round() as i32),
            plot.aircraft_address,
        );
        self.is_known((plot.source, time.ticks(), content), utc_ns)
    }

    /// The same for a report of ADS-B or multilateration.
    pub(super) fn is_copied_report(&mut self, report: &TargetReport, utc_ns: i64) -> bool {
        let (Some(time), Some(place)) = (report.time, report.place) else { return false };
        let (a, b) = match place {
            Place::Wgs84(at) => (at.lat_deg / LAT_LON_LSB, at.lon_deg / LAT_LON_LSB),
            Place::Local(at) => (at.east_m, at.north_m),
        };
        let content = Content::Report(
            whole(a),
            whole(b),
            report.identity.address,
            report.identity.mode_3a,
            report.flight_level.map(|level| whole(level * 4.0)),
        );
        self.is_known((report.source, time.ticks(), content), utc_ns)
    }

    /// The same for a service message.
    pub(super) fn is_copied_service(&mut self, message: &ServiceMessage, utc_ns: i64) -> bool {
        let Some(time) = message.time_of_day else { return false };
        let sector = message.sector_deg.map(|deg| units(deg * (65_536.0 / 360.0)));
        let content = Content::Service(message.kind, sector);
        self.is_known((message.source, time.ticks(), content), utc_ns)
    }

    fn is_known(&mut self, report: Report, utc_ns: i64) -> bool {
        let in_window = (0..WINDOW_NS).contains(&utc_ns.saturating_sub(self.begun_ns));
        if !in_window || self.now.len() >= REPORTS_MAX {
            std::mem::swap(&mut self.now, &mut self.before);
            self.now.clear();
            self.begun_ns = utc_ns;
        }
        self.before.contains(&report) || !self.now.insert(report)
    }
}

/// Steps of positions that are compared, degrees.
const LAT_LON_LSB: f64 = 180.0 / 8_388_608.0;

fn whole(value: f64) -> i32 {
    #[allow(clippy::cast_possible_truncation, reason = "saturates")]
    let whole = value.round() as i32;
    whole
}

fn units(value: f64) -> u32 {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let units = value.round() as u32;
    units
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asterix::TimeOfDay;
    use crate::asterix::cat048::{ModeA, Position};

    const MS: i64 = 1_000_000;

    fn plot(ticks: u32, azimuth_deg: f64) -> Plot {
        Plot {
            source: DataSource { sac: 25, sic: 7 },
            time_of_day: Some(TimeOfDay::from_ticks(ticks)),
            position: Some(Position { range_nm: 60.0, azimuth_deg }),
            ..Plot::default()
        }
    }

    #[test]
    fn a_copy_is_known_by_radar_stamp_and_content() {
        let mut duplicates = Duplicates::default();
        let first = plot(1_000, 90.0);
        assert!(!duplicates.is_copy(&first, 0));
        assert!(duplicates.is_copy(&first, 20 * MS));
        // Another turn, another place, another radar, another code.
        assert!(!duplicates.is_copy(&plot(1_512, 90.0), 20 * MS));
        assert!(!duplicates.is_copy(&plot(1_000, 91.0), 20 * MS));
        let other = Plot { source: DataSource { sac: 25, sic: 8 }, ..plot(1_000, 90.0) };
        assert!(!duplicates.is_copy(&other, 20 * MS));
        let coded = Plot { mode_a: Some(ModeA { code: 0o1234, ..ModeA::default() }), ..first };
        assert!(!duplicates.is_copy(&coded, 20 * MS));
    }

    #[test]
    fn a_copy_is_known_over_a_window_and_forgotten_after_two() {
        let mut duplicates = Duplicates::default();
        let first = plot(1_000, 90.0);
        assert!(!duplicates.is_copy(&first, 4_900 * MS));
        assert!(!duplicates.is_copy(&plot(2_000, 90.0), 9_950 * MS));
        assert!(duplicates.is_copy(&first, 10_000 * MS), "the window before is known");
        assert!(!duplicates.is_copy(&plot(3_000, 90.0), 15_000 * MS));
        assert!(!duplicates.is_copy(&first, 15_100 * MS));
        // Time that goes back, as a capture that begins anew, is a new window.
        assert!(!duplicates.is_copy(&plot(4_000, 90.0), 0));
    }

    #[test]
    fn memory_is_bounded() {
        let mut duplicates = Duplicates::default();
        for ticks in 0..3 * (1 << 16) {
            duplicates.is_copy(&plot(ticks, 1.0), 1);
        }
        assert!(duplicates.now.len() <= REPORTS_MAX && duplicates.before.len() <= REPORTS_MAX);
    }
}
