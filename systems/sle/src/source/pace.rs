//! Frames at a steady rate.

use crate::time::Now;

const SECOND_NS: u128 = 1_000_000_000;

/// A schedule: the frame with number `n` comes `n / rate` seconds after the first.
///
/// Frames that nobody took in time come all at once afterwards, each with the instant for which
/// it was scheduled: how late they are stays visible.
#[derive(Clone, Copy, Debug)]
pub(super) struct FramePace {
    rate: u32,
    start: Option<Now>,
    given: u64,
}

impl FramePace {
    /// Frames a second, at least 1.
    pub(super) fn new(rate: u32) -> Self {
        Self { rate: rate.max(1), start: None, given: 0 }
    }

    /// Number of due frames. The first frame is due at the first call.
    pub(super) fn due(&mut self, now: Now) -> u64 {
        let start = *self.start.get_or_insert(now);
        let elapsed_ns = now.monotonic_ns.saturating_sub(start.monotonic_ns);
        let count = u128::from(elapsed_ns) * u128::from(self.rate) / SECOND_NS + 1;
        u64::try_from(count).unwrap_or(u64::MAX).saturating_sub(self.given)
    }

    /// Gives the next frame its instant: UTC, in nanoseconds since 1970.
    pub(super) fn take(&mut self) -> u64 {
        let offset_ns = self.offset_ns();
        self.given += 1;
        self.start.map_or(0, |start| start.utc_ns.saturating_add(offset_ns))
    }

    /// When the next frame is due, on the monotonic clock.
    pub(super) fn next_ns(&self) -> u64 {
        self.start.map_or(0, |start| start.monotonic_ns.saturating_add(self.offset_ns()))
    }

    /// Time from the first frame to the next one, in nanoseconds, rounded up.
    fn offset_ns(&self) -> u64 {
        let offset = (u128::from(self.given) * SECOND_NS).div_ceil(u128::from(self.rate));
        u64::try_from(offset).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_a_second() {
        let start = Now { monotonic_ns: 1_000, utc_ns: 5_000_000_000 };
        let at = |ns: u64| Now { monotonic_ns: 1_000 + ns, utc_ns: 0 };
        let mut pace = FramePace::new(3);
        assert_eq!(pace.due(start), 1);
        assert_eq!(pace.take(), 5_000_000_000);
        assert_eq!(pace.next_ns(), 333_334_334);
        assert_eq!(pace.due(at(333_333_333)), 0);
        assert_eq!(pace.due(at(333_333_334)), 1);
        assert_eq!(pace.take(), 5_333_333_334);
        assert_eq!(pace.due(at(2_000_000_000)), 5, "what was not taken is still due");
        assert_eq!(pace.take(), 5_666_666_667);
    }
}
