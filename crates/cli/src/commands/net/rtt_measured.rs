//! Round trips that were measured.

use chronoscope_net::probe::rounds::Probed;
use chronoscope_net::probe::{Prober, Summary, Timer};
use std::time::Duration;

/// Everything that was measured.
pub(super) struct Measured {
    /// This host.
    pub(super) from: String,
    /// Clock of the measurement.
    pub(super) timer: Timer,
    /// Interval between requests.
    pub(super) every: Duration,
    /// Targets with their results.
    pub(super) targets: Vec<(Prober, Probed, Summary)>,
}
