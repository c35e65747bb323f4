//! ADS-B as the reference of radars: where an aircraft says that it was when a radar measured it.
//!
//! The positions of an aircraft are kept for some seconds. A plot with its address is compared with
//! the position between two of them, or shortly after the last: range and azimuth less the expected
//! ones are an equation of the radar's errors alone, so that a single radar is enough. The rates of
//! the expected range and azimuth tell an error of its stamps: an aircraft that comes nearer is
//! reported too far when stamps are late.
//!
//! Limits: ADS-B is believed. One that says where it is not within 3 km and 0.1 radians of the plot
//! counts for nothing, and so does one whose position jumps; a delay of all ADS-B positions cannot
//! be told from one of all radars' stamps.

use super::registration::Reference;
use crate::asterix::cat048::Plot;
use crate::geodesy::{LocalFrame, METRES_PER_NM, Polar, Wgs84};
use std::collections::HashMap;

/// Positions kept of an aircraft.
const FIXES: usize = 8;
/// Longest time between two positions that say how it flies, s.
const GAP_S_MAX: f64 = 12.0;
/// Shortest of it: their difference has to be larger than their resolution.
const GAP_S_MIN: f64 = 0.4;
/// Longest time after the last position for which its flight is continued, s.
const AFTER_S_MAX: f64 = 2.5;
/// An aircraft of which nothing came for so long is forgotten, s.
const SILENT_S: f64 = 60.0;
/// No aircraft is faster, m/s.
const SPEED_MAX: f64 = 700.0;
/// Plots nearer to their radar do not count, m: there a height tells more than a range.
const RANGE_M_MIN: f64 = 15_000.0;
/// Standard deviation of heights over the ellipsoid, and of those by pressure, m.
const HEIGHT_SIGMA_M: (f64, f64) = (30.0, 150.0);

/// A position that an aircraft reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fix {
    pub(super) time_s: f64,
    pub(super) at: Wgs84,
    pub(super) sigma_m: f64,
    /// Whether the height is over the ellipsoid, not one by pressure.
    pub(super) geometric: bool,
}

/// The latest positions of all aircraft with ADS-B.
#[derive(Debug, Default)]
pub(super) struct AdsbReference {
    by_address: HashMap<u32, Fixes>,
    cleared_s: f64,
}

/// The latest positions of an aircraft.
#[derive(Debug, Default)]
struct Fixes {
    /// In order of time.
    latest: Vec<Fix>,
    /// The last position, where it is earlier than the latest.
    earlier: Option<Fix>,
}

impl Fixes {
    /// Takes in a position. One that is earlier than the latest is of an update that was late; where
    /// the next one is, too, and goes on from it, the latest was stamped ahead, and is dropped.
    fn add(&mut self, fix: Fix) {
        if self.latest.last().is_some_and(|last| last.time_s >= fix.time_s) {
            let Some(earlier) = self.earlier.filter(|earlier| earlier.time_s < fix.time_s) else {
                self.earlier = Some(fix);
                return;
            };
            self.latest.retain(|known| known.time_s < earlier.time_s);
            self.push(earlier);
        }
        self.earlier = None;
        self.push(fix);
    }

    fn push(&mut self, fix: Fix) {
        if self.latest.len() == FIXES {
            self.latest.remove(0);
        }
        self.latest.push(fix);
    }
}

/// How a radar measured an aircraft: without its known errors, m and radians, and when by its own
/// stamp, tracker's seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    pub(super) range_m: f64,
    pub(super) azimuth_rad: f64,
    pub(super) time_s: f64,
    pub(super) range_sigma_m: f64,
    pub(super) azimuth_sigma_rad: f64,
}

impl Measured {
    /// A plot's position; the rest is the caller's.
    pub(super) fn polar(plot: &Plot) -> Option<(f64, f64)> {
        plot.position.map(|p| (p.range_nm * METRES_PER_NM, p.azimuth_deg.to_radians()))
    }
}

