//! Smoothed paths of all tracks, as a file of positions with which tracks are evaluated.

use super::imm::MotionModel;
use super::measurement::Measurement;
use super::radars::Radars;
use super::smoothing::{Sample, smoothed};
use super::track::Track;
use crate::generator::TRUTH_HEADER;
use crate::geodesy::Plane;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Paths with fewer plots are left out.
const PLOTS_MIN: usize = 5;
/// Begin of the names of aircraft without an address: an unassigned block.
const NAMELESS: u32 = 0xF0_0000;

/// The plots of all believed tracks, 80 octets each.
#[derive(Debug, Default)]
pub(super) struct Paths {
    /// By address, or track number where there is none: plots, and the level at each.
    plots: BTreeMap<u32, Vec<(Sample, f64)>>,
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

    /// Writes the smoothed paths in order of time, as the generator writes the truth.
    pub(super) fn write(
        &self,
        mut out: impl Write,
        radars: &Radars,
        motion: &MotionModel,
    ) -> io::Result<()> {
        let mut lines: Vec<(f64, u32, Plane, f64)> = Vec::new();
        for (name, plots) in self.plots.iter().filter(|(_, plots)| plots.len() >= PLOTS_MIN) {
            let mut plots = plots.clone();
            plots.sort_by(|a, b| a.0.time_s.total_cmp(&b.0.time_s));
            plots.dedup_by(|a, b| a.0.time_s <= b.0.time_s);
            let samples: Vec<Sample> = plots.iter().map(|(sample, _)| *sample).collect();
            let levels = plots.iter().map(|(_, level)| *level);
            for ((time_s, state), level) in
                smoothed(&samples, motion.speed_sigma).iter().zip(levels)
            {
                let at = Plane { x_m: state.position.x, y_m: state.position.y };
                lines.push((radars.stamp_s(*time_s), *name, at, level));
            }
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
