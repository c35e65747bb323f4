//! The reference sensor of the trial: a radar with systematic errors over recorded flights.
//!
//! What it does to the truth was written down before any tracker was tuned on it:
//!
//! * one turn in 4, 6 or 8 s, a site within 40 km of the middle, range 200 km;
//! * azimuths 0.5° and ranges 130 m too large, stamps 0.24 s late: known to all who use the plots,
//!   and taken out before;
//! * noise of azimuth of 0.10°, 0.15° or 0.20° and of range of 50, 70 or 100 m, by the seed; one plot
//!   in twenty has three times as much, and other sensors have other shares (`noise.rs`);
//! * an azimuth error that goes round with the antenna, of 0.04°: nobody knows it;
//! * detection 0.95 (0.85 of primary targets), Mode A in 0.98 and Mode C in 0.96 of plots;
//! * a third of the aircraft has no address; one in six of these has no transponder at all;
//! * clutter, where asked for: 92,000 plots an hour, primary, half of them anywhere in range, half
//!   around three places.

use crate::flights::{self, Flight, SECONDS, Set, State};
use crate::noise::Noise;
use chronoscope_radar::asterix::cat048::{
    Descriptor, Detection, FlightLevel, ModeA, Plot, Position,
};
use chronoscope_radar::asterix::{DataSource, TimeOfDay};
use chronoscope_radar::geodesy::{LocalFrame, METRES_PER_NM, Plane, Polar, Stereographic, Wgs84};
use chronoscope_statistics::Random;
use std::f64::consts::TAU;

pub(crate) const SOURCE: DataSource = DataSource { sac: 25, sic: 7 };
/// Systematic errors: m, degrees, s.
const BIAS: (f64, f64, f64) = (130.0, 0.5, 0.24);
const WAVE_DEG: f64 = 0.04;
const RANGE_M: f64 = 200_000.0;
const ELEVATION_MAX_DEG: f64 = 45.0;
/// Detection of transponders and of primary targets.
const DETECTION: [f64; 2] = [0.95, 0.85];
pub(crate) const CLUTTER_PER_H: f64 = 92_000.0;
const CLUSTERS: usize = 3;
const CLUSTER_M: f64 = 3_700.0;
const CLUSTER_DEG: f64 = 2.0;
const SECTORS: u32 = 32;
/// A sector is sent so long after its end, s.
const DELAY_S: f64 = 0.2;

/// A plot, and the flight that it is of; `None` for clutter.
#[derive(Clone, Debug)]
pub(crate) struct Owned {
    pub(crate) plot: Plot,
    pub(crate) flight: Option<u32>,
    /// True level of the aircraft.
    pub(crate) level: f64,
}

impl Owned {
    /// Whether the aircraft tells its level, in most plots.
    pub(crate) fn is_levelled(&self) -> bool {
        self.plot.descriptor.is_some_and(|descriptor| descriptor.detection != Detection::Psr)
    }
}

/// The plots of a sector, and when they were received.
#[derive(Debug)]
pub(crate) struct Sector {
    pub(crate) utc_ns: i64,
    pub(crate) plots: Vec<Owned>,
}

/// What the sensor sees of a set, and where the aircraft are.
pub(crate) struct Scene {
    pub(crate) site: Wgs84,
    pub(crate) plane: Stereographic,
    pub(crate) period_s: f64,
    pub(crate) sigma: (f64, f64),
    pub(crate) begin_s: f64,
    pub(crate) sectors: Vec<Sector>,
    pub(crate) flights: Vec<Flight>,
    frame: LocalFrame,
    noise: Noise,
}

impl Scene {
    pub(crate) fn new(
        file: &str,
        set: &Set,
        seed: u64,
        clutter: bool,
        noise: Noise,
    ) -> Result<Self, String> {
        let plane = Stereographic::new(set.centre);
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let (far_m, angle) = (40_000.0 * random.share().sqrt(), TAU * random.share());
        let at = Plane { x_m: far_m * angle.sin(), y_m: far_m * angle.cos() };
        let site = plane.unproject(at, 300.0);
        let one = |of: [f64; 3], from: u64| of[usize::try_from(from % 3).unwrap_or(0)];
        let begin_s = set.begin_s(seed);
        let mut flights = flights::read(file, set, &plane)?;
        flights.retain(|f| f.flies_s().1 > begin_s && f.flies_s().0 < begin_s + SECONDS);
        let mut scene = Self {
            site,
            plane,
            period_s: one([4.0, 6.0, 8.0], seed),
            sigma: (one([50.0, 70.0, 100.0], seed / 3), one([0.15, 0.10, 0.20], seed)),
            begin_s,
            sectors: Vec::new(),
            flights,
            frame: LocalFrame::new(site),
            noise,
        };
        scene.look(&mut random, clutter);
        Ok(scene)
    }

