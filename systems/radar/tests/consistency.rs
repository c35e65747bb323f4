//! The covariances of tracks are those of their errors: the mean normalised squared error of
//! independent states lies within its 95 % chi-square interval.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test helper may panic")]

#[path = "support/scenario.rs"]
mod scenario;

use chronoscope_radar::tracker::{Measurement, Outcome, Phase, linear::Vec2};
use scenario::{Sensors, Sky, Traffic};
use std::collections::HashMap;

/// States of one aircraft count as independent when they are this far apart, s.
const INDEPENDENT_S: f64 = 120.0;

/// Normalised squared errors of independent states of confirmed tracks.
fn normalised(traffic: Traffic, sensors: Sensors, seconds: f64, seed: u64) -> Vec<f64> {
    let mut sky = Sky::new(traffic, sensors, seed);
    let (mut radars, mut tracker) = sky.known_radars(sensors);
    let mut next_s: HashMap<u32, f64> = HashMap::new();
    let mut squares = Vec::new();
    while sky.time_s < seconds {
        for block in sky.step() {
            let now_ns = sky.now_ns();
            let block: Vec<Measurement> =
                block.iter().map(|p| radars.convert(p, now_ns).unwrap()).collect();
            tracker.begin_block(block.len());
            for (index, m) in block.iter().enumerate() {
                let Outcome::Updated(slot) = tracker.correlate(&block, index) else { continue };
                let track = tracker.track(slot).unwrap();
                let address = m.identity.address.unwrap();
                // Tracks form in the first minute.
                let next_s = next_s.entry(address).or_insert(m.time_s + 60.0);
                if track.phase == Phase::Confirmed && m.time_s >= *next_s {
                    *next_s = m.time_s + INDEPENDENT_S;
                    let aircraft = sky.aircraft.iter().find(|a| a.address == address).unwrap();
                    let velocity = Vec2::new(aircraft.heading.sin(), aircraft.heading.cos());
                    let ago_s = radars.plot_time_s(now_ns) - m.time_s;
                    let there =
                        Vec2::new(aircraft.x, aircraft.y) - velocity * (aircraft.speed * ago_s);
                    let covariance = track.estimate().pp + track.lasting();
                    let inverse = covariance.inverse().unwrap();
                    squares.push(inverse.quadratic(track.estimate().position - there));
                }
            }
        }
        tracker.advance(radars.plot_time_s(sky.now_ns()), |_| {});
    }
    squares
}

/// 95 % interval of the mean of so many squares with two degrees of freedom (Wilson, Hilferty, 1931).
fn interval(count: usize) -> (f64, f64) {
    let part = 2.0 / (9.0 * 2.0 * count as f64);
    let at = |z: f64| 2.0 * (1.0 - part + z * part.sqrt()).powi(3);
    (at(-1.96), at(1.96))
}

/// Legs of some minutes with turns between them, one radar.
#[test]
fn tracks_are_as_uncertain_as_they_say() {
    let sensors = scenario::sensors(1, 4.0, 370_000.0, 0.0);
    let squares = normalised(scenario::en_route(60, true), sensors, 1_000.0, 11);
    let mean = squares.iter().sum::<f64>() / squares.len() as f64;
    let (low, high) = interval(squares.len());
    println!("{} states: {mean:.2} in [{low:.2}, {high:.2}]", squares.len());
    assert!(squares.len() >= 200, "{}", squares.len());
    assert!((low..=high).contains(&mean), "{mean} of [{low}, {high}]");
}

/// The interval of 100 samples, from a table of the chi-square distribution with 200 degrees of freedom:
/// 162.73 and 241.06.
#[test]
fn the_interval_is_that_of_the_table() {
    let (low, high) = interval(100);
    assert!((low - 1.6273).abs() < 2e-3 && (high - 2.4106).abs() < 2e-3, "{low} {high}");
}
