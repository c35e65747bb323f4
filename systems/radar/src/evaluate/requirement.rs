//! Required quality of a tracker.
//!
//! The values are those that COMPASS (conf/default/eval.json, commit b81e5235) gives for
//! evaluation after ED-142; the document itself was not at hand. It names none for false, lost and
//! doubled tracks, nor for levels.

use super::verdict::Verdict;

/// The numbers of ED-142 for one kind of airspace.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Requirement {
    /// Least probability that a position is updated within the interval.
    pub detection_min: f64,
    /// Greatest root mean square of the horizontal error, m.
    pub rms_m_max: f64,
    /// Greatest share of time in long gaps.
    pub long_gaps_max: f64,
    /// Least share of reports with the aircraft's address.
    pub address_min: f64,
    /// Greatest share of reports with another address.
    pub false_address_max: f64,
    /// Least share of reports with a level.
    pub level_min: f64,
}

impl Requirement {
    /// Requirements for en-route airspace.
    pub const EN_ROUTE: Self = Self {
        detection_min: 0.97,
        rms_m_max: 350.0,
        long_gaps_max: 0.01,
        address_min: 0.99,
        false_address_max: 0.001,
        level_min: 0.96,
    };
    /// In a terminal area.
    pub const TERMINAL: Self = Self { rms_m_max: 150.0, long_gaps_max: 0.001, ..Self::EN_ROUTE };

    /// Each requirement with its measured value.
    #[must_use]
    pub fn findings(&self, verdict: &Verdict) -> Vec<Finding> {
        let least = |what, found: Option<f64>, limit| Finding {
            what,
            found,
            limit,
            least: true,
            holds: found.is_some_and(|found| found >= limit),
        };
        let most = |what, found: Option<f64>, limit| Finding {
            what,
            found,
            limit,
            least: false,
            holds: found.is_some_and(|found| found <= limit),
        };
        vec![
            least("detection", verdict.detection, self.detection_min),
            most("rms_m", verdict.rms_m, self.rms_m_max),
            most("long_gaps", verdict.long_gaps, self.long_gaps_max),
            least("address", verdict.address, self.address_min),
            most("false_address", verdict.false_address, self.false_address_max),
            least("level_present", verdict.level_present, self.level_min),
        ]
    }
}

/// One requirement and its measured value.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Finding {
    /// The field of the verdict.
    pub what: &'static str,
    /// Measured value; `None` where there was nothing to judge, which does not hold either.
    pub found: Option<f64>,
    /// Required limit.
    pub limit: f64,
    /// Whether the limit is the least or the greatest value allowed.
    pub least: bool,
    /// Whether it holds.
    pub holds: bool,
}
