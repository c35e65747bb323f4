//! The level at which an aircraft will level off: by its clearance, and by what its crew has selected.
//!
//! The flight plan's cleared level (I062/390 CFL) is what a controller has entered; the final state
//! selected altitude (I062/380 FSS, else SAL) is what is set in the aircraft, by the pressure on its
//! altimeter (I062/380 BPS).

use crate::asterix::cat062::{AircraftDerived, Track};

/// Levels that differ by less are the same one rounded by two systems, hundreds of feet.
const SAME: f64 = 1.0;
/// Standard pressure, hPa: flight levels are by it.
const STANDARD_HPA: f64 = 1013.25;
/// Without a known pressure an altitude below this may be by another one, ft: ICAO's regions have
/// transition levels up to there.
const TRANSITION_FT: f64 = 18_000.0;
/// Height of the standard atmosphere's model, ft, and its exponent (ICAO Doc 7488, troposphere).
const MODEL_FT: f64 = 145_366.45;
const MODEL_EXPONENT: f64 = 0.190_284;
/// I062/380 SAL of these sources is what the crew has selected: unknown, mode control panel.
const SELECTED: [u8; 2] = [0, 2];

/// Cleared and selected level of a track, in hundreds of feet of pressure altitude.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cleared {
    /// By the flight plan.
    pub(super) plan: Option<f64>,
    /// By the crew.
    pub(super) selected: Option<f64>,
}

impl Cleared {
    /// What a track says of both.
    #[must_use]
    pub(super) fn of(track: &Track) -> Self {
        Self {
            plan: track.flight_plan.as_ref().and_then(|plan| plan.cleared_flight_level),
            selected: track.derived.as_ref().and_then(selected_level),
        }
    }

    /// Whether the crew has selected another level than the cleared one.
    #[must_use]
    pub(super) fn differs(self) -> bool {
        self.plan.zip(self.selected).is_some_and(|(plan, selected)| (plan - selected).abs() > SAME)
    }

    /// The level for a label: the cleared one, or else the selected one.
    #[must_use]
    pub(super) fn shown(self) -> Option<f64> {
        self.plan.or(self.selected)
    }

    /// The level at which the aircraft can be expected to level off; none where clearance and
    /// selection differ, because it is not known which one will be flown.
    #[must_use]
    pub(super) fn expected(self) -> Option<f64> {
        self.shown().filter(|_| !self.differs())
    }
}

fn selected_level(derived: &AircraftDerived) -> Option<f64> {
    let panel = derived
        .selected_altitude
        .filter(|selected| !selected.source_provided || SELECTED.contains(&selected.source))
        .map(|selected| selected.altitude_ft);
    let altitude_ft = derived.final_state.map(|last| last.altitude_ft).or(panel)?;
    let offset_ft = match derived.pressure_hpa {
        Some(hpa) => MODEL_FT * (1.0 - (hpa / STANDARD_HPA).powf(MODEL_EXPONENT)),
        None if altitude_ft >= TRANSITION_FT => 0.0,
        None => return None,
    };
    Some((altitude_ft + offset_ft) / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asterix::cat062::FlightPlan;
    use crate::asterix::{FinalStateSelectedAltitude, SelectedAltitude};

    fn track(plan: Option<f64>, selected_ft: Option<f64>, pressure_hpa: Option<f64>) -> Track {
        let last = |altitude_ft| FinalStateSelectedAltitude { altitude_ft, ..Default::default() };
        Track {
            flight_plan: plan.map(|level| FlightPlan {
                cleared_flight_level: Some(level),
                ..FlightPlan::default()
            }),
            derived: Some(AircraftDerived {
                final_state: selected_ft.map(last),
                pressure_hpa,
                ..AircraftDerived::default()
            }),
            ..Track::default()
        }
    }

    #[test]
    fn a_clearance_is_shown_first_and_counts_while_the_crew_has_selected_it() {
        let both = Cleared::of(&track(Some(350.0), Some(35_000.0), None));
        assert_eq!(
            (both.shown(), both.expected(), both.differs()),
            (Some(350.0), Some(350.0), false)
        );
        let other = Cleared::of(&track(Some(350.0), Some(37_000.0), None));
        assert_eq!((other.shown(), other.expected(), other.differs()), (Some(350.0), None, true));
        let crew = Cleared::of(&track(None, Some(37_000.0), None));
        assert_eq!((crew.shown(), crew.expected()), (Some(370.0), Some(370.0)));
        assert_eq!(Cleared::of(&track(None, None, None)), Cleared::default());
    }

    #[test]
    fn a_selected_altitude_is_by_the_pressure_that_is_set() {
        let selected = |ft, hpa| Cleared::of(&track(None, Some(ft), hpa)).selected;
        // 1 hPa is 27.3 ft at sea level: 983.25 hPa make 829 ft more by the model.
        let low = selected(4_000.0, Some(983.25)).unwrap();
        assert!((low - 48.3).abs() < 0.1, "{low}");
        assert!((selected(35_000.0, Some(1013.2)).unwrap() - 350.0).abs() < 0.05);
        // Without it an altitude of the lower air may be by any pressure.
        assert_eq!((selected(4_000.0, None), selected(35_000.0, None)), (None, Some(350.0)));
    }

    #[test]
    fn an_altitude_of_the_flight_management_system_is_no_clearance() {
        let of = |source_provided, source| {
            let altitude = SelectedAltitude { source_provided, source, altitude_ft: 30_000.0 };
            let derived =
                AircraftDerived { selected_altitude: Some(altitude), ..Default::default() };
            Cleared::of(&Track { derived: Some(derived), ..Track::default() }).selected
        };
        assert_eq!([of(true, 2), of(false, 3)], [Some(300.0); 2]);
        assert_eq!([of(true, 1), of(true, 3)], [None; 2]);
    }
}
