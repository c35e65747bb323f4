//! The tracker proper: plots in, tracks out. No input or output, no clock.

use super::association::{Decision, Scratch};
use super::grid::Grid;
use super::identity::Match;
use super::imm::MotionModel;
use super::linear::Vec2;
use super::slower;
use super::track::{Measurement, Phase, Track};
use std::collections::HashMap;

/// Name of a track inside the tracker: its place in the table. Reused after its end.
pub type Slot = u32;

/// Settings of the tracker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Motion of aircraft.
    pub motion: MotionModel,
    /// Plots needed to believe a track: the M of "M of N".
    pub confirm_hits: u32,
    /// Opportunities within which they have to come: the N.
    pub confirm_scans: f64,
    /// Addition to both while no plot has carried an address or a code: clutter is anonymous, and
    /// several radars' clutter lines up by chance.
    pub anonymous_extra: u32,
    /// Largest mean distance of the plots of such a track from their predictions at which the track
    /// is confirmed, squared Mahalanobis distance. An aircraft's is 2 on average; where clutter is
    /// dense there is always another plot within the gate, but seldom a near one.
    pub anonymous_misfit: f64,
    /// A confirmed track ends after so many antenna turns (of the fastest radar that sees it)
    /// without a plot, …
    pub coast_turns: f64,
    /// … but not before this many seconds …
    pub coast_s_min: f64,
    /// … and at the latest after this many.
    pub coast_s_max: f64,
    /// Plots older than this compared with their track are of no use, s.
    pub late_s_max: f64,
    /// Squared Mahalanobis distance within which a plot may belong to a track. 16 would keep all
    /// but 1 in 3000 (chi-square, two degrees of freedom) of the straight flights; who begins to
    /// turn between two plots of a slow radar needs 36.
    pub gate: f64,
    /// Gate where both have the same discrete Mode A code: wide enough for the sharpest turn.
    pub gate_same_code: f64,
    /// Gate where the address matches: only the impossible is refused.
    pub gate_same_address: f64,
    /// A radar that sees an aircraft is expected to see it again after this many of its turns; a
    /// quarter more than one, for the sector that is on its way and the flight in between.
    pub expected_turns: f64,
    /// Antenna period assumed until a radar's own is known, s.
    pub period_s: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            motion: MotionModel::default(),
            confirm_hits: 3,
            confirm_scans: 5.0,
            anonymous_extra: 3,
            anonymous_misfit: 5.0,
            coast_turns: 5.0,
            coast_s_min: 15.0,
            coast_s_max: 60.0,
            late_s_max: 10.0,
            gate: 36.0,
            gate_same_code: 50.0,
            gate_same_address: 150.0,
            expected_turns: 1.25,
            period_s: 6.0,
        }
    }
}

impl Settings {
    fn extra_hits(&self, track: &Track) -> u32 {
        let anonymous = track.identity.address.is_none() && track.identity.mode_3a.is_none();
        if anonymous { self.anonymous_extra } else { 0 }
    }
}

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

/// Most tracks at a time; numbers are 16 bits wide and must not be reused too soon.
pub const TRACKS_MAX: usize = 20_000;

/// Side of a cell of the grid, m.
const CELL_M: f64 = 10_000.0;
/// Largest distance of a plot from the last updated position of its track, m: half a minute of
/// flight at 300 m/s, or a minute at the usual speeds.
pub(super) const REACH_M: f64 = 10_000.0;

/// The multi-radar tracker.
#[derive(Debug)]
pub struct Tracker {
    pub(super) settings: Settings,
    pub(super) tracks: Vec<Option<Track>>,
    free: Vec<Slot>,
    pub(super) grid: Grid,
    pub(super) by_address: HashMap<u32, Slot>,
    /// Antenna period by radar, s; 0 where not known.
    periods_s: [f64; 256],
    number_in_use: Vec<bool>,
    next_number: u16,
    alive: usize,
    counts: Counts,
    pub(super) scratch: Scratch,
}

