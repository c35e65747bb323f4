//! Collects where, on whom and how late tracks were: what an evaluation says beside its totals.
//!
//! Everything is counted in cells of 10 NM and bands of level, and for each target. A sample is a
//! target at an instant; it is *covered* where the sensors see: in a cell and band in which they have
//! ever seen anybody ([`Coverage`]). Samples without a track outside of the coverage are counted
//! apart, because no tracker can have a track there.

use super::contents::{Contents, Said};
use super::coverage::{BAND_NAMES, Cell, Coverage, CoverageSource, cell};
use super::figures::{Band, Details, Figures, Latency, MapCell, REPORTS_MIN, Target};
use super::within::{ErrorKind, ErrorLimit, WithinCounts};
use crate::tracker::linear::Vec2;
use std::collections::{BTreeMap, BTreeSet};

/// A target without a track for longer is in a gap, s.
const GAP_S: f64 = 24.0;
/// Runs of so many consecutive large errors are counted.
const RUN: u32 = 3;
/// Large errors: those of 5 NM and of 3 NM separation, m.
const LARGE_M: [f64; 2] = [926.0, 555.0];
/// Slower targets have no course, m/s.
const SPEED_MIN: f64 = 20.0;

/// A target at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    pub(super) name: u32,
    pub(super) utc_s: f64,
    pub(super) position: Vec2,
    pub(super) level: Option<f64>,
    /// Number of the track that follows it.
    pub(super) number: Option<u16>,
}

/// Error of a report about a target: reported less true.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ReportError {
    pub(super) name: u32,
    pub(super) position: Vec2,
    pub(super) level: Option<f64>,
    pub(super) off: Vec2,
    /// True velocity, and the reported one, m/s.
    pub(super) velocity: Option<(Vec2, Vec2)>,
    /// True rate of climb, and the reported one, ft/min.
    pub(super) climb_ft_min: Option<(f64, f64)>,
    /// What is true of the target beside its position, and what is reported.
    pub(super) contents: (Said, Said),
    /// Time of the state, s.
    pub(super) utc_s: f64,
    /// Time of arrival less time of the state, s.
    pub(super) latency_s: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Squares {
    sum: f64,
    count: u64,
}

impl Squares {
    fn add(&mut self, value: f64) {
        self.sum += value * value;
        self.count += 1;
    }

    fn rms(self) -> Option<f64> {
        (self.count > 0).then(|| (self.sum / self.count as f64).sqrt())
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    samples: u64,
    tracked: u64,
    covered: u64,
    tracked_covered: u64,
    errors: Squares,
    along: Squares,
    across: Squares,
}

#[derive(Clone, Debug, Default)]
struct Life {
    tally: Tally,
    first_s: f64,
    last_s: f64,
    tracked_first_s: Option<f64>,
    tracked_last_s: f64,
    gaps: u64,
    gap_s_max: f64,
    in_gap: bool,
    numbers: BTreeSet<u16>,
    error_m_max: f64,
    runs: [u32; 2],
}

/// Collects samples and errors.
#[derive(Debug)]
pub(super) struct Detail {
    coverage: Coverage,
    within: WithinCounts,
    contents: Contents,
    all: Tally,
    bands: [Tally; 3],
    cells: BTreeMap<Cell, Tally>,
    targets: BTreeMap<u32, Life>,
    speed: Squares,
    course_deg: Squares,
    climb: Squares,
    /// Sum and number.
    latency_along: (f64, u64),
    /// Reports in runs of large errors, by limit.
    in_runs: [u64; 2],
    latencies_s: Vec<f64>,
}

impl Detail {
    /// Errors are counted by `limits`; a level is right within the first limit of levels.
    pub(super) fn new(coverage: Coverage, limits: &[ErrorLimit]) -> Self {
        let of_levels = limits.iter().find(|limit| limit.kind == ErrorKind::Level);
        Self {
            coverage,
            within: WithinCounts::new(limits),
            contents: Contents::new(of_levels.map_or(f64::INFINITY, |limit| limit.most)),
            all: Tally::default(),
            bands: [Tally::default(); 3],
            cells: BTreeMap::new(),
            targets: BTreeMap::new(),
            speed: Squares::default(),
            course_deg: Squares::default(),
            climb: Squares::default(),
            latency_along: (0.0, 0),
            in_runs: [0; 2],
            latencies_s: Vec::new(),
        }
    }

