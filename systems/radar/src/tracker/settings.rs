//! Settings of the tracker, and their defaults.

use super::imm::MotionModel;
use super::track::Track;

/// Settings of the tracker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Motion of aircraft.
    pub motion: MotionModel,
    /// Plots needed to believe a track: the M of "M of N".
    pub confirm_hits: u32,
    /// Opportunities within which they have to come: the N.
    pub confirm_scans: f64,
    /// Addition to both while no plot has carried an address or a code: clutter is anonymous, and
    /// several radars' clutter lines up by chance.
    pub anonymous_extra: u32,
    /// Largest mean distance of the plots of such a track from their predictions at which the track
    /// is confirmed, squared Mahalanobis distance. An aircraft's is 2 on average; where clutter is
    /// dense there is always another plot within the gate, but seldom a near one.
    pub anonymous_misfit: f64,
    /// A confirmed track ends after so many antenna turns (of the fastest radar that sees it)
    /// without a plot, …
    pub coast_turns: f64,
    /// … but not before this many seconds …
    pub coast_s_min: f64,
    /// … and at the latest after this many.
    pub coast_s_max: f64,
    /// Plots older than this compared with their track are of no use, s.
    pub late_s_max: f64,
    /// Squared Mahalanobis distance within which a plot may belong to a track. 16 would keep all
    /// but 1 in 3000 (chi-square, two degrees of freedom) of the straight flights; who begins to
    /// turn between two plots of a slow radar needs 36.
    pub gate: f64,
    /// Gate where both have the same discrete Mode A code: wide enough for the sharpest turn.
    pub gate_same_code: f64,
    /// Gate where the address matches: only the impossible is refused.
    pub gate_same_address: f64,
    /// A radar that sees an aircraft is expected to see it again after this many of its turns; a
    /// quarter more than one, for the sector that is on its way and the flight in between.
    pub expected_turns: f64,
    /// Antenna period assumed until a radar's own is known, s.
    pub period_s: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            motion: MotionModel::default(),
            confirm_hits: 3,
            confirm_scans: 5.0,
            anonymous_extra: 3,
            anonymous_misfit: 5.0,
            coast_turns: 5.0,
            coast_s_min: 15.0,
            coast_s_max: 60.0,
            late_s_max: 10.0,
            gate: 36.0,
            gate_same_code: 50.0,
            gate_same_address: 150.0,
            expected_turns: 1.25,
            period_s: 6.0,
        }
    }
}

impl Settings {
    pub(super) fn extra_hits(&self, track: &Track) -> u32 {
        let anonymous = track.identity.address.is_none() && track.identity.mode_3a.is_none();
        if anonymous { self.anonymous_extra } else { 0 }
    }
}
