//! A whole day's flights: as many as asked for, each flown once, more by day than by night.
//!
//! **Composed, not recorded.** Every flight flies a recorded path (see [`flights`](super::flights))
//! at another time and moved as a whole to one of the live scenario's [`PLACES`], up to half a
//! degree beside it. The [profile](Profile) of the hours is made up after what traffic over
//! Europe is like on a weekday in summer: little at night, a morning peak, even until the evening.

use super::aircraft::{Aircraft, Motion};
use super::flights::{Flight, Path};
use super::live::PLACES;
use super::names::Names;
use crate::generator::Noise;
use crate::geodesy::{Stereographic, Wgs84};
use std::collections::HashMap;
use std::sync::Arc;

/// Most flights of a day: so many have callsigns of eight characters.
pub const FLIGHTS_MAX: u32 = 90_000;

/// Share of a day's load in each of its 24 hours, UTC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Profile {
    weights: [f64; 24],
    length_s: f64,
}

impl Profile {
    /// Flights in the air.
    pub const FLIGHTS: [f64; 24] = [
        1.2, 1.0, 1.1, 1.8, 3.4, 5.2, 5.7, 5.5, 5.4, 5.5, 5.6, 5.5, 5.4, 5.5, 5.6, 5.5, 5.6, 5.5,
        5.2, 4.6, 4.0, 3.0, 2.1, 1.6,
    ];
    /// Queries: controllers and airlines ask before and during their busy hours.
    pub const QUERIES: [f64; 24] = [
        1.4, 1.2, 1.3, 2.6, 4.6, 6.0, 6.2, 5.6, 5.2, 5.2, 5.3, 5.2, 5.0, 5.2, 5.3, 5.2, 5.2, 5.0,
        4.6, 4.0, 3.4, 2.8, 2.2, 1.8,
    ];

    /// The shape of `weights`, one for each hour of a day, over `length_s` seconds: over less
    /// than a day it is the whole day's shape, shortened.
    #[must_use]
    pub fn new(weights: [f64; 24], length_s: f64) -> Self {
        Self { weights, length_s }
    }

    /// Share of the load that has come until `at_s`, in `[0, 1]`.
    #[must_use]
    pub fn share(&self, at_s: f64) -> f64 {
        let hours = (at_s / self.length_s * 24.0).clamp(0.0, 24.0);
        let sum: f64 = self.weights.iter().sum();
        let until =
            |(hour, weight): (u32, &f64)| (hours - f64::from(hour)).clamp(0.0, 1.0) * weight;
        (0..24).zip(&self.weights).map(until).sum::<f64>() / sum
    }

    /// Time at which `share` of the load has arrived, in seconds: the inverse of
    /// [`Profile::share`].
    #[must_use]
    pub fn at_s(&self, share: f64) -> f64 {
        let mut left = share.clamp(0.0, 1.0) * self.weights.iter().sum::<f64>();
        for (hour, weight) in (0..24).zip(&self.weights) {
            if left <= *weight {
                return (f64::from(hour) + left / weight) * self.length_s / 24.0;
            }
            left -= weight;
        }
        self.length_s
    }
}

