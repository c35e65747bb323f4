//! Offset of this host's clock from the collector's, from exchanges of one question and answer.
//!
//! Four stamps, UTC in nanoseconds: `t1` question leaves here and `t4` answer arrives here (this
//! host's clock), `t2` question arrives there and `t3` answer leaves there (the collector's).
//! Source: RFC 5905 §8, with the sign turned: the offset is this host's clock minus the
//! collector's, because that is what is wrong with the rows of this host.
//!
//! Of the exchanges of some seconds the one with the shortest round trip is believed: whatever
//! held up the others widened their bounds. Not here: drift between readings
//! (`chronoscope_chain::ClockTrack` bounds it).

use chronoscope_clock as clock;
use std::time::Duration;

/// Exchanges of which the best is told. The first ones come quickly.
const WINDOW: u32 = 8;
/// Between the first exchanges of a connection, and later.
const EVERY: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(1250));

/// Result of one exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offset {
    /// Time of the reading by the collector's clock: UTC, nanoseconds since 1970.
    pub(crate) at_ns: i64,
    /// This host's clock minus the collector's, in nanoseconds.
    pub(crate) offset_ns: i64,
    /// Half of the round trip: the true offset is within `offset_ns ± error_ns` whatever the
    /// asymmetry of the path.
    pub(crate) error_ns: u64,
}

/// Why an exchange tells nothing about the offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OffsetError {
    /// A clock was set in between.
    #[error("a clock went back by {back_ns} ns during an exchange")]
    WentBack {
        /// By how much.
        back_ns: i64,
    },
    /// The collector held the question for longer than we waited: the clocks run at different
    /// rates, or one was set in between.
    #[error("the answer was held for {held_ns} ns, but the exchange took {total_ns} ns")]
    HeldTooLong {
        /// `t3 - t2`.
        held_ns: i64,
        /// `t4 - t1`.
        total_ns: i64,
    },
    /// The clocks are further apart than stamps can say, or no clock shows such stamps.
    #[error("the clocks are too far apart to be compared")]
    TooFar,
}

/// The offset from the stamps `[t1, t2, t3, t4]`.
///
/// # Errors
/// [`OffsetError`] when the stamps contradict each other; nothing is clamped.
pub(crate) fn estimate([t1, t2, t3, t4]: [i64; 4]) -> Result<Offset, OffsetError> {
    let between = |later: i64, earlier: i64| later.checked_sub(earlier).ok_or(OffsetError::TooFar);
    let (total_ns, held_ns) = (between(t4, t1)?, between(t3, t2)?);
    if let Some(back_ns) = [total_ns, held_ns].into_iter().find(|time| *time < 0) {
        return Err(OffsetError::WentBack { back_ns: back_ns.saturating_neg() });
    }
    let trip_ns = total_ns - held_ns;
    if trip_ns < 0 {
        return Err(OffsetError::HeldTooLong { held_ns, total_ns });
    }
    // Halves are rounded outward, so that the bound stays one.
    let error_ns = trip_ns.cast_unsigned().div_ceil(2) + 1;
    let (out, back) = (i128::from(t1) - i128::from(t2), i128::from(t4) - i128::from(t3));
    let offset_ns = i64::try_from((out + back) / 2).map_err(|_| OffsetError::TooFar)?;
    Ok(Offset { at_ns: t2 + held_ns / 2, offset_ns, error_ns })
}

/// Clock readings of an agent: the time of the next one, and the accepted offset.
#[derive(Debug)]
pub(crate) struct Offsets {
    best: Option<Offset>,
    asked: u32,
    next_ns: u64,
    /// Whether a window was told on this connection.
    told: bool,
}

impl Offsets {
    /// State of a new connection: the first exchange is due at once.
    pub(crate) const fn new() -> Self {
        Self { best: None, asked: 0, next_ns: 0, told: false }
    }

    /// Time of the next reading, on the monotonic clock.
    pub(crate) const fn next_ns(&self) -> u64 {
        self.next_ns
    }

    /// Takes in an exchange; the best of its window when that is complete.
    pub(crate) fn take(&mut self, offset: Option<Offset>) -> Option<Offset> {
        if let Some(offset) = offset
            && self.best.is_none_or(|best| offset.error_ns < best.error_ns)
        {
            self.best = Some(offset);
        }
        self.asked += 1;
        let complete = self.asked >= WINDOW;
        self.told |= complete;
        let every = if self.told { EVERY.1 } else { EVERY.0 };
        self.next_ns = clock::monotonic_ns() + crate::duration::nanos(every);
        if !complete {
            return None;
        }
        self.asked = 0;
        self.best.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_exchange_by_hand() {
        // We are 1000 ahead; 10 there, held 4, 20 back.
        let offset = estimate([5_000, 4_010, 4_014, 5_034]).unwrap();
        assert_eq!(offset, Offset { at_ns: 4_012, offset_ns: 1_005, error_ns: 16 });
        let held = estimate([0, 100, 131, 30]).unwrap_err();
        assert_eq!(held.to_string(), "the answer was held for 31 ns, but the exchange took 30 ns");
        assert_eq!(estimate([10, 5, 5, 7]), Err(OffsetError::WentBack { back_ns: 3 }));
        assert_eq!(estimate([i64::MIN, 0, 0, i64::MAX]), Err(OffsetError::TooFar));
    }

    #[test]
    fn the_quickest_of_a_window_is_told() {
        let mut offsets = Offsets::new();
        let mut told = Vec::new();
        for error_ns in [90, 30, 50, 70, 80, 40, 60, 35, 200] {
            let offset = Offset { at_ns: 0, offset_ns: 0, error_ns };
            told.push(offsets.take(Some(offset)).map(|offset| offset.error_ns));
        }
        assert_eq!(told, [None, None, None, None, None, None, None, Some(30), None]);
        let none: Vec<_> = (0..7).map(|_| offsets.take(None)).collect();
        assert_eq!(none.iter().flatten().next().map(|offset| offset.error_ns), Some(200));
    }

    proptest! {
        /// The promise in the docs: the truth is inside the bound for every path asymmetry.
        #[test]
        fn truth_is_within_the_bound(
            truth in -1_000_000_000_000i64..1_000_000_000_000,
            out in 0i64..1_000_000_000,
            held in 0i64..1_000_000_000,
            back in 0i64..1_000_000_000,
        ) {
            let t1 = 1_800_000_000_000_000_000;
            let (t2, t3) = (t1 - truth + out, t1 - truth + out + held);
            let offset = estimate([t1, t2, t3, t3 + truth + back]).unwrap();
            prop_assert!(offset.offset_ns.abs_diff(truth) <= offset.error_ns);
            prop_assert!((t2..=t3).contains(&offset.at_ns));
        }

        #[test]
        fn any_stamps_are_survived(stamps: [i64; 4]) {
            let _ = estimate(stamps);
        }
    }
}
