//! The live scenario: real flights, composed into traffic over Germany.
//!
//! **Composed, not recorded.** The flights are real (see [`flights`](super::flights)), but they
//! flew one after another over Switzerland during seventeen hours, some fifty at once. Here
//! * every flight starts again every half hour ([`RELAUNCH_S`]), so that all of the day's flights
//!   share one half hour: some 750 at once, for as long as one likes;
//! * each half hour of the day is moved as a whole, rigidly, to one of [`PLACES`] over Germany.
//!
//! Speeds, turns and climbs are those of real aircraft. Density and separations are not: flights
//! that never met are kept apart by levels (`deconflict.rs`), also from where they would have gone, so a
//! flight's levels are the recorded ones plus or minus whole thousands of feet.
//!
//! Recorded names are kept where they stay unambiguous; an aircraft that would share its address
//! or callsign with another gets a made-up one, and every Mode 3/A code is made up, because the
//! recording has none.

use super::aircraft::{Aircraft, Motion};
use super::deconflict;
use super::flights::{Flight, Path};
use super::names::Names;
use crate::geodesy::{Stereographic, Wgs84};
use std::sync::Arc;

/// Seconds after which a flight starts again.
pub const RELAUNCH_S: f64 = 1800.0;

/// Most relaunches within which encounters are looked for. All of the traffic repeats after the least
/// common multiple of those after which each flight starts again: two, unless flights are relaunched more
/// often than every half hour.
const RELAUNCHES_MAX: u32 = 12;

/// Centres of the half hours over Germany: three columns from west to east by four rows, with which
/// an area of 2° by 4.5° covers the country from the Alps to the coast, with overlap.
pub const PLACES: [(f64, f64); 12] = [
    (48.4, 8.2),
    (48.4, 10.3),
    (48.6, 12.2),
    (50.1, 7.8),
    (50.1, 10.3),
    (50.3, 12.6),
    (51.7, 8.0),
    (51.7, 10.5),
    (51.9, 12.9),
    (53.1, 8.8),
    (53.3, 10.8),
    (53.2, 12.6),
];

/// Middle of the places.
const CENTRE: Wgs84 = Wgs84 { lat_deg: 50.8, lon_deg: 10.3, height_m: 0.0 };

/// Composes traffic of `aircraft` at once on average, or of as many as a relaunch every
/// [`RELAUNCH_S`] gives.
///
/// Fewer leave flights out, evenly over the day; more start every flight more often.
#[must_use]
pub fn compose(flights: &[Flight], aircraft: Option<u32>) -> Vec<Aircraft> {
    let total_s: f64 = flights.iter().map(|flight| flight.path.duration_s()).sum();
    let natural = total_s / RELAUNCH_S;
    let wanted = aircraft.map_or(natural, f64::from);
    let relaunch_s = if wanted > natural { total_s / wanted } else { RELAUNCH_S };
    let share = (wanted / natural).min(1.0);
    let mut names = Names::default();
    let mut kept_s = 0.0;
    let mut seen_s = 0.0;
    let mut out = Vec::new();
    let mut repeats = 1;
    for flight in flights {
        let duration_s = flight.path.duration_s();
        // Keep a flight whenever the kept time falls behind its share of the time seen.
        seen_s += duration_s;
        if kept_s + duration_s / 2.0 > seen_s * share {
            continue;
        }
        kept_s += duration_s;
        repeats = common(repeats, launches(flight, relaunch_s, &mut names, &mut out));
    }
    deconflict::by_level(&mut out, CENTRE, f64::from(repeats.min(RELAUNCHES_MAX)) * relaunch_s);
    out
}

/// Least common multiple.
fn common(a: u32, b: u32) -> u32 {
    let (mut divisor, mut rest) = (a, b);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    (a / divisor).saturating_mul(b)
}

