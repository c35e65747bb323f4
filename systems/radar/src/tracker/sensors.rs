//! Precision of sensors: what is assumed of a kind of them before a radar's own is known.

/// Noise of a kind of sensor, or of one radar.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Precision {
    /// Standard deviation of the range, m.
    pub range_sigma_m: f64,
    /// Standard deviation of the azimuth, degrees.
    pub azimuth_sigma_deg: f64,
}

impl Default for Precision {
    /// The figures that ED-142 evaluation assumes of a radar: 70 m and 0.08°.
    fn default() -> Self {
        Self { range_sigma_m: 70.0, azimuth_sigma_deg: 0.08 }
    }
}

/// Precision by kind of sensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sensors {
    /// Primary plots.
    pub primary: Precision,
    /// Plots of secondary radars.
    pub secondary: Precision,
    /// Plots of Mode S radars.
    pub mode_s: Precision,
}

impl Sensors {
    /// The same precision for all kinds.
    #[must_use]
    pub fn all(precision: Precision) -> Self {
        Self { primary: precision, secondary: precision, mode_s: precision }
    }
}
