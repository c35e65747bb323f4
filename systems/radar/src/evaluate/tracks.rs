//! Comparison of tracks with another tracker's.
//!
//! Each report is compared with the reference track that is most probably of the same aircraft,
//! interpolated to the report's time on the straight line between the two reference reports around
//! it. Differences are ours less theirs. Extrapolated reports of either tracker are ignored.

use super::coverage::{Coverage, CoverageSource, cell};
use super::detail::{Detail, ReportError, Sample};
use super::figures::Details;
use super::within::ErrorLimit;
use super::{Part, Report};
use crate::generator::NAMELESS;
use crate::geodesy::Stereographic;
use crate::tracker::identity::{Identity, Match};
use crate::tracker::linear::Vec2;
use std::collections::{BTreeMap, BTreeSet};

/// Two reports of a track further apart are not joined, s: no tracker's cycle is as long.
const STEP_S_MAX: f64 = 20.0;
/// A track of the same code, or of none, may be as far off, m.
const NEAR_M: f64 = 9_260.0;
/// A track whose level differs by more, hundreds of feet, is another aircraft's.
const LEVELS_MAX: f64 = 15.0;

/// Mean and spread of one kind of difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Difference {
    /// Number of differences.
    pub count: u64,
    /// Their mean: the bias.
    pub mean: f64,
    /// Their standard deviation about it.
    pub sigma: f64,
    /// The greatest of them by size.
    pub max: f64,
    #[serde(skip)]
    squares: f64,
}

impl Difference {
    /// Takes one in (Welford 1962).
    fn add(&mut self, value: f64) {
        self.count += 1;
        let off = value - self.mean;
        self.mean += off / self.count as f64;
        self.squares += off * (value - self.mean);
        self.sigma = (self.squares / self.count as f64).sqrt();
        self.max = self.max.max(value.abs());
    }
}

/// Differences between tracks and the reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Residuals {
    /// Reports that were compared.
    pub reports: u64,
    /// Reports that were matched by address.
    pub by_address: u64,
    /// Reports that were matched by a discrete Mode A code.
    pub by_mode_a: u64,
    /// Reports that were matched by position alone.
    pub by_place: u64,
    /// Reports that no reference track is there for.
    pub unmatched: u64,
    /// Reference reports where the sensors see, at whose time and place we have no track.
    pub missing: u64,
    /// Reference reports within the time of ours, where the sensors see.
    pub reference: u64,
    /// Reference reports within the time of ours where no sensor sees: they are in neither number.
    pub without_coverage: u64,
    /// Difference to the east, m.
    pub east_m: Difference,
    /// Difference to the north, m.
    pub north_m: Difference,
    /// Along the reference's course, m: positive where ours is ahead.
    pub along_m: Difference,
    /// Difference to the right of the reference's course, m.
    pub across_m: Difference,
    /// Difference of the level, ft.
    pub level_ft: Difference,
}

/// Compares `ours` with `reference` in a part of the sky, both in `plane`. Where the sensors see is
/// `coverage`, or where that is unknown, all cells in which we ever had a track: elsewhere the lack of
/// one says nothing. Reports are also counted by whether their errors are within `limits`.
#[must_use]
pub fn against_tracks(
    ours: &[Report],
    reference: &[Report],
    (part, plane): (&Part, &Stereographic),
    (coverage, limits): (Coverage, &[ErrorLimit]),
) -> (Residuals, Details) {
    let (index, own) = (Index::new(reference), Index::new(ours));
    let mut seen = coverage;
    if seen.source() == CoverageSource::Unknown {
        seen = Coverage::by(CoverageSource::Tracks);
        own.all().for_each(|report| seen.add(report.position, report.level));
    }
    let mut residuals = Residuals::default();
    let mut details = Detail::new(seen.clone(), limits);
    let inside = |r: &Report| !r.ends && part.has(plane, r.position, r.level);
    let times = |all: &[Report]| {
        let times = all.iter().map(|report| report.utc_s);
        (times.clone().fold(f64::INFINITY, f64::min), times.fold(f64::NEG_INFINITY, f64::max))
    };
    let (from_s, to_s) = times(ours);
    for theirs in index.all().filter(|r| (from_s..=to_s).contains(&r.utc_s) && inside(r)) {
        let found = own.same_aircraft(theirs);
        details.sample(&Sample {
            name: name(theirs),
            utc_s: theirs.utc_s,
            position: theirs.position,
            level: theirs.level,
            number: found.map(|(_, report)| report.number),
        });
        if seen.has(cell(theirs.position, theirs.level)) {
            residuals.reference += 1;
            residuals.missing += u64::from(found.is_none());
        } else {
            residuals.without_coverage += 1;
        }
    }
    for report in own.all().filter(|report| inside(report)) {
        let Some((kind, theirs)) = index.same_aircraft(report) else {
            residuals.unmatched += 1;
            continue;
        };
        residuals.add(kind, report, &theirs);
        details.error(&ReportError {
            name: name(&theirs),
            position: theirs.position,
            level: theirs.level,
            off: report.position - theirs.position,
            velocity: Some((theirs.velocity, report.velocity)),
            climb_ft_min: theirs.climb_ft_min.zip(report.climb_ft_min),
            contents: (theirs.said(), report.said()),
            utc_s: report.utc_s,
            latency_s: report.arrived_s - report.utc_s,
        });
    }
    (residuals, details.finish())
}

