//! Errors of one tracker or filter over the plots of a scene: all, and by kind.

use crate::flights::Flight;
use crate::sensor::Scene;
use chronoscope_radar::tracker::linear::{Sym2, Vec2};
use std::collections::HashMap;

/// A flight and a stamp, in 1/128 s: the name of a plot.
pub(crate) type Key = (u32, i64);

pub(crate) fn key(flight: u32, utc_s: f64) -> Key {
    #[allow(clippy::cast_possible_truncation, reason = "in range")]
    let tick = (utc_s * 128.0).round() as i64;
    (flight, tick)
}

/// A state after a plot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State {
    pub(crate) utc_s: f64,
    /// Position less the true one, m.
    pub(crate) error: Vec2,
    /// What the covariance says of it: squared and normalised. NaN where there is no covariance.
    pub(crate) squared: f64,
}

impl State {
    pub(crate) fn new(utc_s: f64, error: Vec2, covariance: Sym2) -> Self {
        let squared = covariance.inverse().map_or(f64::NAN, |inverse| inverse.quadratic(error));
        Self { utc_s, error, squared }
    }
}

/// States by plot.
pub(crate) type States = HashMap<Key, State>;

/// Root mean square, m.
pub(crate) fn rms(squares: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = squares.fold((0.0, 0.0), |(sum, count), s| (sum + s, count + 1.0));
    f64::sqrt(sum / f64::max(count, 1.0))
}

/// Sideways acceleration from which on a flight turns, and along the track from which on it changes
/// its speed, m/s².
const TURN_M_S2: f64 = 0.7;
const SPEED_M_S2: f64 = 0.7;
/// A track is young for so long after its first plot, s.
const YOUNG_S: f64 = 40.0;

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: f64,
    along: f64,
    across: f64,
    radial: f64,
    tangential: f64,
    squared: f64,
}

/// Prints how large the errors of `states` are by kind of flight: along and across the track, along
/// and across the beam, and the normalised squared error.
pub(crate) fn by_kind(scene: &Scene, levelled: &dyn Fn(u32) -> bool, states: &States) {
    let flights: HashMap<u32, &Flight> = scene.flights.iter().map(|f| (f.number, f)).collect();
    let site = scene.plane.project(scene.site);
    let site = Vec2::new(site.x_m, site.y_m);
    let mut first: HashMap<u32, f64> = HashMap::new();
    for ((flight, _), state) in states {
        let at = first.entry(*flight).or_insert(state.utc_s);
        *at = at.min(state.utc_s);
    }
    let mut kinds: HashMap<&str, Sums> = HashMap::new();
    for ((number, _), state) in states {
        let Some(flight) = flights.get(number) else { continue };
        let Some(((velocity, acceleration), place)) =
            flight.motion(state.utc_s).zip(flight.place(state.utc_s))
        else {
            continue;
        };
        let unit = velocity * (1.0 / velocity.norm().max(1.0));
        let beam = (place - site) * (1.0 / (place - site).norm().max(1.0));
        let aside = |u: Vec2| Vec2::new(-u.y, u.x);
        let kind = if acceleration.dot(aside(unit)).abs() > TURN_M_S2 {
            "turn"
        } else if acceleration.dot(unit).abs() > SPEED_M_S2 {
            "speed"
        } else {
            "straight"
        };
        let level = if levelled(*number) { "level" } else { "no level" };
        let age = if state.utc_s < first[number] + YOUNG_S { "young" } else { "old" };
        let far = if (place - site).norm() < 60_000.0 { "near" } else { "far" };
        for name in ["all", kind, level, age, far] {
            let sums = kinds.entry(name).or_default();
            sums.count += 1.0;
            sums.along += state.error.dot(unit).powi(2);
            sums.across += state.error.dot(aside(unit)).powi(2);
            sums.radial += state.error.dot(beam).powi(2);
            sums.tangential += state.error.dot(aside(beam)).powi(2);
            sums.squared += state.squared.min(1e4);
        }
    }
    let all = kinds.get("all").copied().unwrap_or_default();
    let whole = all.along + all.across;
    for name in
        ["all", "straight", "speed", "turn", "level", "no level", "young", "old", "near", "far"]
    {
        let Some(s) = kinds.get(name) else { continue };
        let root = |sum: f64| f64::sqrt(sum / s.count);
        println!(
            "  {name:<9} {:>6.0} plots {:>5.1} % of the squares, RMS {:>6.1} m: along {:>6.1} across \
             {:>6.1}; range {:>6.1} azimuth {:>6.1}; normalised {:>5.2}",
            s.count,
            100.0 * (s.along + s.across) / whole,
            root(s.along + s.across),
            root(s.along),
            root(s.across),
            root(s.radial),
            root(s.tangential),
            s.squared / s.count,
        );
    }
}
