//! Split of a chain's duration: each hop's inside, and the waiting after it.
//!
//! On the path from a root to a leaf, with `next` the hop after hop i: inside(i) = min(end(i),
//! start(next)) − start(i), waiting(i) = max(0, start(next) − end(i)); the last hop's inside is its
//! elapsed time. A hop that continues while the next already runs counts only until the next
//! starts, so that the parts add up to the ACPD exactly, to the nanosecond. Where a hop starts
//! before its parent (clocks disagree) the parent's inside is negative; it is not clamped, because
//! clamping would move the error elsewhere.

use crate::Hop;
use chronoscope_statistics::{Histogram, Quantile};

/// Times of one hop, which are its part of a chain's duration, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HopTimes {
    /// From its start until it ends or the next hop starts; negative when the next hop seems to
    /// start first.
    pub inside_ns: i64,
    /// From its end until the next hop starts: transfer and queues; never negative.
    pub waiting_ns: i64,
}

/// Splits the way from a root to a leaf. The sum of all parts is the ACPD. Saturating.
pub fn split(way: &[Hop], parts: &mut Vec<HopTimes>) {
    parts.clear();
    let pairs = way.iter().zip(way.iter().skip(1));
    parts.extend(pairs.map(|(hop, next)| HopTimes {
        inside_ns: hop.end_ns().min(next.start_ns).saturating_sub(hop.start_ns),
        waiting_ns: next.start_ns.saturating_sub(hop.end_ns()).max(0),
    }));
    let last = way.last().map(|hop| hop.end_ns().saturating_sub(hop.start_ns));
    parts.extend(last.map(|inside_ns| HopTimes { inside_ns, waiting_ns: 0 }));
}

/// Statistics of one part of one hop over many chains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartStatistics {
    histogram: Histogram,
    sum_ns: i128,
    negative: u64,
}

impl PartStatistics {
    fn add(&mut self, ns: i64) {
        self.sum_ns += i128::from(ns);
        self.negative += u64::from(ns < 0);
        self.histogram.add(u64::try_from(ns).unwrap_or(0));
    }

    /// Number of chains.
    pub const fn count(&self) -> u64 {
        self.histogram.count()
    }

    /// The exact sum in nanoseconds, negative parts included.
    pub const fn sum_ns(&self) -> i128 {
        self.sum_ns
    }

    /// The exact mean in nanoseconds, negative parts included; `None` without chains.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum_ns as f64 / self.count() as f64)
    }

    /// A quantile in nanoseconds, at most 3.125 % too large: it is read from a histogram, which
    /// bounds the memory for any number of chains. Negative parts count as 0.
    pub fn quantile_ns(&self, quantile: Quantile) -> Option<u64> {
        self.histogram.quantile(quantile)
    }

    /// Number of negative parts.
    pub const fn negative(&self) -> u64 {
        self.negative
    }

    /// Adds what another has counted.
    pub fn merge(&mut self, other: &Self) {
        self.histogram.merge(&other.histogram);
        self.sum_ns += other.sum_ns;
        self.negative += other.negative;
    }
}

/// The split of many chains that took one path. Some 30 kB per hop, however many chains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// One entry per hop, root first: inside and waiting.
    pub hops: Vec<(PartStatistics, PartStatistics)>,
}

impl Split {
    /// Adds one chain's parts.
    ///
    /// # Panics
    /// When chains of different lengths are mixed: they took different paths.
    pub fn add(&mut self, parts: &[HopTimes]) {
        if self.hops.is_empty() {
            self.hops.resize_with(parts.len(), Default::default);
        }
        assert_eq!(self.hops.len(), parts.len(), "chains of one path have equally many hops");
        for ((inside, waiting), part) in self.hops.iter_mut().zip(parts) {
            inside.add(part.inside_ns);
            waiting.add(part.waiting_ns);
        }
    }

    /// Adds what another has counted for the same path.
    ///
    /// # Panics
    /// When the two have different numbers of hops.
    pub fn merge(&mut self, other: &Self) {
        if other.hops.is_empty() {
            return;
        }
        if self.hops.is_empty() {
            self.hops.resize_with(other.hops.len(), Default::default);
        }
        assert_eq!(self.hops.len(), other.hops.len(), "the same path has equally many hops");
        for (mine, theirs) in self.hops.iter_mut().zip(&other.hops) {
            mine.0.merge(&theirs.0);
            mine.1.merge(&theirs.1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_model::{ClassId, TransactionId};
    use proptest::prelude::*;

    fn hop(start_ns: i64, elapsed_ns: u64) -> Hop {
        let (id, class) = (TransactionId(1), ClassId(1));
        Hop { id, parent: id, class, start_ns, elapsed_ns }
    }

    #[test]
    fn by_hand() {
        let mut parts = Vec::new();
        // 0..10, then 5 of waiting, then 15..40 that goes on while 30..37 already runs.
        split(&[hop(0, 10), hop(15, 25), hop(30, 7)], &mut parts);
        let expected = [(10, 5), (15, 0), (7, 0)];
        assert_eq!(
            parts,
            expected.map(|(inside_ns, waiting_ns)| HopTimes { inside_ns, waiting_ns })
        );
        let mut sum = Split::default();
        sum.add(&parts);
        split(&[hop(0, 10), hop(-4, 25), hop(30, 7)], &mut parts);
        sum.add(&parts);
        assert_eq!(sum.hops[0].0.mean_ns(), Some(3.0)); // (10 - 4) / 2
        assert_eq!((sum.hops[0].0.negative(), sum.hops[1].1.sum_ns()), (1, 9)); // 21..30
        let counted = sum.clone();
        sum.merge(&Split::default());
        assert_eq!(sum, counted, "nothing changes nothing");
        sum.merge(&counted);
        assert_eq!(sum.hops[1].1.sum_ns(), 18);
        split(&[], &mut parts);
        assert!(parts.is_empty());
    }

    proptest! {
        /// The parts add up to the ACPD whatever the hops do.
        #[test]
        fn parts_telescope(way in prop::collection::vec((-1000i64..1000, 0u64..500), 1..12)) {
            let way: Vec<Hop> = way.into_iter().map(|(start, elapsed)| hop(start, elapsed)).collect();
            let mut parts = Vec::new();
            split(&way, &mut parts);
            let sum: i64 = parts.iter().map(|part| part.inside_ns + part.waiting_ns).sum();
            prop_assert_eq!(sum, way[way.len() - 1].end_ns() - way[0].start_ns);
            prop_assert!(parts.iter().all(|part| part.waiting_ns >= 0));
        }
    }
}
