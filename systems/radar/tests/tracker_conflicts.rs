//! Aircraft that meet: which track is whose afterwards.
//!
//! Two aircraft at one level cross, fly side by side or exchange their codes, seen by three radars
//! with misses and noise. With addresses the tracks must never be swapped; with codes alone, or
//! with nothing at all, how often is measured and bounded.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test helper may panic")]

#[path = "support/scenario.rs"]
mod scenario;

use chronoscope_radar::asterix::cat048::{ModeA, Plot};
use chronoscope_radar::evaluate::{Counted, Judge, Seen, There};
use chronoscope_radar::geodesy::{METRES_PER_NM, Wgs84};
use chronoscope_radar::tracker::{
    Measurement, Phase, Precision, Radars, Settings, Tracker, linear::Vec2,
};
use scenario::{Random, STEP_S, Sky, Traffic};

/// How the two aircraft fly.
#[derive(Clone, Copy)]
enum Geometry {
    /// Their paths cross under an angle, in degrees; at their closest they are so far apart.
    Crossing(f64, f64),
    /// Side by side, so far apart.
    Parallel(f64),
}

/// Knowledge of the aircraft's identity.
#[derive(Clone, Copy, PartialEq)]
enum Known {
    Address,
    Code,
    Nothing,
}

/// Changes what a radar reports at a time.
type Alter = Box<dyn FnMut(f64, &mut Plot)>;

/// When they are closest, s.
const MEET_S: f64 = 150.0;
const SPEED_M_S: f64 = 220.0;

/// Two aircraft around the middle of three radars.
fn sky(geometry: Geometry, known: Known, seed: u64) -> Sky {
    let traffic = Traffic { leg_s: 1e9, ..scenario::en_route(2, known == Known::Address) };
    let sensors = scenario::sensors(3, 8.0, 370_000.0, 120_000.0);
    let mut sky = Sky::new(traffic, sensors, seed);
    let place = |sky: &mut Sky, index: usize, heading_deg: f64, meets: Vec2| {
        let aircraft = &mut sky.aircraft[index];
        let heading = heading_deg.to_radians();
        let back = SPEED_M_S * MEET_S;
        (aircraft.x, aircraft.y) = (meets.x - back * heading.sin(), meets.y - back * heading.cos());
        (aircraft.heading, aircraft.speed, aircraft.level) = (heading, SPEED_M_S, 330.0);
    };
    match geometry {
        Geometry::Crossing(angle_deg, apart_m) => {
            // At MEET_S the second is on the line that halves the angle of their courses, behind;
            // with equal speeds that is when they are closest.
            let between = (angle_deg / 2.0).to_radians();
            place(&mut sky, 0, 0.0, Vec2::default());
            let behind = Vec2::new(between.sin(), between.cos()) * -apart_m;
            place(&mut sky, 1, angle_deg, behind);
        }
        Geometry::Parallel(apart_m) => {
            place(&mut sky, 0, 40.0, Vec2::default());
            let right = 130f64.to_radians();
            place(&mut sky, 1, 40.0, Vec2::new(right.sin(), right.cos()) * apart_m);
        }
    }
    sky
}

/// Flies it; `alter` may change what radars report.
fn fly(mut sky: Sky, mut alter: impl FnMut(f64, &mut Plot)) -> (Counted, usize) {
    let mut radars = Radars::new(Wgs84::new(51.0, 10.0, 0.0), Precision::default());
    let mut tracker = Tracker::new(Settings::default());
    for (source, site) in sky.sites().collect::<Vec<_>>() {
        let index = radars.place(source, site).unwrap();
        tracker.set_period(index, 8.0);
    }
    let mut judge = Judge::new(40.0);
    while sky.time_s < 2.0 * MEET_S {
        for mut block in sky.step() {
            block.iter_mut().for_each(|plot| alter(sky.time_s, plot));
            let now_ns = sky.now_ns();
            let block: Vec<Measurement> =
                block.iter().map(|p| radars.convert(p, now_ns).unwrap()).collect();
            tracker.begin_block(block.len());
            for index in 0..block.len() {
                tracker.correlate(&block, index);
            }
        }
        if (sky.time_s / STEP_S) as i64 % 4 != 0 {
            continue;
        }
        let now_s = radars.plot_time_s(sky.now_ns());
        tracker.advance(now_s, |_| {});
        let seen: Vec<Seen> = tracker
            .tracks()
            .filter(|t| t.phase == Phase::Confirmed)
            .map(|t| {
                let e = t.estimate();
                Seen { number: t.number, position: e.position + e.velocity * (now_s - t.time_s) }
            })
            .collect();
        let there: Vec<There> = sky
            .aircraft
            .iter()
            .map(|a| There { name: a.address, position: Vec2::new(a.x, a.y) })
            .collect();
        judge.sample(sky.time_s, &there, &seen);
    }
    (judge.counted(), tracker.confirmed_count())
}

const RUNS: u64 = 20;

