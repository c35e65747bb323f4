//! Detection of irregular data by radar: only the tracker sees plots by radar.
//!
//! All values are computed from stamps and arrival times, and need no truth:
//!
//! * **late**: a plot whose antenna position goes with its stamp, but that comes after sector
//!   messages which are later than it;
//! * **stamps**: a plot stamped at a time at which the antenna, by the sector messages, pointed
//!   elsewhere;
//! * **bursts**: sector messages that arrive together although the antenna was not there together;
//! * **sectors**: sector messages that are missing between two that came;
//! * **turns**: the spread of the time from north to north, by the stamps of the north messages;
//! * **duplicates**: a plot that repeats the one before it, or the same aircraft in one turn;
//! * **unknown**: plots that belong to no track and begin one, as clutter does;
//! * **silence**: the longest time without any message, in turns.
//!
//! A radar is irregular in one of these when it is over a limit ([`Trait::limit`]) *and* over three
//! times the median of the other radars: a deviation common to all is due to the network or the
//! traffic, not to the radar. Values are judged in windows of [`WINDOW_S`]: an irregularity that
//! begins after a day must not disappear in the mean.

mod followed;
mod tally;
mod traits;

pub use traits::{Irregularity, RadarReport, TRAITS, Trait};

use super::core::Outcome;
use crate::asterix::DataSource;
use crate::asterix::cat034::{MessageType, ServiceMessage};
use crate::asterix::cat048::Plot;
use chronoscope_statistics::median;
use followed::{Crossing, Followed, PERIODS_S};
use tally::{TURNS_MIN, Tally};

/// Length of the windows that are judged, s of arrival.
pub const WINDOW_S: f64 = 300.0;
/// Interval between two judgements of a window, s of arrival.
const JUDGE_S: f64 = 10.0;
/// Irregular is who has this many times what the others have.
const TIMES_OTHERS: f64 = 3.0;

/// Follows how regular the data of every radar are.
#[derive(Debug, Default)]
pub struct Regularity {
    /// By the index of [`Radars`](super::Radars).
    radars: Vec<Option<Followed>>,
    window_s: Option<f64>,
    judged_s: f64,
}

impl Regularity {
    fn radar(&mut self, index: u8, source: DataSource) -> &mut Followed {
        let index = usize::from(index);
        if self.radars.len() <= index {
            self.radars.resize_with(index + 1, || None);
        }
        self.radars[index].get_or_insert_with(|| Followed::new(source))
    }

    /// Takes in a plot of radar `index` that arrived at `utc_ns`, used or not.
    pub fn plot(&mut self, index: u8, plot: &Plot, utc_ns: i64) {
        let radar = self.radar(index, plot.source);
        let arrival_s = seconds(utc_ns);
        radar.heard(arrival_s);
        let Some(time) = plot.time_of_day else { return };
        let place = plot.position.map(|at| (at.range_nm, at.azimuth_deg));
        radar.plot(seconds(time.to_utc_ns(utc_ns)), arrival_s, place);
    }

    /// Takes in what became of a plot of radar `index`.
    pub fn outcome(&mut self, index: u8, outcome: Outcome) {
        let Some(Some(radar)) = self.radars.get_mut(usize::from(index)) else { return };
        let settled = radar.turns >= TURNS_MIN;
        radar.count(|tally| {
            tally.repeated += u64::from(outcome == Outcome::Repeated);
            tally.associated += u64::from(settled);
            tally.initiated += u64::from(settled && matches!(outcome, Outcome::Initiated(_)));
        });
    }

    /// Takes in a service message of radar `index` that arrived at `utc_ns`.
    pub fn service(&mut self, index: u8, message: &ServiceMessage, utc_ns: i64) {
        let radar = self.radar(index, message.source);
        let arrival_s = seconds(utc_ns);
        radar.heard(arrival_s);
        if let Some(period_s) = message.antenna_period_s.filter(|p| PERIODS_S.contains(p)) {
            (radar.period_s, radar.told) = (Some(period_s), true);
        }
        let Some(stamp_s) = message.time_of_day.map(|time| seconds(time.to_utc_ns(utc_ns))) else {
            return;
        };
        let azimuth_deg = match message.kind {
            Some(MessageType::NorthMarker) => {
                radar.passed_north(stamp_s);
                0.0
            }
            Some(MessageType::SectorCrossing) => match message.sector_deg {
                Some(azimuth_deg) => azimuth_deg,
                None => return,
            },
            _ => return,
        };
        radar.crossed(Crossing { stamp_s, arrival_s, azimuth_deg });
    }

    /// Compares the radars with each other from time to time; call about once a second. `found`
    /// gets each radar and its new irregularity.
    pub fn tick(&mut self, utc_ns: i64, found: impl FnMut(DataSource, &Irregularity)) {
        let now_s = seconds(utc_ns);
        let begin_s = *self.window_s.get_or_insert(now_s);
        if (0.0..JUDGE_S).contains(&(now_s - self.judged_s)) {
            return;
        }
        self.judged_s = now_s;
        for radar in self.radars.iter_mut().flatten() {
            let silence_s = radar.arrival_s.map_or(0.0, |last_s| now_s - last_s);
            radar.count(|tally| tally.silence_s = tally.silence_s.max(silence_s));
        }
        self.judge(now_s, found);
        if !(0.0..WINDOW_S).contains(&(now_s - begin_s)) {
            self.window_s = Some(now_s);
            self.radars.iter_mut().flatten().for_each(|radar| radar.window = Tally::default());
        }
    }

    fn judge(&mut self, now_s: f64, mut found: impl FnMut(DataSource, &Irregularity)) {
        for what in TRAITS {
            let values: Vec<Option<f64>> = self
                .radars
                .iter()
                .map(|radar| radar.as_ref().and_then(|radar| radar.in_window(what)))
                .collect();
            for (index, radar) in self.radars.iter_mut().enumerate() {
                let Some((radar, value)) = radar.as_mut().zip(values[index]) else { continue };
                let others = values.iter().enumerate().filter(|(i, _)| *i != index);
                let others = median(others.filter_map(|(_, value)| *value));
                let limit = what.limit();
                if value <= limit || others.is_some_and(|others| value <= TIMES_OTHERS * others) {
                    continue;
                }
                let known = radar.found.get(&what).copied();
                let since_utc_s = known.map_or(now_s, |known| known.since_utc_s);
                let now = Irregularity { what, value, others, limit, since_utc_s };
                if known.is_none() {
                    found(radar.source, &now);
                }
                radar.found.insert(what, now);
            }
        }
    }

    /// Report on every radar, by SAC and SIC.
    pub fn reports(&self) -> Vec<RadarReport> {
        let mut reports: Vec<RadarReport> =
            self.radars.iter().flatten().map(Followed::report).collect();
        reports.sort_by_key(|report| (report.sac, report.sic));
        reports
    }
}

fn seconds(ns: i64) -> f64 {
    ns as f64 * 1e-9
}
