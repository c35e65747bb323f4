//! Three filters of Stone Soup 1.9.1 (MIT) on the plots of the same scene.
//!
//! A constant-velocity filter, Singer's model and a coordinated turn (extended Kalman filter). They
//! are told which plot is of which aircraft, the noise of the sensor, and the levels where Mode C
//! is missing; our tracker has to find all that out. The noise density of each is the best of
//! [`GRID`] on the training sets, by root mean square over all seeds: `-- tune`.
//!
//! `STONESOUP_PYTHON` names a Python that has Stone Soup: `tools/venv stonesoup` makes one.

use crate::ours::{Key, error, key};
use crate::sensor::{SOURCE, Scene, corrected};
use chronoscope_radar::asterix::cat048::{FlightLevel, Plot};
use chronoscope_radar::geodesy::{Plane, Wgs84};
use chronoscope_radar::tracker::linear::Vec2;
use chronoscope_radar::tracker::{Measurement, Precision, Radars};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Noise densities that are tried.
pub(crate) const GRID: [f64; 5] = [0.1, 0.3, 1.0, 3.0, 10.0];
/// The filters are tuned on one flight of so many: they take a millisecond a plot.
pub(crate) const TUNED_ON: u32 = 3;
pub(crate) const FILTERS: [&str; 3] = ["cv", "singer", "turn"];

/// The plots of the scene that are of flights, as positions.
pub(crate) struct Plots {
    keys: Vec<Key>,
    measurements: Vec<Measurement>,
    truths: Vec<Vec2>,
}

impl Plots {
    /// Of one flight of `every`.
    pub(crate) fn of(scene: &Scene, every: u32) -> Self {
        let origin: Wgs84 = scene.plane.unproject(Plane { x_m: 0.0, y_m: 0.0 }, 0.0);
        let (range_sigma_m, azimuth_sigma_deg) = scene.sigma;
        let mut radars = Radars::new(origin, Precision { range_sigma_m, azimuth_sigma_deg })
            .without_registration();
        radars.place(SOURCE, scene.site).expect("one radar");
        let by_number: HashMap<u32, &crate::flights::Flight> =
            scene.flights.iter().map(|f| (f.number, f)).collect();
        let mut all = Self { keys: Vec::new(), measurements: Vec::new(), truths: Vec::new() };
        for sector in &scene.sectors {
            for owned in &sector.plots {
                let Some(number) = owned.flight.filter(|number| number % every == 0) else {
                    continue;
                };
                let level = FlightLevel { level: owned.level.round(), ..FlightLevel::default() };
                let plot =
                    Plot { flight_level: Some(level), ..corrected(&owned.plot, sector.utc_ns) };
                let Ok(m) = radars.convert(&plot, sector.utc_ns) else { continue };
                let real =
                    by_number.get(&number).and_then(|f| crate::ours::truth(scene, f, m.time_s));
                if let Some(real) = real {
                    all.keys.push(key(number, m.time_s));
                    all.measurements.push(m);
                    all.truths.push(real);
                }
            }
        }
        all
    }

    /// Root mean square of the plots' own errors at `keys`, m.
    pub(crate) fn raw_m(&self, keys: &HashMap<Key, Vec2>) -> f64 {
        rms(self.keys.iter().zip(&self.truths).zip(&self.measurements).filter_map(
            |((key, real), m)| error(keys, *key).map(|_| (m.position - *real).norm_squared()),
        ))
    }

    /// Root mean square of the errors at the plots of both, m.
    pub(crate) fn ours_m(&self, errors: &HashMap<Key, Vec2>) -> f64 {
        rms(self.keys.iter().filter_map(|key| Some(error(errors, *key)?.norm_squared())))
    }

    /// Share of the plots after which our tracker had a state.
    pub(crate) fn share(&self, errors: &HashMap<Key, Vec2>) -> f64 {
        let common = self.keys.iter().filter(|key| error(errors, **key).is_some()).count();
        common as f64 / self.keys.len().max(1) as f64
    }

    /// Runs `filters` and gives the root mean square of each at `keys`, m.
    pub(crate) fn filtered(
        &self,
        filters: &[String],
        keys: &HashMap<Key, Vec2>,
    ) -> Result<BTreeMap<String, f64>, Box<dyn std::error::Error>> {
        let python = std::env::var("STONESOUP_PYTHON")
            .map_err(|_| "STONESOUP_PYTHON names no Python that has Stone Soup")?;
        let mut csv = String::new();
        for (index, (m, (flight, _))) in self.measurements.iter().zip(&self.keys).enumerate() {
            let (p, c) = (m.position, m.covariance);
            let time_s = m.time_s - self.measurements[0].time_s;
            let (x, y, xx, xy, yy) = (p.x, p.y, c.xx, c.xy, c.yy);
            writeln!(csv, "{index},{flight},{time_s},{x},{y},{xx},{xy},{yy}")?;
        }
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/trial/stone_soup.py");
        let mut child = Command::new(python)
            .arg(script)
            .args(filters)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        child.stdin.take().ok_or("no stdin")?.write_all(csv.as_bytes())?;
        let output = child.wait_with_output()?;
        if !output.status.success() {
            return Err(format!("its script ended with {}", output.status).into());
        }
        let mut squares: BTreeMap<String, (f64, f64)> = BTreeMap::new();
        for line in String::from_utf8(output.stdout)?.lines() {
            let columns: Vec<&str> = line.split(',').collect();
            let &[filter, index, x, y] = columns.as_slice() else {
                return Err(format!("its script printed {line:?}").into());
            };
            let index: usize = index.parse()?;
            let key = self.keys.get(index).ok_or("a plot that was not")?;
            if error(keys, *key).is_none() {
                continue;
            }
            let error = Vec2::new(x.parse()?, y.parse()?) - self.truths[index];
            let of = squares.entry(filter.to_owned()).or_default();
            (of.0, of.1) = (of.0 + error.norm_squared(), of.1 + 1.0);
        }
        Ok(squares.into_iter().map(|(name, (sum, count))| (name, (sum / count).sqrt())).collect())
    }
}

fn rms(squares: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = squares.fold((0.0, 0.0), |(sum, count), s| (sum + s, count + 1.0));
    f64::sqrt(sum / f64::max(count, 1.0))
}
