//! Track numbers of another tracker on the same plots, for a standby that is to go on with them.

use super::core::Tracker;
use super::identity::{Identity, Match};
use super::linear::Vec2;
use super::table::{Slot, TrackTable};

/// A track of the same code, or of none, is the same aircraft's within this, m: both trackers have
/// the same plots, one perhaps a plot more.
const SAME_M: f64 = 2_000.0;
/// A track that already has the number keeps it within this, m.
const KEPT_M: f64 = 5_000.0;
/// Levels that differ by more are of two aircraft, hundreds of feet.
const LEVELS_APART: f64 = 10.0;

/// A track of the other tracker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foreign {
    /// Its number.
    pub number: u16,
    /// Time of its position, tracker's seconds.
    pub time_s: f64,
    /// Position in the plane, m.
    pub position: Vec2,
    /// Identity of the aircraft.
    pub identity: Identity,
    /// Hundreds of feet.
    pub level: Option<f64>,
}

impl Tracker {
    /// Gives the own track of the aircraft that `foreign` follows its number; whoever had that gets
    /// a new one. False where no own track follows it.
    pub fn follow(&mut self, foreign: &Foreign) -> bool {
        let Some(slot) = self.own(foreign) else {
            self.table.numbered(foreign.number);
            return false;
        };
        self.table.renumber(slot, foreign.number);
        true
    }

    /// The own track of the aircraft that `foreign` follows: by address, else the one that has the
    /// number already, else the nearest one that can be it.
    fn own(&self, foreign: &Foreign) -> Option<Slot> {
        let named = foreign.identity.address.and_then(|a| self.table.by_address.get(&a));
        if named.is_some() {
            return named.copied();
        }
        let apart = |slot: Slot| {
            let track = self.table.track(slot)?;
            let alike = !matches!(
                track.identity.compare(&foreign.identity),
                Match::Different | Match::Unlike
            );
            let levels = track.vertical.map(|v| v.level_at(foreign.time_s)).zip(foreign.level);
            let level = levels.is_none_or(|(own, other)| (own - other).abs() < LEVELS_APART);
            let expected = track.expected_at(foreign.time_s, &self.settings.motion).position;
            (alike && level).then(|| (expected - foreign.position).norm())
        };
        let mut nearest: Option<(f64, Slot)> = None;
        self.table.grid.near(foreign.position, KEPT_M, |slot| {
            let Some(apart_m) = apart(slot) else { return };
            let has_it = self.table.track(slot).is_some_and(|t| t.number == foreign.number);
            let rank = if has_it && apart_m < KEPT_M {
                0.0
            } else if apart_m < SAME_M {
                apart_m + 1.0
            } else {
                return;
            };
            if nearest.is_none_or(|(best, _)| rank < best) {
                nearest = Some((rank, slot));
            }
        });
        nearest.map(|(_, slot)| slot)
    }
}

impl TrackTable {
    /// Gives the track in `slot` a number; another track that has it gets a new one.
    fn renumber(&mut self, slot: Slot, number: u16) {
        let Some(Some(track)) = self.slots.get(slot as usize) else { return };
        let before = track.number;
        if before == number || number == 0 {
            return;
        }
        if self.is_in_use(number) {
            self.remembered.drop_number(number);
            if self.slots.iter().flatten().any(|track| track.number == number) {
                let fresh = self.new_number();
                let holder = self.slots.iter_mut().flatten().find(|t| t.number == number);
                holder.into_iter().for_each(|holder| holder.number = fresh);
            }
        }
        if let Some(Some(track)) = self.slots.get_mut(slot as usize) {
            track.number = number;
        }
        self.set_in_use(before, self.remembered.has(before));
        self.set_in_use(number, true);
        self.numbered(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracker::linear::Sym2;
    use crate::tracker::{Measurement, Settings};

    fn plot(time_s: f64, north_m: f64, address: Option<u32>) -> Measurement {
        Measurement {
            radar: 0,
            time_s,
            position: Vec2::new(200.0 * time_s, north_m),
            covariance: Sym2::isotropic(2_500.0),
            identity: Identity { address, ..Identity::default() },
            flight_level: Some(330.0),
            slant: None,
        }
    }

    /// Two aircraft, one with an address, 30 km apart.
    fn tracker() -> Tracker {
        let mut tracker = Tracker::new(Settings::default());
        for turn in 0..4 {
            let time_s = 6.0 * f64::from(turn);
            let block = [plot(time_s, 0.0, Some(7)), plot(time_s, 30_000.0, None)];
            tracker.begin_block(2);
            for index in 0..2 {
                let _ = tracker.correlate(&block, index);
            }
        }
        tracker
    }

    fn foreign(number: u16, north_m: f64, address: Option<u32>) -> Foreign {
        let plot = plot(20.0, north_m, address);
        Foreign {
            number,
            time_s: plot.time_s,
            position: plot.position,
            identity: plot.identity,
            level: plot.flight_level,
        }
    }

    fn numbers(tracker: &Tracker) -> Vec<u16> {
        tracker.tracks().map(|track| track.number).collect()
    }

    #[test]
    fn tracks_take_the_numbers_of_the_other_by_address_and_by_place() {
        let mut tracker = tracker();
        assert_eq!(numbers(&tracker), [1, 2]);
        // The other has the first aircraft's number for the second one, and far off none of ours.
        assert!(tracker.follow(&foreign(1, 30_400.0, None)));
        assert!(tracker.follow(&foreign(900, 0.0, Some(7))));
        assert!(!tracker.follow(&foreign(901, 80_000.0, None)));
        assert_eq!(numbers(&tracker), [900, 1]);
        // Again and again the same, and what begins now has a number that nobody had.
        assert!(tracker.follow(&foreign(1, 30_400.0, None)));
        assert_eq!(numbers(&tracker), [900, 1]);
        tracker.begin_block(1);
        let _ = tracker.correlate(&[plot(24.0, -90_000.0, None)], 0);
        assert_eq!(numbers(&tracker), [900, 1, 902]);
    }

    #[test]
    fn another_level_is_another_aircraft() {
        let mut tracker = tracker();
        let low = Foreign { level: Some(120.0), ..foreign(50, 30_000.0, None) };
        assert!(!tracker.follow(&low));
        assert_eq!(numbers(&tracker), [1, 2]);
    }
}
