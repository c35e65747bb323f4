//! Time limits of the port for browsers.

use std::time::Duration;

/// Time limits of the port.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// A browser that has acknowledged or received nothing for this long is cut.
    pub silent: Duration,
    /// Interval between two pings, for the round trip.
    pub ping_every: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { silent: Duration::from_secs(10), ping_every: Duration::from_secs(1) }
    }
}