/// The name of a reference track.
fn name(report: &Report) -> u32 {
    report.address.unwrap_or(NAMELESS | u32::from(report.number))
}

impl Residuals {
    /// Takes in the differences of a report to the reference at its time.
    fn add(&mut self, kind: Match, report: &Report, theirs: &Report) {
        self.reports += 1;
        match kind {
            Match::Same => self.by_address += 1,
            Match::Alike => self.by_mode_a += 1,
            _ => self.by_place += 1,
        }
        let off = report.position - theirs.position;
        self.east_m.add(off.x);
        self.north_m.add(off.y);
        let speed = theirs.velocity.norm();
        if speed > 1.0 {
            let course = theirs.velocity * (1.0 / speed);
            self.along_m.add(off.dot(course));
            self.across_m.add(off.dot(Vec2::new(course.y, -course.x)));
        }
        if let Some((ours, theirs)) = report.level.zip(theirs.level) {
            self.level_ft.add(100.0 * (ours - theirs));
        }
    }
}

/// Length of the spans of time by which reports are found, s.
const SPAN_S: f64 = 2.0 * STEP_S_MAX;

/// The reports of one tracker, found by time.
struct Index<'a> {
    /// Reports of each track, in order of time. A number used again is cut by [`STEP_S_MAX`].
    tracks: BTreeMap<u16, Vec<&'a Report>>,
    /// The tracks heard of in each span.
    spans: BTreeMap<i64, Vec<u16>>,
    /// The tracks that ever had an address.
    by_address: BTreeMap<u32, BTreeSet<u16>>,
}

impl<'a> Index<'a> {
    fn new(reports: &'a [Report]) -> Self {
        let mut tracks: BTreeMap<u16, Vec<&Report>> = BTreeMap::new();
        let mut by_address: BTreeMap<u32, BTreeSet<u16>> = BTreeMap::new();
        for report in reports.iter().filter(|report| report.ends || !report.coasting) {
            if let Some(address) = report.address {
                by_address.entry(address).or_default().insert(report.number);
            }
            tracks.entry(report.number).or_default().push(report);
        }
        let mut spans: BTreeMap<i64, Vec<u16>> = BTreeMap::new();
        for (number, track) in &mut tracks {
            track.sort_by(|a, b| a.utc_s.total_cmp(&b.utc_s));
            // Of two reports of one instant the later one counts: a late plot has improved it.
            let mut unique: Vec<&Report> = Vec::with_capacity(track.len());
            for report in track.drain(..) {
                match unique.last_mut() {
                    Some(last) if last.utc_s == report.utc_s => *last = report,
                    _ => unique.push(report),
                }
            }
            *track = unique;
            let mut last = i64::MIN;
            for report in track {
                let span = span(report.utc_s);
                if span != last {
                    spans.entry(span).or_default().push(*number);
                    last = span;
                }
            }
        }
        Self { tracks, spans, by_address }
    }

