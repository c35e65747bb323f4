//! Required quality of a tracker: the limits of two standards.
//!
//! * ED-142: the values that COMPASS (conf/default/eval.json, commit b81e5235) gives for evaluation
//!   after it. It names none for false, lost and doubled tracks, nor for levels.
//! * ESASSP (EUROCONTROL-SPEC-0147), for targets with a transponder.
//!
//! The documents themselves were not at hand: `docs/radar-evaluation.md` has the sources of each limit.
//! One that a single source gives is shown and not judged.

use super::verdict::Verdict;

/// The limits for one kind of airspace.
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
    /// Least share of reports with the aircraft's Mode 3/A code.
    pub mode_a_min: f64,
    /// Greatest share of reports with another code.
    pub false_mode_a_max: f64,
    /// What is required for the separation that is usual there.
    pub separation: Separation,
}

/// The limits of ESASSP that a horizontal separation needs.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Separation {
    /// Name in the report.
    pub name: &'static str,
    /// Name beside a limit that one source alone gives.
    pub name_unsure: &'static str,
    /// Whether two sources give the greatest error.
    pub rms_sure: bool,
    /// Longest interval within which updates are counted, s.
    pub interval_s_max: f64,
    /// Least probability that a position is updated within it.
    pub detection_min: f64,
    /// Greatest root mean square of the horizontal error, m.
    pub rms_m_max: f64,
}

impl Separation {
    /// 5 NM.
    pub const NM_5: Self = Self {
        name: "ESASSP 5 NM",
        name_unsure: "ESASSP 5 NM (one source)",
        rms_sure: true,
        interval_s_max: 8.0,
        detection_min: 0.97,
        rms_m_max: 500.0,
    };
    /// 3 NM.
    pub const NM_3: Self = Self {
        name: "ESASSP 3 NM",
        name_unsure: "ESASSP 3 NM (one source)",
        rms_sure: false,
        interval_s_max: 5.0,
        detection_min: 0.97,
        rms_m_max: 300.0,
    };
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
        mode_a_min: 0.98,
        false_mode_a_max: 0.001,
        separation: Separation::NM_5,
    };
    /// In a terminal area.
    pub const TERMINAL: Self = Self {
        rms_m_max: 150.0,
        long_gaps_max: 0.001,
        separation: Separation::NM_3,
        ..Self::EN_ROUTE
    };

    /// Each requirement with its measured value. `interval_s` is that within which updates were
    /// counted.
    #[must_use]
    pub fn findings(&self, verdict: &Verdict, interval_s: f64) -> Vec<Finding> {
        let ed_142 = "ED-142";
        let separation = self.separation;
        let (esassp, unsure) = (separation.name, separation.name_unsure);
        let rms = if separation.rms_sure { esassp } else { unsure };
        let mut findings = vec![
            Finding::least(ed_142, "detection", verdict.detection, self.detection_min),
            Finding::most(ed_142, "rms_m", verdict.rms_m, self.rms_m_max),
            Finding::most(ed_142, "long_gaps", verdict.long_gaps, self.long_gaps_max),
            Finding::least(ed_142, "address", verdict.address, self.address_min),
            Finding::most(ed_142, "false_address", verdict.false_address, self.false_address_max),
            Finding::least(ed_142, "level_present", verdict.level_present, self.level_min),
            Finding::most(unsure, "interval_s", Some(interval_s), separation.interval_s_max),
            Finding::least(esassp, "detection", verdict.detection, separation.detection_min),
            Finding::most(rms, "rms_m", verdict.rms_m, separation.rms_m_max),
        ];
        // Codes are judged where somebody knows them.
        if verdict.mode_a.is_some() {
            findings.push(Finding::least(ed_142, "mode_a", verdict.mode_a, self.mode_a_min));
            let most = self.false_mode_a_max;
            findings.push(Finding::most(ed_142, "false_mode_a", verdict.false_mode_a, most));
        }
        findings.iter_mut().for_each(|finding| finding.judged = finding.source != unsure);
        findings
    }
}

/// One requirement and its measured value.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Finding {
    /// The standard that has the limit.
    pub source: &'static str,
    /// The field of the verdict, or `interval_s`.
    pub what: &'static str,
    /// Measured value; `None` where there was nothing to judge, which does not hold either.
    pub found: Option<f64>,
    /// Required limit.
    pub limit: f64,
    /// Whether the limit is the least or the greatest value allowed.
    pub least: bool,
    /// Whether it holds.
    pub holds: bool,
    /// Whether it is of those that have to hold: limits that one source alone gives are not.
    pub judged: bool,
}

impl Finding {
    fn least(source: &'static str, what: &'static str, found: Option<f64>, limit: f64) -> Self {
        let holds = found.is_some_and(|found| found >= limit);
        Self { source, what, found, limit, least: true, holds, judged: true }
    }

    fn most(source: &'static str, what: &'static str, found: Option<f64>, limit: f64) -> Self {
        let holds = found.is_some_and(|found| found <= limit);
        Self { source, what, found, limit, least: false, holds, judged: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_standard_is_judged_by_its_own_limits() {
        let verdict = Verdict { detection: Some(0.98), rms_m: Some(400.0), ..Verdict::default() };
        let holds = |requirement: Requirement, source: &str, what: &str| {
            let findings = requirement.findings(&verdict, 8.0);
            let of =
                |finding: &&Finding| finding.source.starts_with(source) && finding.what == what;
            findings.iter().find(of).map(|finding| (finding.holds, finding.judged))
        };
        let (en_route, terminal) = (Requirement::EN_ROUTE, Requirement::TERMINAL);
        assert_eq!(holds(en_route, "ED-142", "rms_m"), Some((false, true)));
        assert_eq!(holds(en_route, "ESASSP 5 NM", "rms_m"), Some((true, true)));
        assert_eq!(holds(en_route, "ESASSP 5 NM", "interval_s"), Some((true, false)));
        assert_eq!(holds(terminal, "ESASSP 3 NM", "rms_m"), Some((false, false)));
        assert_eq!(holds(terminal, "ESASSP 3 NM", "interval_s"), Some((false, false)));
        assert_eq!(holds(terminal, "ESASSP 3 NM", "detection"), Some((true, true)));
        assert_eq!(holds(terminal, "ED-142", "address"), Some((false, true)), "none judged");
        assert_eq!(holds(terminal, "ED-142", "mode_a"), None, "nobody knows the codes");
        let known = Verdict { mode_a: Some(0.9), false_mode_a: Some(0.0), ..verdict };
        let findings = en_route.findings(&known, 8.0);
        let codes = findings.iter().filter(|finding| finding.what.ends_with("mode_a"));
        assert!(codes.map(|finding| finding.holds).eq([false, true]));
    }
}