/// Composes `count` aircraft (at most [`FLIGHTS_MAX`]) that are in the air during `length_s`
/// seconds from the scenario's beginning, in the order in which they appear. The middle of each
/// flight lies within the time, which keeps the traffic at both ends as the profile has it.
#[must_use]
pub fn compose(recorded: &[Flight], count: u32, length_s: f64, seed: u64) -> Vec<Aircraft> {
    let profile = Profile::new(Profile::FLIGHTS, length_s);
    let paths: Vec<Arc<Path>> = recorded.iter().map(|f| Arc::new(f.path.clone())).collect();
    let mut planes = HashMap::new();
    let mut names = Names::default();
    let mut aircraft: Vec<Aircraft> = Vec::new();
    for number in 0..if recorded.is_empty() { 0 } else { count.min(FLIGHTS_MAX) } {
        let mut noise = Noise::keyed([seed, number.into(), 0x0064_6179, 0]);
        let mut below = |count: usize| pick(&mut noise, count);
        let flown = below(recorded.len());
        let (place, north, east) = (below(PLACES.len()), below(11), below(11));
        let plane = *planes.entry((place, north, east)).or_insert_with(|| {
            let beside = |step: usize| 0.1 * (step as f64 - 5.0);
            let (lat_deg, lon_deg) = PLACES[place];
            Stereographic::new(Wgs84::new(lat_deg + beside(north), lon_deg + beside(east), 0.0))
        });
        let path = Arc::clone(&paths[flown]);
        let middle_s = profile.at_s((f64::from(number) + noise.uniform()) / f64::from(count));
        let from_s = middle_s - path.duration_s() / 2.0;
        let (address, callsign, composed) = names.give(&recorded[flown]);
        let motion = Motion::Once { path, plane, from_s };
        aircraft.push(Aircraft { address, callsign, mode_a: names.code(), composed, motion });
    }
    aircraft
        .sort_by(|a, b| a.flies_s().0.total_cmp(&b.flies_s().0).then(a.address.cmp(&b.address)));
    aircraft
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in [0, count)")]
fn pick(noise: &mut Noise, count: usize) -> usize {
    ((noise.uniform() * count as f64) as usize).min(count - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::made;
    use std::collections::HashSet;

    #[test]
    fn a_profile_and_its_inverse() {
        let profile = Profile::new(Profile::FLIGHTS, 86_400.0);
        assert_eq!((profile.share(0.0), profile.share(86_400.0)), (0.0, 1.0));
        // The first hour has 1.2 of 100.5.
        let sum: f64 = Profile::FLIGHTS.iter().sum();
        assert!((profile.share(3600.0) - 1.2 / sum).abs() < 1e-12);
        for share in [0.0, 0.01, 0.3, 0.77, 1.0] {
            assert!((profile.share(profile.at_s(share)) - share).abs() < 1e-9, "{share}");
        }
        let minute = Profile::new(Profile::FLIGHTS, 60.0);
        assert!((minute.share(30.0) - profile.share(43_200.0)).abs() < 1e-12, "the same shape");
    }

    #[test]
    fn as_many_flights_as_asked_for_and_more_by_day() {
        let aircraft = compose(&made::flights(50, 1), 2000, 86_400.0, 3);
        assert_eq!(aircraft.len(), 2000);
        let names: HashSet<_> = aircraft.iter().map(|a| (a.address, a.callsign)).collect();
        assert_eq!(names.len(), 2000, "no two share a name");
        assert!(aircraft.is_sorted_by(|a, b| a.flies_s().0 <= b.flies_s().0));
        let at_once = |from_s: u32| {
            let at = (0..60).map(|minute| f64::from(from_s + 60 * minute));
            at.map(|s| aircraft.iter().filter(|a| a.at(s).is_some()).count()).sum::<usize>() / 60
        };
        // 2000 flights of some 1050 s: 24 at once on average, a quarter of that at 01:00 and a
        // third more at 10:00.
        let (night, day) = (at_once(3600), at_once(36_000));
        assert!((3..=10).contains(&night) && (26..=40).contains(&day), "{night} {day}");
        for plane in &aircraft {
            let (from_s, to_s) = plane.flies_s();
            assert!(plane.at((from_s + to_s) / 2.0).is_some() && plane.at(to_s + 1.0).is_none());
            assert!((0.0..=86_400.0).contains(&((from_s + to_s) / 2.0)));
        }
    }

    #[test]
    fn one_seed_one_day() {
        let made = made::flights(20, 1);
        let first = |seed| {
            let aircraft = compose(&made, 30, 60.0, seed);
            aircraft.iter().map(|a| (a.address, a.flies_s())).collect::<Vec<_>>()
        };
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
    }
}