    /// Takes in that a target is there, after the reports of that time: whether it was identified
    /// within the interval of update.
    pub(super) fn identified(&mut self, name: u32, now_s: f64, interval_s: f64, real: &Said) {
        self.contents.sample(name, now_s, interval_s, real);
    }

    pub(super) fn sample(&mut self, s: &Sample) {
        let here = cell(s.position, s.level);
        let unknown = self.coverage.source() == CoverageSource::Unknown;
        let covered = unknown || self.coverage.has(here);
        let life = self
            .targets
            .entry(s.name)
            .or_insert_with(|| Life { first_s: s.utc_s, ..Life::default() });
        for tally in [
            &mut self.all,
            &mut self.bands[here.2],
            self.cells.entry(here).or_default(),
            &mut life.tally,
        ] {
            tally.samples += 1;
            tally.tracked += u64::from(s.number.is_some());
            tally.covered += u64::from(covered);
            tally.tracked_covered += u64::from(covered && s.number.is_some());
        }
        life.last_s = s.utc_s;
        let Some(number) = s.number else {
            let without_s = s.utc_s - life.tracked_last_s;
            // Where nobody sees it a gap is the sensors'.
            if life.tracked_first_s.is_some() && covered {
                life.gap_s_max = life.gap_s_max.max(without_s);
                if without_s > GAP_S && !life.in_gap {
                    life.in_gap = true;
                    life.gaps += 1;
                }
            }
            return;
        };
        life.tracked_first_s.get_or_insert(s.utc_s);
        (life.tracked_last_s, life.in_gap) = (s.utc_s, false);
        life.numbers.insert(number);
    }

    pub(super) fn error(&mut self, e: &ReportError) {
        let here = cell(e.position, e.level);
        let life = self.targets.entry(e.name).or_default();
        let size_m = e.off.norm();
        let course = e.velocity.and_then(|(real, _)| {
            let speed = real.norm();
            (speed > SPEED_MIN).then(|| real * (1.0 / speed))
        });
        for tally in [
            &mut self.all,
            &mut self.bands[here.2],
            self.cells.entry(here).or_default(),
            &mut life.tally,
        ] {
            tally.errors.add(size_m);
            if let Some(course) = course {
                tally.along.add(e.off.dot(course));
                tally.across.add(e.off.dot(Vec2::new(course.y, -course.x)));
            }
        }
        life.error_m_max = life.error_m_max.max(size_m);
        for (index, limit) in LARGE_M.into_iter().enumerate() {
            let run = &mut life.runs[index];
            *run = if size_m > limit { *run + 1 } else { 0 };
            self.in_runs[index] += match *run {
                RUN => u64::from(RUN),
                longer if longer > RUN => 1,
                _ => 0,
            };
        }
        self.within.add(ErrorKind::Distance, size_m);
        self.motion(e, course);
        let (real, said) = &e.contents;
        self.contents.add(e.name, e.utc_s, said, real);
        if let Some((real, said)) = real.level.zip(said.level) {
            self.within.add(ErrorKind::Level, 100.0 * (said - real));
        }
        self.latencies_s.push(e.latency_s);
    }

