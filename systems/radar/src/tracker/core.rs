//! The tracker proper: plots in, tracks out. No input or output, no clock.

use super::association::{Association, Decision};
use super::clutter::{ClutterMaps, Spot};
use super::costs;
use super::coverage::Coverage;
use super::existence::{Evidence, Existence};
use super::imm::MotionModel;
use super::leg_rate::LegRate;
use super::measurement::Measurement;
use super::settings::Settings;
use super::slower;
use super::table::{Slot, TrackTable};
use super::track::{Phase, Track};

/// Result of a plot's correlation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It updated a confirmed track, or confirmed one: subscribers have to be informed.
    Updated(Slot),
    /// It updated a track that is not confirmed yet.
    Tentative(Slot),
    /// It began a new track.
    Initiated(Slot),
    /// The same radar had seen the same aircraft in the same turn already.
    Repeated,
    /// It is older than its track by too much to be of use.
    Late,
    /// Its numbers are invalid (not finite, or no covariance).
    Broken,
    /// There is no room for another track.
    Full,
}

/// Counts of the tracker. All counts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Plots correlated.
    pub plots: u64,
    /// Plots that updated a confirmed track.
    pub updates: u64,
    /// Updates without a plot: a confirmed track extrapolated while it coasts.
    pub extrapolated: u64,
    /// Tracks begun.
    pub initiated: u64,
    /// Tracks that became believed.
    pub confirmed: u64,
    /// Tentative tracks given up.
    pub abandoned: u64,
    /// Confirmed tracks ended for lack of plots.
    pub ended: u64,
    /// Tracks dropped as twins of others.
    pub merged: u64,
    /// Plots without identity that had been given to a track whose own came in the same turn.
    pub taken_back: u64,
    /// Believed tracks that got the number of one that had ended, whose aircraft came back.
    pub recalled: u64,
    /// Second plots of one aircraft in one turn of one radar.
    pub repeated: u64,
    /// Plots too old to be of use.
    pub late: u64,
    /// Plots with broken numbers.
    pub broken: u64,
    /// Plots refused because there are too many tracks.
    pub full: u64,
}

/// The multi-radar tracker.
#[derive(Debug)]
pub struct Tracker {
    pub(super) settings: Settings,
    pub(super) table: TrackTable,
    association: Association,
    clutter: ClutterMaps,
    pub(super) coverage: Coverage,
    leg_rate: LegRate,
    pub(super) counts: Counts,
    /// Time as of which tracks were last looked through, s.
    pub(super) looked_s: f64,
}

/// How much less a second track is likely beside one that its radar has updated in the same turn: a
/// radar that splits plots, seldom two aircraft. Logarithm of odds.
const BESIDE_DOUBT: f64 = 4.0;

/// A track loses its address to another one that is heard with it, when its own latest plot with an identity
/// is older than so many turns: its plot of this turn may still come, and that of the last one did not.
const NAMELESS_TURNS: f64 = 1.5;

/// A plot that is a track's with less probability does not go to it.
const TRUST_MIN: f64 = 0.1;