/// Of `RUNS` flights those after which a track was another aircraft's or new, or not two were left.
fn confused(geometry: Geometry, known: Known, alter: impl Fn(u64) -> Alter) -> u64 {
    let mut count = 0;
    for seed in 0..RUNS {
        let mut own = alter(seed);
        let (counted, tracks) = fly(sky(geometry, known, seed), |time_s, plot| {
            if known == Known::Nothing {
                plot.mode_a = None;
            }
            own(time_s, plot);
        });
        count += u64::from(counted.swaps + counted.renumbered > 0 || tracks != 2);
    }
    count
}

fn unaltered(_seed: u64) -> Alter {
    Box::new(|_, _| {})
}

const CLOSE_M: f64 = 0.5 * METRES_PER_NM;
const FAR_M: f64 = 3.0 * METRES_PER_NM;

#[test]
fn crossing_traffic_with_addresses_is_never_swapped() {
    for angle in [15.0, 45.0, 90.0, 135.0, 170.0] {
        for apart in [FAR_M, CLOSE_M, 0.0] {
            let count = confused(Geometry::Crossing(angle, apart), Known::Address, unaltered);
            assert_eq!(count, 0, "{angle}°, {apart} m");
        }
    }
}

#[test]
fn crossing_traffic_with_codes_is_never_swapped() {
    for angle in [15.0, 45.0, 90.0, 135.0, 170.0] {
        for apart in [FAR_M, CLOSE_M, 0.0] {
            let count = confused(Geometry::Crossing(angle, apart), Known::Code, unaltered);
            assert_eq!(count, 0, "{angle}°, {apart} m");
        }
    }
}

/// As primary radar alone sees it, but with levels, which are the same: what position and speed can
/// tell.
#[test]
fn crossing_traffic_that_says_nothing_is_rarely_swapped() {
    for angle in [15.0, 45.0, 90.0, 170.0] {
        for (apart, most) in [(FAR_M, 0), (CLOSE_M, RUNS / 10)] {
            let count = confused(Geometry::Crossing(angle, apart), Known::Nothing, unaltered);
            eprintln!("nothing known, {angle}°, {apart:.0} m: {count} of {RUNS}");
            assert!(count <= most, "{angle}°, {apart} m: {count}");
        }
    }
}

#[test]
fn parallel_traffic_is_not_mixed() {
    for (known, apart) in
        [(Known::Address, CLOSE_M), (Known::Code, CLOSE_M), (Known::Nothing, FAR_M)]
    {
        assert_eq!(confused(Geometry::Parallel(apart), known, unaltered), 0, "{apart} m");
    }
}

/// Half a minute after they crossed each gets the other's code.
#[test]
fn an_exchange_of_codes_exchanges_no_tracks() {
    let exchange = |_| -> Alter {
        Box::new(|time_s, plot| {
            if let (true, Some(mode_a)) = (time_s > MEET_S + 30.0, &mut plot.mode_a) {
                // Codes are 1 and 2.
                mode_a.code = 3 - mode_a.code;
            }
        })
    };
    for known in [Known::Address, Known::Code] {
        for apart in [CLOSE_M, FAR_M] {
            assert_eq!(confused(Geometry::Crossing(60.0, apart), known, exchange), 0, "{apart} m");
        }
    }
}

/// One code in twenty is wrong, one level in twenty is garbled, unmarked.
#[test]
fn wrong_codes_and_garbled_levels_are_survived() {
    let garble = |seed| -> Alter {
        let mut random = Random(seed ^ 0x5EED);
        Box::new(move |_, plot| {
            if random.share() < 0.05 {
                plot.mode_a = plot.mode_a.map(|a| ModeA { code: a.code ^ 0o100, ..a });
            }
            if let (true, Some(level)) = (random.share() < 0.05, &mut plot.flight_level) {
                level.level = if random.share() < 0.5 {
                    1_200.0
                } else {
                    scenario::within(&mut random, 0.0, 500.0)
                };
            }
        })
    };
    let (far, close) = (Geometry::Crossing(90.0, FAR_M), Geometry::Crossing(45.0, CLOSE_M));
    for (known, geometry, most) in [
        (Known::Address, far, 0),
        (Known::Address, close, 0),
        (Known::Code, far, 0),
        (Known::Code, close, RUNS / 20),
    ] {
        let count = confused(geometry, known, garble);
        eprintln!("garbled: {count} of {RUNS}");
        assert!(count <= most, "{count}");
    }
}

/// Nobody sees one of them for half a minute, well after they met.
#[test]
fn a_track_coasts_through_a_gap() {
    let (from, to) = (MEET_S + 40.0, MEET_S + 70.0);
    for known in [Known::Address, Known::Code] {
        for seed in 0..RUNS {
            let mut sky = sky(Geometry::Crossing(90.0, FAR_M), known, seed);
            let hidden = sky.aircraft[0].code;
            sky.hide = Some((hidden, from, to));
            let (counted, tracks) = fly(sky, |_, _| {});
            assert_eq!((counted.swaps, counted.renumbered, tracks), (0, 0, 2), "seed {seed}");
        }
    }
}
