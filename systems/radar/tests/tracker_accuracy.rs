//! The tracker against a known truth, judged by the numbers of ED-142 for evaluation: en route
//! position detection >= 0.97 and horizontal RMS <= 350 m, terminal RMS <= 150 m, long gaps
//! <= 0.01 (0.001 terminal); and false, missed and duplicate tracks, for which it names none.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test helper may panic")]

#[path = "support/scenario.rs"]
mod scenario;

use chronoscope_radar::asterix::cat048::Plot;
use chronoscope_radar::evaluate::{Judge, Seen, There};
use chronoscope_radar::geodesy::{METRES_PER_NM, flight_level_to_m};
use chronoscope_radar::tracker::{Measurement, Phase, Tracker, linear::Vec2};
use scenario::{Random, STEP_S, Sensors, Sky, Traffic};

#[derive(Debug, Default)]
struct Verdict {
    rms_m: f64,
    detection: f64,
    long_gaps: f64,
    /// Extra tracks on an aircraft, a share of the samples.
    duplicates: f64,
    /// Tracks with no aircraft near, a share of the tracks sampled.
    false_tracks: f64,
    /// How often an aircraft's track number changed, for each aircraft.
    swaps: f64,
}

/// Runs `seconds` of traffic; the first 40 s are left for the tracks to form.
fn judge(traffic: Traffic, sensors: Sensors, seconds: f64, seed: u64) -> Verdict {
    judge_altered(traffic, sensors, seconds, seed, |_| {})
}

/// The same, when `alter` changes what the radars report.
fn judge_altered(
    traffic: Traffic,
    sensors: Sensors,
    seconds: f64,
    seed: u64,
    mut alter: impl FnMut(&mut Plot),
) -> Verdict {
    let mut sky = Sky::new(traffic, sensors, seed);
    let (mut radars, mut tracker) = sky.known_radars(sensors);
    let mut judge = Judge::new(0.0);
    let mut squares = 0.0;
    let mut next_sample_s = 40.0;
    while sky.time_s < seconds {
        for mut block in sky.step() {
            block.iter_mut().for_each(&mut alter);
            let now_ns = sky.now_ns();
            let block: Vec<Measurement> =
                block.iter().map(|p| radars.convert(p, now_ns).unwrap()).collect();
            tracker.begin_block(block.len());
            for index in 0..block.len() {
                tracker.correlate(&block, index);
            }
        }
        let now_s = radars.plot_time_s(sky.now_ns());
        if (sky.time_s / STEP_S) as i64 % 4 == 0 {
            tracker.advance(now_s, |_| {});
        }
        if sky.time_s >= next_sample_s {
            next_sample_s += 4.0;
            let (there, seen) = (there(&sky), seen(&tracker, sky.now_ns() as f64 * 1e-9));
            let owned = judge.sample(sky.time_s, &there, &seen);
            for (there, track) in there.iter().zip(owned) {
                squares +=
                    track.map_or(0.0, |t| (there.position - seen[t].position).norm_squared());
            }
        }
    }
    eprintln!("{:?}", tracker.counts());
    let counted = judge.counted();
    let share = |n: u64, of: u64| n as f64 / of.max(1) as f64;
    Verdict {
        rms_m: (squares / counted.matched.max(1) as f64).sqrt(),
        detection: share(counted.matched, counted.samples),
        long_gaps: share(counted.long_gaps, counted.samples),
        duplicates: share(counted.duplicates, counted.samples),
        false_tracks: share(counted.astray, counted.tracks),
        swaps: (counted.swaps + counted.renumbered) as f64 / sky.aircraft.len() as f64,
    }
}

/// All believed tracks, where they say that their aircraft are now.
fn seen(tracker: &Tracker, now_s: f64) -> Vec<Seen> {
    let confirmed = tracker.tracks().filter(|t| t.phase == Phase::Confirmed);
    confirmed
        .map(|t| {
            let e = t.estimate();
            Seen { number: t.number, position: e.position + e.velocity * (now_s - t.time_s) }
        })
        .collect()
}

fn there(sky: &Sky) -> Vec<There> {
    let place = |a: &scenario::Aircraft| There { name: a.address, position: Vec2::new(a.x, a.y) };
    sky.aircraft.iter().map(place).collect()
}

