//! Smoothed paths of all tracks, as a file of positions with which tracks are evaluated.

use super::imm::MotionModel;
use super::measurement::Measurement;
use super::radars::Radars;
use super::smoothing::{Sample, smoothed};
use super::track::Track;
use crate::generator::{NAMELESS, TRUTH_HEADER};
use crate::geodesy::Plane;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Paths with fewer plots are left out.
const PLOTS_MIN: usize = 5;
/// No aircraft is faster, m/s.
const SPEED_MAX: f64 = 700.0;
/// Plots are off by less than this many standard deviations.
const SIGMAS_MAX: f64 = 4.0;
/// After so long a track number is another track's, s: one that comes back has it again for 180 s after
/// it was coasted for 130 s.
const NUMBER_S_MAX: f64 = 310.0;
/// Most paths under one address or track number: a byte of their names.
const PARTS_MAX: u32 = 255;

/// A plot of a track, and the level there.
type Point = (Sample, f64);

/// The plots of all believed tracks, 80 octets each.
#[derive(Debug, Default)]
pub(super) struct Paths {
    /// By address, or track number where there is none: plots, and the level at each.
    plots: BTreeMap<u32, Vec<Point>>,
}

impl Paths {
    /// Takes in a plot that updated a believed track.
    pub(super) fn add(&mut self, track: &Track, m: &Measurement, motion: &MotionModel) {
        let name = track.identity.address.unwrap_or(NAMELESS | u32::from(track.number));
        let q = motion.q(track.filter.manoeuvring());
        let sample = Sample { time_s: m.time_s, position: m.position, covariance: m.covariance, q };
        let level = track.vertical.map_or(0.0, |v| v.level_at(m.time_s));
        self.plots.entry(name).or_default().push((sample, level));
    }

    /// Writes the smoothed paths in order of time, as the generator writes the truth. What no aircraft can
    /// have flown under one address or track number becomes several paths, which is said.
    pub(super) fn write(
        &self,
        mut out: impl Write,
        radars: &Radars,
        motion: &MotionModel,
    ) -> io::Result<()> {
        let mut lines: Vec<(f64, u32, Plane, f64)> = Vec::new();
        let mut shared = 0_usize;
        for (name, plots) in &self.plots {
            let pause_s_max = if *name >= NAMELESS { NUMBER_S_MAX } else { f64::INFINITY };
            let parts = parts(plots, pause_s_max);
            shared += usize::from(parts.len() > 1);
            // The names of further ones differ in a byte that addresses and track numbers leave free.
            let byte = if *name >= NAMELESS { 16 } else { 24 };
            for (part, plots) in (0..PARTS_MAX).zip(&parts) {
                let samples: Vec<Sample> = plots.iter().map(|(sample, _)| *sample).collect();
                let levels = plots.iter().map(|(_, level)| *level);
                for ((time_s, state), level) in
                    smoothed(&samples, motion.speed_sigma).iter().zip(levels)
                {
                    let at = Plane { x_m: state.position.x, y_m: state.position.y };
                    lines.push((radars.stamp_s(*time_s), name | part << byte, at, level));
                }
            }
        }
        if shared > 0 {
            say!(
                "smoothed paths: {shared} addresses or track numbers are of several aircraft, by where \
                 they are; each has a path of its own, whose name has more digits"
            );
        }
        lines.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        writeln!(out, "{TRUTH_HEADER}")?;
        for (utc_s, name, at, level) in lines {
            let at = radars.plane().unproject(at, 0.0);
            let (lat, lon) = (at.lat_deg, at.lon_deg);
            writeln!(out, "{utc_s:.3},{name:06x},{lat:.6},{lon:.6},{level:.2}")?;
        }
        out.flush()
    }
}

/// The plots of each aircraft among those under one name, in order of time; those with too few are left
/// out. An aircraft goes on where it can have flown to, and not after a longer pause than is given.
fn parts(plots: &[Point], pause_s_max: f64) -> Vec<Vec<Point>> {
    let mut plots = plots.to_vec();
    plots.sort_by(|a, b| a.0.time_s.total_cmp(&b.0.time_s));
    let mut parts: Vec<Vec<Point>> = Vec::new();
    for plot in plots {
        let reached = parts.iter().enumerate().filter_map(|(index, part)| {
            let (last, now) = (part.last()?.0, plot.0);
            let (passed_s, apart_m) =
                (now.time_s - last.time_s, (now.position - last.position).norm());
            let noise_m = last.covariance.trace().sqrt() + now.covariance.trace().sqrt();
            let can_be = apart_m <= SPEED_MAX * passed_s + SIGMAS_MAX * noise_m;
            (can_be && passed_s <= pause_s_max).then_some((apart_m, passed_s, index))
        });
        match reached.min_by(|a, b| a.0.total_cmp(&b.0)) {
            // Two plots of one time, such as copies.
            Some((_, passed_s, _)) if passed_s <= 0.0 => {}
            Some((.., index)) => parts[index].push(plot),
            None => parts.push(vec![plot]),
        }
    }
    parts.retain(|part| part.len() >= PLOTS_MIN);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracker::linear::{Sym2, Vec2};

    /// Ten plots of an aircraft that flies east at 220 m/s.
    fn plots(from_s: f64, x_m: f64) -> Vec<Point> {
        let point = |turn: u32| {
            let passed_s = 8.0 * f64::from(turn);
            let position = Vec2::new(x_m + 220.0 * passed_s, 0.0);
            let covariance = Sym2::isotropic(100.0 * 100.0);
            (Sample { time_s: from_s + passed_s, position, covariance, q: 0.1 }, 330.0)
        };
        (0..10).map(point).collect()
    }

    fn begins(plots: &[Point]) -> Vec<(usize, f64)> {
        let parts = parts(plots, NUMBER_S_MAX);
        parts.iter().map(|part| (part.len(), part[0].0.position.x)).collect()
    }

    #[test]
    fn two_aircraft_under_one_name_are_two_paths() {
        let one = plots(0.0, 0.0);
        assert_eq!(begins(&one), [(10, 0.0)]);
        let both = [one.clone(), plots(3.0, 200_000.0)].concat();
        assert_eq!(begins(&both), [(10, 0.0), (10, 200_000.0)]);
        // A number that is used again after some minutes, in a place that can be reached.
        let again = [one.clone(), plots(500.0, 100_000.0)].concat();
        assert_eq!(begins(&again), [(10, 0.0), (10, 100_000.0)]);
        assert_eq!(parts(&again, f64::INFINITY).len(), 1, "an address comes back");
        // A plot that cannot be of it is left out, and a copy.
        let mut garbled = one.clone();
        garbled.extend([plots(44.0, 50_000.0)[0], one[3]]);
        assert_eq!(begins(&garbled), [(10, 0.0)]);
    }
}
