//! False tracks, ghosts, swaps: as `radar-evaluate` counts them, and by the rule that it had before.

use crate::flights::SECONDS;
use crate::sensor::Scene;
use chronoscope_radar::evaluate::{
    self, Judge, Report, Reports, Requirement, Seen, There, Truths, against_truth,
};
use chronoscope_radar::tracker::linear::Vec2;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Not counted at the beginning: tracks have to form.
const SKIP_S: f64 = 60.0;
/// As the evaluation: a track within this of an aircraft may follow it, aircraft nearer than this to each
/// other are not told apart, m; a number that was not there for so long is another track's, s.
const NEAR_M: f64 = 2_000.0;
const AMBIGUOUS_M: f64 = 1_000.0;
const GONE_S: f64 = 60.0;

/// Counts of one scene.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) false_per_h: f64,
    /// By the rule before 8d52c6a7: by the time after the warm-up alone.
    pub(crate) false_before_per_h: f64,
    /// Tracks that are beside an aircraft's own track for most of their life.
    pub(crate) ghosts_per_h: f64,
    /// Further tracks on an aircraft, a share of the samples.
    pub(crate) duplicates: f64,
    pub(crate) swaps: u64,
    /// By the rule before 8d52c6a7: also what lasts for a turn.
    pub(crate) swaps_before: u64,
    pub(crate) renumbered: u64,
    pub(crate) detection: f64,
    /// Numbers of the false tracks, where they are wanted.
    pub(crate) astray: Vec<u16>,
}