/// One aircraft for each start of `flight` until the first of them may start again: it has to be
/// absent for a while, or a tracker would take its end for a jump back to its beginning. Returns how many.
fn launches(flight: &Flight, relaunch_s: f64, names: &mut Names, out: &mut Vec<Aircraft>) -> u32 {
    const GONE_S: f64 = 120.0;
    let half_hour = (flight.begins_utc_s / RELAUNCH_S).floor();
    #[allow(clippy::cast_possible_truncation, reason = "a remainder of the number of places")]
    let (lat_deg, lon_deg) = PLACES[half_hour.rem_euclid(PLACES.len() as f64) as usize];
    let plane = Stereographic::new(Wgs84::new(lat_deg, lon_deg, 0.0));
    let path: Arc<Path> = Arc::new(flight.path.clone());
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few")]
    let count = ((path.duration_s() + GONE_S) / relaunch_s).ceil().max(1.0) as u32;
    for launch in 0..count {
        let (address, callsign, composed) = names.give(flight);
        out.push(Aircraft {
            address,
            callsign,
            mode_a: names.code(),
            composed,
            motion: Motion::Flown {
                path: Arc::clone(&path),
                plane,
                first_s: flight.begins_utc_s.rem_euclid(relaunch_s)
                    + f64::from(launch) * relaunch_s,
                period_s: f64::from(count) * relaunch_s,
                level_shift: 0.0,
            },
        });
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn flight(begins_utc_s: f64, minutes: u32) -> Flight {
        let points = (0..=6 * minutes).map(|k| (2000.0 * f64::from(k), 0.0, 350.0)).collect();
        let path = Path::through(points);
        Flight { callsign: "DLH1".to_owned(), address: 0x3C_0001, begins_utc_s, path }
    }

    fn at_once(aircraft: &[Aircraft], scenario_s: f64) -> usize {
        aircraft.iter().filter(|a| a.at(scenario_s).is_some()).count()
    }

    #[test]
    fn a_day_shares_one_half_hour_for_ever() {
        // Two flights of 20 min, 8 h apart, at minutes 10 and 25 of their half hours.
        let flights = [flight(600.0, 20), flight(8.0 * 3600.0 + 1500.0, 20)];
        let aircraft = compose(&flights, None);
        for cycle in [0.0, 1.0, 7.0, 100.0] {
            // From minute 60 on the first flies from :10 to :30, the second from :25 to :45.
            let at = |minute: f64| at_once(&aircraft, 3600.0 + 60.0 * minute + cycle * RELAUNCH_S);
            assert_eq!((at(5.0), at(12.0), at(20.0), at(27.0)), (1, 2, 1, 2), "cycle {cycle}");
        }
    }

    #[test]
    fn an_address_is_in_one_place_only() {
        let aircraft = compose(&[flight(0.0, 20), flight(9000.0, 29)], None);
        let addresses: HashSet<u32> = aircraft.iter().map(|a| a.address).collect();
        assert_eq!(addresses.len(), aircraft.len());
        // The second flight is nearly as long as the half hour, so it alternates between two.
        assert_eq!(aircraft.len(), 3);
        assert_eq!(aircraft.iter().filter(|a| !a.composed.address).count(), 1);
        assert!(aircraft.iter().all(|a| a.composed.mode_a));
    }

    #[test]
    fn as_many_as_asked_for() {
        let flights: Vec<Flight> =
            (0..100).map(|k| flight(631.0 * f64::from(k), 10 + k % 15)).collect();
        for wanted in [5, 20, 57, 400] {
            let aircraft = compose(&flights, Some(wanted));
            // Averaged over an hour that starts after every first launch.
            let mean = (0..600)
                .map(|k| at_once(&aircraft, 7200.0 + 6.0 * f64::from(k)))
                .sum::<usize>() as f64
                / 600.0;
            assert!((mean - f64::from(wanted)).abs() <= 1.0, "{mean} for {wanted}");
        }
    }

    /// A displacement by plane keeps speeds to its scale (less than 0.1 % at 200 km).
    #[test]
    fn moving_a_flight_does_not_change_its_speed() {
        let aircraft = compose(&[flight(0.0, 15)], None);
        let (a, b) = (aircraft[0].at(300.0).unwrap(), aircraft[0].at(301.0).unwrap());
        let moved = a.position.ground_distance_m(b.position);
        assert!((moved - 200.0).abs() < 1.0, "{moved}");
    }

    /// Pairs that are nearer than 5 NM and within 900 ft at a time, as composed and without the shifts
    /// of levels; and how many are in the air.
    fn pairs(aircraft: &[Aircraft], scenario_s: f64) -> [usize; 3] {
        let all: Vec<_> = aircraft
            .iter()
            .filter_map(|one| {
                let Motion::Flown { level_shift, .. } = one.motion else { return None };
                Some((one.at(scenario_s)?, level_shift))
            })
            .collect();
        let mut found = [0, 0, all.len()];
        for (index, (a, a_shift)) in all.iter().enumerate() {
            for (b, b_shift) in &all[index + 1..] {
                // 0.1 degree of latitude is 6 NM.
                if (a.position.lat_deg - b.position.lat_deg).abs() > 0.1
                    || a.position.ground_distance_m(b.position) >= 5.0 * 1852.0
                {
                    continue;
                }
                let apart = a.flight_level - b.flight_level;
                found[0] += usize::from(apart.abs() < 9.0);
                found[1] += usize::from((apart - a_shift + b_shift).abs() < 9.0);
            }
        }
        found
    }

    #[test]
    fn composed_traffic_is_separated_by_level_at_any_time() {
        // Their half hours begin together: spread them.
        let mut flights = crate::traffic::made::flights(1200, 1);
        for (number, flight) in (0_u32..).zip(&mut flights) {
            flight.begins_utc_s += f64::from(number % 97) * 18.0;
        }
        let aircraft = compose(&flights, Some(700));
        // Also between the looks, and in later half hours.
        let times = (0..50_u32).map(|step| 2.0 * RELAUNCH_S + f64::from(step) * 73.0 + 4.0);
        let sums = times
            .map(|at_s| pairs(&aircraft, at_s))
            .fold([0; 3], |sum, one| [sum[0] + one[0], sum[1] + one[1], sum[2] + one[2]]);
        let [composed, before, seen] = sums;
        assert!(seen > 50 * 600, "{seen}");
        assert!(before > 500, "{before} pairs without shifts");
        assert!(composed * 20 < before, "{composed} of {before} pairs are left");
    }

    #[test]
    fn levels_are_shifted_by_whole_thousands_of_feet_and_mostly_not_at_all() {
        let aircraft = compose(&crate::traffic::made::flights(40, 1), None);
        let shift = |one: &Aircraft| match one.motion {
            Motion::Flown { level_shift, .. } => level_shift,
            _ => f64::NAN,
        };
        assert!(aircraft.iter().all(|one| shift(one).rem_euclid(10.0) == 0.0));
        assert!(aircraft.iter().filter(|one| shift(one) == 0.0).count() > aircraft.len() / 2);
    }

    #[test]
    fn the_least_common_multiple() {
        assert_eq!([common(1, 2), common(2, 3), common(4, 6)], [2, 6, 12]);
    }
}
