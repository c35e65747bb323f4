//! Air traffic for a scenario: the aircraft, and their positions at any time.
//!
//! [`live`] and [`day`] are composed of recorded flights; [`circles`] and the crossings, climbs and
//! holding stacks of [`patterns`] are artificial. None is a recording of the traffic over Germany;
//! [`Aircraft::composed`] and the flight plans ([`plans`]) state which parts of an aircraft are
//! recorded and which are made up.

pub mod circles;
pub mod day;
pub mod flights;
pub mod live;
pub mod made;
mod names;
pub mod patterns;
pub mod plans;

use crate::asterix::Callsign;
use crate::geodesy::{Stereographic, Wgs84, flight_level_to_m};
use flights::Path;
use names::Names;
use patterns::Racetrack;

/// One aircraft of a scenario, which may appear again and again.
#[derive(Clone, Debug)]
pub struct Aircraft {
    /// 24-bit address; no two of a scenario share one.
    pub address: u32,
    /// No two of a scenario share one.
    pub callsign: Callsign,
    /// Mode 3/A code. Codes repeat past some 4000 aircraft.
    pub mode_a: u16,
    /// Names of it that are made up.
    pub composed: Composed,
    motion: Motion,
}

/// Names of an aircraft that are made up instead of recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Composed {
    /// The address is made up.
    pub address: bool,
    /// The callsign is made up.
    pub callsign: bool,
    /// The Mode 3/A code.
    pub mode_a: bool,
}

#[derive(Clone, Debug)]
enum Motion {
    /// A recorded path, flown every `period_s` from `first_s` on, displaced as a whole.
    Flown { path: std::sync::Arc<Path>, plane: Stereographic, first_s: f64, period_s: f64 },
    /// A path, flown once from `from_s` on, displaced as a whole.
    Once { path: std::sync::Arc<Path>, plane: Stereographic, from_s: f64 },
    /// A circle around the origin of a plane, without beginning or end.
    Circle { plane: Stereographic, radius_m: f64, rad_s: f64, phase_rad: f64, flight_level: f64 },
    /// A holding pattern, without beginning or end.
    Racetrack { plane: Stereographic, racetrack: Racetrack },
}

/// Position and motion of an aircraft.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// The position; its height is that of the flight level.
    pub position: Wgs84,
    /// Hundreds of feet of pressure altitude.
    pub flight_level: f64,
}

impl Aircraft {
    /// State of the aircraft `scenario_s` seconds after the scenario began; `None` while it is
    /// absent.
    #[must_use]
    pub fn at(&self, scenario_s: f64) -> Option<State> {
        let (plane, x_m, y_m, flight_level) = match &self.motion {
            Motion::Flown { path, plane, first_s, period_s } => {
                let since_start_s = (scenario_s - first_s).rem_euclid(*period_s);
                let (x_m, y_m, flight_level) = path.at(since_start_s)?;
                (plane, x_m, y_m, flight_level)
            }
            Motion::Once { path, plane, from_s } => {
                let (x_m, y_m, flight_level) = path.at(scenario_s - from_s)?;
                (plane, x_m, y_m, flight_level)
            }
            Motion::Circle { plane, radius_m, rad_s, phase_rad, flight_level } => {
                let (sin, cos) = (phase_rad + rad_s * scenario_s).sin_cos();
                (plane, radius_m * sin, radius_m * cos, *flight_level)
            }
            Motion::Racetrack { plane, racetrack } => {
                let (x_m, y_m) = racetrack.at(scenario_s);
                (plane, x_m, y_m, racetrack.flight_level)
            }
        };
        let height_m = flight_level_to_m(flight_level);
        let position = plane.unproject(crate::geodesy::Plane { x_m, y_m }, height_m);
        Some(State { position, flight_level })
    }

    /// First and last second of the scenario at which it can be there; infinite for one that
    /// appears again and again.
    #[must_use]
    pub fn flies_s(&self) -> (f64, f64) {
        match &self.motion {
            Motion::Once { path, from_s, .. } => (*from_s, from_s + path.duration_s()),
            Motion::Flown { .. } | Motion::Circle { .. } | Motion::Racetrack { .. } => {
                (f64::NEG_INFINITY, f64::INFINITY)
            }
        }
    }
}

/// Codes that mean something by themselves and are therefore not given out: VFR, conspicuity and
/// the three emergencies.
const RESERVED_CODES: [u16; 8] = [0o0000, 0o1000, 0o1200, 0o2000, 0o7000, 0o7500, 0o7600, 0o7700];

/// The Mode 3/A codes that are given out, in order, again from the first after the last.
fn codes() -> impl Iterator<Item = u16> {
    (0..0o10000).filter(|code| !RESERVED_CODES.contains(code)).cycle()
}

/// First of the addresses that ICAO keeps for temporary use (annex 10, volume III, table 9-1: 1111
/// 00...): no real aircraft has them.
const COMPOSED_ADDRESSES_FROM: u32 = 0x00F0_0000;

#[cfg(test)]
mod tests {
    #[test]
    fn no_emergency_is_given_out() {
        let first: Vec<u16> = super::codes().take(4088).collect();
        assert!(!first.contains(&0o7700) && first.contains(&0o7777));
        assert_eq!(super::codes().nth(4088), Some(0o0001), "starts again");
    }
}
