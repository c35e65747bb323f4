//! Setting of the experiments with one display on one host: 30 circles of aircraft.

use super::Sending;
use super::chain::Setup;
use std::ffi::OsString;

/// Circles of aircraft; there are as many flights in each.
pub(super) const CIRCLES: f64 = 30.0;
/// Most flights of a circle: bound from the tracker's 20,000 tracks.
pub(super) const FLIGHTS_MAX: u16 = 650;

/// Runs one display on one host, with this policy.
pub(super) fn one_display(
    name: &str,
    flights: u16,
    rule: &str,
    size: &str,
    seconds: u32,
    share: f64,
) -> Setup {
    let flights = flights.to_string();
    let scenario = ["--scenario", "circles", "--circles", "30", "--flights", &flights];
    Setup {
        name: name.to_owned(),
        scenario: scenario.map(OsString::from).to_vec(),
        displays: vec![["--size", size, "--mpa", rule].map(OsString::from).to_vec()],
        display_hosts: 0,
        seconds,
        sending: Sending::default(),
        share,
        record: true,
    }
}
