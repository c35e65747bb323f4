//! The recorded flights of the trial: the file that `tools/flights days` makes.

use chronoscope_radar::geodesy::{Plane, Stereographic, Wgs84};
use chronoscope_radar::tracker::linear::Vec2;
use chronoscope_radar::traffic::flights::{Path, STEP_S};
use std::io::Read as _;

/// Where and when the flights of a set are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Set {
    pub(crate) name: &'static str,
    /// Middle of the area.
    pub(crate) centre: Wgs84,
    /// First and last second in which something flies, UTC.
    span_s: (f64, f64),
    /// Whether a tracker may be tuned on it.
    pub(crate) training: bool,
}

const fn set(name: &'static str, lat: f64, lon: f64, span_s: (f64, f64), training: bool) -> Set {
    Set { name, centre: Wgs84 { lat_deg: lat, lon_deg: lon, height_m: 0.0 }, span_s, training }
}

/// All sets. Days of training and of the test are years apart.
pub(crate) const SETS: [Set; 5] = [
    set("train-route", 46.8, 8.25, (1_533_100_800.0, 1_533_157_200.0), true),
    set("train-mixed", 48.0, 8.0, (1_577_880_000.0, 1_577_883_600.0), true),
    set("test-paris", 48.9, 2.4, (1_633_608_600.0, 1_633_618_500.0), false),
    set("test-mixed", 48.0, 8.0, (1_577_880_000.0, 1_577_883_600.0), false),
    set("final-mixed", 48.0, 8.0, (1_577_880_000.0, 1_577_883_600.0), false),
];

/// Duration of what is tracked, s.
pub(crate) const SECONDS: f64 = 2_400.0;

impl Set {
    /// Begin of the part that belongs to `seed`, UTC: consecutive seeds are far apart.
    pub(crate) fn begin_s(&self, seed: u64) -> f64 {
        let room_s = self.span_s.1 - self.span_s.0 - SECONDS;
        #[allow(clippy::cast_precision_loss, reason = "seeds are small")]
        let part = (seed as f64 * 0.381_966).fract();
        self.span_s.0 + (room_s * part / STEP_S).floor() * STEP_S
    }
}

/// One flight.
#[derive(Debug)]
pub(crate) struct Flight {
    pub(crate) number: u32,
    begins_s: f64,
    path: Path,
}

/// State of an aircraft: position at its height, and flight level.
pub(crate) type State = (Wgs84, f64);

impl Flight {
    pub(crate) fn at(&self, plane: &Stereographic, utc_s: f64) -> Option<State> {
        let (x_m, y_m, level) = self.path.at(utc_s - self.begins_s)?;
        let height_m = chronoscope_radar::geodesy::flight_level_to_m(level);
        Some((plane.unproject(Plane { x_m, y_m }, height_m), level))
    }

    /// True position in the plane, m.
    pub(crate) fn place(&self, utc_s: f64) -> Option<Vec2> {
        let (x_m, y_m, _) = self.path.at(utc_s - self.begins_s)?;
        Some(Vec2::new(x_m, y_m))
    }

    /// True velocity and acceleration in the plane over 10 s either way, m/s and m/s².
    pub(crate) fn motion(&self, utc_s: f64) -> Option<(Vec2, Vec2)> {
        let at = |off_s: f64| self.place(utc_s + off_s);
        let (before, now, after) = (at(-STEP_S)?, at(0.0)?, at(STEP_S)?);
        let velocity = (after - before) * (0.5 / STEP_S);
        let acceleration = (after - now - (now - before)) * (1.0 / (STEP_S * STEP_S));
        Some((velocity, acceleration))
    }

    pub(crate) fn flies_s(&self) -> (f64, f64) {
        (self.begins_s, self.begins_s + self.path.duration_s())
    }
}

/// The flights of `set` in the file; paths are in `plane`.
pub(crate) fn read(file: &str, set: &Set, plane: &Stereographic) -> Result<Vec<Flight>, String> {
    let open = std::fs::File::open(file).map_err(|e| format!("{file}: {e}"))?;
    let mut text = String::new();
    flate2::read::GzDecoder::new(open)
        .read_to_string(&mut text)
        .map_err(|e| format!("{file}: {e}"))?;
    let mut flights: Vec<Flight> = Vec::new();
    let mut points = Vec::new();
    let mut current = None;
    for line in text.lines().skip(1) {
        let columns: Vec<&str> = line.split(',').collect();
        let &[name, number, utc_s, lat, lon, level] = columns.as_slice() else {
            return Err(format!("{file}: {line:?}"));
        };
        if name != set.name {
            continue;
        }
        let value = |text: &str| text.parse::<f64>().map_err(|e| format!("{file}: {text:?}: {e}"));
        let number: u32 = number.parse().map_err(|e| format!("{file}: {line:?}: {e}"))?;
        if current.is_none_or(|(own, _)| own != number) {
            flights.extend(finish(current, &mut points));
            current = Some((number, value(utc_s)?));
        }
        let at = plane.project(Wgs84::new(value(lat)?, value(lon)?, 0.0));
        points.push((at.x_m, at.y_m, value(level)?));
    }
    flights.extend(finish(current, &mut points));
    Ok(flights)
}

fn finish(of: Option<(u32, f64)>, points: &mut Vec<(f64, f64, f64)>) -> Option<Flight> {
    let (number, begins_s) = of?;
    Some(Flight { number, begins_s, path: Path::through(std::mem::take(points)) })
}
