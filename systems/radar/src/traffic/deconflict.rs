//! Levels of composed traffic: flights that never met are separated as a control centre would have
//! separated them, so that a conflict alert in it means something.
//!
//! Each aircraft in turn is shifted as a whole by the fewest thousands of feet with which it comes
//! nearer than [`NEAR_NM`] to no other one within 1000 ft; where every shift leaves some encounter, by
//! the one with the shortest. Its climbs stay as they were flown.

use super::aircraft::{Aircraft, Motion};
use crate::geodesy::Wgs84;
use std::collections::HashMap;

/// Aircraft are kept apart by level within this distance, NM: 5 NM and what two of them fly towards
/// each other in half a [`STEP_S`].
const NEAR_NM: f64 = 6.5;
/// Time from one look to the next, s.
const STEP_S: f64 = 10.0;
/// Difference in levels that separates: 1000 ft, less what Mode C rounds off.
const APART_LEVELS: f64 = 9.0;
/// Shifts, in levels.
const SHIFT: f64 = 10.0;
/// Largest number of shifts downwards and upwards.
const SHIFTS: i32 = 20;
/// Shifted aircraft stay between these levels: below FL410 1000 ft separate.
const LEVELS: (f64, f64) = (100.0, 410.0);
/// Side of a cell in latitude and longitude, degrees: more than [`NEAR_NM`] up to 60° of latitude.
const CELL_DEG: (f64, f64) = (0.11, 0.22);

/// Cell of a position.
type Cell = (i32, i32);

/// Positions of those that have their levels, at each look.
struct Sky {
    looks: Vec<HashMap<Cell, Vec<(Wgs84, f64)>>>,
}

/// Shifts the levels of `aircraft` that are flown again and again, the first ones least. All of them
/// repeat within `length_s` seconds.
pub(super) fn by_level(aircraft: &mut [Aircraft], length_s: f64) {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some hundreds")]
    let looks = (length_s / STEP_S).ceil() as usize;
    let mut sky = Sky { looks: (0..looks).map(|_| HashMap::new()).collect() };
    for one in aircraft {
        let places: Vec<(usize, Wgs84, f64)> = (0..looks)
            .filter_map(|look| {
                let state = one.at(look as f64 * STEP_S)?;
                Some((look, state.position, state.flight_level))
            })
            .collect();
        let shift = sky.best_shift(&places);
        if let Motion::Flown { level_shift, .. } = &mut one.motion {
            *level_shift = shift;
        }
        for (look, at, level) in places {
            sky.looks[look].entry(cell(at)).or_default().push((at, level + shift));
        }
    }
}

impl Sky {
    /// The shift with which an aircraft has the fewest looks at which another one is too near; of
    /// several the smallest.
    fn best_shift(&self, places: &[(usize, Wgs84, f64)]) -> f64 {
        let others: Vec<(f64, f64)> =
            places.iter().flat_map(|&(look, at, level)| self.near(look, at, level)).collect();
        let levels = || places.iter().map(|place| place.2);
        let (lowest, highest) = (levels().fold(f64::MAX, f64::min), levels().fold(0.0, f64::max));
        let mut best = (usize::MAX, 0.0);
        for step in (0..=SHIFTS).flat_map(|steps| [-steps, steps]) {
            let shift = f64::from(step) * SHIFT;
            let stays = lowest + shift >= LEVELS.0 && highest + shift <= LEVELS.1;
            if step != 0 && !stays {
                continue;
            }
            let is_near = |&(own, other): &(f64, f64)| (own + shift - other).abs() < APART_LEVELS;
            let count = others.iter().filter(|pair| is_near(pair)).count();
            if count < best.0 {
                best = (count, shift);
            }
            if count == 0 {
                break;
            }
        }
        best.1
    }

    /// Own level, and that of each other one that is near.
    fn near(&self, look: usize, at: Wgs84, level: f64) -> Vec<(f64, f64)> {
        let (x, y) = cell(at);
        let cells = (x - 1..=x + 1).flat_map(|x| (y - 1..=y + 1).map(move |y| (x, y)));
        let those = cells.filter_map(|cell| self.looks[look].get(&cell)).flatten();
        those
            .filter(|(other, _)| distance_nm(*other, at) < NEAR_NM)
            .map(|(_, other_level)| (level, *other_level))
            .collect()
    }
}

#[allow(clippy::cast_possible_truncation, reason = "degrees in cells")]
fn cell(at: Wgs84) -> Cell {
    ((at.lat_deg / CELL_DEG.0).floor() as i32, (at.lon_deg / CELL_DEG.1).floor() as i32)
}

/// Distance over some miles.
fn distance_nm(a: Wgs84, b: Wgs84) -> f64 {
    let north = (a.lat_deg - b.lat_deg) * 60.0;
    let east = (a.lon_deg - b.lon_deg) * 60.0 * a.lat_deg.to_radians().cos();
    north.hypot(east)
}
