//! The tracker proper: plots in, tracks out. No input or output, no clock.

use super::association::{Association, Decision};
use super::identity::Match;
use super::linear::Vec2;
use super::settings::Settings;
use super::slower;
use super::table::{Slot, TrackTable};
use super::track::{Measurement, Phase, Track};

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
    settings: Settings,
    table: TrackTable,
    association: Association,
    counts: Counts,
}

impl Tracker {
    /// An empty tracker.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            table: TrackTable::new(settings.period_s),
            association: Association::default(),
            counts: Counts::default(),
        }
    }

    /// Settings of the tracker.
    pub fn settings(&self) -> &Settings {
        &self.settings
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
        match self.association.decide(&self.table, &self.settings, block, index) {
            Decision::Take(slot) => self.take(slot, m),
            Decision::Repeat => {
                self.counts.repeated += 1;
                Outcome::Repeated
            }
            Decision::Initiate => self.initiate(m),
        }
    }

    /// Ends tracks that were not seen for too long, as of `now_s`, and drops twins. `ended` gets
    /// every ended track that subscribers know.
    pub fn advance(&mut self, now_s: f64, mut ended: impl FnMut(&Track)) {
        for index in 0..self.table.slots.len() {
            let Some(track) = &self.table.slots[index] else { continue };
            #[allow(clippy::cast_possible_truncation)] // at most TRACKS_MAX
            let slot = index as Slot;
            let phase = track.phase;
            let over = match phase {
                Phase::Tentative => self.is_hopeless(track, now_s),
                Phase::Confirmed => now_s - track.time_s > self.coast_s(track),
            };
            let twin = !over && self.is_twin(slot);
            if !(over || twin) {
                continue;
            }
            match (twin, phase) {
                (true, _) => self.counts.merged += 1,
                (_, Phase::Tentative) => self.counts.abandoned += 1,
                (_, Phase::Confirmed) => self.counts.ended += 1,
            }
            if let Some(track) = self.table.remove(slot)
                && track.announced
            {
                ended(&track);
            }
        }
    }

    /// Finds the tracks that coast, as of `now_s`, and that subscribers have to be informed of
    /// again: `update` gets each, whose state remains that of its latest plot.
    ///
    /// A track coasts when each radar that sees it (that has seen it in the last 30 s before its
    /// latest plot) has missed it for more than a turn. It is extrapolated at once and then every
    /// turn of the fastest of these radars, until a plot comes or [`Tracker::advance`] ends it.
    pub fn coast(&mut self, now_s: f64, mut update: impl FnMut(Slot)) {
        for index in 0..self.table.slots.len() {
            let Some(track) = &self.table.slots[index] else { continue };
            let told = track.phase == Phase::Confirmed && track.announced;
            if !told || !self.is_overdue(track, now_s) {
                continue;
            }
            if let Some(track) = &mut self.table.slots[index] {
                track.extrapolated_s = Some(now_s);
                self.counts.extrapolated += 1;
                #[allow(clippy::cast_possible_truncation)] // at most TRACKS_MAX
                update(index as Slot);
            }
        }
    }

    /// Marks a track as known to subscribers.
    pub fn announce(&mut self, slot: Slot) {
        if let Some(Some(track)) = self.table.slots.get_mut(slot as usize) {
            track.announced = true;
        }
    }

    fn take(&mut self, slot: Slot, m: &Measurement) -> Outcome {
        let settings = self.settings;
        let table = &mut self.table;
        let Some(Some(track)) = table.slots.get_mut(slot as usize) else {
            return self.initiate(m);
        };
        if m.time_s < track.time_s - settings.late_s_max {
            self.counts.late += 1;
            return Outcome::Late;
        }
        let address_before = track.identity.address;
        if track.update(m, &settings.motion).is_none() {
            self.counts.broken += 1;
            return Outcome::Broken;
        }
        let position = track.estimate().position;
        track.cell = table.grid.relocate(slot, track.cell, position);
        if let (None, Some(address)) = (address_before, track.identity.address) {
            table.by_address.entry(address).or_insert(slot);
        }
        if track.phase == Phase::Tentative {
            let extra = settings.extra_hits(track);
            let fits =
                extra == 0 || track.misfit <= settings.anonymous_misfit * f64::from(track.hits);
            if track.hits < settings.confirm_hits + extra || !fits {
                return Outcome::Tentative(slot);
            }
            track.phase = Phase::Confirmed;
            self.counts.confirmed += 1;
        }
        self.counts.updates += 1;
        Outcome::Updated(slot)
    }

    fn initiate(&mut self, m: &Measurement) -> Outcome {
        let Some(slot) = self.table.insert(m, &self.settings.motion) else {
            self.counts.full += 1;
            return Outcome::Full;
        };
        self.counts.initiated += 1;
        Outcome::Initiated(slot)
    }

    /// Whether a tentative track has missed too many chances: each turn of each radar that has
    /// seen it is one.
    fn is_hopeless(&self, track: &Track, now_s: f64) -> bool {
        let age_s = now_s - track.born_s;
        let turns: f64 = track.sightings.iter().map(|s| age_s / self.table.period_s(s.radar)).sum();
        // The first plot is the first chance; half a turn for a plot that is on its way.
        let scans = self.settings.confirm_scans + f64::from(self.settings.extra_hits(track));
        turns + 1.0 > scans + 0.5
    }

    fn coast_s(&self, track: &Track) -> f64 {
        let period = self.fastest_period_s(track);
        let Settings { coast_turns, coast_s_min, coast_s_max, .. } = self.settings;
        (coast_turns * period).clamp(coast_s_min, coast_s_max)
    }

    /// Shortest antenna period of the radars that see a track, s.
    fn fastest_period_s(&self, track: &Track) -> f64 {
        track.seeing().map(|s| self.table.period_s(s.radar)).fold(f64::INFINITY, f64::min)
    }

    /// Whether a track coasts and its next extrapolation is due.
    fn is_overdue(&self, track: &Track, now_s: f64) -> bool {
        match track.extrapolated_s {
            // Half a second early is nearer than a whole step of callers that call once a second.
            Some(last_s) => now_s - last_s >= self.fastest_period_s(track) - 0.5,
            None => track.seeing().all(|s| {
                now_s - s.time_s > self.settings.expected_turns * self.table.period_s(s.radar)
            }),
        }
    }

    /// Whether the track in `slot` follows the same aircraft as an older one, and has for some
    /// time. Counts a vote on the way.
    fn is_twin(&mut self, slot: Slot) -> bool {
        let Some(Some(track)) = self.table.slots.get(slot as usize) else { return false };
        let state = track.estimate();
        let mut found = false;
        let mut certain = false;
        self.table.grid.near(state.position, 2_000.0, |other_slot| {
            if found || other_slot == slot {
                return;
            }
            let Some(Some(other)) = self.table.slots.get(other_slot as usize) else { return };
            let older = (other.phase == Phase::Confirmed, other.hits, other_slot)
                > (track.phase == Phase::Confirmed, track.hits, slot);
            if older && self.look_the_same(track, other, state.position) {
                found = true;
                certain = track.identity.compare(&other.identity) == Match::Same;
            }
        });
        let Some(Some(track)) = self.table.slots.get_mut(slot as usize) else { return false };
        track.twin_votes = if found { track.twin_votes + 1 } else { 0 };
        found && (certain || track.twin_votes >= 4)
    }

    fn look_the_same(&self, a: &Track, b: &Track, at: Vec2) -> bool {
        let same = match a.identity.compare(&b.identity) {
            Match::Different | Match::Unlike => return false,
            Match::Same => true,
            Match::Alike | Match::Open => false,
        };
        // One radar seeing both in one turn sees two aircraft.
        let both_seen = a.sightings.iter().any(|s| {
            b.seen_by(s.radar)
                .is_some_and(|t| (t - s.time_s).abs() < 0.3 * self.table.period_s(s.radar))
        });
        if both_seen && !same {
            return false;
        }
        let other = b.expected_at(a.time_s, &self.settings.motion);
        let apart = (other.position - at).norm();
        let levels = a
            .vertical
            .zip(b.vertical)
            .is_none_or(|(va, vb)| (va.level_at(a.time_s) - vb.level_at(a.time_s)).abs() < 5.0);
        let velocity = a.estimate();
        let drift = (velocity.velocity - other.velocity).norm();
        apart < 1_500.0 && levels && drift < 60.0 + 2.0 * velocity.vv.trace().sqrt()
    }
}