/// Counts what is wrong with the tracks in `messages`; `astray` also which are false.
pub(crate) fn count(scene: &Scene, messages: &[(i64, Vec<u8>)], astray: bool) -> Counts {
    let truths = truths(scene);
    let mut reports = Reports::new(scene.plane);
    for (at_ns, message) in messages {
        reports.take(message, *at_ns);
    }
    let settings = evaluate::Settings {
        skip_s: SKIP_S,
        interval_s: 2.2 * scene.period_s,
        area_deg: None,
        levels: None,
        requirement: Requirement::EN_ROUTE,
    };
    let verdict = against_truth(&reports.reports, &truths, &scene.plane, &settings).verdict;
    let mut numbers: Vec<u16> = reports.reports.iter().map(|report| report.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.retain(|number| {
        astray && {
            let own = reports.reports.iter().filter(|report| report.number == *number);
            let own: Vec<evaluate::Report> = own.copied().collect();
            let verdict = against_truth(&own, &truths, &scene.plane, &settings).verdict;
            verdict.false_tracks_per_h.is_some_and(|per_h| per_h > 0.0)
        }
    });
    Counts {
        false_per_h: verdict.false_tracks_per_h.unwrap_or(0.0),
        duplicates: verdict.duplicates.unwrap_or(0.0),
        swaps: verdict.swaps,
        renumbered: verdict.renumbered,
        detection: verdict.detection.unwrap_or(0.0),
        astray: numbers,
        ..before(scene, &reports.reports, settings.interval_s)
    }
}

fn truths(scene: &Scene) -> Truths {
    let mut csv = format!("{}\n", chronoscope_radar::generator::TRUTH_HEADER);
    for second in seconds() {
        let utc_s = scene.begin_s + second;
        for flight in &scene.flights {
            let Some((at, level)) = scene.seen(flight, utc_s) else { continue };
            let (number, lat, lon) = (flight.number, at.lat_deg, at.lon_deg);
            let _ = writeln!(csv, "{utc_s:.3},{number:06x},{lat:.6},{lon:.6},{level:.2}");
        }
    }
    Truths::read(csv.as_bytes(), &scene.plane).expect("the trial's own truth")
}

#[allow(clippy::cast_possible_truncation, reason = "thousands")]
fn seconds() -> impl Iterator<Item = f64> {
    (0..SECONDS as i32).map(f64::from)
}

/// Seconds of the life of a track.
#[derive(Clone, Copy, Debug, Default)]
struct Seconds {
    seen_s: f64,
    all: u32,
    /// After the warm-up: with no aircraft within 2 km, and in all.
    astray: u32,
    counted: u32,
    /// Near an aircraft that another track follows.
    beside: u32,
}

/// Counts ghosts, and swaps and false tracks by the rule before 8d52c6a7.
fn before(scene: &Scene, reports: &[Report], interval_s: f64) -> Counts {
    let mut judge = Judge::new(scene.begin_s + SKIP_S);
    let mut reports: Vec<Report> = reports.to_vec();
    reports.sort_by(|a, b| a.utc_s.total_cmp(&b.utc_s));
    let mut rest = reports.iter().peekable();
    let mut latest: BTreeMap<u16, Report> = BTreeMap::new();
    let mut lives: BTreeMap<u16, Seconds> = BTreeMap::new();
    let (mut ghosts, mut false_before) = (0_u32, 0_u32);
    let mut end = |life: &Seconds| {
        ghosts += u32::from(life.counted > 0 && 2 * life.beside > life.all);
        false_before += u32::from(2 * life.astray > life.counted);
    };
    let mut owners = Owners::default();
    for second in seconds() {
        let now_s = scene.begin_s + second;
        let counts = second >= SKIP_S;
        while let Some(report) = rest.next_if(|report| report.utc_s <= now_s) {
            if report.ends || !report.coasting {
                latest.insert(report.number, *report);
            }
        }
        latest.retain(|_, report| !report.ends && now_s - report.utc_s <= interval_s);
        let aircraft = aircraft(scene, now_s);
        let tracks: Vec<Seen> = latest.values().map(|r| at(r, now_s)).collect();
        let followed = judge.sample(now_s, &aircraft, &tracks);
        owners.take(&aircraft, &tracks, &followed, counts);
        for (index, track) in tracks.iter().enumerate() {
            let life = lives.entry(track.number).or_default();
            if life.all > 0 && now_s - life.seen_s > GONE_S {
                end(life);
                *life = Seconds::default();
            }
            let near = aircraft.iter().any(|a| (a.position - track.position).norm() < NEAR_M);
            life.seen_s = now_s;
            life.all += 1;
            life.counted += u32::from(counts);
            life.astray += u32::from(counts && !near);
            life.beside += u32::from(near && !followed.contains(&Some(index)));
        }
    }
    lives.values().for_each(&mut end);
    let hours = (SECONDS - SKIP_S) / 3_600.0;
    Counts {
        ghosts_per_h: f64::from(ghosts) / hours,
        false_before_per_h: f64::from(false_before) / hours,
        swaps_before: owners.swaps,
        ..Counts::default()
    }
}

fn at(report: &Report, now_s: f64) -> Seen {
    let position = report.position + report.velocity * (now_s - report.utc_s);
    Seen { number: report.number, position }
}

fn aircraft(scene: &Scene, now_s: f64) -> Vec<There> {
    let mut all = Vec::new();
    for flight in &scene.flights {
        if let Some(position) = scene.seen(flight, now_s).and_then(|_| flight.place(now_s)) {
            all.push(There { name: flight.number, position });
        }
    }
    all
}

/// Which number each aircraft has, where it is alone. Each change to another aircraft's is a swap at once,
/// also one that lasts a turn.
#[derive(Debug, Default)]
struct Owners {
    numbers: BTreeMap<u32, u16>,
    owners: BTreeMap<u16, u32>,
    swaps: u64,
}

impl Owners {
    fn take(
        &mut self,
        aircraft: &[There],
        tracks: &[Seen],
        followed: &[Option<usize>],
        counts: bool,
    ) {
        let apart = |a: &There, b: Vec2| (a.position - b).norm();
        for (there, track) in aircraft.iter().zip(followed) {
            let others = aircraft.iter().filter(|other| other.name != there.name);
            let Some(track) = track else { continue };
            if others.into_iter().any(|other| apart(other, there.position) < AMBIGUOUS_M) {
                continue;
            }
            let number = tracks[*track].number;
            let changed = self.numbers.insert(there.name, number).is_some_and(|n| n != number);
            let owner = self.owners.insert(number, there.name);
            let of_another = owner.is_some_and(|other| other != there.name);
            self.swaps += u64::from(counts && changed && of_another);
        }
    }
}
