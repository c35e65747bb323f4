//! Pauses before attempts to bind: they double, with jitter, so that the links of many users of a station
//! that comes back do not all bind at the same instant.

use chronoscope_statistics::Random;
use std::time::Duration;

/// An association that lasted as long is a success: the next pause is the shortest again.
const SUCCESS_NS: u64 = 30_000_000_000;

/// The pauses of one link.
#[derive(Debug)]
pub(super) struct Backoff {
    least_ns: u64,
    most_ns: u64,
    next_ns: u64,
    random: Random,
}

impl Backoff {
    /// Pauses from the first to the second number of seconds.
    pub(super) fn new([least_s, most_s]: [u32; 2], seed: u64) -> Self {
        let ns = |seconds: u32| u64::from(seconds) * 1_000_000_000;
        Self {
            least_ns: ns(least_s),
            most_ns: ns(most_s),
            next_ns: ns(least_s),
            random: Random(seed),
        }
    }

    /// An attempt failed, or an association ended after `lasted_ns`: the pause before the next attempt,
    /// in [half, whole] of what it is now; the next one is up to twice as long.
    pub(super) fn pause(&mut self, lasted_ns: u64) -> Duration {
        if lasted_ns >= SUCCESS_NS {
            self.reset();
        }
        let whole_ns = self.next_ns;
        self.next_ns = whole_ns.saturating_mul(2).min(self.most_ns);
        Duration::from_nanos(whole_ns / 2 + self.random.below(whole_ns / 2 + 1))
    }

    /// The next pause is the shortest: a pass begins.
    pub(super) fn reset(&mut self) {
        self.next_ns = self.least_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_a_success_ends_that() {
        let mut backoff = Backoff::new([1, 10], 7);
        for whole_s in [1, 2, 4, 8, 10, 10] {
            let pause = backoff.pause(0).as_secs_f64();
            assert!((f64::from(whole_s) / 2.0..=f64::from(whole_s)).contains(&pause), "{pause}");
        }
        assert!(backoff.pause(29_000_000_000).as_secs_f64() >= 5.0, "too short a success");
        assert!(backoff.pause(31_000_000_000).as_secs_f64() <= 1.0);
    }

    #[test]
    fn links_do_not_pause_equally_long() {
        let pauses: std::collections::BTreeSet<_> =
            (0..100).map(|seed| Backoff::new([1, 10], seed).pause(0)).collect();
        assert!(pauses.len() > 90);
    }
}