    fn all(&self) -> impl Iterator<Item = &'a Report> {
        self.tracks.values().flatten().copied()
    }

    /// The track that is most probably of the same aircraft, at the report's time.
    fn same_aircraft(&self, report: &Report) -> Option<(Match, Report)> {
        // Most have an address, which needs no search.
        let named = report.address.and_then(|address| self.by_address.get(&address));
        let named = self.best(report, named.into_iter().flatten().copied());
        if named.is_some_and(|(kind, _)| kind == Match::Same) {
            return named;
        }
        let here = span(report.utc_s);
        let mut numbers: Vec<u16> =
            (here - 1..=here + 1).filter_map(|s| self.spans.get(&s)).flatten().copied().collect();
        numbers.sort_unstable();
        numbers.dedup();
        self.best(report, numbers.into_iter())
    }

    fn best(&self, report: &Report, numbers: impl Iterator<Item = u16>) -> Option<(Match, Report)> {
        let found = numbers.filter_map(|number| {
            let theirs = between(&self.tracks[&number], report.utc_s)?;
            let kind = identity(report).compare(&identity(&theirs));
            let apart_m = (theirs.position - report.position).norm();
            let levels = report.level.zip(theirs.level);
            let alike = levels.is_none_or(|(a, b)| (a - b).abs() <= LEVELS_MAX);
            let rank = match kind {
                Match::Same => 0,
                Match::Alike if apart_m < NEAR_M => 1,
                Match::Open if apart_m < NEAR_M && alike => 2,
                _ => return None,
            };
            Some((rank, apart_m, kind, theirs))
        });
        found
            .min_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)))
            .map(|(_, _, kind, theirs)| (kind, theirs))
    }
}

fn span(utc_s: f64) -> i64 {
    #[allow(clippy::cast_possible_truncation)] // seconds of UTC
    let span = (utc_s / SPAN_S).floor() as i64;
    span
}

fn identity(report: &Report) -> Identity {
    Identity { address: report.address, mode_3a: report.mode_a, callsign: None }
}

/// A track at a time: on the line between the reports around it.
fn between(track: &[&Report], utc_s: f64) -> Option<Report> {
    let after = track.partition_point(|report| report.utc_s < utc_s);
    let to = track.get(after)?;
    if to.utc_s == utc_s {
        return Some(**to);
    }
    let from = track[after.checked_sub(1)?];
    let step_s = to.utc_s - from.utc_s;
    if step_s > STEP_S_MAX || from.ends {
        return None;
    }
    let part = (utc_s - from.utc_s) / step_s;
    let line = (to.position - from.position) * part;
    let level = match (from.level, to.level) {
        (Some(from), Some(to)) => Some(from + (to - from) * part),
        (from, to) => to.or(from),
    };
    Some(Report {
        utc_s,
        position: from.position + line,
        velocity: (to.position - from.position) * (1.0 / step_s),
        level,
        ..**to
    })
}

#[cfg(test)]
mod tests {
    use super::super::within::USUAL_LIMITS;
    use super::*;
    use crate::geodesy::Wgs84;

    /// Flies east at 200 m/s, a report every 4 s.
    fn flight(number: u16, address: Option<u32>, north_m: f64, shift_s: f64) -> Vec<Report> {
        (0..20)
            .map(|step| {
                let utc_s = 1_000.0 + 4.0 * f64::from(step) + shift_s;
                Report {
                    utc_s,
                    arrived_s: utc_s + 0.5,
                    number,
                    position: Vec2::new(200.0 * (utc_s - 1_000.0), north_m),
                    velocity: Vec2::new(200.0, 0.0),
                    level: Some(330.0),
                    climb_ft_min: None,
                    address,
                    mode_a: None,
                    callsign: None,
                    ends: false,
                    coasting: false,
                }
            })
            .collect()
    }

    fn against_tracks(ours: &[Report], reference: &[Report]) -> Residuals {
        compared(ours, reference, &Part::default()).0
    }

    fn compared(ours: &[Report], reference: &[Report], part: &Part) -> (Residuals, Details) {
        let plane = Stereographic::new(Wgs84::new(51.0, 10.0, 0.0));
        let how = (Coverage::default(), &USUAL_LIMITS[..]);
        super::against_tracks(ours, reference, (part, &plane), how)
    }