    /// Takes in the errors of velocity and rate of climb, and those that need a course.
    fn motion(&mut self, e: &ReportError, course: Option<Vec2>) {
        if let Some((real, said)) = e.climb_ft_min {
            self.climb.add(said - real);
            self.within.add(ErrorKind::Climb, said - real);
        }
        let (Some(course), Some((real, reported))) = (course, e.velocity) else { return };
        let faster = reported.norm() - real.norm();
        self.speed.add(faster);
        let turned = reported * (1.0 / reported.norm().max(1e-6));
        let cross = course.x * turned.y - course.y * turned.x;
        let turned_deg = cross.atan2(course.dot(turned)).to_degrees();
        self.course_deg.add(turned_deg);
        let (along, across) = (e.off.dot(course), e.off.dot(Vec2::new(course.y, -course.x)));
        let behind_s = -along / real.norm();
        self.latency_along.0 += behind_s;
        self.latency_along.1 += 1;
        for (kind, error) in [
            (ErrorKind::Along, along),
            (ErrorKind::Across, across),
            (ErrorKind::Latency, behind_s),
            (ErrorKind::Speed, faster),
            (ErrorKind::Course, turned_deg),
        ] {
            self.within.add(kind, error);
        }
    }

    pub(super) fn finish(self) -> Details {
        let share = |of: u64, all: u64| (all > 0).then(|| of as f64 / all as f64);
        let figures = |tally: &Tally| Figures {
            samples: tally.samples,
            tracked: share(tally.tracked, tally.samples),
            covered_samples: tally.covered,
            tracked_where_covered: share(tally.tracked_covered, tally.covered),
            reports: tally.errors.count,
            rms_m: tally.errors.rms(),
            along_rms_m: tally.along.rms(),
            across_rms_m: tally.across.rms(),
        };
        let targets: Vec<Target> =
            self.targets.iter().map(|(name, l)| target(*name, l, &figures)).collect();
        let followed =
            targets.iter().filter(|t| t.figures.tracked.is_some_and(|share| share > 0.0));
        let (followed, whole) = followed.fold((0, 0), |(all, whole), t| {
            (all + 1, whole + u64::from(t.gaps == 0 && t.numbers == 1))
        });
        let numbers: u64 = targets.iter().map(|t| t.numbers).sum();
        let worst = targets.iter().filter(|t| t.figures.reports >= REPORTS_MIN);
        let reports = self.all.errors.count;
        Details {
            all: figures(&self.all),
            without_coverage: self.all.samples - self.all.covered,
            coverage: self.coverage.source(),
            rms_m_of_worst_target: worst.filter_map(|t| t.figures.rms_m).reduce(f64::max),
            reports_in_runs_above_926_m: share(self.in_runs[0], reports),
            reports_in_runs_above_555_m: share(self.in_runs[1], reports),
            speed_rms_m_s: self.speed.rms(),
            course_rms_deg: self.course_deg.rms(),
            climb_rms_ft_min: self.climb.rms(),
            position_latency_s_mean: (self.latency_along.1 > 0)
                .then(|| self.latency_along.0 / self.latency_along.1 as f64),
            within: self.within.finish(),
            contents: self.contents.finish(),
            targets_followed: followed,
            continuous: share(whole, followed),
            numbers_per_target: (followed > 0).then(|| numbers as f64 / followed as f64),
            latency_s: Latency::of(self.latencies_s),
            bands: BAND_NAMES
                .into_iter()
                .zip(&self.bands)
                .map(|(name, tally)| Band { name, figures: figures(tally) })
                .collect(),
            cells: self
                .cells
                .iter()
                .map(|(&(column, row, band), tally)| MapCell {
                    column,
                    row,
                    band,
                    figures: figures(tally),
                })
                .collect(),
            targets,
        }
    }
}

fn target(name: u32, life: &Life, figures: &impl Fn(&Tally) -> Figures) -> Target {
    Target {
        name: format!("{name:06x}"),
        first_s: life.first_s,
        seconds: life.last_s - life.first_s,
        initiation_s: life.tracked_first_s.map(|first| first - life.first_s),
        gaps: life.gaps,
        gap_s_max: life.gap_s_max,
        numbers: life.numbers.len() as u64,
        error_m_max: (life.tally.errors.count > 0).then_some(life.error_m_max),
        figures: figures(&life.tally),
    }
}

#[cfg(test)]
mod tests {
    use super::super::within::USUAL_LIMITS;
    use super::*;