impl Tracker {
    /// An empty tracker.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            tracks: Vec::new(),
            free: Vec::new(),
            // 2,560 km a side: any national airspace, and the rim keeps what lies beyond.
            grid: Grid::new(256, CELL_M),
            by_address: HashMap::new(),
            periods_s: [0.0; 256],
            number_in_use: vec![false; usize::from(u16::MAX) + 1],
            next_number: 1,
            alive: 0,
            counts: Counts::default(),
            scratch: Scratch::default(),
        }
    }

    /// Settings of the tracker.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Tells the antenna period of a radar, s.
    pub fn set_period(&mut self, radar: u8, period_s: f64) {
        if (0.5..=60.0).contains(&period_s) {
            self.periods_s[usize::from(radar)] = period_s;
        }
    }

    /// Counts so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The track in `slot`, if one lives there.
    pub fn track(&self, slot: Slot) -> Option<&Track> {
        self.tracks.get(slot as usize)?.as_ref()
    }

    /// All living tracks.
    pub fn tracks(&self) -> impl Iterator<Item = &Track> {
        self.tracks.iter().flatten()
    }

    /// Believed tracks now.
    pub fn confirmed_count(&self) -> usize {
        self.tracks().filter(|t| t.phase == Phase::Confirmed).count()
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
        match self.decide(block, index) {
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
        for index in 0..self.tracks.len() {
            let Some(track) = &self.tracks[index] else { continue };
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
            if let Some(track) = self.remove(slot)
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
        for index in 0..self.tracks.len() {
            let Some(track) = &self.tracks[index] else { continue };
            let told = track.phase == Phase::Confirmed && track.announced;
            if !told || !self.is_overdue(track, now_s) {
                continue;
            }
            if let Some(track) = &mut self.tracks[index] {
                track.extrapolated_s = Some(now_s);
                self.counts.extrapolated += 1;
                #[allow(clippy::cast_possible_truncation)] // at most TRACKS_MAX
                update(index as Slot);
            }
        }
    }

    /// Marks a track as known to subscribers.
    pub fn announce(&mut self, slot: Slot) {
        if let Some(Some(track)) = self.tracks.get_mut(slot as usize) {
            track.announced = true;
        }
    }

    /// Antenna period of a radar, s, or the assumed one.
    pub(super) fn period_s(&self, radar: u8) -> f64 {
        match self.periods_s[usize::from(radar)] {
            0.0 => self.settings.period_s,
            known => known,
        }
    }

    fn take(&mut self, slot: Slot, m: &Measurement) -> Outcome {
        let settings = self.settings;
        let Some(Some(track)) = self.tracks.get_mut(slot as usize) else {
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
        track.cell = self.grid.relocate(slot, track.cell, position);
        if let (None, Some(address)) = (address_before, track.identity.address) {
            self.by_address.entry(address).or_insert(slot);
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
        if self.alive >= TRACKS_MAX {
            self.counts.full += 1;
            return Outcome::Full;
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.tracks.push(None);
            #[allow(clippy::cast_possible_truncation)] // at most TRACKS_MAX
            let last = (self.tracks.len() - 1) as Slot;
            last
        });
        let number = self.new_number();
        let cell = self.grid.insert(slot, m.position);
        let track = Track::new(number, m, &self.settings.motion, cell);
        if let Some(address) = m.identity.address {
            self.by_address.entry(address).or_insert(slot);
        }
        self.tracks[slot as usize] = Some(track);
        self.alive += 1;
        self.counts.initiated += 1;
        Outcome::Initiated(slot)
    }

    fn remove(&mut self, slot: Slot) -> Option<Track> {
        let track = self.tracks[slot as usize].take()?;
        self.grid.remove(slot, track.cell);
        if let Some(address) = track.identity.address
            && self.by_address.get(&address) == Some(&slot)
        {
            self.by_address.remove(&address);
        }
        self.number_in_use[usize::from(track.number)] = false;
        self.free.push(slot);
        self.alive -= 1;
        Some(track)
    }

    /// The next number not in use, going round: one just freed comes back last. Never 0.
    fn new_number(&mut self) -> u16 {
        // TRACKS_MAX is far below 65,535, so a free one is always found.
        while self.number_in_use[usize::from(self.next_number)] || self.next_number == 0 {
            self.next_number = self.next_number.wrapping_add(1);
        }
        let number = self.next_number;
        self.number_in_use[usize::from(number)] = true;
        self.next_number = self.next_number.wrapping_add(1);
        number
    }

    /// Whether a tentative track has missed too many chances: each turn of each radar that has
    /// seen it is one.
    fn is_hopeless(&self, track: &Track, now_s: f64) -> bool {
        let age_s = now_s - track.born_s;
        let turns: f64 = track.sightings.iter().map(|s| age_s / self.period_s(s.radar)).sum();
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
        track.seeing().map(|s| self.period_s(s.radar)).fold(f64::INFINITY, f64::min)
    }

    /// Whether a track coasts and its next extrapolation is due.
    fn is_overdue(&self, track: &Track, now_s: f64) -> bool {
        match track.extrapolated_s {
            // Half a second early is nearer than a whole step of callers that call once a second.
            Some(last_s) => now_s - last_s >= self.fastest_period_s(track) - 0.5,
            None => track
                .seeing()
                .all(|s| now_s - s.time_s > self.settings.expected_turns * self.period_s(s.radar)),
        }
    }

    /// Whether the track in `slot` follows the same aircraft as an older one, and has for some
    /// time. Counts a vote on the way.
    fn is_twin(&mut self, slot: Slot) -> bool {
        let Some(Some(track)) = self.tracks.get(slot as usize) else { return false };
        let state = track.estimate();
        let mut found = false;
        let mut certain = false;
        self.grid.near(state.position, 2_000.0, |other_slot| {
            if found || other_slot == slot {
                return;
            }
            let Some(Some(other)) = self.tracks.get(other_slot as usize) else { return };
            let older = (other.phase == Phase::Confirmed, other.hits, other_slot)
                > (track.phase == Phase::Confirmed, track.hits, slot);
            if older && self.look_the_same(track, other, state.position) {
                found = true;
                certain = track.identity.compare(&other.identity) == Match::Same;
            }
        });
        let Some(Some(track)) = self.tracks.get_mut(slot as usize) else { return false };
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
            b.seen_by(s.radar).is_some_and(|t| (t - s.time_s).abs() < 0.3 * self.period_s(s.radar))
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
