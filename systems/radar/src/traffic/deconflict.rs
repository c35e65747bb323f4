//! Levels of composed traffic: flights that never met are separated as a control centre would have
//! separated them, so that a conflict alert in it means something.
//!
//! Each aircraft in turn is shifted as a whole by the fewest thousands of feet with which it is in no
//! conflict with another one: neither nearer than [`NEAR_NM`] within 1000 ft, nor on the way there within
//! [`AHEAD_S`] if both flew on as they do and levelled off at their cleared levels, which is what a
//! controller and a conflict alert look at. Where every shift leaves some conflict, by the one with the
//! shortest; who is left with one is shifted again when all others have their levels. Its climbs stay as
//! they were flown.

use super::aircraft::{Aircraft, Motion};
use crate::display::stca::{self, Minima};
use crate::geodesy::{METRES_PER_NM, Stereographic, Wgs84};
use std::collections::HashMap;

/// Aircraft are kept apart by level within this distance, NM: 5 NM and what two of them fly towards
/// each other in half a [`STEP_S`].
const NEAR_NM: f64 = 6.5;
/// Time from one look to the next, s.
const STEP_S: f64 = 10.0;
/// Difference in height that separates, ft: 1000 ft, less what Mode C rounds off.
const APART_FT: f64 = 900.0;
/// So far ahead a conflict is looked for, s: that of the alert.
const AHEAD_S: f64 = stca::AHEAD_S;
/// Shifts, in levels.
const SHIFT: f64 = 10.0;
/// Largest number of shifts downwards and upwards.
const SHIFTS: i32 = 20;
/// Shifted aircraft stay between these levels: below FL410 1000 ft separate.
const LEVELS: (f64, f64) = (100.0, 410.0);
/// A look at which two are too near counts as so many at which they will be.
const PRESENT: usize = 20;
/// How often those are shifted again that are left with a conflict.
const ROUNDS: usize = 2;
/// They are not where more than one aircraft of so many is: there is no room for all.
const CROWDED: usize = 5;
/// Climbs below this are level flight, ft/s: 300 ft/min.
const LEVEL_FT_S: f64 = 5.0;
/// No pair approaches faster, m/s.
const CLOSING_M_S: f64 = 600.0;
/// An aircraft is kept where it will be after this time, s: within [`AHEAD_S`] nobody is farther from there
/// in time.
const MIDWAY_S: f64 = AHEAD_S / 2.0;
/// Side of a cell, m: aircraft whose cells do not touch midway come too near neither now nor soon.
const CELL_M: f64 = NEAR_NM * METRES_PER_NM + CLOSING_M_S * MIDWAY_S;
/// Pairs farther apart than this at any time are not looked at closely, m: a metre more than decides.
const REACH_M: f64 = NEAR_NM * METRES_PER_NM + 1.0;
const MINIMA: Minima = Minima { horizontal_nm: NEAR_NM, vertical_ft: APART_FT, ahead_s: AHEAD_S };

/// Cell of a position.
type Cell = (i32, i32);

/// An aircraft at each look at which it is there.
type Looks = Vec<(usize, stca::Motion)>;

/// Motions of those that have their levels, each in the cell where it is midway.
struct Sky {
    plane: Stereographic,
    looks: usize,
    /// By look in each cell.
    cells: HashMap<Cell, Vec<Vec<stca::Motion>>>,
}

/// Two that come too near if both fly straight on, at whatever level.
struct Meeting<'a> {
    own: &'a stca::Motion,
    other: &'a stca::Motion,
    /// With so much between their heights now they are separated on all of the way, ft.
    apart_ft: f64,
}

