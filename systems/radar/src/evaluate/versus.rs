//! Tracks against the truth.

use super::coverage::Coverage;
use super::detail::{Detail, ReportError, Sample};
use super::figures::Details;
use super::judge::{Judge, Seen, There};
use super::nearest::Places;
use super::requirement::{Finding, Requirement};
use super::verdict::Verdict;
use super::within::{ErrorLimit, USUAL_LIMITS};
use super::{Part, Report, Truths};
use crate::generator::address_of;
use crate::geodesy::Stereographic;
use std::collections::{BTreeMap, BTreeSet};

/// Settings of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Seconds of the truth that are not counted at its beginning: tracks have to form.
    pub skip_s: f64,
    /// Longest time between two updates of a track, in seconds.
    pub interval_s: f64,
    /// Area of the counted aircraft: south, west, north, east, degrees.
    pub area_deg: Option<[f64; 4]>,
    /// Flight levels of the counted aircraft.
    pub levels: Option<(f64, f64)>,
    /// Required quality.
    pub requirement: Requirement,
}

/// The verdict beside the requirement.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Evaluation {
    /// Measured quality.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Comparison with the requirements.
    pub requirement: Vec<Finding>,
    /// All of it holds.
    pub holds: bool,
    /// Where, on whom and how late.
    pub details: Details,
}

/// Time between two samples, s.
const STEP_S: f64 = 1.0;

impl Settings {
    fn part(&self) -> Part {
        Part { area_deg: self.area_deg, levels: self.levels }
    }
}

/// Compares `reports` with the `truths`, both in `plane`.
#[must_use]
pub fn against_truth(
    reports: &[Report],
    truths: &Truths,
    plane: &Stereographic,
    settings: &Settings,
) -> Evaluation {
    against_truth_where(reports, truths, plane, settings, (Coverage::default(), &USUAL_LIMITS))
}

/// The same, where it is known in which coverage the sensors see, and with limits for the shares of reports
/// that are within them.
#[must_use]
pub fn against_truth_where(
    reports: &[Report],
    truths: &Truths,
    plane: &Stereographic,
    settings: &Settings,
    (coverage, limits): (Coverage, &[ErrorLimit]),
) -> Evaluation {
    let mut details = Detail::new(coverage, limits);
    let mut verdict = Verdict::default();
    if let Some((from_s, to_s)) = truths.span_s() {
        let mut comparison = Comparison::new(reports, from_s, plane, settings);
        let mut now_s = from_s;
        while now_s <= to_s {
            comparison.sample(truths, now_s, &mut details);
            now_s += STEP_S;
        }
        verdict = comparison.verdict((to_s - from_s - settings.skip_s).max(0.0));
    }
    let details = details.finish();
    let codes = details.contents.iter().find(|content| content.item == "mode_a");
    verdict.mode_a = codes.and_then(|codes| codes.correct);
    verdict.false_mode_a = codes.and_then(|codes| codes.wrong);
    let requirement = settings.requirement.findings(&verdict, settings.interval_s);
    let holds = requirement.iter().all(|finding| finding.holds || !finding.judged);
    Evaluation { verdict, requirement, holds, details }
}

struct Comparison<'a> {
    plane: &'a Stereographic,
    settings: &'a Settings,
    begin_s: f64,
    judge: Judge,
    /// Reports in order of time.
    reports: Vec<Report>,
    /// Number of reports that have been processed.
    taken: usize,
    /// The latest measurement of each track.
    latest: BTreeMap<u16, Report>,
    /// All, straight flight, turns: squares and counts.
    errors: [(f64, u64); 3],
    error_m_max: f64,
    /// Aircraft that each track followed last.
    followed: BTreeMap<u16, u32>,
    /// Errors of extrapolated reports: sum of squares and count.
    extrapolated: (f64, u64),
    levels: (f64, u64),
    /// Reports about aircraft whose address is known, and those of them with it and with another one.
    addressed: u64,
    right: u64,
    wrong: u64,
    /// Reports of tracks that follow nobody.
    extra: u64,
}

