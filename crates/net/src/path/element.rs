//! Part of an element in a round trip.

use chronoscope_statistics::{Quantile, nearest_rank};
use serde::{Deserialize, Serialize};

/// Source of an element's part in a round trip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Characteristic {
    /// Measured by probes.
    Measured {
        /// At each size that was probed, ascending.
        measured: Vec<AtSize>,
    },
    /// Said by somebody who knows it.
    Entered(Entered),
}

/// A constant delay, and a rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entered {
    /// Added to a round trip whatever its size, in microseconds.
    #[serde(default)]
    pub delay_us: f64,
    /// With this many bits a second request and reply are passed on, each as a whole; 0: at once.
    #[serde(default)]
    pub rate_bits: f64,
}

/// Round trips of one size, through an element and without it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AtSize {
    /// Size of the request and of the reply, in octets.
    pub octets: u32,
    /// Round trips through the element, in nanoseconds, ascending.
    pub with_ns: Vec<u64>,
    /// Round trips that differ only in not passing it; without any, `with_ns` is the element alone
    /// (a host's own round trip). Ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_ns: Vec<u64>,
}

/// Delay by an element in a round trip of one size.
#[derive(Clone, Debug, PartialEq)]
pub struct Delay {
    /// Always, in nanoseconds. Below 0 only by what measuring left uncertain.
    pub fixed_ns: f64,
    /// On top of that: its measured values, as round trips with the element above their shortest,
    /// and without it. `None`: nothing.
    pub jitter: Option<Jitter>,
}

/// Delays that vary, in nanoseconds above the shortest of their kind, ascending.
#[derive(Clone, Debug, PartialEq)]
pub struct Jitter {
    /// Durations of round trips with the element.
    pub with_ns: Vec<f64>,
    /// Durations of round trips without the element.
    pub without_ns: Vec<f64>,
}

/// Reasons why a characteristic cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CharacteristicError {
    /// There are no probes.
    #[error("no round trip was measured")]
    Nothing,
    /// Sizes or values are not in ascending order.
    #[error("{what} are not ascending")]
    Order {
        /// Name of the value.
        what: &'static str,
    },
    /// An entered number is below 0 or none.
    #[error("{what} = {value}: a number from 0 expected")]
    Number {
        /// Name of the value.
        what: &'static str,
        /// Value as entered.
        value: f64,
    },
}

impl Characteristic {
    /// Looks at everything that the rest relies on.
    ///
    /// # Errors
    /// [`CharacteristicError`].
    pub fn check(&self) -> Result<(), CharacteristicError> {
        match self {
            Self::Entered(entered) => {
                let numbers = [("delay_us", entered.delay_us), ("rate_bits", entered.rate_bits)];
                let wrong = numbers.into_iter().find(|(_, n)| !(n.is_finite() && *n >= 0.0));
                wrong.map_or(Ok(()), |(what, value)| {
                    Err(CharacteristicError::Number { what, value })
                })
            }
            Self::Measured { measured } => {
                if measured.is_empty() || measured.iter().any(|at| at.with_ns.is_empty()) {
                    return Err(CharacteristicError::Nothing);
                }
                if !measured.is_sorted_by(|a, b| a.octets < b.octets) {
                    return Err(CharacteristicError::Order { what: "sizes" });
                }
                let ascending = |at: &AtSize| at.with_ns.is_sorted() && at.without_ns.is_sorted();
                match measured.iter().all(ascending) {
                    true => Ok(()),
                    false => Err(CharacteristicError::Order { what: "round trips" }),
                }
            }
        }
    }

    /// Delay by the element in a round trip of `octets` each way. Between measured sizes the fixed
    /// part is interpolated, beyond them it is extrapolated from the two nearest; the variation is
    /// that of the nearest size.
    #[must_use]
    pub fn delay(&self, octets: u32) -> Delay {
        match self {
            Self::Entered(entered) => {
                let bits = 2.0 * 8.0 * f64::from(octets);
                let passing_ns =
                    if entered.rate_bits > 0.0 { bits / entered.rate_bits * 1e9 } else { 0.0 };
                Delay { fixed_ns: entered.delay_us * 1e3 + passing_ns, jitter: None }
            }
            Self::Measured { measured } => between(measured, octets),
        }
    }
}

