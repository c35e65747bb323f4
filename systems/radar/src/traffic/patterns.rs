//! Artificial traffic with a shape: streams that cross, climbs and descents, holding stacks.
//!
//! None of it is recorded. Each place of a grid over Germany has a number of flights; a flight that
//! has passed a place starts again after a while. The parameters of a shape are in its struct: a
//! test can choose exactly the geometry that it checks.

use super::aircraft::{Aircraft, Motion};
use super::circles::centre;
use super::flights::{Path, STEP_S};
use super::names::Names;
use super::racetrack::Racetrack;
use crate::geodesy::Stereographic;
use std::f64::consts::{PI, TAU};
use std::sync::Arc;

/// Seconds for which somebody is gone before starting again: longer than a track coasts.
const GONE_S: f64 = 120.0;
/// Turn of headings from one place to the next: radars see every direction.
const HEADING_STEP_RAD: f64 = 37.0 * PI / 180.0;

/// Number of flights, and their places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// Places on the grid.
    pub places: u32,
    /// Flights at each.
    pub flights: u32,
    /// Ground speed, m/s.
    pub speed_m_s: f64,
}

/// Two straight streams through each place, that meet there pair by pair at one level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossings {
    /// Between the courses, degrees: 0 is side by side, 180 head on.
    pub angle_deg: f64,
    /// Least distance of the two of a pair, m.
    pub miss_m: f64,
}

/// Time for which each crosses its place, s; it is at the centre in the middle of it.
const CROSSING_S: f64 = 600.0;
/// Least interval from one pair to the next, s.
const PAIRS_S: f64 = 60.0;

/// Makes `size.flights / 2` pairs at each place; of an odd number the last crosses alone.
#[must_use]
pub fn crossings(size: Size, shape: Crossings) -> Vec<Aircraft> {
    let pairs = f64::from(size.flights.div_ceil(2));
    let period_s = (CROSSING_S + GONE_S).max(PAIRS_S * pairs);
    compose("X", size, |place, flight| {
        let pair = flight / 2;
        let first_rad = HEADING_STEP_RAD * f64::from(place);
        let second_rad = first_rad + shape.angle_deg.to_radians();
        let (a, b) = (course(first_rad), course(second_rad));
        // The nearest they come is where what lies between them is square to how it changes.
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let size_of = dx.hypot(dy);
        let aside = if size_of > 1e-6 { (dy / size_of, -dx / size_of) } else { (a.1, -a.0) };
        let (along, aside_m) = if flight % 2 == 0 { (a, 0.0) } else { (b, shape.miss_m) };
        let level = 200.0 + 10.0 * f64::from((place + pair) % 20);
        let points = straight(size.speed_m_s, CROSSING_S, along, |_| level)
            .map(|(x, y, level)| (x + aside_m * aside.0, y + aside_m * aside.1, level));
        Shape::Path(points.collect(), f64::from(pair) * period_s / pairs, period_s)
    })
}

/// Straight flights through each place that change their level, every other one downwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Climbs {
    /// Between these flight levels.
    pub levels: (f64, f64),
    /// Vertical rate, ft/min.
    pub rate_ft_min: f64,
}

/// Level flight before and after the climb, s.
const LEVEL_S: f64 = 60.0;

/// Climbs and descents in all directions through each place, evenly spread over time.
#[must_use]
pub fn climbs(size: Size, shape: Climbs) -> Vec<Aircraft> {
    let (low, high) = shape.levels;
    let per_s = shape.rate_ft_min / 6000.0;
    let duration_s = ((2.0 * LEVEL_S + (high - low) / per_s) / STEP_S).ceil() * STEP_S;
    let period_s = duration_s + GONE_S;
    compose("V", size, |place, flight| {
        let turn = TAU * f64::from(flight) / f64::from(size.flights);
        let along = course(HEADING_STEP_RAD * f64::from(place) + turn);
        let climbed = |at_s: f64| (per_s * (at_s - LEVEL_S)).clamp(0.0, high - low);
        let level = |at_s: f64| {
            if flight % 2 == 0 { low + climbed(at_s) } else { high - climbed(at_s) }
        };
        let points = straight(size.speed_m_s, duration_s, along, level).collect();
        let first_s = period_s * f64::from(flight) / f64::from(size.flights);
        Shape::Path(points, first_s, period_s)
    })
}

