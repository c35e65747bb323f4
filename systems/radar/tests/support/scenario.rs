//! A synthetic sky with known truth: aircraft that fly legs and turns, radars that see them with
//! noise, misses and clutter. Deterministic from its seed.
//!
//! Shared by the accuracy tests and the bench, so that both speak of the same traffic.

#![allow(dead_code, unreachable_pub, missing_docs, reason = "each user takes a part of it")]
#![allow(clippy::cast_possible_truncation, clippy::unwrap_used, reason = "small made-up numbers")]

use chronoscope_radar::asterix::cat048::{FlightLevel, ModeA, Plot, Position};
use chronoscope_radar::asterix::{DataSource, TimeOfDay};
use chronoscope_radar::geodesy::{
    LocalFrame, METRES_PER_NM, Plane, Stereographic, Wgs84, flight_level_to_m,
};
use chronoscope_radar::tracker::{Precision, Radars, Settings, Tracker};
pub use chronoscope_statistics::Random;

/// An arbitrary moment, so that times of day are ordinary numbers.
pub const START_NS: i64 = 1_700_000_000_000_000_000;

/// A value in `[low, high)`.
pub fn within(random: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * random.share()
}

/// Properties of the traffic.
#[derive(Clone, Copy)]
pub struct Traffic {
    pub aircraft: usize,
    /// Half the side of the square they fly in, m.
    pub half_side_m: f64,
    pub speed_m_s: (f64, f64),
    pub level: (f64, f64),
    /// Rate of turn, degrees a second.
    pub turn_deg_s: f64,
    /// Mean length of a straight leg, s. Each ends in a 90-degree turn.
    pub leg_s: f64,
    /// Whether transponders tell an address (Mode S), or only codes (Mode A/C).
    pub mode_s: bool,
}

/// Properties of the radars.
#[derive(Clone, Copy)]
pub struct Sensors {
    pub radars: usize,
    pub period_s: f64,
    pub detection: f64,
    pub range_sigma_m: f64,
    pub azimuth_sigma_deg: f64,
    /// False plots for each turn of each radar.
    pub clutter: f64,
    pub range_m: f64,
    /// Distance of the sites from the centre, m.
    pub ring_m: f64,
}

#[derive(Clone)]
pub struct Aircraft {
    pub x: f64,
    pub y: f64,
    pub heading: f64,
    pub speed: f64,
    pub level: f64,
    /// FL a second.
    pub climb: f64,
    /// Degrees still to turn; the sign is the direction.
    turning: f64,
    leg_left_s: f64,
    pub address: u32,
    pub code: u16,
}

struct Radar {
    source: DataSource,
    frame: LocalFrame,
    site: Wgs84,
    phase: f64,
}

pub struct Sky {
    pub time_s: f64,
    pub aircraft: Vec<Aircraft>,
    pub plane: Stereographic,
    traffic: Traffic,
    sensors: Sensors,
    radars: Vec<Radar>,
    random: Random,
    /// An aircraft that no radar sees, by code, with the start and end of that time.
    pub hide: Option<(u16, f64, f64)>,
}

/// Step of the simulation, s.
pub const STEP_S: f64 = 0.25;

