//! Recorded flights: the file, and a smooth path through the points of one.
//!
//! The file is the "switzerland" sample of the Python package traffic (data of the OpenSky
//! network, 2018-08-01, a point every 10 s, all above FL300); `tools/flights` fetches it.
//!
//! Its points are resampled from receptions without interpolation: over 10 s, 5 % of them move less
//! than 88 % of the distance by the reported ground speed and 1 % less than half, and catch up
//! later. An aircraft does not do that, and a tracker that followed it would be judged by an error
//! of the recording. So positions are smoothed by local parabolas over ±40 s (Savitzky and Golay
//! 1964), which makes a steady turn of 1°/s at 230 m/s narrower by 16 m and leaves straight flight
//! and steady acceleration unchanged; altitudes are kept.

use super::clearance;
use crate::geodesy::{Plane, Stereographic, Wgs84};
use std::collections::BTreeMap;
use std::io::Read;

/// Reasons why a file has no flights.
#[derive(Debug, thiserror::Error)]
pub enum FlightsError {
    /// The file cannot be read or unpacked.
    #[error("cannot read flights: {0}")]
    Read(#[from] std::io::Error),
    /// The file is not a list of points.
    #[error("not a list of points with timestamp, icao24, callsign, position and altitude: {0}")]
    Json(#[from] serde_json::Error),
    /// A point's address is not six hexadecimal digits.
    #[error("point {index}: icao24 {text:?} is not a 24-bit hexadecimal address")]
    Address {
        /// Position in the list, from 0.
        index: usize,
        /// Text in the file.
        text: String,
    },
    /// No flight has enough points for a path.
    #[error("no flight of at least {points_min} points")]
    Empty {
        /// Least number of points of a flight.
        points_min: usize,
    },
}

/// One recorded flight.
#[derive(Clone, Debug)]
pub struct Flight {
    /// Callsign as transmitted, without trailing spaces.
    pub callsign: String,
    /// 24-bit address of the aircraft.
    pub address: u32,
    /// Begin of the flight, in seconds since the UTC epoch.
    pub begins_utc_s: f64,
    /// Path of the flight.
    pub path: Path,
}

/// A smooth path through points every [`STEP_S`], in a plane around [`CENTRE`].
#[derive(Clone, Debug)]
pub struct Path {
    /// x and y in metres and flight level.
    points: Vec<(f64, f64, f64)>,
    /// Level to which the flight is cleared at each of them.
    cleared: Vec<f64>,
}

/// Seconds from one point to the next.
pub const STEP_S: f64 = 10.0;

/// Middle of the recorded area, the origin of the plane that paths are in.
pub const CENTRE: Wgs84 = Wgs84 { lat_deg: 46.8, lon_deg: 8.25, height_m: 0.0 };

/// Half of the smoothing window, in points.
const SMOOTH: usize = 4;

/// The outermost points, which hardly get smoothed, are dropped; a minute has to remain.
const POINTS_DROPPED: usize = 2;
const POINTS_MIN: usize = 2 * POINTS_DROPPED + 7;

#[derive(serde::Deserialize)]
struct Point {
    /// Milliseconds since the UTC epoch.
    timestamp: i64,
    /// Altitude in feet.
    altitude: f64,
    callsign: String,
    icao24: String,
    latitude: f64,
    longitude: f64,
}

/// Reads the flights of a gzipped JSON list of points, in the order of their beginnings.
///
/// Points of one address and callsign belong to one flight until there is a gap.
///
/// # Errors
/// [`FlightsError`]; nothing is guessed.
pub fn read(file: impl Read) -> Result<Vec<Flight>, FlightsError> {
    let mut json = Vec::new();
    flate2::read::GzDecoder::new(file).read_to_end(&mut json)?;
    let points: Vec<Point> = serde_json::from_slice(&json)?;
    drop(json);
    let mut by_name: BTreeMap<(u32, String), Vec<Point>> = BTreeMap::new();
    for (index, point) in points.into_iter().enumerate() {
        let address = u32::from_str_radix(&point.icao24, 16)
            .ok()
            .filter(|address| *address < 1 << 24)
            .ok_or_else(|| FlightsError::Address { index, text: point.icao24.clone() })?;
        by_name.entry((address, point.callsign.trim_end().to_owned())).or_default().push(point);
    }
    let mut flights = Vec::new();
    for ((address, callsign), mut points) in by_name {
        points.sort_by_key(|point| point.timestamp);
        for run in points.chunk_by(|a, b| b.timestamp - a.timestamp == 10_000) {
            flights.extend(flight(address, &callsign, run));
        }
    }
    if flights.is_empty() {
        return Err(FlightsError::Empty { points_min: POINTS_MIN });
    }
    flights
        .sort_by(|a, b| a.begins_utc_s.total_cmp(&b.begins_utc_s).then(a.address.cmp(&b.address)));
    Ok(flights)
}

fn flight(address: u32, callsign: &str, run: &[Point]) -> Option<Flight> {
    if run.len() < POINTS_MIN {
        return None;
    }
    let plane = Stereographic::new(CENTRE);
    let raw: Vec<(f64, f64, f64)> = run
        .iter()
        .map(|p| {
            let Plane { x_m, y_m } = plane.project(Wgs84::new(p.latitude, p.longitude, 0.0));
            (x_m, y_m, p.altitude / 100.0)
        })
        .collect();
    let kept = POINTS_DROPPED..raw.len() - POINTS_DROPPED;
    Some(Flight {
        callsign: callsign.to_owned(),
        address,
        // Milliseconds of this century are exact in an f64.
        begins_utc_s: run[kept.start].timestamp as f64 / 1000.0,
        path: Path::through(kept.map(|index| smoothed(&raw, index)).collect()),
    })
}

/// The value at `index` of the parabola that fits the points around it best; the window shrinks
/// towards the ends.
fn smoothed(raw: &[(f64, f64, f64)], index: usize) -> (f64, f64, f64) {
    let half = SMOOTH.min(index).min(raw.len() - 1 - index);
    let m = half as f64;
    let norm = (2.0 * m + 3.0) * (2.0 * m + 1.0) * (2.0 * m - 1.0) / 3.0;
    let (mut x, mut y) = (0.0, 0.0);
    for (offset, point) in raw[index - half..=index + half].iter().enumerate() {
        let k = offset as f64 - m;
        let weight = (3.0 * m * m + 3.0 * m - 1.0 - 5.0 * k * k) / norm;
        x += weight * point.0;
        y += weight * point.1;
    }
    (x, y, raw[index].2)
}

impl Path {
    /// A path through points of x and y in metres and flight level, one every [`STEP_S`].
    #[must_use]
    pub fn through(points: Vec<(f64, f64, f64)>) -> Self {
        let levels: Vec<f64> = points.iter().map(|point| point.2).collect();
        Self { cleared: clearance::of(&levels, STEP_S), points }
    }

    /// Duration of the path, in seconds.
    #[must_use]
    pub fn duration_s(&self) -> f64 {
        self.points.len().saturating_sub(1) as f64 * STEP_S
    }

    /// The flight level to which controllers would have cleared the flight so many seconds after the
    /// beginning, from the levels that it flew; `None` outside.
    #[must_use]
    pub fn cleared_at(&self, since_start_s: f64) -> Option<f64> {
        if !(0.0..=self.duration_s()).contains(&since_start_s) {
            return None;
        }
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "within the number of points"
        )]
        self.cleared.get((since_start_s / STEP_S) as usize).copied()
    }

