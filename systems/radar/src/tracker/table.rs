//! The tracks of a tracker: by slot, by place and by address, with the antenna periods of the radars
//! that see them.

use super::clutter::Spot;
use super::existence::Existence;
use super::grid::Grid;
use super::imm::MotionModel;
use super::linear::Vec2;
use super::measurement::Measurement;
use super::remembered::Remembered;
use super::track::Track;
use super::traffic_levels::TrafficLevels;
use std::collections::HashMap;

/// Name of a track inside the tracker: its place in the table. Reused after its end.
pub type Slot = u32;

/// Most tracks at a time; numbers are 16 bits wide and must not be reused too soon.
pub const TRACKS_MAX: usize = 20_000;

/// Side of a cell of the grid, m.
const CELL_M: f64 = 10_000.0;
/// Largest distance of a plot from the last updated position of its track, m: half a minute of
/// flight at 300 m/s, or a minute at the usual speeds.
pub(super) const REACH_M: f64 = 10_000.0;

/// All living tracks.
#[derive(Debug)]
pub(super) struct TrackTable {
    pub(super) slots: Vec<Option<Track>>,
    free: Vec<Slot>,
    pub(super) grid: Grid,
    pub(super) by_address: HashMap<u32, Slot>,
    /// Antenna period by radar, s; 0 where not known.
    periods_s: [f64; 256],
    /// Where each radar stands, and when its latest plot was, s; as far as known.
    stands: Vec<Option<Vec2>>,
    heard_s: Vec<f64>,
    /// Distance of the furthest plot by radar, m.
    reaches_m: Vec<f64>,
    /// Whether a radar ever sent a code or an address.
    codes: Vec<bool>,
    /// Whether a radar gives addresses.
    addresses: Vec<bool>,
    pub(super) remembered: Remembered,
    pub(super) traffic: TrafficLevels,
    assumed_period_s: f64,
    number_in_use: Vec<bool>,
    next_number: u16,
    alive: usize,
}

