//! The number of invocations that may be without a return: a fixed one, or one that follows the path.
//!
//! By Little's law, rate × round trip is under way when a path is full. With fewer the path is idle,
//! with more they only wait, and their fates are unknown for longer if the association is lost. So
//! the window is twice the product of the highest rate and the shortest round trip of the last
//! seconds, both from the returns themselves (as BBR does for TCP). While the window is the limit, the
//! product grows with it, and the window doubles each round trip.

/// The least tuned window: with fewer, two programs on one host write and read less at a time.
pub(super) const WINDOW_MIN: usize = 1024;
/// Invocations without a return, at most: invoke ids have 16 bits.
pub(crate) const WINDOW_MAX: usize = 60_000;
/// Round trips whose highest rate counts.
const RATES: usize = 10;
/// The shortest round trip is of this time, up to twice as long, in ns: a path may change.
const SHORTEST_NS: u64 = 10_000_000_000;

/// An invocation whose round trip is measured.
#[derive(Clone, Copy, Debug)]
struct TimedInvocation {
    /// Invocations sent before it.
    index: u64,
    sent_ns: u64,
    /// Invocations returned when it was sent.
    returned: u64,
}

/// What the returns say of the path.
#[derive(Clone, Debug)]
pub(super) struct WindowTuner {
    window: usize,
    is_fixed: bool,
    sent: u64,
    returned: u64,
    timed: Option<TimedInvocation>,
    /// The rates of the last round trips, in invocations a second.
    rates: [f64; RATES],
    rounds: usize,
    /// The shortest round trip of this span of time and of the one before, in ns.
    shortest_ns: [u64; 2],
    /// End of this span, monotonic, in ns.
    span_end_ns: u64,
}

impl WindowTuner {
    /// A fixed window, in [1, 60,000] (a value outside becomes the nearest inside), or a tuned one.
    pub(super) fn new(fixed: Option<usize>) -> Self {
        Self {
            window: fixed.unwrap_or(WINDOW_MIN).clamp(1, WINDOW_MAX),
            is_fixed: fixed.is_some(),
            sent: 0,
            returned: 0,
            timed: None,
            rates: [0.0; RATES],
            rounds: 0,
            shortest_ns: [u64::MAX; 2],
            span_end_ns: 0,
        }
    }

    /// Invocations that may be without a return.
    pub(super) fn window(&self) -> usize {
        self.window
    }

    /// An invocation is sent. `now_ns` (monotonic) is read once a round trip.
    pub(super) fn sent(&mut self, now_ns: impl FnOnce() -> u64) {
        if self.timed.is_none() && !self.is_fixed {
            self.timed = Some(TimedInvocation {
                index: self.sent,
                sent_ns: now_ns(),
                returned: self.returned,
            });
        }
        self.sent += 1;
    }

    /// The return of the oldest invocation was received.
    pub(super) fn returned(&mut self, now_ns: u64) {
        self.returned += 1;
        if let Some(timed) = self.timed.take_if(|timed| timed.index < self.returned) {
            self.round_trip(timed, now_ns);
        }
    }

    fn round_trip(&mut self, timed: TimedInvocation, now_ns: u64) {
        let round_trip_ns = now_ns.saturating_sub(timed.sent_ns).max(1);
        if now_ns >= self.span_end_ns {
            self.shortest_ns = [u64::MAX, self.shortest_ns[0]];
            self.span_end_ns = now_ns.saturating_add(SHORTEST_NS);
        }
        self.shortest_ns[0] = self.shortest_ns[0].min(round_trip_ns);
        #[allow(clippy::cast_precision_loss)] // counts and times of one round trip
        let rate = (self.returned - timed.returned) as f64 / (round_trip_ns as f64 / 1e9);
        self.rates[self.rounds % RATES] = rate;
        self.rounds += 1;
        let shortest_ns = self.shortest_ns[0].min(self.shortest_ns[1]);
        let highest = self.rates.iter().copied().fold(0.0, f64::max);
        #[allow(clippy::cast_precision_loss)] // as above
        let under_way = highest * (shortest_ns as f64 / 1e9);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
        let wanted = (2.0 * under_way).ceil() as usize;
        self.window = wanted.clamp(WINDOW_MIN, WINDOW_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// A path that carries one invocation in `each_ns` after half of `rtt_ns`; the window after
    /// `rounds` round trips, and the rate in invocations a second over the last one.
    fn over(mut tuner: WindowTuner, each_ns: u64, rtt_ns: u64, rounds: u64) -> (usize, f64) {
        let (mut now_ns, mut free_ns) = (0, 0);
        let mut under_way = VecDeque::new();
        let mut last = 0u64;
        let end_ns = rtt_ns * rounds;
        while now_ns < end_ns {
            while under_way.len() < tuner.window() {
                tuner.sent(|| now_ns);
                free_ns = now_ns.max(free_ns) + each_ns;
                under_way.push_back(free_ns + rtt_ns);
            }
            now_ns = under_way.pop_front().unwrap();
            tuner.returned(now_ns);
            last += u64::from(now_ns + rtt_ns >= end_ns && now_ns < end_ns);
        }
        #[allow(clippy::cast_precision_loss)]
        let rate = last as f64 / (rtt_ns as f64 / 1e9);
        (tuner.window(), rate)
    }

    #[test]
    fn a_long_path_is_filled_and_not_more_than_twice() {
        // 100 ms, 50,000 a second: 5,000 under way.
        let (window, rate) = over(WindowTuner::new(None), 20_000, 100_000_000, 20);
        assert!((9_000..=11_000).contains(&window), "{window}");
        assert!((49_000.0..=51_000.0).contains(&rate), "{rate}");
        let (fixed, rate) = over(WindowTuner::new(Some(1024)), 20_000, 100_000_000, 20);
        assert_eq!(fixed, 1024);
        assert!(rate < 10_500.0, "a fifth: {rate}");
    }

    #[test]
    fn a_short_path_keeps_the_least_window_and_the_longest_has_the_most() {
        assert_eq!(over(WindowTuner::new(None), 2_000, 50_000, 100).0, WINDOW_MIN);
        assert_eq!(over(WindowTuner::new(None), 1_000, 400_000_000, 20).0, WINDOW_MAX);
    }
}