    /// x and y in metres and flight level so many seconds after the beginning; `None` outside.
    ///
    /// Positions go through the points with a continuous velocity (cubic, Catmull and Rom 1974),
    /// levels straight from one to the next.
    #[must_use]
    pub fn at(&self, since_start_s: f64) -> Option<(f64, f64, f64)> {
        if !(0.0..=self.duration_s()).contains(&since_start_s) || self.points.len() < 2 {
            return None;
        }
        #[allow(clippy::cast_possible_truncation, reason = "within the number of points")]
        let index = ((since_start_s / STEP_S) as usize).min(self.points.len() - 2);
        let u = since_start_s / STEP_S - index as f64;
        let (p1, p2) = (self.points[index], self.points[index + 1]);
        // Beyond its ends the path continues straight on.
        let p0 = if index > 0 { self.points[index - 1] } else { mirrored(p2, p1) };
        let p3 = self.points.get(index + 2).copied().unwrap_or_else(|| mirrored(p1, p2));
        let cubic = |p0: f64, p1: f64, p2: f64, p3: f64| {
            let (m1, m2) = ((p2 - p0) / 2.0, (p3 - p1) / 2.0);
            let (a, b) = (2.0 * (p1 - p2) + m1 + m2, 3.0 * (p2 - p1) - 2.0 * m1 - m2);
            ((a * u + b) * u + m1) * u + p1
        };
        Some((
            cubic(p0.0, p1.0, p2.0, p3.0),
            cubic(p0.1, p1.1, p2.1, p3.1),
            p1.2 + (p2.2 - p1.2) * u,
        ))
    }
}

