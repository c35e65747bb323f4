//! The life of tracks without plots: coasting, ends and twins.

use super::core::Tracker;
use super::identity::Match;
use super::linear::Vec2;
use super::settings::Coasting;
use super::table::Slot;
use super::track::{Phase, Track};

/// A radar that has missed a track so often is no longer expected to see it.
const MISSED_MAX: u8 = 20;
/// Misses in a row that tell where a radar sees: after them the track may be elsewhere.
const MISSED_TOLD: u8 = 2;

impl Tracker {
    /// Ends tracks that were not seen for too long, as of `now_s`, and drops twins. `ended` gets
    /// every ended track that subscribers know.
    pub fn advance(&mut self, now_s: f64, mut ended: impl FnMut(&Track)) {
        let elapsed_s = (now_s - self.looked_s).clamp(0.0, 5.0);
        self.looked_s = now_s;
        self.table.forget(now_s - self.settings.coasting.remembered_s);
        for index in 0..self.table.slots.len() {
            #[allow(clippy::cast_possible_truncation)] // at most TRACKS_MAX
            let slot = index as Slot;
            if self.table.track(slot).is_none() {
                continue;
            }
            self.miss(slot, now_s, elapsed_s);
            let Some(track) = self.table.track(slot) else { continue };
            let phase = track.phase;
            let over = match phase {
                Phase::Tentative => track.existence.is_hopeless(track.sightings.len()),
                Phase::Confirmed => self.is_over(track, now_s),
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
            if let Some(track) = self.table.track(slot).filter(|t| over && t.announced).cloned() {
                self.table.remember(&track);
            }
            if let Some(track) = self.table.remove(slot)
                && track.announced
            {
                ended(&track);
            }
        }
    }

    /// Counts the turns in which radars should have seen a track and did not, as of `now_s`.
    fn miss(&mut self, slot: Slot, now_s: f64, elapsed_s: f64) {
        let Self { table, coverage, settings, .. } = self;
        let Some(track) = table.slots.get_mut(slot as usize).and_then(Option::take) else { return };
        let mut track = track;
        // Radars pass within a quarter of a turn of when they are due, and sectors are on their way.
        let is_due = |due_s: f64, period_s: f64| now_s > due_s + 0.25 * period_s + 0.5;
        let mut seen = false;
        let (level, confirmed) =
            (track.vertical.map(|v| v.level_at(now_s)), track.phase == Phase::Confirmed);
        let state = track.estimate();
        let (since_s, existence) = (track.time_s, &mut track.existence);
        for sighting in track.sightings.iter_mut().filter(|s| s.missed < MISSED_MAX) {
            let (radar, period_s) = (sighting.radar, table.period_s(sighting.radar));
            let offset_at =
                |at_s: f64| state.position + state.velocity * (at_s - since_s) - table.stand(radar);
            // A radar of which nothing comes says nothing about where it sees.
            let sees = coverage.sees(radar, offset_at(now_s), level);
            seen |= sees;
            let sees = sees && !table.is_silent(radar, now_s);
            while is_due(sighting.due_s, period_s) {
                let offset = offset_at(sighting.due_s);
                if sees {
                    if confirmed && sighting.missed < MISSED_TOLD {
                        coverage.chance(radar, offset, level, false);
                    }
                    existence.miss(&settings.initiation);
                    sighting.missed = sighting.missed.saturating_add(1);
                }
                sighting.due_s += period_s;
            }
        }
        if !seen {
            track.unseen_s += elapsed_s.min((now_s - since_s).max(0.0));
        }
        table.slots[slot as usize] = Some(track);
    }

    /// Whether a believed track has gone for too long without a plot, or is not of an aircraft.
    fn is_over(&self, track: &Track, now_s: f64) -> bool {
        let Coasting { turns, s_min, s_max, unseen_s_max, .. } = self.settings.coasting;
        let coast_s = (turns * self.fastest_period_s(track)).clamp(s_min, s_max);
        let without_s = now_s - track.time_s;
        // Whose transponder is not heard any more may follow false plots.
        let anonymous = track.identity.is_empty() || track.time_s - track.named_s > coast_s;
        // Where no radar sees, a false plot is taken for who is not there any more.
        let unseen_s = if anonymous { 0.0 } else { track.unseen_s.min(unseen_s_max) };
        let improbable =
            anonymous && track.existence.probability() < self.settings.initiation.probability_lost;
        without_s - unseen_s > coast_s || without_s > unseen_s_max.max(coast_s) || improbable
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

    /// Shortest antenna period of the radars that see a track, s.
    fn fastest_period_s(&self, track: &Track) -> f64 {
        track.seeing().map(|s| self.table.period_s(s.radar)).fold(f64::INFINITY, f64::min)
    }

    /// Whether a track coasts and its next extrapolation is due.
    fn is_overdue(&self, track: &Track, now_s: f64) -> bool {
        let expected_turns = self.settings.coasting.expected_turns;
        match track.extrapolated_s {
            // Half a second early is nearer than a whole step of callers that call once a second.
            Some(last_s) => now_s - last_s >= self.fastest_period_s(track) - 0.5,
            None => track
                .seeing()
                .all(|s| now_s - s.time_s > expected_turns * self.table.period_s(s.radar)),
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