impl Sky {
    pub fn new(traffic: Traffic, sensors: Sensors, seed: u64) -> Self {
        let mut random = Random(seed);
        let plane = Stereographic::new(Wgs84::new(51.0, 10.0, 0.0));
        let radars = (0..sensors.radars)
            .map(|i| {
                let angle = std::f64::consts::TAU * i as f64 / sensors.radars as f64;
                let at =
                    Plane { x_m: sensors.ring_m * angle.sin(), y_m: sensors.ring_m * angle.cos() };
                let site = plane.unproject(at, 300.0);
                Radar {
                    source: DataSource { sac: 25, sic: u8::try_from(i + 1).unwrap() },
                    frame: LocalFrame::new(site),
                    site,
                    phase: random.share(),
                }
            })
            .collect();
        let aircraft = (0..traffic.aircraft)
            .map(|i| {
                let at = |r: &mut Random| within(r, -traffic.half_side_m, traffic.half_side_m);
                Aircraft {
                    x: at(&mut random),
                    y: at(&mut random),
                    heading: within(&mut random, 0.0, std::f64::consts::TAU),
                    speed: within(&mut random, traffic.speed_m_s.0, traffic.speed_m_s.1),
                    level: within(&mut random, traffic.level.0, traffic.level.1).round(),
                    climb: 0.0,
                    turning: 0.0,
                    leg_left_s: within(&mut random, 0.0, 2.0 * traffic.leg_s),
                    address: 0x3C_0000 + u32::try_from(i).unwrap(),
                    code: u16::try_from(1 + i % 4000).unwrap(),
                }
            })
            .collect();
        Self { time_s: 0.0, aircraft, plane, traffic, sensors, radars, random, hide: None }
    }

    /// The radars of this sky, whose errors and period are known, and a tracker that has heard nothing.
    pub fn known_radars(&self, sensors: Sensors) -> (Radars, Tracker) {
        let precision = Precision {
            range_sigma_m: sensors.range_sigma_m,
            azimuth_sigma_deg: sensors.azimuth_sigma_deg,
        };
        let mut radars = Radars::new(Wgs84::new(51.0, 10.0, 0.0), precision);
        let mut tracker = Tracker::new(Settings::default());
        for (source, site) in self.sites() {
            let index = radars.place(source, site).unwrap();
            tracker.set_period(index, sensors.period_s);
        }
        (radars, tracker)
    }

    /// Where each radar stands.
    pub fn sites(&self) -> impl Iterator<Item = (DataSource, Wgs84)> {
        self.radars.iter().map(|r| (r.source, r.site))
    }

    /// UTC now, ns.
    pub fn now_ns(&self) -> i64 {
        START_NS + (self.time_s * 1e9) as i64
    }

    /// Moves everything one step on and returns the blocks of plots that the radars send, each
    /// stamped when it was measured and sent half a second later, as radars do.
    pub fn step(&mut self) -> Vec<Vec<Plot>> {
        for aircraft in &mut self.aircraft {
            fly(aircraft, &self.traffic, &mut self.random);
        }
        self.time_s += STEP_S;
        (0..self.radars.len()).map(|r| self.scan(r)).filter(|b| !b.is_empty()).collect()
    }

    /// The plots of radar `r` in the sector that its beam crossed during this step.
    fn scan(&mut self, r: usize) -> Vec<Plot> {
        let turn = |t: f64, phase: f64, period: f64| (t / period + phase).rem_euclid(1.0);
        let radar = &self.radars[r];
        let from = turn(self.time_s - STEP_S, radar.phase, self.sensors.period_s);
        let width = STEP_S / self.sensors.period_s;
        let mut plots = Vec::new();
        for aircraft in &self.aircraft {
            let height = flight_level_to_m(aircraft.level);
            let at = self.plane.unproject(Plane { x_m: aircraft.x, y_m: aircraft.y }, height);
            let polar = radar.frame.to_polar(at);
            let behind = (polar.azimuth_rad / std::f64::consts::TAU - from).rem_euclid(1.0);
            let visible = polar.range_m < self.sensors.range_m
                && polar.range_m > 1.2 * height
                && behind < width;
            let hidden = self.hide.is_some_and(|(code, from, to)| {
                code == aircraft.code && (from..to).contains(&self.time_s)
            });
            if !visible || hidden || self.random.share() > self.sensors.detection {
                continue;
            }
            // The beam passed this long before the end of the step; the aircraft was there.
            let ago = STEP_S * (1.0 - behind / width);
            let then = self.plane.unproject(
                Plane {
                    x_m: aircraft.x - aircraft.speed * aircraft.heading.sin() * ago,
                    y_m: aircraft.y - aircraft.speed * aircraft.heading.cos() * ago,
                },
                height,
            );
            let polar = radar.frame.to_polar(then);
            plots.push(plot(
                radar.source,
                START_NS + ((self.time_s - ago) * 1e9) as i64,
                polar.range_m + self.sensors.range_sigma_m * self.random.normal(),
                polar.azimuth_rad.to_degrees()
                    + self.sensors.azimuth_sigma_deg * self.random.normal(),
                Some((aircraft, self.traffic.mode_s)),
            ));
        }
        let mut expected = self.sensors.clutter * width;
        while expected > 0.0 {
            if self.random.share() < expected {
                let azimuth = 360.0 * (from + width * self.random.share());
                let range = self.sensors.range_m * self.random.share().sqrt();
                let time = START_NS + (self.time_s * 1e9) as i64;
                plots.push(plot(self.radars[r].source, time, range, azimuth, None));
            }
            expected -= 1.0;
        }
        plots
    }
}

