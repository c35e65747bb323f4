//! One aircraft: its names, and its position at any time of the scenario.

use super::flights::Path;
use super::racetrack::Racetrack;
use crate::asterix::Callsign;
use crate::geodesy::{Plane, Stereographic, Wgs84, flight_level_to_m};
use std::sync::Arc;

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
    pub(super) motion: Motion,
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

/// Motion of an aircraft through a scenario.
#[derive(Clone, Debug)]
pub(super) enum Motion {
    /// A recorded path, flown every `period_s` from `first_s` on, displaced as a whole and shifted by
    /// `level_shift` levels.
    Flown { path: Arc<Path>, plane: Stereographic, first_s: f64, period_s: f64, level_shift: f64 },
    /// A path, flown once from `from_s` on, displaced as a whole.
    Once { path: Arc<Path>, plane: Stereographic, from_s: f64 },
    /// A circle around the origin of a plane, without beginning or end.
    Circle { plane: Stereographic, radius_m: f64, rad_s: f64, phase_rad: f64, flight_level: f64 },
    /// A holding pattern, without beginning or end.
    Racetrack { plane: Stereographic, racetrack: Racetrack },
}

/// Position and motion of an aircraft.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AircraftState {
    /// The position; its height is that of the flight level.
    pub position: Wgs84,
    /// Hundreds of feet of pressure altitude.
    pub flight_level: f64,
}

impl Aircraft {
    /// State of the aircraft `scenario_s` seconds after the scenario began; `None` while it is
    /// absent.
    #[must_use]
    pub fn at(&self, scenario_s: f64) -> Option<AircraftState> {
        let (plane, x_m, y_m, flight_level) = match &self.motion {
            Motion::Flown { path, plane, first_s, period_s, level_shift } => {
                let since_start_s = (scenario_s - first_s).rem_euclid(*period_s);
                let (x_m, y_m, flight_level) = path.at(since_start_s)?;
                (plane, x_m, y_m, flight_level + level_shift)
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
        let position = plane.unproject(Plane { x_m, y_m }, height_m);
        Some(AircraftState { position, flight_level })
    }

    /// The flight level to which the aircraft is cleared `scenario_s` seconds after the scenario began;
    /// `None` while it is absent, and where there are no clearances: in circles, stacks and days.
    #[must_use]
    pub fn cleared_level(&self, scenario_s: f64) -> Option<f64> {
        match &self.motion {
            Motion::Flown { path, first_s, period_s, level_shift, .. } => path
                .cleared_at((scenario_s - first_s).rem_euclid(*period_s))
                .map(|level| level + level_shift),
            // Their plots keep the size by which loads and days are compared.
            Motion::Once { .. } | Motion::Circle { .. } | Motion::Racetrack { .. } => None,
        }
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
