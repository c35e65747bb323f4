//! Altitudes that crews have selected, by the 24-bit address of their aircraft.
//!
//! They come with the plots of Mode S radars (register 4,0 in I048/250) and with ADS-B (I021/146, 148), and
//! go out with the tracks (I062/380). They are kept beside the tracks and not in them: the address alone
//! says whose they are, whichever plot a track takes.

use super::reports::TargetReport;
use crate::asterix::cat062::{self, AircraftDerived};
use crate::asterix::{FinalStateSelectedAltitude, SelectedAltitude, VerticalIntention, cat048};
use std::collections::HashMap;

/// What was not heard again for this time is given up, ns: five turns of a slow antenna.
const FORGOTTEN_NS: i64 = 60_000_000_000;
/// Value of [`SelectedAltitude::source`] for the mode control panel.
const CONTROL_PANEL: u8 = 2;

/// A value, and when it was received, UTC, ns.
type Heard<T> = Option<(i64, T)>;

/// What one aircraft has sent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Intention {
    selected_altitude: Heard<SelectedAltitude>,
    final_state: Heard<FinalStateSelectedAltitude>,
    pressure_hpa: Heard<f64>,
}

/// The latest of each aircraft.
#[derive(Debug, Default)]
pub(super) struct Intentions {
    by_address: HashMap<u32, Intention>,
}

impl Intentions {
    /// Takes in a plot that was received at `utc_ns`, but for one of a test target. Its register says all
    /// there is: what is not in it is not set.
    pub(super) fn plot(&mut self, plot: &cat048::Plot, utc_ns: i64) {
        let Some(address) = plot.aircraft_address else { return };
        let is_no_aircraft =
            plot.descriptor.is_some_and(|d| d.test || d.simulated || d.field_monitor);
        let Some(said) = VerticalIntention::among(&plot.mode_s_registers) else { return };
        if is_no_aircraft {
            return;
        }
        let modes = said.modes.unwrap_or_default();
        let selected_altitude = said.selected_ft.map(|altitude_ft| SelectedAltitude {
            source_provided: true,
            source: CONTROL_PANEL,
            altitude_ft,
        });
        let final_state = said.selected_ft.map(|altitude_ft| FinalStateSelectedAltitude {
            managed_vertical: modes.managed_vertical,
            altitude_hold: modes.altitude_hold,
            approach: modes.approach,
            altitude_ft,
        });
        let heard = Intention {
            selected_altitude: selected_altitude.map(|value| (utc_ns, value)),
            final_state: final_state.map(|value| (utc_ns, value)),
            pressure_hpa: said.pressure_hpa.map(|value| (utc_ns, value)),
        };
        self.by_address.insert(address, heard);
    }

    /// Takes in the altitudes of a report of ADS-B that was received at `utc_ns`. Aircraft send each in a
    /// message of its own, so that one that is missing says nothing, nor does a report of an address that
    /// is not the aircraft's own, of a test target or a simulated one, or with a failed check.
    pub(super) fn report(
        &mut self,
        report: &TargetReport,
        (selected_altitude, final_state): (
            Option<SelectedAltitude>,
            Option<FinalStateSelectedAltitude>,
        ),
        utc_ns: i64,
    ) {
        let Some(address) = report.identity.address else { return };
        let is_said = selected_altitude.is_some() || final_state.is_some();
        if !is_said || report.test || report.doubtful {
            return;
        }
        let known = self.by_address.entry(address).or_default();
        known.selected_altitude =
            selected_altitude.map(|value| (utc_ns, value)).or(known.selected_altitude);
        known.final_state = final_state.map(|value| (utc_ns, value)).or(known.final_state);
    }

    /// Gives up what is old; call from time to time.
    pub(super) fn expire(&mut self, utc_ns: i64) {
        fn forget<T: Copy>(value: &mut Heard<T>, utc_ns: i64) {
            // Time of a recording may go back.
            *value = value.filter(|(heard_ns, _)| (utc_ns - heard_ns).abs() < FORGOTTEN_NS);
        }
        self.by_address.retain(|_, said| {
            forget(&mut said.selected_altitude, utc_ns);
            forget(&mut said.final_state, utc_ns);
            forget(&mut said.pressure_hpa, utc_ns);
            *said != Intention::default()
        });
    }

