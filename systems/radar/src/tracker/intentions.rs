//! Altitudes that crews have selected, by the 24-bit address of their aircraft.
//!
//! They come with the plots of Mode S radars (register 4,0 in I048/250) and with ADS-B (I021/146, 148), and
//! go out with the tracks (I062/380). They are kept beside the tracks and not in them: the address alone
//! says whose they are, whichever plot a track takes.

use crate::asterix::cat062::{self, AircraftDerived};
use crate::asterix::{
    FinalStateSelectedAltitude, SelectedAltitude, VerticalIntention, cat021, cat048,
};
use std::collections::HashMap;

/// What was not heard again for this time is given up, ns: five turns of a slow antenna.
const FORGOTTEN_NS: i64 = 60_000_000_000;
/// Value of [`SelectedAltitude::source`] for the mode control panel.
const CONTROL_PANEL: u8 = 2;

/// What one aircraft has sent.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Intention {
    heard_ns: i64,
    selected_altitude: Option<SelectedAltitude>,
    final_state: Option<FinalStateSelectedAltitude>,
    pressure_hpa: Option<f64>,
}

/// The latest of each aircraft.
#[derive(Debug, Default)]
pub(super) struct Intentions {
    by_address: HashMap<u32, Intention>,
}

impl Intentions {
    /// Takes in a plot that was received at `utc_ns`.
    pub(super) fn plot(&mut self, plot: &cat048::Plot, utc_ns: i64) {
        let Some(address) = plot.aircraft_address else { return };
        let Some(said) = VerticalIntention::among(&plot.mode_s_registers) else { return };
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
        let pressure_hpa = said.pressure_hpa;
        let heard = Intention { heard_ns: utc_ns, selected_altitude, final_state, pressure_hpa };
        self.by_address.insert(address, heard);
    }

    /// Takes in a report of ADS-B that was received at `utc_ns`; one without a selected altitude says
    /// nothing new, because aircraft send it in a message of its own.
    pub(super) fn report(&mut self, report: &cat021::Report, utc_ns: i64) {
        self.reported(report.address, (report.selected_altitude, report.final_state), utc_ns);
    }

    /// The same of a report of an early edition.
    pub(super) fn early_report(&mut self, report: &cat021::EarlyReport, utc_ns: i64) {
        self.reported(report.address, (report.selected_altitude, report.final_state), utc_ns);
    }

    fn reported(
        &mut self,
        address: Option<u32>,
        (selected_altitude, final_state): (
            Option<SelectedAltitude>,
            Option<FinalStateSelectedAltitude>,
        ),
        utc_ns: i64,
    ) {
        let (Some(address), true) = (address, selected_altitude.is_some() || final_state.is_some())
        else {
            return;
        };
        let heard =
            Intention { heard_ns: utc_ns, selected_altitude, final_state, pressure_hpa: None };
        self.by_address.insert(address, heard);
    }

    /// Gives up what is old; call from time to time.
    pub(super) fn expire(&mut self, utc_ns: i64) {
        // Time of a recording may go back.
        self.by_address.retain(|_, said| (utc_ns - said.heard_ns).abs() < FORGOTTEN_NS);
    }

    /// Adds what the aircraft of a track has sent.
    pub(super) fn complete(&self, track: &mut cat062::Track) {
        let Some(AircraftDerived { address: Some(address), .. }) = track.derived else { return };
        let (Some(said), Some(derived)) = (self.by_address.get(&address), &mut track.derived)
        else {
            return;
        };
        derived.selected_altitude = said.selected_altitude;
        derived.final_state = said.final_state;
        derived.pressure_hpa = said.pressure_hpa;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asterix::VerticalModes;

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

    #[test]
    fn ads_b_says_it_too_and_what_is_old_is_given_up() {
        let mut intentions = Intentions::default();
        let selected = SelectedAltitude { altitude_ft: 12_000.0, ..SelectedAltitude::default() };
        let report = cat021::Report {
            address: Some(ADDRESS),
            selected_altitude: Some(selected),
            ..cat021::Report::default()
        };
        intentions.report(&report, 0);
        let position = cat021::Report { selected_altitude: None, ..report };
        intentions.report(&position, 1);
        intentions.expire(FORGOTTEN_NS - 1);
        assert_eq!(completed(&intentions, Some(ADDRESS)).selected_altitude, Some(selected));
        intentions.expire(FORGOTTEN_NS);
        assert_eq!(completed(&intentions, Some(ADDRESS)).selected_altitude, None);
    }
}
