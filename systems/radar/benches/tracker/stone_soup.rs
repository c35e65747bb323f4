//! The same plots through our tracker and through Stone Soup 1.9.1 (MIT), judged alike.
//!
//! Every 8 s all aircraft are seen at one instant, each with probability 0.97 and 100 m of noise
//! both ways, as Stone Soup's tree wants it. The plots of a turn are handed over together, as
//! positions in the plane and nothing else: no addresses, no codes, no levels, no clutter. Both begin, update and end tracks, gate at six standard deviations and are asked after each turn
//! where their tracks are; what is timed is that alone, in CPU time, without reading and writing.
//! Stone Soup filters with one constant-velocity model, finds plots through its k-d tree and assigns
//! them globally (`benches/tracker/stone_soup.py`); our tracker does as ever.
//!
//! `STONESOUP_PYTHON` names a Python that has Stone Soup: `tools/venv stonesoup` makes one.

use super::cpu_s;
use super::scenario::{self, Random, STEP_S, Sky};
use chronoscope_radar::evaluate::{Counted, Judge, Seen, There};
use chronoscope_radar::tracker::identity::Identity;
use chronoscope_radar::tracker::linear::{Sym2, Vec2};
use chronoscope_radar::tracker::{Measurement, Phase, Settings, Tracker};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

const STEPS_A_TURN: u16 = 32;
/// Period of a turn, 8 s.
const PERIOD_S: f64 = STEP_S * STEPS_A_TURN as f64;
const DETECTION: f64 = 0.97;
const SIGMA_M: f64 = 100.0;

/// A turn of the radar: its plots, and where all aircraft are at its end.
struct Turn {
    end_s: f64,
    plots: Vec<Measurement>,
    there: Vec<There>,
}

/// A track as reported by a tracker: time, number, position, velocity.
type State = (f64, u16, Vec2, Vec2);

/// All tracks after each turn, and the CPU seconds that they took.
type Tracked = (Vec<Vec<State>>, f64);

fn turns(aircraft: usize, count: usize) -> Vec<Turn> {
    // No radar of its own: its sky alone.
    let mut sky =
        Sky::new(scenario::en_route(aircraft, false), scenario::sensors(0, 8.0, 0.0, 0.0), 11);
    let mut random = Random(12);
    let mut turn = || {
        for _ in 0..STEPS_A_TURN {
            sky.step();
        }
        let there: Vec<There> = sky
            .aircraft
            .iter()
            .map(|a| There { name: a.address, position: Vec2::new(a.x, a.y) })
            .collect();
        let end_s = sky.time_s;
        let mut plots = Vec::new();
        for at in &there {
            if random.share() < DETECTION {
                let noise = Vec2::new(random.normal(), random.normal()) * SIGMA_M;
                plots.push(Measurement {
                    radar: 0,
                    time_s: end_s,
                    position: at.position + noise,
                    covariance: Sym2::isotropic(SIGMA_M * SIGMA_M),
                    identity: Identity::default(),
                    flight_level: None,
                    slant: None,
                });
            }
        }
        Turn { end_s, plots, there }
    };
    (0..count).map(|_| turn()).collect()
}

/// Our tracks after each turn, and the CPU seconds they took.
fn ours(turns: &[Turn]) -> Tracked {
    let mut tracker = Tracker::new(Settings::default());
    tracker.set_period(0, PERIOD_S);
    let mut all = Vec::new();
    let cpu = cpu_s(|| {
        for turn in turns {
            tracker.begin_block(turn.plots.len());
            for index in 0..turn.plots.len() {
                std::hint::black_box(tracker.correlate(&turn.plots, index));
            }
            tracker.advance(turn.end_s, |_| {});
            let confirmed = tracker.tracks().filter(|t| t.phase == Phase::Confirmed);
            let state = |t: &chronoscope_radar::tracker::Track| {
                let e = t.estimate();
                (t.time_s, t.number, e.position, e.velocity)
            };
            all.push(confirmed.map(state).collect());
        }
    });
    (all, cpu)
}