impl<'a> Comparison<'a> {
    fn new(
        reports: &[Report],
        from_s: f64,
        plane: &'a Stereographic,
        settings: &'a Settings,
    ) -> Self {
        let mut reports = reports.to_vec();
        reports.sort_by(|a, b| a.utc_s.total_cmp(&b.utc_s));
        let begin_s = from_s + settings.skip_s;
        // Tracks of before the truth begins.
        let taken = reports.partition_point(|report| report.utc_s <= from_s - STEP_S);
        Self {
            plane,
            settings,
            begin_s,
            judge: Judge::new(begin_s),
            reports,
            taken,
            latest: BTreeMap::new(),
            errors: [(0.0, 0); 3],
            error_m_max: 0.0,
            followed: BTreeMap::new(),
            extrapolated: (0.0, 0),
            levels: (0.0, 0),
            addressed: 0,
            right: 0,
            wrong: 0,
            extra: 0,
        }
    }

    fn sample(&mut self, truths: &Truths, now_s: f64, details: &mut Detail) {
        let first = self.taken;
        while let Some(report) = self.reports.get(self.taken).filter(|r| r.utc_s <= now_s) {
            // An extrapolation updates nothing, unless it is the end.
            if report.ends || !report.coasting {
                self.latest.insert(report.number, *report);
            }
            self.taken += 1;
        }
        let interval_s = self.settings.interval_s;
        self.latest.retain(|_, report| !report.ends && now_s - report.utc_s <= interval_s);
        // Who leaves the area takes a track along that is not false there.
        let (mut aircraft, mut outside, mut levels) = (Vec::new(), Vec::new(), Vec::new());
        for (name, state) in truths.at(now_s) {
            let there = There { name, position: state.position };
            if self.is_inside(&there, state.level) {
                aircraft.push(there);
                levels.push(state.level);
            } else {
                outside.push(there);
            }
        }
        let mut tracks: Vec<Seen> = self
            .latest
            .values()
            .map(|r| Seen {
                number: r.number,
                position: r.position + r.velocity * (now_s - r.utc_s),
            })
            .collect();
        let names: BTreeSet<u32> = outside.iter().map(|there| there.name).collect();
        let sky =
            (!names.is_empty()).then(|| Places::new(aircraft.iter().chain(&outside).copied()));
        tracks.retain(|track| {
            let place = There { name: 0, position: track.position };
            let is_theirs = |sky: &Places| {
                sky.nearest(track.position).is_some_and(|there| names.contains(&there.name))
            };
            self.is_in_area(&place) && !sky.as_ref().is_some_and(is_theirs)
        });
        let owned = self.judge.sample(now_s, &aircraft, &tracks);
        if now_s < self.begin_s {
            return;
        }
        for ((there, level), track) in aircraft.iter().zip(&levels).zip(&owned) {
            details.sample(&Sample {
                name: there.name,
                utc_s: now_s,
                position: there.position,
                level: Some(*level),
                number: track.map(|track| tracks[track].number),
            });
        }
        let owner: BTreeMap<u16, u32> = aircraft
            .iter()
            .zip(owned)
            .filter_map(|(there, track)| Some((tracks[track?].number, there.name)))
            .collect();
        self.take(first, truths, (&tracks, &owner), details);
        for (there, level) in aircraft.iter().zip(levels) {
            let real = truths.said(there.name, level);
            details.identified(there.name, now_s, interval_s, &real);
        }
        self.followed.extend(owner);
    }

    /// Takes in the reports from the `first` on: errors of those whose track follows somebody, by number.
    fn take(
        &mut self,
        first: usize,
        truths: &Truths,
        (tracks, owner): (&[Seen], &BTreeMap<u16, u32>),
        details: &mut Detail,
    ) {
        for index in first..self.taken {
            let report = self.reports[index];
            if report.ends {
                self.followed.remove(&report.number);
            } else if report.coasting {
                self.coasted(truths, &report);
            } else if let Some(&address) = owner.get(&report.number) {
                self.error(truths, &report, address, details);
            } else {
                self.extra += u64::from(tracks.iter().any(|track| track.number == report.number));
            }
        }
    }