/// Shifts the levels of `aircraft` that are flown again and again, the first ones least. All of them
/// repeat within `length_s` seconds.
pub(super) fn by_level(aircraft: &mut [Aircraft], centre: Wgs84, length_s: f64) {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some hundreds")]
    let looks = (length_s / STEP_S).ceil() as usize;
    let mut sky = Sky { plane: Stereographic::new(centre), looks, cells: HashMap::new() };
    let mut left: Vec<usize> = (0..aircraft.len()).collect();
    for round in 0..=ROUNDS {
        let mut again = Vec::new();
        for index in left {
            let one = &mut aircraft[index];
            let Motion::Flown { level_shift, .. } = &mut one.motion else { continue };
            *level_shift = 0.0;
            let motions = sky.motions(one, u16::try_from(index).unwrap_or(u16::MAX));
            if round > 0 {
                sky.take_out(&motions);
            }
            let (conflicts, shift) = sky.best_shift(&motions);
            if conflicts > 0 {
                again.push(index);
            }
            sky.put_in(&motions, shift);
            if let Motion::Flown { level_shift, .. } = &mut one.motion {
                *level_shift = shift;
            }
        }
        if again.len() * CROWDED > aircraft.len() {
            break;
        }
        left = again;
    }
}

impl Sky {
    /// The motions of an aircraft, each at a look: how it has flown since the look before, as a tracker
    /// would see it.
    fn motions(&self, one: &Aircraft, number: u16) -> Looks {
        let seen = |look: f64| {
            let state = one.at(look * STEP_S)?;
            Some((self.plane.project(state.position), state.flight_level))
        };
        let mut motions = Vec::new();
        let mut before = seen(-1.0);
        for look in 0..self.looks {
            let now = seen(look as f64);
            // One that appears is seen from the next look on.
            let other = match before {
                Some(before) => Some((before, STEP_S)),
                None if now.is_some() => seen(look as f64 + 1.0).map(|after| (after, -STEP_S)),
                None => None,
            };
            before = now;
            let (Some((at, level)), Some(((then, other_level), step_s))) = (now, other) else {
                continue;
            };
            let climb_ft_s = (level - other_level) * 100.0 / step_s;
            let motion = stca::Motion {
                number,
                at,
                x_m_s: (at.x_m - then.x_m) / step_s,
                y_m_s: (at.y_m - then.y_m) / step_s,
                height_ft: level * 100.0,
                climb_ft_s: if climb_ft_s.abs() > LEVEL_FT_S { climb_ft_s } else { 0.0 },
                cleared_ft: one.cleared_level(look as f64 * STEP_S).map(|level| level * 100.0),
                inhibited: 0,
            };
            motions.push((look, motion));
        }
        motions
    }

    /// Takes out what is there of an aircraft that has these motions, at whatever levels.
    fn take_out(&mut self, motions: &Looks) {
        for (look, motion) in motions {
            if let Some(looks) = self.cells.get_mut(&cell(motion)) {
                looks[*look].retain(|other| other.number != motion.number);
            }
        }
    }

    /// Puts an aircraft in, at shifted levels.
    fn put_in(&mut self, motions: &Looks, shift: f64) {
        for (look, motion) in motions {
            let looks = self.cells.entry(cell(motion)).or_insert_with(|| vec![vec![]; self.looks]);
            looks[*look].push(shifted(motion, shift));
        }
    }

    /// The shift with which an aircraft has the least of conflicts, and how much that is; of several the
    /// smallest.
    fn best_shift(&self, motions: &Looks) -> (usize, f64) {
        // Most need none: then their levels alone rule out nearly all others.
        let unshifted = self.meetings(motions, |one| one.is_apart(0.0));
        let conflicts = unshifted.iter().map(|meeting| meeting.weight(0.0)).sum();
        let mut best = (conflicts, 0.0);
        if conflicts == 0 {
            return best;
        }
        let meetings = self.meetings(motions, |_| false);
        let heights = || motions.iter().map(|(_, motion)| motion.height_ft / 100.0);
        let (lowest, highest) = (heights().fold(f64::MAX, f64::min), heights().fold(0.0, f64::max));
        for step in (1..=SHIFTS).flat_map(|steps| [-steps, steps]) {
            let shift = f64::from(step) * SHIFT;
            if lowest + shift < LEVELS.0 || highest + shift > LEVELS.1 {
                continue;
            }
            let mut conflicts = 0;
            for meeting in &meetings {
                conflicts += meeting.weight(shift);
                if conflicts >= best.0 {
                    break;
                }
            }
            if conflicts < best.0 {
                best = (conflicts, shift);
            }
            if conflicts == 0 {
                break;
            }
        }
        best
    }

