//! What the tracker knows of a sensor, for its status messages.

use super::clocks::RadarClock;
use super::radars::RadarBias;
use crate::asterix::DataSource;

/// A sensor as the tracker knows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SensorState {
    pub(super) source: DataSource,
    /// Arrival of its latest data, UTC, ns.
    pub(super) heard_ns: i64,
    pub(super) clock: Option<RadarClock>,
    pub(super) bias: Option<RadarBias>,
}