impl AdsbReference {
    /// Takes in where an aircraft says that it is.
    pub(super) fn add(&mut self, address: u32, fix: Fix) {
        if (fix.time_s - self.cleared_s).abs() > SILENT_S {
            self.cleared_s = fix.time_s;
            let recent = |fixes: &Fixes| {
                fixes.latest.last().is_some_and(|last| (fix.time_s - last.time_s).abs() < SILENT_S)
            };
            self.by_address.retain(|_, fixes| recent(fixes));
        }
        self.by_address.entry(address).or_default().add(fix);
    }

    /// What a radar measured of an aircraft less what its own word makes expect; `None` where that
    /// is not known well enough.
    pub(super) fn compare(
        &self,
        address: u32,
        radar: &LocalFrame,
        measured: &Measured,
    ) -> Option<Reference> {
        let (before, after) = self.around(address, measured.time_s)?;
        let (a, b) = (radar.to_local(before.at), radar.to_local(after.at));
        let span_s = after.time_s - before.time_s;
        let per_s =
            [b.east_m - a.east_m, b.north_m - a.north_m, b.up_m - a.up_m].map(|d| d / span_s);
        if per_s[0].hypot(per_s[1]) > SPEED_MAX {
            return None;
        }
        let expected = |time_s: f64| -> Polar {
            let since_s = time_s - before.time_s;
            let [east, north, up] =
                [(a.east_m, per_s[0]), (a.north_m, per_s[1]), (a.up_m, per_s[2])]
                    .map(|(from, rate)| from + rate * since_s);
            polar(east, north, up)
        };
        let here = expected(measured.time_s);
        if here.range_m < RANGE_M_MIN {
            return None;
        }
        let (earlier, later) = (expected(measured.time_s - 0.5), expected(measured.time_s + 0.5));
        let off = |angle: f64| angle.sin().atan2(angle.cos());
        let lean = here.elevation_rad.sin();
        let (geometric, by_pressure) = HEIGHT_SIGMA_M;
        let height_sigma =
            if before.geometric && after.geometric { geometric } else { by_pressure };
        let sigma_m = before.sigma_m.max(after.sigma_m);
        let ground_m = here.range_m * here.elevation_rad.cos();
        Some(Reference {
            range_m: measured.range_m - here.range_m,
            azimuth_rad: off(measured.azimuth_rad - here.azimuth_rad),
            range_rate_m_s: later.range_m - earlier.range_m,
            azimuth_rate_rad_s: off(later.azimuth_rad - earlier.azimuth_rad),
            range_sigma_m: measured.range_sigma_m.hypot(sigma_m).hypot(lean * height_sigma),
            azimuth_sigma_rad: measured.azimuth_sigma_rad.hypot(sigma_m / ground_m.max(1.0)),
        })
    }

    /// Two positions that say where an aircraft was at a time: around it, or the last ones.
    fn around(&self, address: u32, time_s: f64) -> Option<(Fix, Fix)> {
        let fixes = &self.by_address.get(&address)?.latest;
        let next = fixes.iter().position(|fix| fix.time_s >= time_s);
        let (before, after) = match next {
            Some(0) => return None,
            Some(next) => (fixes[next - 1], fixes[next]),
            None => {
                let last = *fixes.last()?;
                let far_enough = |fix: &&Fix| last.time_s - fix.time_s >= GAP_S_MIN;
                let earlier = *fixes.iter().rev().find(far_enough)?;
                (time_s - last.time_s <= AFTER_S_MAX).then_some((earlier, last))?
            }
        };
        let gap_s = after.time_s - before.time_s;
        (GAP_S_MIN..=GAP_S_MAX).contains(&gap_s).then_some((before, after))
    }
}

