//! Our tracker over a scene, and how good its tracks are.

use crate::flights::SECONDS;
use crate::score::{State, States, key};
use crate::sensor::{SOURCE, Scene, corrected};
use chronoscope_clock as clock;
use chronoscope_radar::asterix::{DataSource, Record, cat048::Plot, decode_block, encode_block};
use chronoscope_radar::evaluate::{self, Reports, Requirement, Truths, against_truth};
use chronoscope_radar::geodesy::Wgs84;
use chronoscope_radar::tracker::linear::{Sym2, Vec2};
use chronoscope_radar::tracker::{Precision, Processor, Radars, Settings};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Results of one scene.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) states: States,
    /// Share of the reports within their 95 % ellipse.
    pub(crate) inside: f64,
    pub(crate) false_per_h: f64,
    pub(crate) tracks_per_flight: f64,
    pub(crate) initiation_turns: f64,
    pub(crate) swaps: u64,
    pub(crate) renumbered: u64,
    pub(crate) detection: f64,
    pub(crate) plots: usize,
    pub(crate) plots_per_s: f64,
    /// Numbers of the false tracks, where they are wanted.
    pub(crate) astray: Vec<u16>,
    pub(crate) said: Vec<Said>,
}

/// A report of the tracker about one track.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) utc_s: f64,
    pub(crate) number: u16,
    pub(crate) position: Vec2,
    pub(crate) covariance: Sym2,
    pub(crate) coasting: bool,
}

/// What is wanted beside the errors, which takes longer than the tracking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Errors,
    /// False tracks and the rest.
    Continuity,
    /// These, and which tracks are false.
    Astray,
}

/// Tracks the scene's plots with `settings`.
pub(crate) fn run(scene: &Scene, settings: Settings, wanted: Wanted) -> Found {
    let datagrams: Vec<(i64, Vec<u8>)> = scene
        .sectors
        .iter()
        .map(|sector| {
            let plots: Vec<Plot> =
                sector.plots.iter().map(|o| corrected(&o.plot, sector.utc_ns)).collect();
            let mut octets = Vec::new();
            if !plots.is_empty() {
                encode_block(&plots, &mut octets).expect("plots of the trial's sensor");
            }
            (sector.utc_ns, octets)
        })
        .collect();
    let mut radars = Radars::new(scene_origin(scene), Precision::default());
    radars.place(SOURCE, scene.site).expect("one radar");
    let mut processor = Processor::new(radars, settings, DataSource { sac: 25, sic: 100 });
    processor.set_period(SOURCE, scene.period_s);
    let mut messages: Vec<(i64, Vec<u8>)> = Vec::new();
    let begin_ns = clock::thread_cpu_ns();
    for (utc_ns, octets) in &datagrams {
        if !octets.is_empty() {
            processor.datagram(octets, *utc_ns, |m| messages.push((*utc_ns, m.to_vec())));
        }
        processor.tick(*utc_ns, |m| messages.push((*utc_ns, m.to_vec())));
    }
    let cpu_s = (clock::thread_cpu_ns() - begin_ns) as f64 * 1e-9;
    let plots: usize = scene.sectors.iter().map(|sector| sector.plots.len()).sum();
    let said = said(&messages);
    let mut found = judge(scene, &said);
    if wanted != Wanted::Errors {
        found.astray = continuity(scene, &messages, wanted, &mut found);
    }
    found.said = said;
    (found.plots, found.plots_per_s) = (plots, plots as f64 / cpu_s);
    found
}

/// The plane's origin: what the tracker's positions are computed in.
fn scene_origin(scene: &Scene) -> Wgs84 {
    scene.plane.unproject(chronoscope_radar::geodesy::Plane { x_m: 0.0, y_m: 0.0 }, 0.0)
}

fn said(messages: &[(i64, Vec<u8>)]) -> Vec<Said> {
    let mut all = Vec::new();
    for (at_ns, message) in messages {
        for record in decode_block(message) {
            let Ok(Record::Track(track)) = record else { panic!("not a track") };
            let accuracy = track.accuracy.unwrap_or_default();
            let (sx, sy) = accuracy.cartesian_m.unwrap_or((1.0, 1.0));
            let xy = accuracy.covariance_m.map_or(0.0, |c| c * c.abs());
            let at = track.cartesian.expect("our tracker sends I062/100");
            let time = track.time_of_day.expect("our tracker sends I062/070");
            all.push(Said {
                utc_s: time.to_utc_ns(*at_ns) as f64 * 1e-9,
                number: track.track_number.expect("our tracker sends I062/040"),
                position: Vec2::new(at.x_m, at.y_m),
                covariance: Sym2 { xx: sx * sx, xy, yy: sy * sy },
                coasting: track.status.is_some_and(|s| s.coasting || s.ends),
            });
        }
    }
    all
}

