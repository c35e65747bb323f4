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
use crate::geodesy::{METRES_PER_NM, Plane, Stereographic, Wgs84};
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
/// Side of a cell, m: aircraft in cells that do not touch come too near neither now nor soon.
const CELL_M: f64 = NEAR_NM * METRES_PER_NM + CLOSING_M_S * AHEAD_S;
const MINIMA: Minima = Minima { horizontal_nm: NEAR_NM, vertical_ft: APART_FT, ahead_s: AHEAD_S };
/// Vertical minimum that all pairs are within: for the way alone.
const ANY_LEVEL: Minima = Minima { vertical_ft: 1e6, ..MINIMA };

/// Cell of a position.
type Cell = (i32, i32);

/// Motions of those that have their levels, at each look.
struct Sky {
    plane: Stereographic,
    looks: Vec<HashMap<Cell, Vec<stca::Motion>>>,
}

/// Shifts the levels of `aircraft` that are flown again and again, the first ones least. All of them
/// repeat within `length_s` seconds.
pub(super) fn by_level(aircraft: &mut [Aircraft], centre: Wgs84, length_s: f64) {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some hundreds")]
    let looks = (length_s / STEP_S).ceil() as usize;
    let plane = Stereographic::new(centre);
    let mut sky = Sky { plane, looks: (0..looks).map(|_| HashMap::new()).collect() };
    let mut left: Vec<usize> = (0..aircraft.len()).collect();
    for _ in 0..=ROUNDS {
        let mut again = Vec::new();
        for index in left {
            let one = &mut aircraft[index];
            let number = u16::try_from(index).unwrap_or(u16::MAX);
            let motions = sky.take_out(one, number);
            let (conflicts, shift) = sky.best_shift(&motions);
            let Motion::Flown { level_shift, .. } = &mut one.motion else { continue };
            *level_shift = shift;
            if conflicts > 0 {
                again.push(index);
            }
            for (look, motion) in motions {
                sky.looks[look].entry(cell(motion.at)).or_default().push(shifted(&motion, shift));
            }
        }
        if again.len() * CROWDED > aircraft.len() {
            break;
        }
        left = again;
    }
}

impl Sky {
    /// The motions of an aircraft at its recorded levels, each at a look; what the sky has of it is taken
    /// out.
    fn take_out(&mut self, one: &mut Aircraft, number: u16) -> Vec<(usize, stca::Motion)> {
        if let Motion::Flown { level_shift, .. } = &mut one.motion {
            *level_shift = 0.0;
        }
        let motions: Vec<_> = (0..self.looks.len())
            .filter_map(|look| Some((look, self.motion(one, look as f64 * STEP_S, number)?)))
            .collect();
        for (look, motion) in &motions {
            if let Some(those) = self.looks[*look].get_mut(&cell(motion.at)) {
                those.retain(|other| other.number != number);
            }
        }
        motions
    }

    /// How it has flown since the look before, as a tracker would see it.
    fn motion(&self, one: &Aircraft, at_s: f64, number: u16) -> Option<stca::Motion> {
        let now = one.at(at_s)?;
        // One that appears is seen from the next look on.
        let (other, step_s) = match one.at(at_s - STEP_S) {
            Some(before) => (before, STEP_S),
            None => (one.at(at_s + STEP_S)?, -STEP_S),
        };
        let [at, then] = [now, other].map(|state| self.plane.project(state.position));
        let climb_ft_s = (now.flight_level - other.flight_level) * 100.0 / step_s;
        Some(stca::Motion {
            number,
            at,
            x_m_s: (at.x_m - then.x_m) / step_s,
            y_m_s: (at.y_m - then.y_m) / step_s,
            height_ft: now.flight_level * 100.0,
            climb_ft_s: if climb_ft_s.abs() > LEVEL_FT_S { climb_ft_s } else { 0.0 },
            cleared_ft: one.cleared_level(at_s).map(|level| level * 100.0),
            inhibited: 0,
        })
    }

    /// The shift with which an aircraft has the least of conflicts, and how much that is; of several the
    /// smallest.
    fn best_shift(&self, motions: &[(usize, stca::Motion)]) -> (usize, f64) {
        let pairs: Vec<(&stca::Motion, &stca::Motion)> = motions
            .iter()
            .flat_map(|(look, own)| self.meeting(*look, own).map(move |other| (own, other)))
            .collect();
        let heights = || motions.iter().map(|(_, motion)| motion.height_ft / 100.0);
        let (lowest, highest) = (heights().fold(f64::MAX, f64::min), heights().fold(0.0, f64::max));
        let mut best = (usize::MAX, 0.0);
        for step in (0..=SHIFTS).flat_map(|steps| [-steps, steps]) {
            let shift = f64::from(step) * SHIFT;
            let stays = lowest + shift >= LEVELS.0 && highest + shift <= LEVELS.1;
            if step != 0 && !stays {
                continue;
            }
            let mut conflicts = 0;
            for (own, other) in &pairs {
                conflicts += weight(&shifted(own, shift), other);
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

    /// Those that come too near `own` if both fly straight on, at whatever level.
    fn meeting<'a>(
        &'a self,
        look: usize,
        own: &'a stca::Motion,
    ) -> impl Iterator<Item = &'a stca::Motion> + 'a {
        let (x, y) = cell(own.at);
        let cells = (x - 1..=x + 1).flat_map(move |x| (y - 1..=y + 1).map(move |y| (x, y)));
        let those = cells.filter_map(move |cell| self.looks[look].get(&cell)).flatten();
        those.filter(|other| stca::predict(own, other, ANY_LEVEL).is_some())
    }
}

/// How much the conflict of a pair counts; 0 for none.
fn weight(own: &stca::Motion, other: &stca::Motion) -> usize {
    let climb_ft = (own.climb_ft_s.abs() + other.climb_ft_s.abs()) * AHEAD_S;
    // Most are levels apart, which is sooner seen.
    if (own.height_ft - other.height_ft).abs() >= APART_FT + climb_ft {
        return 0;
    }
    let found = stca::predict(own, other, MINIMA);
    found.map_or(0, |conflict| if conflict.is_violation() { PRESENT } else { 1 })
}

fn shifted(motion: &stca::Motion, levels: f64) -> stca::Motion {
    let up_ft = levels * 100.0;
    stca::Motion {
        height_ft: motion.height_ft + up_ft,
        cleared_ft: motion.cleared_ft.map(|cleared_ft| cleared_ft + up_ft),
        ..*motion
    }
}

#[allow(clippy::cast_possible_truncation, reason = "some thousands of kilometres in cells")]
fn cell(at: Plane) -> Cell {
    ((at.x_m / CELL_M).floor() as i32, (at.y_m / CELL_M).floor() as i32)
}