/// Interpolates the fixed part; the rest is that of the nearest size.
fn between(measured: &[AtSize], octets: u32) -> Delay {
    let distance = |at: &&AtSize| at.octets.abs_diff(octets);
    let Some(nearest) = measured.iter().min_by_key(distance) else {
        return Delay { fixed_ns: 0.0, jitter: None };
    };
    let above = measured.partition_point(|at| at.octets < octets);
    let pair = match measured.len() {
        1 => None,
        count => measured.get(above.clamp(1, count - 1) - 1..).and_then(|rest| rest.get(..2)),
    };
    let fixed_ns = match pair {
        Some([low, high]) if nearest.octets != octets => {
            let slope = (high.median_ns() - low.median_ns()) / f64::from(high.octets - low.octets);
            let more = slope * (f64::from(octets) - f64::from(nearest.octets));
            nearest.shortest_ns() + more
        }
        _ => nearest.shortest_ns(),
    };
    let above = |values: &[u64]| {
        let shortest = values.first().copied().unwrap_or(0);
        values.iter().map(|ns| (ns - shortest) as f64).collect()
    };
    let jitter =
        Jitter { with_ns: above(&nearest.with_ns), without_ns: above(&nearest.without_ns) };
    Delay { fixed_ns, jitter: Some(jitter) }
}

impl AtSize {
    /// Delays at a size, from round trips in any order.
    #[must_use]
    pub fn new(octets: u32, mut with_ns: Vec<u64>, mut without_ns: Vec<u64>) -> Self {
        with_ns.sort_unstable();
        without_ns.sort_unstable();
        Self { octets, with_ns, without_ns }
    }

    /// The element's part in the shortest round trip.
    fn shortest_ns(&self) -> f64 {
        let shortest = |values: &[u64]| values.first().copied().unwrap_or(0) as f64;
        shortest(&self.with_ns) - shortest(&self.without_ns)
    }

    /// The element's part in the median round trip.
    fn median_ns(&self) -> f64 {
        let median = |values: &[u64]| nearest_rank(values, Quantile::P50).unwrap_or(0) as f64;
        median(&self.with_ns) - median(&self.without_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(octets: u32, with_ns: &[u64], without_ns: &[u64]) -> AtSize {
        AtSize::new(octets, with_ns.to_vec(), without_ns.to_vec())
    }

    #[test]
    fn an_entered_gateway() {
        let gateway = Characteristic::Entered(Entered { delay_us: 4000.0, rate_bits: 10e6 });
        assert_eq!(gateway.check(), Ok(()));
        // Twice 2 ms, and 1250 octets twice at 10 Mbit/s.
        assert_eq!(gateway.delay(1250).fixed_ns, 6e6);
        assert_eq!(gateway.delay(0).fixed_ns, 4e6);
        let wrong = Characteristic::Entered(Entered { delay_us: -1.0, rate_bits: 0.0 });
        let error = CharacteristicError::Number { what: "delay_us", value: -1.0 };
        assert_eq!(wrong.check(), Err(error));
    }

    #[test]
    fn a_measured_one_is_the_difference_of_two_probes() {
        let measured = vec![
            at(100, &[1010, 1000, 1030], &[300, 310, 320]),
            at(300, &[1210, 1200, 1230], &[300, 310, 320]),
        ];
        let gateway = Characteristic::Measured { measured };
        assert_eq!(gateway.check(), Ok(()));
        let fixed = |octets| gateway.delay(octets).fixed_ns;
        assert_eq!([fixed(100), fixed(200), fixed(300)], [700.0, 800.0, 900.0]);
        assert_eq!([fixed(0), fixed(500)], [600.0, 1100.0]);
        let jitter = gateway.delay(400).jitter.unwrap();
        assert_eq!(
            (jitter.with_ns, jitter.without_ns),
            (vec![0.0, 10.0, 30.0], vec![0.0, 10.0, 20.0])
        );
    }

    #[test]
    fn one_size_is_good_for_all() {
        let host = Characteristic::Measured { measured: vec![at(64, &[500, 400], &[])] };
        assert_eq!([host.delay(64).fixed_ns, host.delay(1400).fixed_ns], [400.0, 400.0]);
    }

    #[test]
    fn what_cannot_be_used_is_said() {
        let check = |measured| Characteristic::Measured { measured }.check();
        assert_eq!(check(vec![]), Err(CharacteristicError::Nothing));
        assert_eq!(check(vec![at(1, &[], &[5])]), Err(CharacteristicError::Nothing));
        let order = |what| Err(CharacteristicError::Order { what });
        assert_eq!(check(vec![at(2, &[1], &[]), at(2, &[1], &[])]), order("sizes"));
        let unsorted = AtSize { octets: 1, with_ns: vec![2, 1], without_ns: vec![] };
        assert_eq!(check(vec![unsorted]), order("round trips"));
    }
}
