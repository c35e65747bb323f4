//! Short-term conflict alert: which pairs of aircraft come too close within two minutes if both go
//! on as they do.
//!
//! Too close is nearer than 5 NM and, at the same instant, less than 1000 ft apart in height. Both
//! are reckoned in a straight line from position, velocity, level and rate of climb, in closed form:
//! there is no step that a fast crossing could slip through.
//!
//! Not here: what a cleared level or a turn would change, doubled minima above FL410, areas in
//! which alerts are held back, and aircraft whose level is not known.

use crate::geodesy::{METRES_PER_NM, Plane};

/// Nearer than this is too close, NM, …
pub const HORIZONTAL_NM: f64 = 5.0;
/// … where the difference in height is also less than this, ft.
pub const VERTICAL_FT: f64 = 1000.0;
/// Look-ahead time, s.
pub const AHEAD_S: f64 = 120.0;

/// Motion of an aircraft at an instant that is the same for all compared aircraft.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// Track number (I062/040).
    pub number: u16,
    /// Position in the plane.
    pub at: Plane,
    /// Velocity to the east, m/s.
    pub x_m_s: f64,
    /// Velocity to the north, m/s.
    pub y_m_s: f64,
    /// Height by its flight level, ft.
    pub height_ft: f64,
    /// Rate of climb, ft/s.
    pub climb_ft_s: f64,
}

/// A pair that comes too close.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Conflict {
    /// The lower track number.
    pub a: u16,
    /// Track number of the other aircraft.
    pub b: u16,
    /// Seconds until both minima are undercut, in [0, 120); 0 when they are now.
    pub in_s: f64,
    /// Distance now, NM.
    pub now_nm: f64,
    /// Least distance while both minima are undercut, NM.
    pub least_nm: f64,
    /// Difference in height when that begins, ft.
    pub height_ft: f64,
}

impl Motion {
    /// The motion `seconds` later.
    #[must_use]
    pub fn after(self, seconds: f64) -> Self {
        let at = Plane {
            x_m: self.at.x_m + self.x_m_s * seconds,
            y_m: self.at.y_m + self.y_m_s * seconds,
        };
        Self { at, height_ft: self.height_ft + self.climb_ft_s * seconds, ..self }
    }

    fn speed_m_s(self) -> f64 {
        self.x_m_s.hypot(self.y_m_s)
    }
}

/// Whether and when two aircraft come too close.
#[must_use]
pub fn predict(a: &Motion, b: &Motion) -> Option<Conflict> {
    let radius = HORIZONTAL_NM * METRES_PER_NM;
    let (x, y) = (b.at.x_m - a.at.x_m, b.at.y_m - a.at.y_m);
    let (vx, vy) = (b.x_m_s - a.x_m_s, b.y_m_s - a.y_m_s);
    let near = below(vx * vx + vy * vy, x * vx + y * vy, x * x + y * y - radius * radius)?;
    let (z, vz) = (b.height_ft - a.height_ft, b.climb_ft_s - a.climb_ft_s);
    let level = below(vz * vz, z * vz, z * z - VERTICAL_FT * VERTICAL_FT)?;
    let begin = near.0.max(level.0).max(0.0);
    let end = near.1.min(level.1).min(AHEAD_S);
    if begin >= end {
        return None;
    }
    let speed_squared = vx * vx + vy * vy;
    let nearest = if speed_squared > 0.0 { -(x * vx + y * vy) / speed_squared } else { begin };
    let nearest = nearest.clamp(begin, end);
    Some(Conflict {
        a: a.number.min(b.number),
        b: a.number.max(b.number),
        in_s: begin,
        now_nm: x.hypot(y) / METRES_PER_NM,
        least_nm: (x + vx * nearest).hypot(y + vy * nearest) / METRES_PER_NM,
        height_ft: (z + vz * begin).abs(),
    })
}