    /// The plane's origin: what the tracker's positions are computed in.
    pub(crate) fn origin(&self) -> Wgs84 {
        self.plane.unproject(Plane { x_m: 0.0, y_m: 0.0 }, 0.0)
    }

    /// Where an aircraft is for the sensor, if it can see there.
    fn visible(&self, (position, _): &State) -> Option<Polar> {
        let polar = self.frame.to_polar(*position);
        let heights = position.height_m.max(0.0).sqrt() + self.site.height_m.sqrt();
        let seen = polar.range_m <= RANGE_M
            && polar.range_m <= 4_120.0 * heights
            && polar.elevation_rad.to_degrees() <= ELEVATION_MAX_DEG;
        seen.then_some(polar)
    }

    /// State of a flight that the sensor can see at `utc_s`.
    pub(crate) fn seen(&self, flight: &Flight, utc_s: f64) -> Option<State> {
        flight.at(&self.plane, utc_s).filter(|state| self.visible(state).is_some())
    }

    fn look(&mut self, random: &mut Random, clutter: bool) {
        // Of its own, so that the aircraft are seen alike with clutter and without.
        let mut noise = Random(random.bits());
        let clusters: [(f64, f64); CLUSTERS] =
            std::array::from_fn(|_| (RANGE_M * (0.1 + 0.5 * noise.share()), 360.0 * noise.share()));
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "hundreds")]
        let turns = (SECONDS / self.period_s) as u32;
        let mut found: Vec<Vec<Owned>> = Vec::new();
        found.resize_with((turns * SECTORS) as usize, Vec::new);
        for turn in 0..turns {
            let north_s = self.begin_s + f64::from(turn) * self.period_s;
            let mut put = |at_s: f64, owned: Owned| {
                let part = (at_s - self.begin_s) / self.period_s * f64::from(SECTORS);
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
                if let Some(sector) = found.get_mut(part.max(0.0) as usize) {
                    sector.push(owned);
                }
            };
            for flight in &self.flights {
                if let Some((at_s, owned)) = self.plot(flight, north_s, random) {
                    put(at_s, owned);
                }
            }
            let mean = if clutter { CLUTTER_PER_H * self.period_s / 3_600.0 } else { 0.0 };
            let mut passed = noise.exponential(1.0);
            while passed < mean {
                passed += noise.exponential(1.0);
                let (at_s, owned) = self.clutter(&clusters, north_s, &mut noise);
                put(at_s, owned);
            }
        }
        self.sectors = found
            .into_iter()
            .enumerate()
            .map(|(index, mut plots)| {
                plots.sort_by(|a, b| {
                    let azimuth = |o: &Owned| o.plot.position.map_or(0.0, |p| p.azimuth_deg);
                    azimuth(a).total_cmp(&azimuth(b))
                });
                let sector_s = self.period_s / f64::from(SECTORS);
                let sent_s = self.begin_s + sector_s * (index + 1) as f64 + DELAY_S;
                Sector { utc_ns: ns(sent_s), plots }
            })
            .collect();
    }

    /// The plot of a flight in the turn that begins at `north_s`, if there is one.
    fn plot(&self, flight: &Flight, north_s: f64, random: &mut Random) -> Option<(f64, Owned)> {
        let mut at_s = north_s + self.period_s / 2.0;
        let mut found = None;
        for _ in 0..3 {
            let state = flight.at(&self.plane, at_s)?;
            let polar = self.visible(&state)?;
            at_s = north_s + self.period_s * polar.azimuth_rad / TAU;
            found = Some((state, polar));
        }
        let ((_, level), polar) = found?;
        let kind = kind(flight.number);
        let wide = self.noise.factor(random);
        let (range_noise, azimuth_noise) = (random.normal(), random.normal());
        let [seen, coded, levelled] = [random.share(), random.share(), random.share()];
        if seen > DETECTION[usize::from(kind == Kind::Primary)] {
            return None;
        }
        let azimuth_deg = polar.azimuth_rad.to_degrees();
        let wave_deg = WAVE_DEG * (polar.azimuth_rad + 1.0).sin();
        let range_m = polar.range_m + self.sigma.0 * wide * range_noise + BIAS.0;
        let azimuth_deg = azimuth_deg + self.sigma.1 * wide * azimuth_noise + BIAS.1 + wave_deg;
        let transponder = kind != Kind::Primary;
        let plot = Plot {
            source: SOURCE,
            time_of_day: Some(TimeOfDay::from_utc_ns(ns(at_s + BIAS.2))),
            descriptor: Some(Descriptor {
                detection: match kind {
                    Kind::Addressed => Detection::ModeSRollCall,
                    Kind::Coded => Detection::Ssr,
                    Kind::Primary => Detection::Psr,
                },
                simulated: true,
                ..Descriptor::default()
            }),
            position: position(range_m, azimuth_deg),
            mode_a: (transponder && coded < 0.98)
                .then(|| ModeA { code: code(flight.number), ..ModeA::default() }),
            flight_level: (transponder && levelled < 0.96)
                .then(|| FlightLevel { level: level.round(), ..FlightLevel::default() }),
            aircraft_address: (kind == Kind::Addressed).then_some(0x3C_0000 + flight.number),
            ..Plot::default()
        };
        Some((at_s, Owned { plot, flight: Some(flight.number), level }))
    }

    fn clutter(
        &self,
        clusters: &[(f64, f64); CLUSTERS],
        north_s: f64,
        noise: &mut Random,
    ) -> (f64, Owned) {
        let (range_m, azimuth_deg) = if noise.share() < 0.5 {
            (RANGE_M * noise.share().sqrt(), 360.0 * noise.share())
        } else {
            let (range_m, azimuth_deg) = clusters[noise.place(CLUSTERS)];
            let range_m = range_m + CLUSTER_M * noise.normal();
            (range_m, azimuth_deg + CLUSTER_DEG * noise.normal())
        };
        let azimuth_deg = azimuth_deg.rem_euclid(360.0);
        let at_s = north_s + self.period_s * azimuth_deg / 360.0;
        let plot = Plot {
            source: SOURCE,
            time_of_day: Some(TimeOfDay::from_utc_ns(ns(at_s + BIAS.2))),
            descriptor: Some(Descriptor {
                detection: Detection::Psr,
                simulated: true,
                ..Descriptor::default()
            }),
            position: position(range_m.clamp(2_000.0, RANGE_M) + BIAS.0, azimuth_deg + BIAS.1),
            ..Plot::default()
        };
        (at_s, Owned { plot, flight: None, level: 0.0 })
    }
}