#[test]
fn en_route_mode_s_five_radars() {
    let sensors = scenario::sensors(5, 8.0, 370_000.0, 180_000.0);
    let v = judge(scenario::en_route(300, true), sensors, 400.0, 1);
    eprintln!("en route, Mode S: {v:?}");
    assert!(v.detection >= 0.97 && v.rms_m <= 350.0 && v.long_gaps <= 0.01, "{v:?}");
    // Far better than allowed is what five radars have to give.
    assert!(v.rms_m <= 150.0, "{v:?}");
    assert!(v.duplicates == 0.0 && v.false_tracks == 0.0 && v.swaps == 0.0, "{v:?}");
}

#[test]
fn en_route_without_addresses_and_with_clutter() {
    let sensors = Sensors { clutter: 8.0, ..scenario::sensors(5, 8.0, 370_000.0, 180_000.0) };
    let v = judge(scenario::en_route(300, false), sensors, 400.0, 2);
    eprintln!("en route, Mode A/C, clutter: {v:?}");
    assert!(v.detection >= 0.97 && v.rms_m <= 350.0 && v.long_gaps <= 0.01, "{v:?}");
    assert!(v.duplicates <= 0.005 && v.false_tracks <= 0.005 && v.swaps <= 0.1, "{v:?}");
}

/// As primary radar sees it: neither address nor code, among clutter that says as little.
#[test]
fn en_route_without_any_identity() {
    let sensors = Sensors { clutter: 8.0, ..scenario::sensors(5, 8.0, 370_000.0, 180_000.0) };
    let v = judge_altered(scenario::en_route(150, false), sensors, 300.0, 6, |plot| {
        (plot.mode_a, plot.flight_level) = (None, None);
    });
    eprintln!("en route, nothing but positions: {v:?}");
    assert!(v.detection >= 0.97 && v.rms_m <= 350.0 && v.long_gaps <= 0.01, "{v:?}");
    // Radars that know no level disagree about a place: a plot in a hundred is another track's.
    assert!(v.false_tracks <= 0.015 && v.swaps == 0.0, "{v:?}");
}

#[test]
fn en_route_seen_by_one_radar() {
    let sensors = scenario::sensors(1, 8.0, 370_000.0, 0.0);
    let v = judge(scenario::en_route(100, true), sensors, 400.0, 3);
    eprintln!("en route, one radar: {v:?}");
    assert!(v.detection >= 0.97 && v.rms_m <= 350.0 && v.long_gaps <= 0.01, "{v:?}");
}

#[test]
fn terminal_with_standard_rate_turns() {
    let sensors = scenario::sensors(2, 4.0, 110_000.0, 25_000.0);
    let v = judge(scenario::terminal(60), sensors, 400.0, 4);
    eprintln!("terminal: {v:?}");
    assert!(v.detection >= 0.97 && v.rms_m <= 150.0 && v.long_gaps <= 0.001, "{v:?}");
    assert!(v.duplicates == 0.0 && v.false_tracks == 0.0, "{v:?}");
}

/// A tenth of the levels is plausible but wrong, a tenth is missing: by the slant range alone such
/// plots are off by hundreds of metres near a radar, but the tracks know their levels.
#[test]
fn wrong_and_missing_levels_move_no_tracks() {
    let sensors = scenario::sensors(2, 4.0, 110_000.0, 25_000.0);
    let right = judge(scenario::terminal(60), sensors, 400.0, 5);
    let mut random = Random(7);
    let wrong = judge_altered(scenario::terminal(60), sensors, 400.0, 5, |plot| {
        let (what, level) = (random.share(), scenario::within(&mut random, 30.0, 150.0).round());
        // Not so near that no point has this level: those plots are refused.
        let far_m = plot.position.map_or(0.0, |at| at.range_nm * METRES_PER_NM);
        match &mut plot.flight_level {
            Some(own) if what < 0.1 && far_m > 1.2 * flight_level_to_m(level) => own.level = level,
            own if what > 0.9 => *own = None,
            _ => {}
        }
    });
    eprintln!("levels right: {right:?}\nwrong or missing: {wrong:?}");
    assert!(wrong.rms_m <= 1.05 * right.rms_m, "{} {}", wrong.rms_m, right.rms_m);
    assert!(wrong.detection >= 0.97 && wrong.long_gaps <= 0.001, "{wrong:?}");
    assert!(wrong.duplicates == 0.0 && wrong.false_tracks == 0.0, "{wrong:?}");
}