impl Tracker {
    /// An empty tracker.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            table: TrackTable::new(settings.period_s),
            association: Association::default(),
            clutter: ClutterMaps::default(),
            coverage: Coverage::default(),
            leg_rate: LegRate::default(),
            counts: Counts::default(),
            looked_s: f64::NEG_INFINITY,
        }
    }

    /// Settings of the tracker.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Motion of aircraft as it is assumed, with the legs that the plots have told.
    pub fn motion(&self) -> MotionModel {
        let assumed = self.settings.motion;
        MotionModel { steady_s: self.leg_rate.leg_s(assumed.steady_s), ..assumed }
    }

    /// Tells the antenna period of a radar, s.
    pub fn set_period(&mut self, radar: u8, period_s: f64) {
        if (0.5..=60.0).contains(&period_s) {
            self.table.set_period(radar, period_s);
        }
    }

    /// Counts so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The track in `slot`, if one lives there.
    pub fn track(&self, slot: Slot) -> Option<&Track> {
        self.table.track(slot)
    }

    /// All living tracks.
    pub fn tracks(&self) -> impl Iterator<Item = &Track> {
        self.table.slots.iter().flatten()
    }

    /// Believed tracks now.
    pub fn confirmed_count(&self) -> usize {
        self.tracks().filter(|t| t.phase == Phase::Confirmed).count()
    }

    /// Forgets the previous block. `plots` is the number of plots in the one to come.
    pub fn begin_block(&mut self, plots: usize) {
        self.association.begin_block(plots);
    }

    /// Correlates plot `index` of `block`, the plots that arrived together. Call for every plot
    /// of a block in order, [`Tracker::begin_block`] before the first.
    ///
    /// # Panics
    /// When `index` is not in the block, or the block is not the one that was begun.
    pub fn correlate(&mut self, block: &[Measurement], index: usize) -> Outcome {
        self.counts.plots += 1;
        slower::unnecessary();
        let m = &block[index];
        let finite = m.position.norm_squared().is_finite()
            && m.time_s.is_finite()
            && m.covariance.inverse().is_some();
        if !finite {
            self.counts.broken += 1;
            return Outcome::Broken;
        }
        self.table.heard(m);
        match self.association.decide(&self.table, &self.settings, block, index) {
            Decision::Take(slot) => {
                let rivals = self.association.rivals(index, slot);
                self.take_corrected(slot, m, rivals)
            }
            Decision::Repeat => {
                self.counts.repeated += 1;
                Outcome::Repeated
            }
            Decision::Initiate => self.initiate(m, 0.0),
            Decision::InitiateBeside => self.initiate(m, BESIDE_DOUBT),
        }
    }

    /// Marks a track as known to subscribers.
    pub fn announce(&mut self, slot: Slot) {
        if let Some(Some(track)) = self.table.slots.get_mut(slot as usize) {
            track.announced = true;
        }
    }

    /// Gives a plot to a track. Where that had taken a plot without identity in the same turn, this one shows
    /// that it was another aircraft's: the track is first put back to before it, and it begins a track of its
    /// own.
    fn take_corrected(
        &mut self,
        slot: Slot,
        m: &Measurement,
        rivals: Option<(f64, f64)>,
    ) -> Outcome {
        let period_s = self.table.period_s(m.radar);
        let track = self.table.slots.get_mut(slot as usize).and_then(Option::as_mut);
        let bare = track.and_then(|track| {
            let bare = track.go_back(m, period_s)?;
            let position = track.estimate().position;
            track.cell = self.table.grid.relocate(slot, track.cell, position);
            Some(bare)
        });
        let outcome = self.take(slot, m, rivals);
        if let Some(bare) = bare {
            self.counts.taken_back += 1;
            self.initiate(&bare, BESIDE_DOUBT);
        }
        outcome
    }

    /// Gives a plot to a track; `rivals` are the likelihoods of [`Association::rivals`].
    fn take(&mut self, slot: Slot, m: &Measurement, rivals: Option<(f64, f64)>) -> Outcome {
        let (settings, motion) = (self.settings, self.motion());
        let (spot, period_s) = (self.table.spot(m), self.table.period_s(m.radar));
        let identity = self
            .table
            .track(slot)
            .map_or(0.0, |track| costs::evidence(&self.table, &settings, track, m));
        let Some(Some(track)) = self.table.slots.get_mut(slot as usize) else {
            return self.initiate(m, 0.0);
        };
        if m.time_s < track.time_s - settings.late_s_max {
            self.counts.late += 1;
            return Outcome::Late;
        }
        let tentative = track.phase == Phase::Tentative;
        // A name needs no comparison with clutter.
        let clutter_m2 = (tentative || rivals.is_some())
            .then(|| self.clutter.density(spot, &track.counted, period_s, &settings.clutter));
        let detection = settings.initiation.detection;
        let trust = rivals.zip(clutter_m2).map_or(1.0, |((own, others), clutter_m2)| {
            own / (own + others + clutter_m2 * (1.0 - detection) / detection)
        });
        if trust < TRUST_MIN {
            // It is another's or nobody's.
            return self.initiate(m, 0.0);
        }
        if tentative && track.seen_by(m.radar).is_none() {
            // A radar that sees it for the first time has missed it before. Or else the false plots
            // of many radars would add up, of which none has to see it again.
            let sees = self.coverage.probability(m.radar, spot.offset, m.flight_level);
            let turns = (m.time_s - track.born_s) / period_s;
            track.existence.miss_before(turns, sees, &settings.initiation);
        }
        track.remember_before(m);
        let m = &track.levelled(m, &self.table.traffic);
        let Some(innovation) = track.update(m, (&motion, &settings.outliers), (trust, period_s))
        else {
            self.counts.broken += 1;
            return Outcome::Broken;
        };
        if let Some(score) = track.score {
            self.leg_rate.learn(score);
        }
        if let Some(clutter_m2) = clutter_m2 {
            let log_likelihood = innovation.log_likelihood;
            let evidence = Evidence { log_likelihood, identity, clutter_m2 };
            track.existence.hit(evidence, &settings.initiation);
        } else {
            track.existence.seen();
        }
        let position = track.estimate().position;
        track.cell = self.table.grid.relocate(slot, track.cell, position);
        let enough = track.hits >= settings.initiation.plots_min;
        if let Some(address) = m.identity.address {
            self.table.addressed(slot, address, m.time_s - NAMELESS_TURNS * period_s);
        }
        if tentative {
            self.tried(slot, m, spot, enough)
        } else {
            self.updated(slot, m, spot, trust)
        }
    }

    /// A track that is not confirmed got a plot; it has `enough` of them to be confirmed.
    fn tried(&mut self, slot: Slot, m: &Measurement, spot: Spot, enough: bool) -> Outcome {
        if !(enough && self.is_probable(slot, m)) {
            self.clutter.add(spot, 1.0, &self.settings.clutter);
            self.count(slot, spot);
            return Outcome::Tentative(slot);
        }
        let counted = self.believe(slot);
        for counted in counted {
            self.clutter.take_back(counted, m.time_s, &self.settings.clutter);
        }
        self.counts.confirmed += 1;
        self.counts.recalled += u64::from(self.table.recall(slot, &self.motion()));
        self.table.learn_level(slot);
        self.counts.updates += 1;
        Outcome::Updated(slot)
    }

    /// A confirmed track got a plot, which is its own as far as `trust` says.
    fn updated(&mut self, slot: Slot, m: &Measurement, spot: Spot, trust: f64) -> Outcome {
        if trust < 1.0 {
            #[allow(clippy::cast_possible_truncation)] // in [0, 1]
            self.clutter.add(spot, (1.0 - trust) as f32, &self.settings.clutter);
        }
        self.coverage.chance(m.radar, spot.offset, m.flight_level, true);
        self.table.learn_level(slot);
        self.counts.updates += 1;
        Outcome::Updated(slot)
    }

    /// Begins a track, whose odds are less by `doubt`.
    fn initiate(&mut self, m: &Measurement, doubt: f64) -> Outcome {
        let Settings { initiation, clutter, outliers, .. } = self.settings;
        let (spot, period_s) = (self.table.spot(m), self.table.period_s(m.radar));
        let clutter_m2 = self.clutter.density(spot, &[], period_s, &clutter);
        let existence = Existence::new(clutter_m2, period_s, &initiation).doubted(doubt);
        // Nothing tells yet whether it is an outlier.
        let doubtful = Measurement { covariance: m.covariance * outliers.variance(), ..*m };
        let Some(slot) = self.table.insert(&doubtful, &self.motion(), existence) else {
            self.counts.full += 1;
            return Outcome::Full;
        };
        self.clutter.add(spot, 1.0, &clutter);
        self.count(slot, spot);
        self.counts.initiated += 1;
        Outcome::Initiated(slot)
    }

    /// Remembers with a track that its plot is counted as false.
    fn count(&mut self, slot: Slot, spot: Spot) {
        if let Some(Some(track)) = self.table.slots.get_mut(slot as usize) {
            track.count(spot);
        }
    }

    /// Takes a track for that of an aircraft; gives its plots that were counted as false.
    fn believe(&mut self, slot: Slot) -> Vec<Spot> {
        let Some(Some(track)) = self.table.slots.get_mut(slot as usize) else { return Vec::new() };
        track.phase = Phase::Confirmed;
        std::mem::take(&mut track.counted)
    }

    /// Whether a tentative track, updated by `m`, is likely enough of an aircraft. Radars that should
    /// have seen it and have not count against it.
    fn is_probable(&self, slot: Slot, m: &Measurement) -> bool {
        let Some(track) = self.table.track(slot) else { return false };
        let (existence, initiation) = (track.existence, &self.settings.initiation);
        if existence.probability() < initiation.probability {
            return false;
        }
        let coded = self.table.spot(m).coded;
        let position = track.estimate().position;
        let mut doubt = 0.0;
        for radar in self.table.radars_heard() {
            let offset = position - self.table.stand(radar);
            let usable = track.seen_by(radar).is_none()
                && !self.table.is_silent(radar, m.time_s)
                && self.table.reaches(radar, offset)
                && (coded || self.clutter.has_primary(radar));
            if usable {
                let turns = (m.time_s - track.born_s) / self.table.period_s(radar);
                let sees = self.coverage.probability(radar, offset, m.flight_level);
                doubt += Existence::doubt(turns, sees, initiation);
            }
        }
        existence.probability_without(doubt) >= initiation.probability
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracker::identity::Identity;
    use crate::tracker::linear::{Sym2, Vec2};

    const PERIOD_S: f64 = 8.0;

    fn plot(time_s: f64, x_m: f64, y_m: f64, address: Option<u32>) -> Measurement {
        Measurement {
            radar: 0,
            time_s,
            position: Vec2::new(x_m, y_m),
            covariance: Sym2::isotropic(100.0 * 100.0),
            identity: Identity { address, ..Identity::default() },
            flight_level: None,
            slant: None,
        }
    }

    fn take(tracker: &mut Tracker, plots: &[Measurement]) {
        tracker.begin_block(plots.len());
        (0..plots.len()).for_each(|index| {
            tracker.correlate(plots, index);
        });
    }

    /// An aircraft with an address that flies east at 100 m/s, seen for five turns; and where it is at the
    /// end of the seventh, the sixth being missed.
    fn followed() -> (Tracker, Measurement) {
        let mut tracker = Tracker::new(Settings::default());
        tracker.set_period(0, PERIOD_S);
        let own = |turn: u32| {
            let time_s = PERIOD_S * f64::from(turn);
            plot(time_s, 60_000.0 + 100.0 * time_s, 0.0, Some(0x3C_6444))
        };
        for turn in 0..5 {
            take(&mut tracker, &[own(turn)]);
            tracker.advance(own(turn).time_s, |_| {});
        }
        (tracker, own(6))
    }

    fn where_it_is(tracker: &Tracker) -> Vec<Vec2> {
        let named = tracker.tracks().filter(|t| t.identity.address == Some(0x3C_6444));
        named.map(|track| track.estimate().position).collect()
    }

    #[test]
    fn a_plot_without_identity_is_given_back_when_the_tracks_own_comes_in_the_same_turn() {
        for in_one_block in [true, false] {
            let (mut tracker, own) = followed();
            let bare = plot(own.time_s - 0.1, own.position.x, 700.0, None);
            if in_one_block {
                take(&mut tracker, &[bare, own]);
            } else {
                take(&mut tracker, &[bare]);
                assert!(where_it_is(&tracker)[0].y > 100.0, "nothing tells yet whose it is");
                take(&mut tracker, &[own]);
            }
            let found = where_it_is(&tracker);
            assert!(found.len() == 1 && (found[0] - own.position).norm() < 20.0, "{found:?}");
            assert_eq!((tracker.counts().taken_back, tracker.counts().repeated), (1, 0));
            let others = tracker.tracks().filter(|t| t.identity.is_empty());
            assert_eq!(others.map(|t| t.estimate().position).collect::<Vec<_>>(), [bare.position]);
        }
    }

    /// A turn later it is too late: what the track took in is part of it.
    #[test]
    fn nothing_is_given_back_of_an_earlier_turn() {
        let (mut tracker, own) = followed();
        take(&mut tracker, &[plot(own.time_s - PERIOD_S, own.position.x - 800.0, 300.0, None)]);
        take(&mut tracker, &[own]);
        assert_eq!(tracker.counts().taken_back, 0);
        assert_eq!(tracker.tracks().count(), 1);
    }

    #[test]
    fn a_track_that_only_others_plots_feed_keeps_no_address_that_is_heard_elsewhere() {
        let (mut tracker, own) = followed();
        // Somebody without a transponder leads the track away, and its own plots come far from there.
        for turn in 0..6 {
            let time_s = own.time_s + PERIOD_S * f64::from(turn);
            let far_m = 100.0 * (time_s - own.time_s);
            take(&mut tracker, &[plot(time_s, own.position.x, 600.0 + 3.0 * far_m, None)]);
            let away = plot(time_s + 1.0, own.position.x + 12_000.0, 0.0, Some(0x3C_6444));
            take(&mut tracker, &[away]);
        }
        let found = where_it_is(&tracker);
        assert!(found.len() == 1 && found[0].y.abs() < 100.0, "{found:?}");
    }
}