fn fly(a: &mut Aircraft, traffic: &Traffic, random: &mut Random) {
    let beyond = a.x.abs().max(a.y.abs()) > traffic.half_side_m;
    let inbound = a.x * a.heading.sin() + a.y * a.heading.cos() < 0.0;
    a.leg_left_s -= STEP_S;
    if a.turning == 0.0 && (a.leg_left_s < 0.0 || (beyond && !inbound)) {
        a.turning = if random.share() < 0.5 { 90.0 } else { -90.0 };
        a.leg_left_s = within(random, 0.5, 1.5) * traffic.leg_s;
        a.climb = if random.share() < 0.5 { within(random, -0.35, 0.35) } else { 0.0 };
    }
    if a.turning != 0.0 {
        let step = (traffic.turn_deg_s * STEP_S).min(a.turning.abs()) * a.turning.signum();
        a.heading += step.to_radians();
        a.turning -= step;
    }
    a.level = (a.level + a.climb * STEP_S).clamp(traffic.level.0, traffic.level.1);
    a.x += a.speed * a.heading.sin() * STEP_S;
    a.y += a.speed * a.heading.cos() * STEP_S;
}

fn plot(
    source: DataSource,
    utc_ns: i64,
    range_m: f64,
    azimuth_deg: f64,
    aircraft: Option<(&Aircraft, bool)>,
) -> Plot {
    Plot {
        source,
        time_of_day: Some(TimeOfDay::from_utc_ns(utc_ns)),
        position: Some(Position {
            range_nm: (range_m / METRES_PER_NM).clamp(0.0, 255.9),
            azimuth_deg: azimuth_deg.rem_euclid(360.0),
        }),
        mode_a: aircraft.map(|(a, _)| ModeA { code: a.code, ..ModeA::default() }),
        flight_level: aircraft
            .map(|(a, _)| FlightLevel { level: a.level.round(), ..FlightLevel::default() }),
        aircraft_address: aircraft.and_then(|(a, mode_s)| mode_s.then_some(a.address)),
        ..Plot::default()
    }
}

/// En-route traffic over a country: jets, turns at 25° of bank.
pub fn en_route(aircraft: usize, mode_s: bool) -> Traffic {
    Traffic {
        aircraft,
        half_side_m: 250_000.0,
        speed_m_s: (180.0, 260.0),
        level: (200.0, 400.0),
        turn_deg_s: 1.2,
        leg_s: 180.0,
        mode_s,
    }
}

/// Terminal traffic around an airport: slow, standard-rate turns, short legs.
pub fn terminal(aircraft: usize) -> Traffic {
    Traffic {
        aircraft,
        half_side_m: 60_000.0,
        speed_m_s: (80.0, 140.0),
        level: (30.0, 150.0),
        turn_deg_s: 3.0,
        leg_s: 90.0,
        mode_s: true,
    }
}

/// Radars as ED-142 evaluation assumes them.
pub fn sensors(radars: usize, period_s: f64, range_m: f64, ring_m: f64) -> Sensors {
    Sensors {
        radars,
        period_s,
        detection: 0.97,
        range_sigma_m: 70.0,
        azimuth_sigma_deg: 0.08,
        clutter: 0.0,
        range_m,
        ring_m,
    }
}