    fn is_in_area(&self, there: &There) -> bool {
        self.settings.part().is_in_area(self.plane, there.position)
    }

    fn is_inside(&self, there: &There, level: f64) -> bool {
        self.settings.part().has(self.plane, there.position, Some(level))
    }

    /// Takes the error of an extrapolated report: of whomever its track followed last.
    fn coasted(&mut self, truths: &Truths, report: &Report) {
        let owner = self.followed.get(&report.number);
        if let Some(real) = owner.and_then(|address| truths.state(*address, report.utc_s)) {
            self.extrapolated.0 += (report.position - real.position).norm_squared();
            self.extrapolated.1 += 1;
        }
    }

    fn error(&mut self, truths: &Truths, report: &Report, name: u32, details: &mut Detail) {
        let Some(real) = truths.state(name, report.utc_s) else { return };
        details.error(&ReportError {
            name,
            position: real.position,
            level: Some(real.level),
            off: report.position - real.position,
            velocity: real.velocity.map(|velocity| (velocity, report.velocity)),
            climb_ft_min: real.climb_ft_min.zip(report.climb_ft_min),
            contents: (truths.said(name, real.level), report.said()),
            utc_s: report.utc_s,
            latency_s: report.arrived_s - report.utc_s,
        });
        let error_m = (report.position - real.position).norm();
        self.error_m_max = self.error_m_max.max(error_m);
        for kind in [0, if real.turning { 2 } else { 1 }] {
            self.errors[kind].0 += error_m * error_m;
            self.errors[kind].1 += 1;
        }
        if let Some(level) = report.level {
            self.levels.0 += (100.0 * (level - real.level)).powi(2);
            self.levels.1 += 1;
        }
        if let Some(real) = address_of(name) {
            self.addressed += 1;
            self.right += u64::from(report.address == Some(real));
            self.wrong += u64::from(report.address.is_some_and(|a| a != real));
        }
    }

    fn verdict(&self, seconds: f64) -> Verdict {
        let counted = self.judge.counted();
        let share = |of: u64, all: u64| (all > 0).then(|| of as f64 / all as f64);
        let rms =
            |(squares, count): (f64, u64)| (count > 0).then(|| (squares / count as f64).sqrt());
        let per_h = |count: u64| (seconds > 0.0).then(|| count as f64 * 3600.0 / seconds);
        let reports = self.errors[0].1;
        Verdict {
            aircraft: self.judge.aircraft_count(),
            seconds,
            samples: counted.samples,
            reports,
            detection: share(counted.matched, counted.samples),
            extrapolated: self.extrapolated.1,
            extrapolated_rms_m: rms(self.extrapolated),
            long_gaps: share(counted.long_gaps, counted.samples),
            rms_m: rms(self.errors[0]),
            rms_straight_m: rms(self.errors[1]),
            rms_turn_m: rms(self.errors[2]),
            error_m_max: (reports > 0).then_some(self.error_m_max),
            level_rms_ft: rms(self.levels),
            level_present: share(self.levels.1, reports),
            address: share(self.right, self.addressed),
            false_address: share(self.wrong, self.addressed),
            // Known when all reports are in the details.
            mode_a: None,
            false_mode_a: None,
            extra_reports: share(self.extra, self.extra + reports),
            false_tracks_per_h: per_h(counted.false_tracks),
            lost_tracks_per_h: per_h(counted.lost_tracks),
            swaps: counted.swaps,
            renumbered: counted.renumbered,
            duplicates: share(counted.duplicates, counted.samples),
            initiation_s_mean: (counted.followed > 0)
                .then(|| counted.initiation_s_sum / counted.followed as f64),
            initiation_s_max: (counted.followed > 0).then_some(counted.initiation_s_max),
        }
    }
}
