//! Observation of one radar: its antenna by the service messages, and its plots against it.

use super::tally::{Median, PLOTS_MIN, Spread, Tally};
use super::traits::{Irregularity, RadarReport, TRAITS, Trait};
use crate::asterix::DataSource;
use std::collections::BTreeMap;

/// Later than usual by more than this is late, s: more than a sector of the slowest radar.
const LATE_S: f64 = 0.5;
/// A stamp that is off the antenna by more than this share of a turn, and this many seconds, is
/// wrong. 0.02 of a turn are 7°.
const STAMP_TURNS: f64 = 0.02;
const STAMP_S: f64 = 0.1;
/// Resolution and reach of the delays' quantiles, s.
const DELAY_STEP_S: f64 = 0.01;
const DELAY_STEPS: usize = 3_000;
/// Antenna periods that can be, s.
pub(super) const PERIODS_S: std::ops::RangeInclusive<f64> = 0.5..=60.0;

/// Passage of the antenna, by a sector or north message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    pub(super) stamp_s: f64,
    pub(super) arrival_s: f64,
    pub(super) azimuth_deg: f64,
}

/// State of the observation of one radar.
#[derive(Debug)]
pub(super) struct Followed {
    pub(super) source: DataSource,
    /// Told by the radar, or else the shortest time from north to north; nothing is compared with
    /// the antenna before.
    pub(super) period_s: Option<f64>,
    pub(super) told: bool,
    sector_deg: f64,
    crossing: Option<Crossing>,
    north_s: Option<f64>,
    plots_since_north: u64,
    pub(super) turns: u64,
    pub(super) arrival_s: Option<f64>,
    behind: Median,
    off_antenna: Median,
    before: Option<(f64, f64, f64)>,
    delay: Spread,
    /// Delays around the first, from `DELAY_STEPS / 2` steps before it on.
    delays: Vec<u32>,
    first_delay_s: f64,
    pub(super) window: Tally,
    all: Tally,
    pub(super) found: BTreeMap<Trait, Irregularity>,
}

impl Followed {
    pub(super) fn new(source: DataSource) -> Self {
        Self {
            source,
            period_s: None,
            told: false,
            sector_deg: 360.0,
            crossing: None,
            north_s: None,
            plots_since_north: 0,
            turns: 0,
            arrival_s: None,
            behind: Median::default(),
            off_antenna: Median::default(),
            before: None,
            delay: Spread::default(),
            delays: Vec::new(),
            first_delay_s: 0.0,
            window: Tally::default(),
            all: Tally::default(),
            found: BTreeMap::new(),
        }
    }

    pub(super) fn count(&mut self, how: impl Fn(&mut Tally)) {
        how(&mut self.window);
        how(&mut self.all);
    }

    pub(super) fn heard(&mut self, arrival_s: f64) {
        if let Some(before_s) = self.arrival_s.replace(arrival_s) {
            let silence_s = arrival_s - before_s;
            self.count(|tally| tally.silence_s = tally.silence_s.max(silence_s));
        }
    }

    pub(super) fn crossed(&mut self, crossing: Crossing) {
        let Some(period_s) = self.period_s else { return };
        let Some(last) = self.crossing else {
            self.crossing = Some(crossing);
            return;
        };
        let turned_deg = (crossing.azimuth_deg - last.azimuth_deg).rem_euclid(360.0);
        let elapsed_s = crossing.stamp_s - last.stamp_s;
        if turned_deg < 0.01 && elapsed_s.abs() < 0.25 * period_s {
            // North and the first sector are one crossing.
            self.crossing = Some(crossing);
            return;
        }
        if (-period_s..0.0).contains(&elapsed_s) {
            // Overtaken on its way, and taken for missing then.
            self.count(|tally| {
                tally.missing = tally.missing.saturating_sub(1);
                tally.steps += 1;
                tally.together += 1;
            });
            return;
        }
        self.crossing = Some(crossing);
        // I034/020 tells 360/256 degrees apart.
        if turned_deg > 1.0 {
            self.sector_deg = self.sector_deg.min(turned_deg);
        }
        let whole_turns = ((elapsed_s / period_s * 360.0 - turned_deg) / 360.0).round();
        let turned_deg = turned_deg + 360.0 * whole_turns.max(0.0);
        // A radar that was silent for turns has not lost messages on the way.
        if turned_deg < 360.0 {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most some 360
            let steps = (turned_deg / self.sector_deg).round().max(1.0) as u64;
            self.count(|tally| {
                tally.sectors += steps;
                tally.missing += steps - 1;
            });
        }
        let together = crossing.arrival_s - last.arrival_s < 0.25 * elapsed_s;
        self.count(|tally| {
            tally.steps += 1;
            tally.together += u64::from(together);
        });
    }

