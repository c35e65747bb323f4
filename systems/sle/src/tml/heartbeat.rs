//! Heartbeats: the interval and dead factor of a connection, and those that a responder accepts.

use std::ops::RangeInclusive;

const SECOND_NS: u64 = 1_000_000_000;

/// Heartbeat parameters that the initiator proposes and both sides use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// Longest silence of a sender, in seconds. 0: no heartbeats, and nobody is ever taken for dead.
    pub interval_s: u16,
    /// A peer is dead after so many intervals without a message, at least 1.
    pub dead_factor: u16,
}

impl Heartbeat {
    /// No heartbeats.
    pub const NONE: Self = Self { interval_s: 0, dead_factor: 0 };

    /// Heartbeat interval of a sender, in nanoseconds; `None` without heartbeats.
    pub(super) fn interval_ns(self) -> Option<u64> {
        (self.interval_s > 0).then(|| u64::from(self.interval_s) * SECOND_NS)
    }

    /// Time without messages after which a receiver considers the peer dead, in nanoseconds; `None`
    /// without heartbeats.
    pub(super) fn dead_ns(self) -> Option<u64> {
        Some(self.interval_ns()? * u64::from(self.dead_factor.max(1)))
    }
}

/// Heartbeat parameters that a responder accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeartbeatLimits {
    /// Intervals, in seconds.
    pub interval_s: RangeInclusive<u16>,
    /// Dead factors. 0 is never one, whatever the range says.
    pub dead_factor: RangeInclusive<u16>,
    /// Whether an initiator may do without (interval 0).
    pub none_allowed: bool,
    /// Time from the connection to the first PDU, in nanoseconds.
    pub establishment_ns: u64,
}

impl Default for HeartbeatLimits {
    fn default() -> Self {
        Self {
            interval_s: 3..=3600,
            dead_factor: 1..=60,
            none_allowed: true,
            establishment_ns: 180 * SECOND_NS,
        }
    }
}

impl HeartbeatLimits {
    /// Whether these limits allow what an initiator proposes.
    pub(super) fn allow(&self, heartbeat: Heartbeat) -> bool {
        if heartbeat.interval_s == 0 {
            return self.none_allowed;
        }
        self.interval_s.contains(&heartbeat.interval_s)
            && heartbeat.dead_factor > 0
            && self.dead_factor.contains(&heartbeat.dead_factor)
    }
}
