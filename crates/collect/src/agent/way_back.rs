//! The way back to a collector that stands earlier in the list than the one that is delivered to.

use super::link::Link;
use super::session::exchange;
use super::target::Target;
use crate::duration::nanos;
use crate::protocol::ClockRequest;
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::sleep;
use tonic::client::Grpc;

/// Shortest and longest interval at which collectors that are preferred are tried.
const LOOK_EVERY: (Duration, Duration) = (Duration::from_secs(10), Duration::from_mins(10));
/// A connection that ends in an error sooner was not worth going back for.
const WORTH_NS: u64 = 60_000_000_000;

/// When to look for collectors that are preferred.
#[derive(Debug)]
pub(super) struct WayBack {
    every: Duration,
}

impl Default for WayBack {
    fn default() -> Self {
        Self { every: LOOK_EVERY.0 }
    }
}

impl WayBack {
    /// Notes that the connection to the collector at an index lasted so long, and how it ended: one
    /// that answers and does not take rows is tried less and less often.
    pub(super) fn ended(&mut self, index: usize, lasted_ns: u64, is_well: bool) {
        if index > 0 {
            return;
        }
        self.every = match is_well || lasted_ns >= WORTH_NS {
            true => LOOK_EVERY.0,
            false => (self.every * 2).min(LOOK_EVERY.1),
        };
    }

    /// Looks for a collector that is preferred for as long as it is polled; its index goes into
    /// `back`.
    pub(super) async fn look(&self, link: &Link, back: &AtomicUsize) -> Infallible {
        loop {
            sleep(self.every + jitter(link, self.every / 4)).await;
            for (index, target) in link.preferred().iter().enumerate() {
                if answers(target).await {
                    back.store(index, Ordering::Relaxed);
                    break;
                }
            }
        }
    }
}

/// Whether a collector tells what time it is, to who shows the token.
async fn answers(target: &Target) -> bool {
    let Ok(channel) = target.endpoint().connect().await else { return false };
    exchange(Grpc::new(channel), target.request(ClockRequest {})).await.is_some()
}

/// Up to `most`, other ones for every agent: they do not all come back at once.
fn jitter(link: &Link, most: Duration) -> Duration {
    let mixed = link.spool.id().0 ^ (link.spool.id().0 >> 64);
    #[allow(clippy::cast_possible_truncation)] // any bits do
    Duration::from_nanos((mixed as u64) % nanos(most).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_that_takes_nothing_is_tried_less_and_less_often() {
        let mut way_back = WayBack::default();
        way_back.ended(1, 5, false);
        assert_eq!(way_back.every, LOOK_EVERY.0, "it is about the first one");
        way_back.ended(0, 5, false);
        assert_eq!(way_back.every, LOOK_EVERY.0 * 2);
        (0..20).for_each(|_| way_back.ended(0, 5, false));
        assert_eq!(way_back.every, LOOK_EVERY.1);
        way_back.ended(0, WORTH_NS, false);
        assert_eq!(way_back.every, LOOK_EVERY.0);
    }
}