impl TrackTable {
    /// No tracks. `assumed_period_s` is the antenna period of a radar whose own is not known.
    pub(super) fn new(assumed_period_s: f64) -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            // 2,560 km a side: any national airspace, and the rim keeps what lies beyond.
            grid: Grid::new(256, CELL_M),
            by_address: HashMap::new(),
            periods_s: [0.0; 256],
            stands: vec![None; 256],
            heard_s: vec![f64::NEG_INFINITY; 256],
            reaches_m: vec![0.0; 256],
            codes: vec![false; 256],
            addresses: vec![false; 256],
            remembered: Remembered::default(),
            traffic: TrafficLevels::default(),
            assumed_period_s,
            number_in_use: vec![false; usize::from(u16::MAX) + 1],
            next_number: 1,
            alive: 0,
        }
    }

    /// The track in `slot`, if one lives there.
    pub(super) fn track(&self, slot: Slot) -> Option<&Track> {
        self.slots.get(slot as usize)?.as_ref()
    }

    pub(super) fn set_period(&mut self, radar: u8, period_s: f64) {
        self.periods_s[usize::from(radar)] = period_s;
    }

    /// Antenna period of a radar, s, or the assumed one.
    pub(super) fn period_s(&self, radar: u8) -> f64 {
        match self.periods_s[usize::from(radar)] {
            0.0 => self.assumed_period_s,
            known => known,
        }
    }

    /// Takes in from where and when a radar saw something.
    pub(super) fn heard(&mut self, m: &Measurement) {
        let radar = usize::from(m.radar);
        self.stands[radar] = m.slant.map(|slant| slant.from).or(self.stands[radar]);
        self.heard_s[radar] = self.heard_s[radar].max(m.time_s);
        let far_m = (m.position - self.stand(m.radar)).norm();
        self.reaches_m[radar] = self.reaches_m[radar].max(far_m);
        self.codes[radar] |= !m.identity.is_empty();
        self.addresses[radar] |= m.identity.address.is_some();
    }

    /// Whether a plot without code and address is of an aircraft with them only by way of exception:
    /// its radar hears transponders.
    pub(super) fn is_bare(&self, track: &Track, m: &Measurement) -> bool {
        m.identity.is_empty()
            && m.flight_level.is_none()
            && !track.identity.is_empty()
            && self.codes[usize::from(m.radar)]
    }

    /// Whether a plot is the first with a code, or with an address, of a track whose radars hear
    /// transponders, or ask them for addresses.
    pub(super) fn is_first_answer(&self, track: &Track, m: &Measurement) -> bool {
        let all = |of: &[bool]| track.sightings.iter().all(|s| of[usize::from(s.radar)]);
        let known = &track.identity;
        let silent = known.is_empty() && track.vertical.is_none();
        let address = m.identity.address.is_some() && known.address.is_none();
        (!m.identity.is_empty() && silent && all(&self.codes)) || (address && all(&self.addresses))
    }

    /// Learns at which level an aircraft of its speed flies from the track in `slot`.
    pub(super) fn learn_level(&mut self, slot: Slot) {
        if let Some(Some(track)) = self.slots.get(slot as usize)
            && let Some(level) = track.known_level()
        {
            self.traffic.add(track.speed(), level);
        }
    }

    /// All radars of which there was a plot. Sensors of other kinds, which have no range, are none.
    pub(super) fn radars_heard(&self) -> impl Iterator<Item = u8> {
        let stands = (0..=u8::MAX).zip(&self.stands);
        stands.filter(|(_, stand)| stand.is_some()).map(|(radar, _)| radar)
    }

    /// Whether a place at `offset` from a radar is within its range.
    pub(super) fn reaches(&self, radar: u8, offset: Vec2) -> bool {
        offset.norm_squared() < (0.98 * self.reaches_m[usize::from(radar)]).powi(2)
    }

    /// Where a radar stands; the middle of the plane where that is not known.
    pub(super) fn stand(&self, radar: u8) -> Vec2 {
        self.stands[usize::from(radar)].unwrap_or_default()
    }

    /// Whether nothing at all comes from a radar.
    pub(super) fn is_silent(&self, radar: u8, now_s: f64) -> bool {
        now_s - self.heard_s[usize::from(radar)] > 1.5 * self.period_s(radar) + 2.0
    }

    /// Where a plot is in the clutter maps.
    pub(super) fn spot(&self, m: &Measurement) -> Spot {
        let offset = m.position - self.stand(m.radar);
        Spot { radar: m.radar, coded: !m.identity.is_empty(), offset, time_s: m.time_s }
    }

    /// Begins a track; `None` where there are [`TRACKS_MAX`] already.
    pub(super) fn insert(
        &mut self,
        m: &Measurement,
        motion: &MotionModel,
        existence: Existence,
    ) -> Option<Slot> {
        if self.alive >= TRACKS_MAX {
            return None;
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            #[allow(clippy::cast_possible_truncation)] // at most TRACKS_MAX
            let last = (self.slots.len() - 1) as Slot;
            last
        });
        let number = self.new_number();
        let cell = self.grid.insert(slot, m.position);
        let period_s = self.period_s(m.radar);
        let track = Track::new(number, m, (motion, period_s), cell, existence);
        if let Some(address) = m.identity.address {
            self.by_address.entry(address).or_insert(slot);
        }
        self.slots[slot as usize] = Some(track);
        self.alive += 1;
        Some(slot)
    }

    /// Takes note that the track in `slot` was heard with an address. One that had it before, and was not
    /// heard with it since `since_s`, follows somebody else's plots: nothing is known of who that is.
    pub(super) fn addressed(&mut self, slot: Slot, address: u32, since_s: f64) {
        let Some(before) = self.by_address.insert(address, slot).filter(|s| *s != slot) else {
            return;
        };
        if let Some(Some(other)) = self.slots.get_mut(before as usize)
            && other.named_s < since_s
        {
            other.forget_identity();
        }
    }

    /// Ends the track in `slot`.
    pub(super) fn remove(&mut self, slot: Slot) -> Option<Track> {
        let track = self.slots[slot as usize].take()?;
        self.grid.remove(slot, track.cell);
        if let Some(address) = track.identity.address
            && self.by_address.get(&address) == Some(&slot)
        {
            self.by_address.remove(&address);
        }
        if !self.remembered.has(track.number) {
            self.number_in_use[usize::from(track.number)] = false;
        }
        self.free.push(slot);
        self.alive -= 1;
        Some(track)
    }

    /// Remembers a track that ends; call before [`TrackTable::remove`].
    pub(super) fn remember(&mut self, track: &Track) {
        if let Some(forgotten) = self.remembered.add(track) {
            self.number_in_use[usize::from(forgotten)] = false;
        }
    }

    /// Forgets ended tracks of before `since_s`; their numbers are free.
    pub(super) fn forget(&mut self, since_s: f64) {
        for number in self.remembered.forget(since_s) {
            self.number_in_use[usize::from(number)] = false;
        }
    }

    /// Gives the track in `slot`, just believed, the number of the track that it goes on with.
    pub(super) fn recall(&mut self, slot: Slot, motion: &MotionModel) -> bool {
        let Some(Some(track)) = self.slots.get_mut(slot as usize) else { return false };
        let hears = track.sightings.iter().all(|s| self.codes[usize::from(s.radar)]);
        let Some(number) = self.remembered.take(track, motion, hears) else { return false };
        self.number_in_use[usize::from(track.number)] = false;
        track.number = number;
        true
    }

    /// Whether a living or a remembered track has a number.
    pub(super) fn is_in_use(&self, number: u16) -> bool {
        self.number_in_use[usize::from(number)]
    }

    pub(super) fn set_in_use(&mut self, number: u16, in_use: bool) {
        self.number_in_use[usize::from(number)] = in_use;
    }

    /// Takes note that another tracker has given a number: ours go on after it.
    pub(super) fn numbered(&mut self, number: u16) {
        if number.wrapping_sub(self.next_number) < u16::MAX / 2 {
            self.next_number = number.wrapping_add(1);
        }
    }

    /// The next number not in use, going round: one just freed comes back last. Never 0.
    pub(super) fn new_number(&mut self) -> u16 {
        // TRACKS_MAX is far below 65,535, so a free one is always found.
        while self.number_in_use[usize::from(self.next_number)] || self.next_number == 0 {
            self.next_number = self.next_number.wrapping_add(1);
        }
        let number = self.next_number;
        self.number_in_use[usize::from(number)] = true;
        self.next_number = self.next_number.wrapping_add(1);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracker::identity::Identity;
    use crate::tracker::linear::Sym2;
    use crate::tracker::settings::Initiation;

    #[test]
    fn who_had_a_code_comes_back_with_one() {
        let plot = |x_m: f64, time_s: f64, mode_3a: Option<u16>| Measurement {
            radar: 0,
            time_s,
            position: Vec2::new(x_m, 0.0),
            covariance: Sym2::isotropic(150.0 * 150.0),
            identity: Identity { mode_3a, ..Identity::default() },
            flight_level: None,
            slant: None,
        };
        let motion = MotionModel::default();
        let existence = Existence::new(1e-10, 8.0, &Initiation::default());
        let recalled = |radar_hears: bool, code: Option<u16>| {
            let mut table = TrackTable::new(8.0);
            if radar_hears {
                table.heard(&plot(90_000.0, 0.0, Some(0o4321)));
            }
            let slot = table.insert(&plot(0.0, 0.0, Some(0o1234)), &motion, existence).unwrap();
            let ended = table.track(slot).cloned().unwrap();
            table.remember(&ended);
            table.remove(slot);
            let slot = table.insert(&plot(500.0, 60.0, code), &motion, existence).unwrap();
            table.recall(slot, &motion)
        };
        assert!(recalled(true, Some(0o1234)) && recalled(false, Some(0o1234)));
        assert!(recalled(false, None), "the radar hears none");
        assert!(!recalled(true, None));
    }

    /// Who ended last is the likeliest to come back.
    #[test]
    fn beyond_the_most_that_are_remembered_the_oldest_is_forgotten() {
        let motion = MotionModel::default();
        let existence = Existence::new(1e-10, 8.0, &Initiation::default());
        let plot = |address: u32, time_s: f64| Measurement {
            radar: 0,
            time_s,
            position: Vec2::new(f64::from(address) * 50.0, 0.0),
            covariance: Sym2::isotropic(150.0 * 150.0),
            identity: Identity { address: Some(address), ..Identity::default() },
            flight_level: None,
            slant: None,
        };
        let mut table = TrackTable::new(8.0);
        for address in 1..=5_000 {
            let first = plot(address, f64::from(address) * 0.001);
            let slot = table.insert(&first, &motion, existence).unwrap();
            let ended = table.track(slot).cloned().unwrap();
            table.remember(&ended);
            table.remove(slot);
        }
        let mut comes_back = |address: u32| {
            let slot = table.insert(&plot(address, 20.0), &motion, existence).unwrap();
            let is_back = table.recall(slot, &motion);
            table.remove(slot);
            is_back
        };
        assert!(comes_back(5_000) && comes_back(1_000) && !comes_back(1));
        // Numbers of those that are forgotten are free.
        assert!(!table.is_in_use(1) && table.is_in_use(3_000));
    }
}