/// Runs the plots through Stone Soup.
fn theirs(turns: &[Turn]) -> Result<Tracked, Box<dyn std::error::Error>> {
    let python = std::env::var("STONESOUP_PYTHON")
        .map_err(|_| "left out, because STONESOUP_PYTHON names no Python that has it")?;
    let mut csv = String::new();
    for (number, turn) in turns.iter().enumerate() {
        for Measurement { time_s, position, .. } in &turn.plots {
            writeln!(csv, "{number},{time_s},{},{}", position.x, position.y)?;
        }
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/tracker/stone_soup.py");
    let mut child =
        Command::new(python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    child.stdin.take().ok_or("no stdin")?.write_all(csv.as_bytes())?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("its script ended with {}", output.status).into());
    }
    let mut all = vec![Vec::new(); turns.len()];
    let mut cpu = None;
    for line in String::from_utf8(output.stdout)?.lines() {
        let columns: Vec<&str> = line.split(',').collect();
        match columns[..] {
            ["cpu_s", seconds] => cpu = Some(seconds.parse()?),
            [turn, number, time_s, x, y, vx, vy] => {
                let at = Vec2::new(x.parse()?, y.parse()?);
                let velocity = Vec2::new(vx.parse()?, vy.parse()?);
                let time_s = time_s.parse()?;
                let states = all.get_mut(turn.parse::<usize>()?).ok_or("a turn that was not")?;
                states.push((time_s, number.parse()?, at, velocity));
            }
            _ => return Err(format!("its script printed {line:?}").into()),
        }
    }
    Ok((all, cpu.ok_or("its script printed no CPU time")?))
}

/// Turns for the tracks to form: ours asks for six plots of eight where nothing identifies them.
const FORMING: u16 = 10;

/// Compares the tracks after each turn with the true positions of aircraft.
fn judge(turns: &[Turn], states: &[Vec<State>]) -> (Counted, f64) {
    let mut judge = Judge::new(turns[0].end_s + (f64::from(FORMING) - 0.5) * PERIOD_S);
    let (mut squares, mut count) = (0.0, 0.0);
    for (index, (turn, states)) in turns.iter().zip(states).enumerate() {
        let seen: Vec<Seen> = states
            .iter()
            .map(|&(time_s, number, at, velocity)| Seen {
                number,
                position: at + velocity * (turn.end_s - time_s),
            })
            .collect();
        let owned = judge.sample(turn.end_s, &turn.there, &seen);
        if index < usize::from(FORMING) {
            continue;
        }
        for (there, track) in turn.there.iter().zip(owned) {
            if let Some(track) = track {
                squares += (there.position - seen[track].position).norm_squared();
                count += 1.0;
            }
        }
    }
    (judge.counted(), f64::sqrt(squares / f64::max(count, 1.0)))
}

pub(crate) fn compare() -> Result<(), Box<dyn std::error::Error>> {
    println!("\nthe same plots, positions alone, every 8 s");
    println!(
        "{:>8} {:>12} {:>8} {:>10} {:>8} {:>9} {:>6} {:>6} {:>12}",
        "aircraft",
        "tracker",
        "plots",
        "plots/s",
        "RMS, m",
        "detected",
        "false",
        "lost",
        "renumbered"
    );
    for (aircraft, count) in [(100, 40), (700, 20)] {
        let turns = turns(aircraft, count);
        let plots: usize = turns.iter().map(|turn| turn.plots.len()).sum();
        let line = |name: &str, (states, cpu): &Tracked| {
            let (counted, rms_m) = judge(&turns, states);
            println!(
                "{aircraft:>8} {name:>12} {plots:>8} {:>10.0} {rms_m:>8.0} {:>9.4} {:>6} {:>6} {:>12}",
                plots as f64 / cpu,
                counted.matched as f64 / counted.samples.max(1) as f64,
                counted.false_tracks,
                counted.lost_tracks,
                counted.renumbered + counted.swaps
            );
        };
        let own = ours(&turns);
        line("ours", &own);
        let other = theirs(&turns)?;
        line("Stone Soup", &other);
        let ratio = other.1 / own.1;
        println!("{aircraft:>8} {:>12} {:>8} {ratio:>10.0}", "ratio", "");
    }
    Ok(())
}