    /// Adds what the aircraft of a track has sent.
    pub(super) fn complete(&self, track: &mut cat062::Track) {
        let Some(AircraftDerived { address: Some(address), .. }) = track.derived else { return };
        let (Some(said), Some(derived)) = (self.by_address.get(&address), &mut track.derived)
        else {
            return;
        };
        derived.selected_altitude = said.selected_altitude.map(|(_, value)| value);
        derived.final_state = said.final_state.map(|(_, value)| value);
        derived.pressure_hpa = said.pressure_hpa.map(|(_, value)| value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asterix::{VerticalModes, cat021};

    const ADDRESS: u32 = 0x3C_6444;

    fn track(address: Option<u32>) -> cat062::Track {
        let derived = AircraftDerived { address, ..AircraftDerived::default() };
        cat062::Track { derived: Some(derived), ..cat062::Track::default() }
    }

    fn completed(intentions: &Intentions, address: Option<u32>) -> AircraftDerived {
        let mut track = track(address);
        intentions.complete(&mut track);
        track.derived.unwrap()
    }

    fn plot(selected_ft: Option<f64>) -> cat048::Plot {
        let said = VerticalIntention {
            selected_ft,
            pressure_hpa: Some(1013.2),
            modes: Some(VerticalModes { altitude_hold: true, ..VerticalModes::default() }),
            ..VerticalIntention::default()
        };
        cat048::Plot {
            aircraft_address: Some(ADDRESS),
            mode_s_registers: vec![said.register().unwrap()],
            ..cat048::Plot::default()
        }
    }

    #[test]
    fn what_a_radar_extracts_goes_out_with_the_aircrafts_track_and_no_other() {
        let mut intentions = Intentions::default();
        intentions.plot(&plot(Some(35_008.0)), 0);
        let said = completed(&intentions, Some(ADDRESS));
        assert_eq!(said.selected_altitude.unwrap().altitude_ft, 35_008.0);
        let last = said.final_state.unwrap();
        assert!(last.altitude_ft == 35_008.0 && last.altitude_hold && !last.approach);
        assert!((said.pressure_hpa.unwrap() - 1013.2).abs() < 1e-9);
        for address in [Some(ADDRESS + 1), None] {
            assert_eq!(completed(&intentions, address), track(address).derived.unwrap());
        }
        // A plot without the register says nothing, one with an empty register that there is none.
        intentions.plot(&cat048::Plot { mode_s_registers: vec![], ..plot(None) }, 1);
        assert!(completed(&intentions, Some(ADDRESS)).final_state.is_some());
        intentions.plot(&plot(None), 2);
        assert_eq!(completed(&intentions, Some(ADDRESS)).final_state, None);
    }

    /// What a report of ADS-B says to whom nothing else was said.
    fn report(intentions: &mut Intentions, report: &cat021::Report, utc_ns: i64) {
        let said = (report.selected_altitude, report.final_state);
        intentions.report(&report.into(), said, utc_ns);
    }

    fn ads_b(altitude_ft: f64) -> cat021::Report {
        let selected = SelectedAltitude { altitude_ft, ..SelectedAltitude::default() };
        cat021::Report {
            address: Some(ADDRESS),
            selected_altitude: Some(selected),
            ..cat021::Report::default()
        }
    }

    #[test]
    fn ads_b_says_it_too_and_what_is_old_is_given_up() {
        let mut intentions = Intentions::default();
        let said = ads_b(12_000.0);
        report(&mut intentions, &said, 0);
        let position = cat021::Report { selected_altitude: None, ..said.clone() };
        report(&mut intentions, &position, 1);
        intentions.expire(FORGOTTEN_NS - 1);
        let heard = completed(&intentions, Some(ADDRESS)).selected_altitude;
        assert_eq!(heard, said.selected_altitude);
        intentions.expire(FORGOTTEN_NS);
        assert_eq!(completed(&intentions, Some(ADDRESS)).selected_altitude, None);
    }

    /// An address of another kind is a vehicle's, or one that a service has made up: it may be an aircraft's.
    #[test]
    fn reports_that_are_not_of_the_aircraft_say_nothing_about_it() {
        type Change = fn(&mut cat021::Descriptor);
        let changes: [Change; 4] = [
            |d| d.address_type = 1,
            |d| d.test = true,
            |d| d.simulated = true,
            |d| d.position_check_failed = true,
        ];
        for change in changes {
            let mut intentions = Intentions::default();
            let mut other = ads_b(12_000.0);
            change(other.descriptor.get_or_insert_default());
            report(&mut intentions, &other, 0);
            assert_eq!(completed(&intentions, Some(ADDRESS)).selected_altitude, None, "{other:?}");
        }
        let mut intentions = Intentions::default();
        let test = cat048::Descriptor { test: true, ..cat048::Descriptor::default() };
        let plot = cat048::Plot { descriptor: Some(test), ..plot(Some(35_008.0)) };
        intentions.plot(&plot, 0);
        assert_eq!(completed(&intentions, Some(ADDRESS)).selected_altitude, None);
    }

    /// Below 18,000 ft the selected altitude is used with the pressure alone, which Mode S has.
    #[test]
    fn ads_b_does_not_take_away_what_only_a_radar_says() {
        let mut intentions = Intentions::default();
        intentions.plot(&plot(Some(35_008.0)), 0);
        report(&mut intentions, &ads_b(12_000.0), 1);
        let said = completed(&intentions, Some(ADDRESS));
        assert_eq!(said.selected_altitude.unwrap().altitude_ft, 12_000.0);
        assert!((said.pressure_hpa.unwrap() - 1013.2).abs() < 1e-9, "{said:?}");
        assert_eq!(said.final_state.unwrap().altitude_ft, 35_008.0);
        // Each is as old as it is.
        intentions.expire(FORGOTTEN_NS);
        let said = completed(&intentions, Some(ADDRESS));
        assert!(said.pressure_hpa.is_none() && said.selected_altitude.is_some(), "{said:?}");
    }
}
