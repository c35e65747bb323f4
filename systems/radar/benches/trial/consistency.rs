//! Whether covariances are true: normalised squared errors beside their chi-square interval.

use crate::score::{State, States};
use std::collections::BTreeMap;

/// Two states of one flight count as independent when they are this far apart, s: a filter of straight
/// flight averages over some 100 s.
const INDEPENDENT_S: f64 = 120.0;
/// The first state of a flight that counts comes so long after its first, s.
const FORMED_S: f64 = 30.0;

/// Mean normalised squared error of independent states.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Consistency {
    /// 2 where the covariances are true.
    pub(crate) nees: f64,
    pub(crate) samples: usize,
    /// Share of all states within their 95 % ellipse.
    pub(crate) inside: f64,
}

impl Consistency {
    pub(crate) fn of(states: &States) -> Self {
        let mut flights: BTreeMap<u32, Vec<&State>> = BTreeMap::new();
        for ((flight, _), state) in states.iter().filter(|(_, state)| state.squared.is_finite()) {
            flights.entry(*flight).or_default().push(state);
        }
        let (mut sum, mut samples) = (0.0, 0);
        for states in flights.values_mut() {
            states.sort_by(|a, b| a.utc_s.total_cmp(&b.utc_s));
            let mut next_s = states[0].utc_s + FORMED_S;
            for state in states {
                if state.utc_s >= next_s {
                    (sum, samples) = (sum + state.squared, samples + 1);
                    next_s = state.utc_s + INDEPENDENT_S;
                }
            }
        }
        // Chi-square with two degrees of freedom.
        let inside = states.values().filter(|state| state.squared < 5.991).count();
        Self {
            nees: sum / (samples.max(1) as f64),
            samples,
            inside: inside as f64 / states.len().max(1) as f64,
        }
    }

    /// Where the mean of so many samples is with 95 % when the covariances are true: a chi-square
    /// variable with two degrees of freedom for each (Wilson, Hilferty, 1931), divided by their number.
    pub(crate) fn interval(&self) -> (f64, f64) {
        let degrees = 2.0 * self.samples.max(1) as f64;
        let part = 2.0 / (9.0 * degrees);
        let at = |z: f64| 2.0 * (1.0 - part + z * part.sqrt()).powi(3);
        (at(-1.96), at(1.96))
    }

    /// `1.93 [1.85, 2.15] in`, or `out`.
    pub(crate) fn text(&self) -> String {
        let (low, high) = self.interval();
        let word = if (low..=high).contains(&self.nees) { "in" } else { "out" };
        format!("{:.2} [{low:.2}, {high:.2}] {word}", self.nees)
    }
}