/// The nearest flight to a report, and by how much it is off it.
pub(crate) fn nearest(scene: &Scene, said: &Said) -> Option<(u32, Vec2)> {
    let off = |f: &crate::flights::Flight| Some((f.number, said.position - f.place(said.utc_s)?));
    let all = scene.flights.iter().filter_map(off);
    all.min_by(|a, b| a.1.norm_squared().total_cmp(&b.1.norm_squared()))
}

/// A report further from all flights is of none, m.
const OF_NONE_M: f64 = 3_000.0;

fn judge(scene: &Scene, all: &[Said]) -> Found {
    let mut found = Found::default();
    let mut numbers: BTreeMap<u32, BTreeMap<u16, u32>> = BTreeMap::new();
    let mut first: BTreeMap<u32, f64> = BTreeMap::new();
    for said in all.iter().filter(|said| !said.coasting) {
        let near = nearest(scene, said).filter(|(_, error)| error.norm() < OF_NONE_M);
        let Some((flight, error)) = near else { continue };
        let state = State::new(said.utc_s, error, said.covariance);
        found.states.insert(key(flight, said.utc_s), state);
        *numbers.entry(flight).or_default().entry(said.number).or_default() += 1;
        first.entry(flight).or_insert(said.utc_s);
    }
    // Chi-square with two degrees of freedom.
    let inside = found.states.values().filter(|state| state.squared < 5.991).count();
    found.inside = inside as f64 / found.states.len().max(1) as f64;
    let mut plotted: BTreeMap<u32, f64> = BTreeMap::new();
    for sector in &scene.sectors {
        for flight in sector.plots.iter().filter_map(|owned| owned.flight) {
            plotted.entry(flight).or_insert(sector.utc_ns as f64 * 1e-9);
        }
    }
    // Flights that come in after the beginning, when the tracker knows its surroundings.
    let waits: Vec<f64> = first
        .iter()
        .filter_map(|(flight, at_s)| {
            let since_s = plotted.get(flight)?;
            (*since_s > scene.begin_s + 60.0).then_some((at_s - since_s) / scene.period_s)
        })
        .collect();
    found.initiation_turns = waits.iter().sum::<f64>() / waits.len().max(1) as f64;
    let tracks: usize =
        numbers.values().map(|of| of.values().filter(|reports| **reports >= 3).count()).sum();
    found.tracks_per_flight = tracks as f64 / numbers.len().max(1) as f64;
    found
}

/// False tracks, swaps and the rest, as `radar-evaluate` counts them. Gives the numbers of the false
/// tracks, where they are wanted.
fn continuity(
    scene: &Scene,
    messages: &[(i64, Vec<u8>)],
    wanted: Wanted,
    found: &mut Found,
) -> Vec<u16> {
    let mut csv = format!("{}\n", chronoscope_radar::generator::TRUTH_HEADER);
    #[allow(clippy::cast_possible_truncation, reason = "thousands")]
    for second in 0..SECONDS as i32 {
        let utc_s = scene.begin_s + f64::from(second);
        for flight in &scene.flights {
            let Some((at, level)) = scene.seen(flight, utc_s) else { continue };
            let (number, lat, lon) = (flight.number, at.lat_deg, at.lon_deg);
            let _ = writeln!(csv, "{utc_s:.3},{number:06x},{lat:.6},{lon:.6},{level:.2}");
        }
    }
    let truths = Truths::read(csv.as_bytes(), &scene.plane).expect("the trial's own truth");
    let mut reports = Reports::new(scene.plane);
    for (at_ns, message) in messages {
        reports.take(message, *at_ns);
    }
    let settings = evaluate::Settings {
        skip_s: 60.0,
        interval_s: 2.2 * scene.period_s,
        area_deg: None,
        levels: None,
        requirement: Requirement::EN_ROUTE,
    };
    let verdict = against_truth(&reports.reports, &truths, &scene.plane, &settings).verdict;
    found.false_per_h = verdict.false_tracks_per_h.unwrap_or(0.0);
    (found.swaps, found.renumbered) = (verdict.swaps, verdict.renumbered);
    found.detection = verdict.detection.unwrap_or(0.0);
    let mut numbers: Vec<u16> = reports.reports.iter().map(|report| report.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.retain(|number| {
        wanted == Wanted::Astray && {
            let own = reports.reports.iter().filter(|report| report.number == *number);
            let own: Vec<evaluate::Report> = own.copied().collect();
            let verdict = against_truth(&own, &truths, &scene.plane, &settings).verdict;
            verdict.false_tracks_per_h.is_some_and(|per_h| per_h > 0.0)
        }
    });
    numbers
}