    /// An aircraft of the reference that flies where we never had a track is no missing one, and an
    /// area leaves out what is not in it.
    #[test]
    fn only_what_is_in_the_area_and_covered_counts_as_missing() {
        let near = flight(1, Some(7), 0.0, 0.0);
        let beside = flight(2, Some(8), 4_000.0, 0.0);
        let far = flight(3, Some(9), 200_000.0, 0.0);
        let reference = [near, beside, far].concat();
        let ours = flight(9, Some(7), 0.0, 0.0);
        let (found, details) = compared(&ours, &reference, &Part::default());
        assert_eq!((found.reference, found.missing, found.without_coverage), (40, 20, 20));
        assert_eq!((details.without_coverage, details.targets.len()), (20, 3));
        assert_eq!(details.all.tracked_where_covered, Some(0.5));
        assert!((details.latency_s.median.unwrap() - 0.5).abs() < 1e-6);
        // 0.02° of latitude are 2.2 km.
        let part = Part { area_deg: Some([50.98, 9.0, 51.02, 11.0]), levels: None };
        let (found, _) = compared(&ours, &reference, &part);
        assert_eq!((found.reference, found.missing, found.reports), (20, 0, 20));
        let part = Part { area_deg: None, levels: Some((100.0, 200.0)) };
        assert_eq!(compared(&ours, &reference, &part).0.reference, 0);
    }

    #[test]
    fn a_known_shift_is_the_mean_and_has_no_spread() {
        let reference = flight(1, Some(7), 0.0, 0.0);
        let mut ours = flight(9, Some(7), -40.0, 1.3);
        for report in &mut ours {
            report.position.x += 25.0;
            report.level = Some(331.0);
        }
        let found = against_tracks(&ours, &reference);
        // The last of ours is later than all of the reference.
        assert_eq!((found.reports, found.by_address, found.unmatched), (19, 19, 1));
        assert!((found.east_m.mean - 25.0).abs() < 1e-6 && found.east_m.sigma < 1e-6);
        assert!((found.north_m.mean + 40.0).abs() < 1e-6);
        assert!((found.along_m.mean - 25.0).abs() < 1e-6);
        // South is to the right of east.
        assert!((found.across_m.mean - 40.0).abs() < 1e-6 && found.across_m.max < 41.0);
        assert!((found.level_ft.mean - 100.0).abs() < 1e-6);
    }

    #[test]
    fn the_address_outweighs_the_place_and_without_it_the_place_decides() {
        let near = flight(1, Some(8), 100.0, 0.0);
        let far = flight(2, Some(7), 3_000.0, 0.0);
        let reference = [near, far].concat();
        let found = against_tracks(&flight(9, Some(7), 0.0, 0.0), &reference);
        assert!((found.north_m.mean + 3_000.0).abs() < 1e-6);
        assert_eq!((found.by_address, found.missing, found.reference), (20, 20, 40));
        let found = against_tracks(&flight(9, None, 0.0, 0.0), &reference);
        assert!((found.north_m.mean + 100.0).abs() < 1e-6);
        assert_eq!((found.by_place, found.missing), (20, 0));
    }

    /// The code that the other tracker does not know is not wrong, another one is.
    #[test]
    fn what_two_trackers_say_of_an_aircraft_is_compared() {
        let mut reference = flight(1, Some(7), 0.0, 0.0);
        let mut ours = flight(9, Some(7), 0.0, 0.0);
        for (index, (theirs, own)) in reference.iter_mut().zip(&mut ours).enumerate() {
            theirs.mode_a = (index >= 10).then_some(0o1000);
            own.mode_a = Some(if index < 15 { 0o1000 } else { 0o2000 });
        }
        let (_, details) = compared(&ours, &reference, &Part::default());
        let of = |item| details.contents.iter().find(|c| c.item == item).copied().unwrap();
        let code = of("mode_a");
        assert_eq!((code.reports, code.correct, code.wrong), (10, Some(0.5), Some(0.5)));
        assert_eq!((of("address").correct, of("callsign").reports), (Some(1.0), 0));
        assert_eq!(of("level").correct, Some(1.0));
    }

    #[test]
    fn a_number_used_again_is_another_track() {
        let mut reference = flight(1, Some(7), 0.0, 0.0);
        reference.drain(5..15);
        let found = against_tracks(&flight(9, Some(7), 0.0, 0.5), &reference);
        // Four within the first five reports, four within the last five.
        assert_eq!((found.reports, found.unmatched), (8, 12));
    }
}