/// A holding stack over each place: racetracks with turns to the right, one level each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Holds {
    /// Levels from the lowest to the highest flight level, in steps of 10; more flights begin again
    /// below.
    pub levels: (f64, f64),
    /// Time of a straight leg, s.
    pub leg_s: f64,
    /// Rate of the turns, degrees a second.
    pub turn_deg_s: f64,
}

/// Stacks of holding aircraft, without beginning or end.
#[must_use]
pub fn holds(size: Size, shape: Holds) -> Vec<Aircraft> {
    let radius_m = size.speed_m_s / shape.turn_deg_s.to_radians();
    let levels = ((shape.levels.1 - shape.levels.0) / 10.0).floor() + 1.0;
    compose("H", size, |place, flight| {
        let round_s = 2.0 * shape.leg_s + 2.0 * PI * radius_m / size.speed_m_s;
        Shape::Racetrack(Racetrack {
            heading_rad: HEADING_STEP_RAD * f64::from(place),
            leg_s: shape.leg_s,
            radius_m,
            speed_m_s: size.speed_m_s,
            phase_s: round_s * f64::from(flight) / f64::from(size.flights),
            flight_level: shape.levels.0 + 10.0 * f64::from(flight).rem_euclid(levels),
        })
    })
}

enum Shape {
    /// Points, first start and period.
    Path(Vec<(f64, f64, f64)>, f64, f64),
    Racetrack(Racetrack),
}

fn compose(prefix: &str, size: Size, shape: impl Fn(u32, u32) -> Shape) -> Vec<Aircraft> {
    let mut names = Names::default();
    let mut aircraft = Vec::new();
    for place in 0..size.places {
        let plane = Stereographic::new(centre(place, size.places).0);
        for flight in 0..size.flights {
            let motion = match shape(place, flight) {
                Shape::Path(points, first_s, period_s) => Motion::Flown {
                    path: Arc::new(Path::through(points)),
                    plane,
                    first_s,
                    period_s,
                    level_shift: 0.0,
                },
                Shape::Racetrack(racetrack) => Motion::Racetrack { plane, racetrack },
            };
            let callsign = format!("{prefix}{}F{}", place + 1, flight + 1);
            aircraft.push(names.made_up(&callsign, motion));
        }
    }
    aircraft
}

fn course(heading_rad: f64) -> (f64, f64) {
    let (sin, cos) = heading_rad.sin_cos();
    (sin, cos)
}