    pub(super) fn passed_north(&mut self, stamp_s: f64) {
        let plots = std::mem::take(&mut self.plots_since_north);
        let Some(before_s) = self.north_s.replace(stamp_s) else { return };
        let turn_s = stamp_s - before_s;
        if !self.told && PERIODS_S.contains(&turn_s) {
            self.period_s = Some(self.period_s.map_or(turn_s, |known| known.min(turn_s)));
        }
        // Over a missing north message, and out of an outage, there is no turn to be seen.
        let Some(period_s) = self.period_s else { return };
        if !(0.5 * period_s..1.5 * period_s).contains(&turn_s) {
            return;
        }
        self.turns += 1;
        self.count(|tally| {
            tally.turns.add(turn_s);
            tally.turned_plots += plots;
        });
    }

    pub(super) fn plot(&mut self, stamp_s: f64, arrival_s: f64, place: Option<(f64, f64)>) {
        self.plots_since_north += 1;
        let key = place.map(|(range_nm, azimuth_deg)| (stamp_s, range_nm, azimuth_deg));
        let copy = key.is_some() && self.before == key;
        self.before = key;
        self.count(|tally| {
            tally.plots += 1;
            tally.duplicates += u64::from(copy);
        });
        self.delayed(arrival_s - stamp_s);
        let (Some(crossing), Some((_, azimuth_deg)), Some(period_s)) =
            (self.crossing, place, self.period_s)
        else {
            return;
        };
        let behind_s = crossing.stamp_s - stamp_s;
        let turned_s = (azimuth_deg - crossing.azimuth_deg) / 360.0 * period_s;
        let off_s = (-behind_s - turned_s + 0.5 * period_s).rem_euclid(period_s) - 0.5 * period_s;
        let wrong = self.off_antenna.over(off_s).abs() > STAMP_S.max(STAMP_TURNS * period_s);
        let late = self.behind.over(behind_s) > LATE_S && !wrong;
        self.count(|tally| {
            tally.stamped += 1;
            tally.stamps += u64::from(wrong);
            tally.late += u64::from(late);
        });
    }

    fn delayed(&mut self, delay_s: f64) {
        self.delay.add(delay_s);
        if self.delays.is_empty() {
            self.delays = vec![0; DELAY_STEPS];
            self.first_delay_s = delay_s - DELAY_STEP_S * (DELAY_STEPS / 2) as f64;
        }
        let step = ((delay_s - self.first_delay_s) / DELAY_STEP_S).max(0.0);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates, then cut
        let step = (step as usize).min(DELAY_STEPS - 1);
        self.delays[step] = self.delays[step].saturating_add(1);
    }

    fn delay_p99_s(&self) -> f64 {
        let mut left = (0.99 * self.delay.count as f64).ceil();
        for (step, count) in self.delays.iter().enumerate() {
            left -= f64::from(*count);
            if left <= 0.0 {
                return self.first_delay_s + DELAY_STEP_S * (step + 1) as f64;
            }
        }
        self.delay.mean
    }

    /// Value of `what` by `tally`, which is this radar's; `None` where there are too few data.
    fn value(&self, what: Trait, tally: &Tally) -> Option<f64> {
        match what {
            // Over its whole life, because a radar that was silent for a whole window has to be
            // found too.
            Trait::Silence if self.all.plots < PLOTS_MIN => None,
            Trait::Silence => self.period_s.map(|period_s| tally.silence_s / period_s),
            _ => tally.share(what),
        }
    }

    /// Value of `what` in the present window.
    pub(super) fn in_window(&self, what: Trait) -> Option<f64> {
        self.value(what, &self.window)
    }

    pub(super) fn report(&self) -> RadarReport {
        let value = |what: Trait| Some((what, self.value(what, &self.all)?));
        RadarReport {
            sac: self.source.sac,
            sic: self.source.sic,
            plots: self.all.plots,
            turns: self.turns,
            plots_a_turn: self.all.turned_plots as f64 / self.turns.max(1) as f64,
            turn_s: self.all.turns.mean,
            delay_s: self.delay.mean,
            delay_sd_s: self.delay.sd(),
            delay_p99_s: self.delay_p99_s(),
            traits: TRAITS.into_iter().filter_map(value).collect(),
            irregular: self.found.values().copied().collect(),
        }
    }
}