    /// The meetings of an aircraft that has these motions, but for those that `leaves_out` names.
    fn meetings<'a>(
        &'a self,
        motions: &'a Looks,
        leaves_out: impl Fn(&Meeting<'_>) -> bool,
    ) -> Vec<Meeting<'a>> {
        let mut found = Vec::new();
        let (mut around, mut of_cell) = (Vec::new(), None);
        for (look, own) in motions {
            // It stays in a cell for many looks.
            let (x, y) = cell(own);
            if of_cell != Some((x, y)) {
                let cells = (x - 1..=x + 1).flat_map(|x| (y - 1..=y + 1).map(move |y| (x, y)));
                around = cells.filter_map(|cell| self.cells.get(&cell)).collect();
                of_cell = Some((x, y));
            }
            for other in around.iter().flat_map(|looks: &&'a Vec<Vec<_>>| &looks[*look]) {
                let climb_ft = (own.climb_ft_s.abs() + other.climb_ft_s.abs()) * AHEAD_S;
                let meeting = Meeting { own, other, apart_ft: APART_FT + climb_ft };
                if !leaves_out(&meeting) && meet(own, other) {
                    found.push(meeting);
                }
            }
        }
        found
    }
}

impl Meeting<'_> {
    /// Whether they are separated by their levels, with so many levels more.
    fn is_apart(&self, shift: f64) -> bool {
        (self.own.height_ft + shift * 100.0 - self.other.height_ft).abs() >= self.apart_ft
    }

    /// How much the conflict counts with such a shift; 0 for none.
    fn weight(&self, shift: f64) -> usize {
        // Most are levels apart, which is sooner seen.
        if self.is_apart(shift) {
            return 0;
        }
        let found = stca::predict(&shifted(self.own, shift), self.other, MINIMA);
        found.map_or(0, |conflict| if conflict.is_violation() { PRESENT } else { 1 })
    }
}

/// Whether two that fly straight on are within [`REACH_M`] at some time until [`AHEAD_S`]. Nobody else is
/// in conflict; and unlike the prediction of one it needs neither a root nor a division.
fn meet(a: &stca::Motion, b: &stca::Motion) -> bool {
    let (x, y) = (b.at.x_m - a.at.x_m, b.at.y_m - a.at.y_m);
    let apart = x * x + y * y - REACH_M * REACH_M;
    if apart < 0.0 {
        return true;
    }
    let (vx, vy) = (b.x_m_s - a.x_m_s, b.y_m_s - a.y_m_s);
    let (square, half) = (vx * vx + vy * vy, x * vx + y * vy);
    // Nearest at −half / square: later than now, and within reach then or, if that is too late, before.
    half < 0.0
        && half * half > square * apart
        && (-half <= square * AHEAD_S || (square * AHEAD_S + 2.0 * half) * AHEAD_S + apart < 0.0)
}

fn shifted(motion: &stca::Motion, levels: f64) -> stca::Motion {
    let up_ft = levels * 100.0;
    stca::Motion {
        height_ft: motion.height_ft + up_ft,
        cleared_ft: motion.cleared_ft.map(|cleared_ft| cleared_ft + up_ft),
        ..*motion
    }
}

/// Where an aircraft is midway.
#[allow(clippy::cast_possible_truncation, reason = "some thousands of kilometres in cells")]
fn cell(motion: &stca::Motion) -> Cell {
    let at = |now_m: f64, m_s: f64| ((now_m + m_s * MIDWAY_S) / CELL_M).floor() as i32;
    (at(motion.at.x_m, motion.x_m_s), at(motion.at.y_m, motion.y_m_s))
}