fn mirrored(point: (f64, f64, f64), at: (f64, f64, f64)) -> (f64, f64, f64) {
    (2.0 * at.0 - point.0, 2.0 * at.1 - point.1, at.2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn gz(json: &str) -> Vec<u8> {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(json.as_bytes()).unwrap();
        packed.finish().unwrap()
    }

    fn points(address: &str, from_s: i64, count: i64) -> String {
        let point = |k: i64| {
            format!(
                r#"{{"timestamp":{},"altitude":{},"callsign":"SWR1 ","icao24":"{address}",
                "latitude":46.8,"longitude":{},"groundspeed":1.0}}"#,
                (from_s + 10 * k) * 1000,
                35_000 + 100 * k,
                8.25 + 0.02 * k as f64
            )
        };
        (0..count).map(point).collect::<Vec<_>>().join(",")
    }

    #[test]
    fn a_gap_ends_a_flight_and_stubs_are_dropped() {
        let json = format!(
            "[{},{},{}]",
            points("4b1234", 10_000, 20),
            points("4b1234", 20_000, 30),
            points("4b9999", 10_000, 10)
        );
        let flights = read(gz(&json).as_slice()).unwrap();
        assert_eq!(flights.len(), 2);
        assert_eq!((flights[0].address, flights[0].callsign.as_str()), (0x4B_1234, "SWR1"));
        assert_eq!(flights[0].begins_utc_s, 10_020.0, "the two outermost points are dropped");
        assert_eq!(flights[0].path.duration_s(), 150.0);
        assert_eq!(flights[1].path.duration_s(), 250.0);
    }

    #[test]
    fn a_straight_flight_stays_straight() {
        let flights = read(gz(&format!("[{}]", points("4b1234", 0, 20))).as_slice()).unwrap();
        let path = &flights[0].path;
        let (x0, _, level0) = path.at(0.0).unwrap();
        let (x1, y1, level1) = path.at(75.0).unwrap();
        // 0.15° of longitude at 46.8° N are 11 453 m (prime vertical radius 6 389 513 m).
        assert!((x1 - x0 - 11_453.0).abs() < 3.0, "{}", x1 - x0);
        assert!(y1.abs() < 25.0);
        assert!((level1 - level0 - 7.5).abs() < 1e-9);
        assert_eq!(path.at(-0.1), None);
        assert_eq!(path.at(150.1), None);
        assert!(path.at(150.0).is_some());
    }

    #[test]
    fn a_point_that_lags_is_smoothed() {
        let mut raw: Vec<_> = (0..21).map(|k| (2000.0 * f64::from(k), 0.0, 350.0)).collect();
        raw[10].0 -= 1000.0;
        // The weight of the middle of nine points is 59/231.
        assert!((smoothed(&raw, 10).0 - (20_000.0 - 1000.0 * 59.0 / 231.0)).abs() < 1e-6);
    }

    #[test]
    fn refusals_name_what_is_wrong() {
        let bad = points("4b12zz", 0, 1);
        let error = read(gz(&format!("[{bad}]")).as_slice()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "point 0: icao24 \"4b12zz\" is not a 24-bit hexadecimal address"
        );
        assert!(matches!(read(gz("[]").as_slice()), Err(FlightsError::Empty { .. })));
        assert!(matches!(read(gz("{").as_slice()), Err(FlightsError::Json(_))));
        assert!(matches!(read([1, 2, 3].as_slice()), Err(FlightsError::Read(_))));
    }
}
