//! Part of an element in a round trip.

use super::message::{MTU, Message, UDP_HEADERS};
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

/// A constant delay, a time for each packet, and a rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entered {
    /// Added to a round trip whatever its size, in microseconds.
    #[serde(default)]
    pub delay_us: f64,
    /// With this many bits a second each packet is passed on; 0: at once.
    #[serde(default)]
    pub rate_bits: f64,
    /// Added for each packet in either direction, in microseconds.
    #[serde(default)]
    pub packet_us: f64,
    /// Octets that a link's frame adds to each packet.
    #[serde(default)]
    pub frame_octets: f64,
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
                let numbers = [
                    ("delay_us", entered.delay_us),
                    ("rate_bits", entered.rate_bits),
                    ("packet_us", entered.packet_us),
                    ("frame_octets", entered.frame_octets),
                ];
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

    /// Delay by the element alone in a round trip of datagrams of `octets`. Between measured sizes
    /// the fixed part is interpolated, beyond them it is extrapolated from the two nearest; the
    /// variation is that of the nearest size.
    #[must_use]
    pub fn delay(&self, octets: u32) -> Delay {
        let fixed_ns = match self {
            Self::Entered(entered) => {
                let packets = Message::from(octets).packets(MTU);
                let each = packets.iter().map(|packet| entered.packet_ns(f64::from(*packet)));
                entered.delay_us * 1e3 + 2.0 * each.sum::<f64>()
            }
            Self::Measured { measured } => fixed_ns(measured, f64::from(octets)),
        };
        Delay { fixed_ns, jitter: self.jitter(octets) }
    }

    /// Fixed part in a round trip of one packet each way, of so many octets with its headers.
    /// Where there are probes of datagrams that fit into one packet of `mtu` octets, only those
    /// count: longer ones tell of several packets.
    pub(super) fn packet_ns(&self, octets: f64, mtu: u32) -> f64 {
        match self {
            Self::Entered(entered) => entered.delay_us * 1e3 + 2.0 * entered.packet_ns(octets),
            Self::Measured { measured } => {
                let single = measured.partition_point(|at| at.octets + UDP_HEADERS <= mtu);
                let used = if single > 0 { &measured[..single] } else { measured };
                fixed_ns(used, octets - f64::from(UDP_HEADERS))
            }
        }
    }

    /// Variation at the measured size that is nearest.
    pub(super) fn jitter(&self, octets: u32) -> Option<Jitter> {
        let Self::Measured { measured } = self else { return None };
        let nearest = measured.iter().min_by_key(|at| at.octets.abs_diff(octets))?;
        let above = |values: &[u64]| {
            let shortest = values.first().copied().unwrap_or(0);
            values.iter().map(|ns| (ns - shortest) as f64).collect()
        };
        Some(Jitter { with_ns: above(&nearest.with_ns), without_ns: above(&nearest.without_ns) })
    }
}

impl Entered {
    /// Time of a packet in either direction, beside the constant delay.
    pub(super) fn packet_ns(&self, octets: f64) -> f64 {
        let bits = 8.0 * (octets + self.frame_octets);
        let passing_ns = if self.rate_bits > 0.0 { bits / self.rate_bits * 1e9 } else { 0.0 };
        self.packet_us * 1e3 + passing_ns
    }
}

/// Part in the shortest round trip of datagrams of `octets`, between and beyond measured sizes.
/// Beyond the largest, more octets take no less time: a falling line is noise.
fn fixed_ns(measured: &[AtSize], octets: f64) -> f64 {
    let size = |at: &AtSize| f64::from(at.octets);
    let near =
        |a: &&AtSize, b: &&AtSize| (size(a) - octets).abs().total_cmp(&(size(b) - octets).abs());
    let Some(nearest) = measured.iter().min_by(near) else { return 0.0 };
    let above = measured.partition_point(|at| size(at) < octets);
    let pair = match measured.len() {
        1 => None,
        count => measured.get(above.clamp(1, count - 1) - 1..).and_then(|rest| rest.get(..2)),
    };
    let more_ns = match pair {
        Some([low, high]) => {
            let slope = (high.median_ns() - low.median_ns()) / (size(high) - size(low));
            let slope = if above == measured.len() { slope.max(0.0) } else { slope };
            slope * (octets - size(nearest))
        }
        _ => 0.0,
    };
    nearest.shortest_ns() + more_ns
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
        let entered = Entered { delay_us: 4000.0, rate_bits: 10e6, ..Entered::default() };
        let gateway = Characteristic::Entered(entered);
        assert_eq!(gateway.check(), Ok(()));
        // Twice 2 ms, and a packet of 1250 octets twice at 10 Mbit/s.
        assert_eq!(gateway.delay(1222).fixed_ns, 6e6);
        assert_eq!(gateway.packet_ns(1250.0, MTU), 6e6);
        assert_eq!(gateway.packet_ns(0.0, MTU), 4e6);
        // Ten packets of 1500 octets at most, 14,208 in all, one after the other.
        assert_eq!(gateway.delay(14_000).fixed_ns, 4e6 + 2.0 * 14_208.0 * 800.0);
        let framed = Entered { packet_us: 100.0, frame_octets: 25.0, ..entered };
        let framed = Characteristic::Entered(framed);
        assert_eq!(framed.packet_ns(100.0, MTU), 4e6 + 2.0 * (100e3 + 100e3));
        let wrong = Entered { delay_us: -1.0, ..Entered::default() };
        let error = CharacteristicError::Number { what: "delay_us", value: -1.0 };
        assert_eq!(Characteristic::Entered(wrong).check(), Err(error));
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
        assert_eq!(gateway.packet_ns(228.0, MTU), 800.0, "28 octets of headers");
        let jitter = gateway.delay(400).jitter.unwrap();
        assert_eq!(
            (jitter.with_ns, jitter.without_ns),
            (vec![0.0, 10.0, 30.0], vec![0.0, 10.0, 20.0])
        );
    }

    /// Datagrams of several packets say nothing of one, and more octets never take less.
    #[test]
    fn a_packet_is_judged_by_packets() {
        let measured = vec![at(100, &[200], &[]), at(300, &[400], &[]), at(5000, &[900], &[])];
        let gateway = Characteristic::Measured { measured };
        assert_eq!(gateway.packet_ns(1500.0, 1500), 400.0 + 1172.0);
        assert_eq!(gateway.packet_ns(5028.0, 9000), 900.0);
        assert_eq!(gateway.packet_ns(5028.0, 68), 900.0, "where there are no others they count");
        let noise = vec![at(100, &[200], &[]), at(300, &[190], &[])];
        let noise = Characteristic::Measured { measured: noise };
        assert_eq!(noise.delay(14_000).fixed_ns, 190.0);
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