fn polar(east_m: f64, north_m: f64, up_m: f64) -> Polar {
    let ground_m = east_m.hypot(north_m);
    Polar {
        range_m: ground_m.hypot(up_m),
        azimuth_rad: east_m.atan2(north_m),
        elevation_rad: up_m.atan2(ground_m),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geodesy::Enu;

    fn frame() -> LocalFrame {
        LocalFrame::new(Wgs84::new(50.0, 8.0, 300.0))
    }

    /// 200 m/s to the north, past the radar 40 km to its east.
    fn fix(time_s: f64) -> Fix {
        let local = Enu { east_m: 40_000.0, north_m: -20_000.0 + 200.0 * time_s, up_m: 10_000.0 };
        Fix { time_s, at: frame().to_wgs84(local), sigma_m: 10.0, geometric: true }
    }

    fn reference(seconds: &[f64]) -> AdsbReference {
        let mut reference = AdsbReference::default();
        seconds.iter().for_each(|second| reference.add(7, fix(*second)));
        reference
    }

    fn measured(time_s: f64, range_m: f64, azimuth_rad: f64) -> Measured {
        let north_m: f64 = -20_000.0 + 200.0 * time_s;
        let true_at = polar(40_000.0, north_m, 10_000.0);
        Measured {
            range_m: true_at.range_m + range_m,
            azimuth_rad: true_at.azimuth_rad + azimuth_rad,
            time_s,
            range_sigma_m: 50.0,
            azimuth_sigma_rad: 0.001,
        }
    }

    #[test]
    fn a_plot_between_two_positions_and_one_shortly_after() {
        let reference = reference(&[0.0, 1.0, 2.0, 3.0]);
        for time_s in [1.5, 4.9] {
            let found = reference.compare(7, &frame(), &measured(time_s, 130.0, 0.009)).unwrap();
            assert!((found.range_m - 130.0).abs() < 0.5, "{found:?}");
            assert!((found.azimuth_rad - 0.009).abs() < 1e-5, "{found:?}");
            // It comes nearer, and its azimuth becomes less.
            assert!((-90.0..-70.0).contains(&found.range_rate_m_s), "{found:?}");
            assert!((-0.0042..-0.0035).contains(&found.azimuth_rate_rad_s), "{found:?}");
        }
    }

    #[test]
    fn what_is_not_known_well_is_not_compared() {
        let known = reference(&[0.0, 1.0, 2.0]);
        let compare = |reference: &AdsbReference, address, time_s| {
            reference.compare(address, &frame(), &measured(time_s, 0.0, 0.0)).is_some()
        };
        assert!(compare(&known, 7, 2.5) && !compare(&known, 8, 2.5), "another aircraft");
        assert!(!compare(&known, 7, 5.0) && !compare(&known, 7, -0.5), "too late, too early");
        assert!(!compare(&reference(&[0.0, 20.0]), 7, 10.0), "a gap");
        let mut jumping = reference(&[0.0]);
        jumping.add(7, Fix { at: fix(60.0).at, ..fix(2.0) });
        assert!(!compare(&jumping, 7, 1.0), "6 km/s");
    }

    #[test]
    fn one_position_that_is_stamped_ahead_ends_nothing() {
        let known = |seconds: &[f64], time_s| {
            let found = reference(seconds).compare(7, &frame(), &measured(time_s, 130.0, 0.0));
            found.map(|found| (found.range_m - 130.0).abs() < 0.5)
        };
        assert_eq!(known(&[0.0, 1.0, 55.0, 2.0, 3.0, 4.0], 3.5), Some(true));
        assert_eq!(known(&[0.0, 1.0, 55.0, 2.0, 3.0, 4.0], 4.5), Some(true));
        // One that was late on its way is left out.
        assert_eq!(known(&[0.0, 1.0, 2.0, 1.5, 3.0], 2.5), Some(true));
        // One that is stamped behind is, too.
        assert_eq!(known(&[60.0, 61.0, 5.0, 62.0], 61.5), Some(true));
    }
}