/// Points of a straight flight that passes the origin in the middle of its time.
fn straight(
    speed_m_s: f64,
    duration_s: f64,
    along: (f64, f64),
    level: impl Fn(f64) -> f64,
) -> impl Iterator<Item = (f64, f64, f64)> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some hundred")]
    let steps = (duration_s / STEP_S) as u32;
    (0..=steps).map(move |step| {
        let at_s = f64::from(step) * STEP_S;
        let from_place_m = speed_m_s * (at_s - duration_s / 2.0);
        (from_place_m * along.0, from_place_m * along.1, level(at_s))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { places: 4, flights: 6, speed_m_s: 200.0 };

    fn apart_m(a: &Aircraft, b: &Aircraft, at_s: f64) -> Option<f64> {
        Some(a.at(at_s)?.position.ground_distance_m(b.at(at_s)?.position))
    }

    #[test]
    fn pairs_meet_at_their_angle_and_distance() {
        for (angle_deg, miss_m) in [(90.0, 900.0), (15.0, 0.0), (180.0, 1_852.0), (0.0, 926.0)] {
            let aircraft = crossings(SIZE, Crossings { angle_deg, miss_m });
            assert_eq!(aircraft.len(), 24);
            for pair in aircraft.chunks(2) {
                let apart = |at_s: f64| apart_m(&pair[0], &pair[1], at_s);
                let steps = (0..7_200).filter_map(|step| apart(0.1 * f64::from(step)));
                let nearest = steps.fold(f64::INFINITY, f64::min);
                // 0.1 s at 400 m/s, and the plane's scale.
                assert!((nearest - miss_m).abs() < 21.0, "{angle_deg} {nearest}");
                let there = (0..720).map(f64::from).find(|at| apart(*at).is_some()).unwrap();
                let heading = |plane: &Aircraft| {
                    let (a, b) = (plane.at(there).unwrap(), plane.at(there + 10.0).unwrap());
                    let north = b.position.lat_deg - a.position.lat_deg;
                    let scale = a.position.lat_deg.to_radians().cos();
                    ((b.position.lon_deg - a.position.lon_deg) * scale).atan2(north).to_degrees()
                };
                let angle = (heading(&pair[1]) - heading(&pair[0])).rem_euclid(360.0);
                // Meridians converge by less than 1° over the flight.
                let off = (angle - angle_deg + 180.0).rem_euclid(360.0) - 180.0;
                assert!(off.abs() < 1.5, "{angle_deg} {angle}");
                let level = |plane: &Aircraft| plane.at(there).unwrap().flight_level;
                assert_eq!(level(&pair[0]), level(&pair[1]));
            }
        }
    }

    #[test]
    fn climbs_and_descents_have_their_rate_and_levels() {
        let shape = Climbs { levels: (100.0, 160.0), rate_ft_min: 1_800.0 };
        for (index, plane) in climbs(SIZE, shape).iter().enumerate() {
            let (mut rates, mut levels) = (Vec::new(), Vec::new());
            for second in 0..440 {
                let at_s = f64::from(second);
                let Some((now, next)) = plane.at(at_s).zip(plane.at(at_s + 1.0)) else { continue };
                rates.push(6_000.0 * (next.flight_level - now.flight_level));
                levels.push(now.flight_level);
                let flown = now.position.ground_distance_m(next.position);
                assert!((flown - 200.0).abs() < 0.5, "{flown}");
            }
            let sign = if index % 2 == 0 { 1.0 } else { -1.0 };
            let steady = rates.iter().filter(|rate| (**rate - sign * 1_800.0).abs() < 1.0).count();
            // 6,000 ft at 1,800 ft/min are 200 s.
            assert!((190..=200).contains(&steady), "{steady}");
            assert!(rates.iter().all(|rate| rate * sign > -1e-6));
            let within = |level: &f64| (100.0..=160.0).contains(level);
            assert!(levels.iter().all(within) && levels.contains(&100.0));
        }
    }

    #[test]
    fn a_racetrack_is_flown_at_one_speed_and_closes() {
        let shape = Holds { levels: (80.0, 100.0), leg_s: 60.0, turn_deg_s: 3.0 };
        let stacks = holds(SIZE, shape);
        let levels: Vec<f64> =
            stacks[..6].iter().map(|plane| plane.at(0.0).unwrap().flight_level).collect();
        assert_eq!(levels, [80.0, 90.0, 100.0, 80.0, 90.0, 100.0]);
        for plane in &stacks {
            // Two legs and two half circles of 60 s each.
            let at = |s: f64| plane.at(s).unwrap().position;
            assert!(at(7.0).ground_distance_m(at(247.0)) < 1.0);
            let extent = (0..240).map(|s| at(0.0).ground_distance_m(at(f64::from(s))));
            // 12 km of leg, and a circle of 200 m/s at 3°/s is 7.6 km across.
            let extent = extent.fold(0.0, f64::max);
            assert!((12_000.0..20_000.0).contains(&extent), "{extent}");
            for step in 0..240 {
                let (a, b) = (at(f64::from(step)), at(f64::from(step) + 0.1));
                let speed = a.ground_distance_m(b) / 0.1;
                assert!((speed - 200.0).abs() < 1.0, "{speed} at {step}");
            }
        }
        let closed = apart_m(&stacks[0], &stacks[3], 0.0).unwrap();
        assert!(closed > 5_000.0, "half a round apart: {closed}");
    }
}