    fn sample(utc_s: f64, x: f64, number: Option<u16>) -> Sample {
        let position = Vec2::new(x, 100.0);
        Sample { name: 7, utc_s, position, level: Some(330.0), number }
    }

    #[test]
    fn without_a_track_counts_where_the_sensors_see_alone() {
        let mut coverage = Coverage::by(CoverageSource::Plots);
        coverage.add(Vec2::new(5_000.0, 5_000.0), Some(300.0));
        let mut detail = Detail::new(coverage, &USUAL_LIMITS);
        for second in 0..100 {
            let utc_s = f64::from(second);
            // 40 s in the covered cell, of which 30 s with a track, then 60 s east of it without.
            let number = (10..40).contains(&second).then_some(3);
            detail.sample(&sample(utc_s, if second < 40 { 5_000.0 } else { 30_000.0 }, number));
        }
        let found = detail.finish();
        assert_eq!((found.all.samples, found.all.covered_samples), (100, 40));
        assert_eq!((found.all.tracked, found.all.tracked_where_covered), (Some(0.3), Some(0.75)));
        assert_eq!((found.without_coverage, found.targets[0].gaps), (60, 0));
        assert_eq!(found.targets[0].initiation_s, Some(10.0));
        assert_eq!(found.continuous, Some(1.0));
        assert_eq!(found.cells.len(), 2);
    }

    #[test]
    fn errors_are_taken_apart_along_and_across() {
        let mut detail = Detail::new(Coverage::default(), &USUAL_LIMITS);
        let east = Vec2::new(200.0, 0.0);
        for off in [30.0, -30.0, 30.0, -30.0] {
            detail.error(&ReportError {
                name: 7,
                position: Vec2::default(),
                level: None,
                off: Vec2::new(off, 40.0),
                velocity: Some((east, Vec2::new(203.0, 0.0))),
                climb_ft_min: Some((0.0, 600.0)),
                contents: (Said::default(), Said::default()),
                utc_s: 0.0,
                latency_s: 0.5,
            });
        }
        let found = detail.finish();
        assert!((found.all.along_rms_m.unwrap() - 30.0).abs() < 1e-9);
        assert!((found.all.across_rms_m.unwrap() - 40.0).abs() < 1e-9);
        assert!((found.all.rms_m.unwrap() - 50.0).abs() < 1e-9);
        assert!((found.speed_rms_m_s.unwrap() - 3.0).abs() < 1e-9);
        assert_eq!(found.course_rms_deg, Some(0.0));
        assert_eq!(found.latency_s.p95, Some(0.5));
        assert_eq!(found.climb_rms_ft_min, Some(600.0));
        // Ahead as often as behind, by 0.15 s.
        assert!(found.position_latency_s_mean.unwrap().abs() < 1e-9);
        let share =
            |what| found.within.iter().find(|w| w.what == what).map(|w| (w.reports, w.share));
        assert_eq!(share("distance"), Some((4, Some(1.0))));
        assert_eq!(share("climb"), Some((4, Some(0.0))));
        assert_eq!(share("level"), Some((0, None)));
    }

    #[test]
    fn runs_of_large_errors_begin_with_the_third() {
        let mut detail = Detail::new(Coverage::default(), &USUAL_LIMITS);
        for off in [1_000.0, 1_000.0, 10.0, 1_000.0, 600.0, 1_000.0, 600.0, 10.0] {
            detail.error(&ReportError {
                name: 7,
                position: Vec2::default(),
                level: None,
                off: Vec2::new(off, 0.0),
                velocity: None,
                climb_ft_min: None,
                contents: (Said::default(), Said::default()),
                utc_s: 0.0,
                latency_s: 0.0,
            });
        }
        let found = detail.finish();
        assert_eq!(found.reports_in_runs_above_926_m, Some(0.0));
        assert_eq!(found.reports_in_runs_above_555_m, Some(0.5));
    }
}