/// `plot` without the sensor's systematic errors, which are known.
pub(crate) fn corrected(plot: &Plot, utc_ns: i64) -> Plot {
    let stamp_ns = plot.time_of_day.map_or(utc_ns, |time| time.to_utc_ns(utc_ns));
    let at = plot.position.unwrap_or_default();
    Plot {
        time_of_day: Some(TimeOfDay::from_utc_ns(stamp_ns - ns(BIAS.2))),
        position: position(at.range_nm * METRES_PER_NM - BIAS.0, at.azimuth_deg - BIAS.1),
        ..plot.clone()
    }
}

fn position(range_m: f64, azimuth_deg: f64) -> Option<Position> {
    let range_nm = (range_m / METRES_PER_NM).clamp(0.0, 255.9);
    Some(Position { range_nm, azimuth_deg: azimuth_deg.rem_euclid(360.0) })
}

/// What a flight answers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Addressed,
    Coded,
    Primary,
}

/// What a flight answers with, in words.
pub(crate) fn kind_of(number: u32) -> &'static str {
    match kind(number) {
        Kind::Addressed => "address",
        Kind::Coded => "code",
        Kind::Primary => "primary",
    }
}

fn kind(number: u32) -> Kind {
    match (number.wrapping_mul(0x9E37_79B1) >> 8) % 18 {
        0 => Kind::Primary,
        1..=5 => Kind::Coded,
        _ => Kind::Addressed,
    }
}

/// A code that is not one that many share.
fn code(number: u32) -> u16 {
    u16::try_from(1 + (number * 7) % 447).unwrap_or(1) + 0o2001
}

fn ns(utc_s: f64) -> i64 {
    #[allow(clippy::cast_possible_truncation, reason = "in range for 290 years")]
    let ns = (utc_s * 1e9) as i64;
    ns
}
