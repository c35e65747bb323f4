//! Made-up flights, for where the recorded ones are not at hand: tests and a first look.
//!
//! Straight legs with one turn and one change of level, at the speeds and for the times that the
//! recorded flights have. Nothing else of them is real.

use super::flights::{Flight, Path, STEP_S};
use crate::generator::Noise;
use std::f64::consts::TAU;

/// Largest distance of a flight's begin from the middle of its area, in metres.
const AREA_M: f64 = 120_000.0;

/// `count` flights, the same for the same seed.
#[must_use]
pub fn flights(count: u32, seed: u64) -> Vec<Flight> {
    (0..count).map(|number| flight(number, seed)).collect()
}

fn flight(number: u32, seed: u64) -> Flight {
    let mut noise = Noise::keyed([seed, number.into(), 0x6d61_6465, 0]);
    let mut between = |from: f64, to: f64| from + (to - from) * noise.uniform();
    let (speed_m_s, duration_s) = (between(190.0, 250.0), between(500.0, 1600.0));
    let (mut course_rad, turn_rad) = (between(0.0, TAU), between(-0.8, 0.8));
    let (turns_s, climbs_s) = (between(0.2, 0.8) * duration_s, between(0.2, 0.8) * duration_s);
    let (mut level, change) = (between(30.0, 38.0).round() * 10.0, between(-3.0, 3.0).round());
    let (mut x_m, mut y_m) = (between(-AREA_M, AREA_M), between(-AREA_M, AREA_M));
    let mut points = Vec::new();
    let (mut at_s, mut turned_rad, mut climbed) = (0.0, 0.0, 0.0);
    while at_s <= duration_s {
        points.push((x_m, y_m, level));
        // 1°/s, and 20 levels a minute, as airliners do.
        if at_s >= turns_s && f64::abs(turned_rad) < f64::abs(turn_rad) {
            let step_rad = (STEP_S.to_radians()).copysign(turn_rad);
            course_rad += step_rad;
            turned_rad += step_rad;
        }
        if at_s >= climbs_s && climbed < f64::abs(change * 10.0) {
            let step = (20.0 * STEP_S / 60.0).min(f64::abs(change * 10.0) - climbed);
            level += step.copysign(change);
            climbed += step;
        }
        x_m += speed_m_s * STEP_S * course_rad.sin();
        y_m += speed_m_s * STEP_S * course_rad.cos();
        at_s += STEP_S;
    }
    Flight {
        callsign: String::new(),
        address: 0,
        begins_utc_s: f64::from(number) * 1800.0,
        path: Path::through(points),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_fly_as_airliners_do() {
        let made = flights(60, 4);
        for flight in &made {
            let duration_s = flight.path.duration_s();
            assert!((490.0..=1600.0).contains(&duration_s), "{duration_s}");
            let mut at_s = 10.0;
            while at_s <= duration_s {
                let (a, b) = (flight.path.at(at_s - 10.0).unwrap(), flight.path.at(at_s).unwrap());
                let speed_m_s = (b.0 - a.0).hypot(b.1 - a.1) / 10.0;
                assert!((185.0..=255.0).contains(&speed_m_s), "{speed_m_s}");
                assert!((b.2 - a.2).abs() < 4.0 && (260.0..=420.0).contains(&b.2), "{}", b.2);
                at_s += 10.0;
            }
        }
        let middle = |f: &Flight| f.path.at(100.0).unwrap();
        assert_eq!(middle(&made[7]), middle(&flights(60, 4)[7]), "the same for the same seed");
        assert_ne!(middle(&made[7]), middle(&flights(60, 5)[7]));
    }
}
