//! The figures of an evaluation.

/// Quality of the tracks. Shares are in `[0, 1]`; `None` where there was nothing to count.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Verdict {
    /// Aircraft in the area.
    pub aircraft: usize,
    /// Evaluated time, s.
    pub seconds: f64,
    /// Aircraft-seconds judged.
    pub samples: u64,
    /// Reports whose errors were taken.
    pub reports: u64,
    /// Probability of update: share of the samples at which the aircraft's track had been updated
    /// by a measurement within the interval. Extrapolated updates (CST) count as none, here and in
    /// everything but the two figures of their own.
    pub detection: Option<f64>,
    /// Extrapolated updates of tracks that followed an aircraft when last measured.
    pub extrapolated: u64,
    /// Root mean square of their horizontal error, m.
    pub extrapolated_rms_m: Option<f64>,
    /// Share of the samples in a gap of more than 24 s.
    pub long_gaps: Option<f64>,
    /// Root mean square of the horizontal error of all reports, each at its own time, m.
    pub rms_m: Option<f64>,
    /// Root mean square of the position error in straight flight.
    pub rms_straight_m: Option<f64>,
    /// Root mean square of the position error in turns (more than 0.375°/s).
    pub rms_turn_m: Option<f64>,
    /// Greatest horizontal error, m.
    pub error_m_max: Option<f64>,
    /// Root mean square of the error of the level, ft.
    pub level_rms_ft: Option<f64>,
    /// Share of the reports with a level.
    pub level_present: Option<f64>,
    /// Share of the reports with the aircraft's address.
    pub address: Option<f64>,
    /// Share of the reports with another address.
    pub false_address: Option<f64>,
    /// Share of the reports with the aircraft's Mode 3/A code; of those about aircraft whose code is known.
    pub mode_a: Option<f64>,
    /// Share of these with another code.
    pub false_mode_a: Option<f64>,
    /// Share of the measured reports in the area whose track follows no aircraft at that time: further
    /// tracks on one that has a track are among them.
    pub extra_reports: Option<f64>,
    /// Tracks that follow no aircraft for most of their life, per hour.
    pub false_tracks_per_h: Option<f64>,
    /// Aircraft without a track for more than 24 s after they had one, an hour.
    pub lost_tracks_per_h: Option<f64>,
    /// Number of times that an aircraft's track became one that had followed another.
    pub swaps: u64,
    /// Number of times that an aircraft's track became a new one.
    pub renumbered: u64,
    /// Further tracks on an aircraft, a share of the samples.
    pub duplicates: Option<f64>,
    /// Mean time from an aircraft's appearance to its track, s.
    pub initiation_s_mean: Option<f64>,
    /// The longest such time, s.
    pub initiation_s_max: Option<f64>,
}