/// Interval in which `square`·t² + 2·`half`·t + `rest` is below 0; `square` is not negative.
fn below(square: f64, half: f64, rest: f64) -> Option<(f64, f64)> {
    if square < 1e-12 {
        // Neither moves against the other: it is so always, or never.
        return (rest < 0.0).then_some((f64::NEG_INFINITY, f64::INFINITY));
    }
    let under = half * half - square * rest;
    (under > 0.0).then(|| {
        let root = under.sqrt();
        ((-half - root) / square, (-half + root) / square)
    })
}

/// All pairs that come too close, the most urgent first. Sorts `all` by where they are.
pub fn conflicts(all: &mut [Motion]) -> Vec<Conflict> {
    all.sort_by(|a, b| a.at.x_m.total_cmp(&b.at.x_m));
    let fastest = all.iter().map(|m| m.speed_m_s()).fold(0.0, f64::max);
    let mut found = Vec::new();
    for (index, a) in all.iter().enumerate() {
        // Farther apart than this they cannot meet in time.
        let reach = HORIZONTAL_NM * METRES_PER_NM + (a.speed_m_s() + fastest) * AHEAD_S;
        for b in &all[index + 1..] {
            if b.at.x_m - a.at.x_m > reach {
                break;
            }
            let climb = (b.climb_ft_s - a.climb_ft_s).abs() * AHEAD_S;
            if (b.at.y_m - a.at.y_m).abs() <= reach
                && (b.height_ft - a.height_ft).abs() < VERTICAL_FT + climb
            {
                found.extend(predict(a, b));
            }
        }
    }
    found.sort_by(|a, b| a.in_s.total_cmp(&b.in_s).then((a.a, a.b).cmp(&(b.a, b.b))));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// At (x, y) NM, flying (vx, vy) in kt, at a height in ft with a rate in ft/min.
    fn motion(number: u16, at: (f64, f64), knots: (f64, f64), height: (f64, f64)) -> Motion {
        Motion {
            number,
            at: Plane { x_m: at.0 * METRES_PER_NM, y_m: at.1 * METRES_PER_NM },
            x_m_s: knots.0 * METRES_PER_NM / 3600.0,
            y_m_s: knots.1 * METRES_PER_NM / 3600.0,
            height_ft: height.0,
            climb_ft_s: height.1 / 60.0,
        }
    }

    fn near(found: f64, reckoned: f64) {
        assert!((found - reckoned).abs() < 1e-6, "{found} instead of {reckoned}");
    }

    #[test]
    fn head_on_at_one_level() {
        // 20 NM apart, closing at 900 kt = 0.25 NM/s: 15 NM to go to 5 NM take 60 s, 20 NM 80 s.
        let a = motion(7, (0.0, 0.0), (450.0, 0.0), (35_000.0, 0.0));
        let b = motion(3, (20.0, 0.0), (-450.0, 0.0), (35_000.0, 0.0));
        let found = predict(&a, &b).unwrap();
        assert_eq!((found.a, found.b), (3, 7));
        near(found.in_s, 60.0);
        near(found.now_nm, 20.0);
        near(found.least_nm, 0.0);
        // 1000 ft above it is no conflict, 999 ft is.
        let above = |ft| predict(&a, &motion(3, (20.0, 0.0), (-450.0, 0.0), (35_000.0 + ft, 0.0)));
        assert_eq!(above(1000.0), None);
        assert!(above(999.0).is_some());
        // Nor beyond 120 s: 30 NM and 5 NM to go to 5 NM.
        assert_eq!(predict(&a, &b.after(-60.1).with_x(35.0 + 0.01)), None);
    }

    impl Motion {
        fn with_x(self, nm: f64) -> Self {
            Self { at: Plane { x_m: nm * METRES_PER_NM, y_m: 0.0 }, ..self }
        }
    }

    #[test]
    fn crossing_at_right_angles() {
        // a flies east from (0, 0), b north from (12, -9), both at 360 kt = 0.1 NM/s. Relative
        // (12 - 0.1 t, -9 + 0.1 t): nearest at t = 105 s, (1.5, 1.5), which is 2.1213 NM. 5 NM
        // where 0.02 t² - 4.2 t + 200 = 0: t = (4.2 - √1.64) / 0.04 = 72.984 s.
        let a = motion(1, (0.0, 0.0), (360.0, 0.0), (30_000.0, 0.0));
        let b = motion(2, (12.0, -9.0), (0.0, 360.0), (30_500.0, 0.0));
        let found = predict(&a, &b).unwrap();
        near(found.in_s, (4.2 - 1.64_f64.sqrt()) / 0.04);
        near(found.now_nm, 15.0);
        near(found.least_nm, 4.5_f64.sqrt());
        near(found.height_ft, 500.0);
        // The same ways 5.1 NM farther apart across never come below 5 NM: (12, -9 - …).
        assert_eq!(predict(&a, &motion(2, (20.0, -9.0), (0.0, 360.0), (30_500.0, 0.0))), None);
    }

    #[test]
    fn one_climbs_through_the_others_level() {
        // Side by side 2 NM apart; 3000 ft below and climbing 2000 ft/min = 33.3 ft/s: within
        // 1000 ft after 60 s.
        let cruise = motion(1, (0.0, 0.0), (400.0, 0.0), (33_000.0, 0.0));
        let climbs = motion(2, (0.0, 2.0), (400.0, 0.0), (30_000.0, 2000.0));
        let found = predict(&cruise, &climbs).unwrap();
        near(found.in_s, 60.0);
        near(found.least_nm, 2.0);
        near(found.height_ft, 1000.0);
        // At 900 ft/min it would take 133 s.
        assert_eq!(predict(&cruise, &motion(2, (0.0, 2.0), (400.0, 0.0), (30_000.0, 900.0))), None);
        // Near only before it is at that level: 0.2 NM/s apart, 2 NM now, 5 NM in 22.9 s.
        assert_eq!(
            predict(&cruise, &motion(2, (0.0, 2.0), (1120.0, 0.0), (30_000.0, 2000.0))),
            None
        );
    }

    #[test]
    fn too_close_already_and_drawing_apart() {
        let a = motion(1, (0.0, 0.0), (-300.0, 0.0), (10_000.0, 0.0));
        let b = motion(2, (4.0, 0.0), (300.0, 0.0), (10_000.0, 0.0));
        let found = predict(&a, &b).unwrap();
        near(found.in_s, 0.0);
        near(found.least_nm, 4.0);
        assert_eq!(predict(&a, &b.with_x(5.1)), None);
    }

    proptest! {
        /// What is left out before reckoning would have been no conflict, and a pair is one
        /// exactly if it is too close at some moment of a fine time grid.
        #[test]
        fn all_pairs_and_only_those(
            flights in prop::collection::vec(
                ((-60.0..60.0, -60.0..60.0), (-600.0..600.0, -600.0..600.0), (20_000.0..26_000.0, -3000.0..3000.0)),
                2..40,
            ),
        ) {
            let all: Vec<Motion> = flights
                .into_iter()
                .enumerate()
                .map(|(n, (at, knots, height))| motion(u16::try_from(n).unwrap(), at, knots, height))
                .collect();
            let found: std::collections::BTreeSet<_> =
                conflicts(&mut all.clone()).iter().map(|c| (c.a, c.b)).collect();
            for (i, a) in all.iter().enumerate() {
                for b in &all[i + 1..] {
                    let margin = |t: f64| {
                        let (a, b) = (a.after(t), b.after(t));
                        let nm = (a.at.x_m - b.at.x_m).hypot(a.at.y_m - b.at.y_m) / METRES_PER_NM;
                        let ft = (a.height_ft - b.height_ft).abs();
                        (nm / HORIZONTAL_NM).max(ft / VERTICAL_FT)
                    };
                    let least = (0..=1200).map(|t| margin(f64::from(t) / 10.0)).fold(9.0, f64::min);
                    // The grid may miss a graze by what is flown in 0.1 s.
                    if (least - 1.0).abs() > 0.03 {
                        prop_assert_eq!(found.contains(&(a.number, b.number)), least < 1.0);
                    }
                }
            }
        }
    }
}
