//! Conflict alerts in composed traffic: reckoned once a second from where its aircraft really are, as the
//! working position reckons them from tracks.

#![allow(clippy::unwrap_used, reason = "a test fails where something is missing")]

use chronoscope_radar::display::stca::{Motion, conflicts};
use chronoscope_radar::geodesy::{Stereographic, Wgs84};
use chronoscope_radar::traffic::flights::Flight;
use chronoscope_radar::traffic::{Aircraft, flights, live, made};

/// Climbs below this are noise, ft/s.
const LEVEL_FT_S: f64 = 5.0;
/// Velocities are taken over so long before and after, s.
const HALF_S: f64 = 2.0;

/// The motion of an aircraft; `None` where it is not there.
fn motion(plane: &Stereographic, (number, one): (usize, &Aircraft), at_s: f64) -> Option<Motion> {
    let state =
        |at_s| Some((one.at(at_s)?.flight_level * 100.0, plane.project(one.at(at_s)?.position)));
    let ((from_ft, before), (to_ft, after)) = (state(at_s - HALF_S)?, state(at_s + HALF_S)?);
    let (height_ft, at) = state(at_s)?;
    let climb_ft_s = (to_ft - from_ft) / (2.0 * HALF_S);
    Some(Motion {
        number: u16::try_from(number).unwrap(),
        at,
        x_m_s: (after.x_m - before.x_m) / (2.0 * HALF_S),
        y_m_s: (after.y_m - before.y_m) / (2.0 * HALF_S),
        height_ft,
        climb_ft_s: if climb_ft_s.abs() > LEVEL_FT_S { climb_ft_s } else { 0.0 },
        cleared_ft: one.cleared_level(at_s).map(|level| level * 100.0),
        inhibited: 0,
    })
}

/// Aircraft, pairs that are too close and pairs that will be, on average of many instants.
fn looked_at(flights: &[Flight], aircraft: Option<u32>) -> [f64; 3] {
    let aircraft = live::compose(flights, aircraft);
    let plane = Stereographic::new(Wgs84::new(51.0, 10.3, 0.0));
    // Also in later half hours, and not at the instants at which traffic is composed.
    let times: Vec<f64> = (0..60).map(|step| 3_600.0 + 67.3 * f64::from(step)).collect();
    let mut sums = [0.0; 3];
    for at_s in &times {
        let all = aircraft.iter().enumerate();
        let mut motions: Vec<Motion> = all.filter_map(|one| motion(&plane, one, *at_s)).collect();
        sums[0] += motions.len() as f64;
        for found in conflicts(&mut motions).iter().filter(|found| found.is_strict) {
            sums[if found.conflict.is_violation() { 1 } else { 2 }] += 1.0;
        }
    }
    sums.map(|sum| sum / times.len() as f64)
}

/// Seven hundred aircraft fly for two minutes ahead without an alert: each alert means something.
#[test]
fn hardly_two_are_in_conflict_or_on_the_way_there() {
    // Their half hours begin together: spread them.
    let mut made = made::flights(1200, 1);
    for (number, flight) in (0_u32..).zip(&mut made) {
        flight.begins_utc_s += f64::from(number % 97) * 18.0;
    }
    let [aircraft, now, soon] = looked_at(&made, Some(700));
    eprintln!("made up: {aircraft:.0} aircraft, {now:.2} pairs too close, {soon:.2} to come");
    assert!(aircraft > 600.0);
    assert!(now < 0.1 && soon < 0.3, "{now:.2} now, {soon:.2} to come");
}

/// The same of the recorded flights, where `tools/flights` has fetched them and `FLIGHTS` names the file.
#[test]
fn hardly_two_recorded_ones_are() {
    let Some(path) = std::env::var_os("FLIGHTS") else {
        eprintln!("SKIPPED: FLIGHTS names no file of recorded flights (tools/flights prints one)");
        return;
    };
    let recorded = flights::read(std::fs::File::open(path).unwrap()).unwrap();
    let [aircraft, now, soon] = looked_at(&recorded, None);
    eprintln!("recorded: {aircraft:.0} aircraft, {now:.2} pairs too close, {soon:.2} to come");
    assert!(aircraft > 600.0);
    assert!(now < 0.1 && soon < 0.3, "{now:.2} now, {soon:.2} to come");
}
