//! Time at which blocks queued for subscribers leave the process.
//!
//! By default at once. The original system held its output back to have fuller packets; that made
//! its chains hundreds of times longer than their computation. The same can be set here to study
//! it: the hold is behind the transaction that queued the block and before the one that receives
//! it, and shows as waiting between them and in neither.

use std::time::Duration;

/// Sending policy of a process: at once, one small segment for each batch, unless set otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct Sending {
    /// Leave Nagle's algorithm on: a small segment waits until the one before it is acknowledged.
    /// Without this it goes at once (TCP_NODELAY).
    #[arg(long)]
    pub nagle: bool,
    /// Hold messages in a buffer of this process and send them every N milliseconds, 0 to 500;
    /// 0 sends them at once. What is held when the process ends is sent then.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=500))]
    pub flush_ms: u16,
}

/// The timer of a buffer that is sent at a fixed interval. All times are monotonic, ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlushTimer {
    /// 0 for none.
    every_ns: u64,
    /// Start of the timer: processes that begin at different times send at different times.
    begin_ns: u64,
    /// Time when the held blocks leave.
    due_ns: Option<u64>,
}

impl FlushTimer {
    pub(super) fn new(sending: Sending, begin_ns: u64) -> Self {
        let every = Duration::from_millis(sending.flush_ms.into());
        #[allow(clippy::cast_possible_truncation)] // at most half a second
        Self { every_ns: every.as_nanos() as u64, begin_ns, due_ns: None }
    }

    /// Decides whether a queued message may be sent now. If not, it may from [`FlushTimer::due_ns`]
    /// on.
    pub(super) fn may_send(&mut self, now_ns: u64) -> bool {
        if self.every_ns == 0 {
            return true;
        }
        match self.due_ns {
            Some(due_ns) if now_ns >= due_ns => {
                self.due_ns = None;
                true
            }
            Some(_) => false,
            None => {
                let past_ns = now_ns.saturating_sub(self.begin_ns) % self.every_ns;
                self.due_ns = Some(now_ns + self.every_ns - past_ns);
                false
            }
        }
    }

    /// Time when the held blocks leave, if there are any.
    pub(super) fn due_ns(&self) -> Option<u64> {
        self.due_ns
    }

    /// Notes that the held blocks left before their time.
    pub(super) fn sent(&mut self) {
        self.due_ns = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    fn timer(flush_ms: u16) -> FlushTimer {
        FlushTimer::new(Sending { flush_ms, nagle: false }, 7 * MS)
    }

    #[test]
    fn without_an_interval_everything_leaves_at_once() {
        let mut timer = timer(0);
        assert!(timer.may_send(0) && timer.may_send(9 * MS));
        assert_eq!(timer.due_ns(), None);
    }

    #[test]
    fn what_came_in_between_leaves_at_the_next_beat() {
        let mut timer = timer(100);
        assert!(!timer.may_send(30 * MS));
        assert_eq!(timer.due_ns(), Some(107 * MS));
        assert!(!timer.may_send(106 * MS));
        assert!(timer.may_send(109 * MS)); // 2 ms late
        // … which does not move the beat, and neither does a pause.
        assert!(!timer.may_send(110 * MS));
        assert_eq!(timer.due_ns(), Some(207 * MS));
        assert!(timer.may_send(207 * MS));
        assert!(!timer.may_send(1_000 * MS));
        assert_eq!(timer.due_ns(), Some(1_007 * MS));
    }

    proptest! {
        /// Nothing is held for longer than the interval.
        #[test]
        fn nothing_is_held_longer_than_the_interval(
            flush_ms in 1u16..=500, begin_ns in 0u64..1 << 50, after_ns in 0u64..1 << 50,
        ) {
            let mut timer = FlushTimer::new(Sending { flush_ms, nagle: false }, begin_ns);
            let now_ns = begin_ns + after_ns;
            prop_assert!(!timer.may_send(now_ns));
            let held_ns = timer.due_ns().unwrap() - now_ns;
            prop_assert!(held_ns > 0 && held_ns <= u64::from(flush_ms) * MS);
        }
    }
}
