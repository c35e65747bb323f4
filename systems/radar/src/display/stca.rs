//! Short-term conflict alert: which pairs of aircraft come too close within two minutes if both go
//! on as they do.
//!
//! Too close is nearer than 5 NM and, at the same instant, less than the vertical minimum apart in
//! height. Both are reckoned from position, velocity, level and rate of climb, in closed form: there is
//! no step that a fast crossing could slip through. An aircraft that climbs or descends towards its
//! cleared level levels off there; one that leaves it does not (`cleared.rs`: I062/390 CFL, or what its
//! crew has selected, I062/380).
//!
//! | the higher of the two | separation | tolerance of the levels | minimum |
//! |---|---:|---:|---:|
//! | below FL290 | 1000 ft | 300 ft | 700 ft |
//! | FL290 to FL410, both (RVSM) | 1000 ft | 200 ft | 800 ft |
//! | above FL410 | 2000 ft | 300 ft | 1700 ft |
//!
//! The tolerance is that of Mode C in ICAO Doc 4444, 8.5.5.2: without it two aircraft that are
//! separated by their levels are alerted for the rounding of their reports.
//!
//! A pair that was found is not an alert yet: [`alerts`](super::alerts). Not here: turns, aircraft
//! within RVSM levels that are not approved for them (category 062 does not say), and aircraft whose
//! level is not known.

use crate::geodesy::{METRES_PER_NM, Plane};

/// Look-ahead time, s.
pub const AHEAD_S: f64 = 120.0;
/// Nearer than this is too close, NM.
pub const HORIZONTAL_NM: f64 = 5.0;
/// Lowest height of RVSM, ft.
const RVSM_FT: f64 = 29_000.0;
/// Above this height the separation is 2000 ft, ft: FL410, and what Mode C may be off in it.
const HIGH_FT: f64 = 41_200.0;
/// Difference of a level from a cleared one that may be rounding, ft.
const AT_LEVEL_FT: f64 = 200.0;

/// What two aircraft may not undercut together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Minima {
    /// Distance, NM.
    pub horizontal_nm: f64,
    /// Difference in height, ft.
    pub vertical_ft: f64,
    /// Look-ahead time, s.
    pub ahead_s: f64,
}

impl Minima {
    /// The minima for two aircraft that are at these heights now, ft.
    #[must_use]
    pub fn at(a_ft: f64, b_ft: f64) -> Self {
        let vertical_ft = match (a_ft.min(b_ft), a_ft.max(b_ft)) {
            (_, higher) if higher > HIGH_FT => 1700.0,
            (lower, _) if lower >= RVSM_FT - AT_LEVEL_FT => 800.0,
            _ => 700.0,
        };
        Self { horizontal_nm: HORIZONTAL_NM, vertical_ft, ahead_s: AHEAD_S }
    }

    /// Larger ones: an alert ends only beyond these, so that it does not come and go at the limit.
    #[must_use]
    pub fn wider(self) -> Self {
        Self {
            horizontal_nm: self.horizontal_nm * 1.1,
            vertical_ft: self.vertical_ft + 100.0,
            ahead_s: self.ahead_s + 15.0,
        }
    }
}

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
    /// Cleared level, ft, where it is known.
    pub cleared_ft: Option<f64>,
    /// Areas without alerts that it is in: a bit for each.
    pub inhibited: u64,
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
    /// Difference in height now, ft.
    pub now_ft: f64,
    /// Least distance while both minima are undercut, NM.
    pub least_nm: f64,
    /// Difference in height when that begins, ft.
    pub height_ft: f64,
    /// The vertical minimum of the pair, ft.
    pub minimum_ft: f64,
}

impl Conflict {
    /// Whether the minima are undercut now.
    #[must_use]
    pub fn is_violation(&self) -> bool {
        self.in_s <= 0.0
    }

    /// Order of urgency: what is too close now, the closest first; then by the time that is left.
    #[must_use]
    pub fn urgency(&self, other: &Self) -> std::cmp::Ordering {
        let closeness = |one: &Self| (one.now_nm / HORIZONTAL_NM).max(one.now_ft / one.minimum_ft);
        let both_now = self.is_violation() && other.is_violation();
        let order = if both_now {
            closeness(self).total_cmp(&closeness(other))
        } else {
            self.in_s.total_cmp(&other.in_s)
        };
        order.then((self.a, self.b).cmp(&(other.a, other.b)))
    }
}

/// A pair within the wider minima.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The conflict, by the minima where it is one, else by the wider ones.
    pub conflict: Conflict,
    /// Whether it is one by the minima themselves.
    pub is_strict: bool,
}

impl Motion {
    /// The motion `seconds` later.
    #[must_use]
    pub fn after(self, seconds: f64) -> Self {
        let at = Plane {
            x_m: self.at.x_m + self.x_m_s * seconds,
            y_m: self.at.y_m + self.y_m_s * seconds,
        };
        let climb_ft_s = if seconds >= self.levels_off_s() { 0.0 } else { self.climb_ft_s };
        Self { at, height_ft: self.height_after(seconds), climb_ft_s, ..self }
    }

    fn speed_m_s(self) -> f64 {
        self.x_m_s.hypot(self.y_m_s)
    }

    /// Seconds until it levels off at its cleared level; infinite when it does not.
    fn levels_off_s(self) -> f64 {
        let Some(cleared_ft) = self.cleared_ft else { return f64::INFINITY };
        let left_ft = cleared_ft - self.height_ft;
        if left_ft.abs() <= AT_LEVEL_FT {
            // What is left is rounding, or the end of the climb.
            return 0.0;
        }
        let seconds = left_ft / self.climb_ft_s;
        if seconds.is_finite() && seconds > 0.0 { seconds } else { f64::INFINITY }
    }

    fn height_after(self, seconds: f64) -> f64 {
        self.height_ft + self.climb_ft_s * seconds.min(self.levels_off_s())
    }
}

/// Whether and when two aircraft come too close.
#[must_use]
pub fn predict(a: &Motion, b: &Motion, minima: Minima) -> Option<Conflict> {
    let radius = minima.horizontal_nm * METRES_PER_NM;
    let (x, y) = (b.at.x_m - a.at.x_m, b.at.y_m - a.at.y_m);
    let (vx, vy) = (b.x_m_s - a.x_m_s, b.y_m_s - a.y_m_s);
    let speed_squared = vx * vx + vy * vy;
    let near = below(speed_squared, x * vx + y * vy, x * x + y * y - radius * radius)?;
    let nearest = if speed_squared > 0.0 { -(x * vx + y * vy) / speed_squared } else { 0.0 };
    let distance_nm = |at_s: f64| (x + vx * at_s).hypot(y + vy * at_s) / METRES_PER_NM;
    let mut found: Option<Conflict> = None;
    for (from_s, until_s) in stages(a, b, minima.ahead_s) {
        let (then_a, then_b) = (a.after(from_s), b.after(from_s));
        let (z, vz) = (then_b.height_ft - then_a.height_ft, then_b.climb_ft_s - then_a.climb_ft_s);
        let vertical = minima.vertical_ft;
        let Some(level) = below(vz * vz, z * vz, z * z - vertical * vertical) else { continue };
        let begin = near.0.max(from_s + level.0).max(from_s);
        let end = near.1.min(from_s + level.1).min(until_s);
        if begin >= end {
            continue;
        }
        let least_nm = distance_nm(nearest.clamp(begin, end));
        let first = found.get_or_insert(Conflict {
            a: a.number.min(b.number),
            b: a.number.max(b.number),
            in_s: begin,
            now_nm: distance_nm(0.0),
            now_ft: (b.height_ft - a.height_ft).abs(),
            least_nm,
            height_ft: (z + vz * (begin - from_s)).abs(),
            minimum_ft: vertical,
        });
        first.least_nm = first.least_nm.min(least_nm);
    }
    found
}

/// Times between which both go on without levelling off, s.
fn stages(a: &Motion, b: &Motion, ahead_s: f64) -> impl Iterator<Item = (f64, f64)> {
    let mut cuts = [0.0, a.levels_off_s().min(ahead_s), b.levels_off_s().min(ahead_s), ahead_s];
    cuts.sort_by(f64::total_cmp);
    (0..3).map(move |stage| (cuts[stage], cuts[stage + 1])).filter(|(from, until)| from < until)
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

/// All pairs within the wider minima, but for those in one area without alerts. Sorts `all` by where
/// they are.
pub fn conflicts(all: &mut [Motion]) -> Vec<Found> {
    all.sort_by(|a, b| a.at.x_m.total_cmp(&b.at.x_m));
    let fastest = all.iter().map(|m| m.speed_m_s()).fold(0.0, f64::max);
    let widest = Minima::at(f64::MAX, f64::MAX).wider();
    let mut found = Vec::new();
    for (index, a) in all.iter().enumerate() {
        // Farther apart than this they cannot meet in time.
        let reach =
            widest.horizontal_nm * METRES_PER_NM + (a.speed_m_s() + fastest) * widest.ahead_s;
        for b in &all[index + 1..] {
            if b.at.x_m - a.at.x_m > reach {
                break;
            }
            let climb = (b.climb_ft_s.abs() + a.climb_ft_s.abs()) * widest.ahead_s;
            if (b.at.y_m - a.at.y_m).abs() <= reach
                && (b.height_ft - a.height_ft).abs() < widest.vertical_ft + climb
                && a.inhibited & b.inhibited == 0
            {
                found.extend(find(a, b));
            }
        }
    }
    found
}

fn find(a: &Motion, b: &Motion) -> Option<Found> {
    let minima = Minima::at(a.height_ft, b.height_ft);
    let wide = predict(a, b, minima.wider())?;
    let strict = predict(a, b, minima);
    Some(Found { conflict: strict.unwrap_or(wide), is_strict: strict.is_some() })
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
            cleared_ft: None,
            inhibited: 0,
        }
    }

    /// Minima with round numbers.
    const ROUND: Minima = Minima { horizontal_nm: 5.0, vertical_ft: 1000.0, ahead_s: 120.0 };

    fn predict(a: &Motion, b: &Motion) -> Option<Conflict> {
        super::predict(a, b, ROUND)
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

    #[test]
    fn separated_by_level_is_separated_and_above_fl410_that_is_2000_ft() {
        let meet = |a_level: f64, b_level: f64| {
            let a = motion(1, (0.0, 0.0), (450.0, 0.0), (a_level * 100.0, 0.0));
            let b = motion(2, (20.0, 0.0), (-450.0, 0.0), (b_level * 100.0, 0.0));
            conflicts(&mut [a, b]).iter().any(|found| found.is_strict)
        };
        // Levels as Mode C rounds them: 975 ft apart in RVSM are a separation, 775 ft are none.
        assert!(!meet(349.75, 359.5) && meet(350.0, 357.75));
        // Below it the reports may be off by more.
        assert!(!meet(100.0, 107.25) && meet(100.0, 106.75));
        assert!(!meet(400.0, 410.25) && meet(410.0, 420.0) && !meet(410.0, 430.0));
        // Aircraft at FL280 and FL290 are not both in RVSM.
        assert!(!meet(280.0, 290.0) && meet(283.0, 290.0 - 0.25));
    }

    #[test]
    fn a_cleared_level_is_kept_unless_it_is_left() {
        let cruise = motion(1, (0.0, 0.0), (400.0, 0.0), (33_000.0, 0.0));
        let climbs = motion(2, (0.0, 2.0), (400.0, 0.0), (30_000.0, 2000.0));
        assert!(predict(&cruise, &climbs).is_some());
        let cleared = |level_ft: f64| Motion { cleared_ft: Some(level_ft), ..climbs };
        assert_eq!(predict(&cruise, &cleared(32_000.0)), None);
        // To the other's level it is a conflict after 60 s all the same, and beyond it.
        near(predict(&cruise, &cleared(33_000.0)).unwrap().in_s, 60.0);
        near(predict(&cruise, &cleared(38_000.0)).unwrap().in_s, 60.0);
        // It climbs away from the level that it was cleared to.
        near(predict(&cruise, &cleared(28_000.0)).unwrap().in_s, 60.0);
        // Both move: one down to 32,000 ft, the other up to 31,000 ft.
        let down = Motion {
            cleared_ft: Some(32_000.0),
            ..motion(3, (0.0, 0.0), (400.0, 0.0), (35_000.0, -2000.0))
        };
        assert_eq!(predict(&down, &cleared(31_000.0)), None);
        assert!(predict(&down, &cleared(31_500.0)).is_some());
    }

    #[test]
    fn what_is_too_close_now_comes_first_and_then_what_has_the_least_time() {
        let at = |a, in_s, now_nm, now_ft| Conflict {
            a,
            b: a + 1,
            in_s,
            now_nm,
            now_ft,
            least_nm: now_nm,
            height_ft: now_ft,
            minimum_ft: 700.0,
        };
        let mut all = [
            at(1, 80.0, 9.0, 0.0),
            at(3, 0.0, 4.0, 0.0),
            at(5, 15.0, 9.0, 0.0),
            at(7, 0.0, 1.0, 100.0),
        ];
        all.sort_by(Conflict::urgency);
        assert_eq!(all.map(|one| one.a), [7, 3, 5, 1]);
    }

    /// Head on: 600 ft apart is 0.86 of the minimum at FL100, 0.35 above FL410.
    #[test]
    fn what_is_too_close_is_measured_by_the_pairs_own_minima() {
        let pair = |number, at_nm, level_ft, apart_ft| {
            let a = motion(number, (at_nm, 0.0), (300.0, 0.0), (level_ft, 0.0));
            let b =
                motion(number + 1, (at_nm + 1.0, 0.0), (-300.0, 0.0), (level_ft + apart_ft, 0.0));
            [a, b]
        };
        let mut all = [
            pair(1, 0.0, 10_000.0, 600.0),
            pair(3, 100.0, 33_000.0, 640.0),
            pair(5, 200.0, 43_000.0, 800.0),
        ]
        .concat();
        let mut found: Vec<Conflict> = conflicts(&mut all).iter().map(|f| f.conflict).collect();
        found.sort_by(Conflict::urgency);
        assert_eq!(found.iter().map(|one| one.a).collect::<Vec<_>>(), [5, 3, 1]);
        assert_eq!(
            found.iter().map(|one| one.minimum_ft).collect::<Vec<_>>(),
            [1700.0, 800.0, 700.0]
        );
    }

    #[test]
    fn two_in_one_inhibited_area_are_not_found() {
        let a = motion(1, (0.0, 0.0), (450.0, 0.0), (5_000.0, 0.0));
        let b = motion(2, (8.0, 0.0), (-450.0, 0.0), (5_000.0, 0.0));
        let found = |a_in, b_in| {
            let inside = |motion: Motion, inhibited| Motion { inhibited, ..motion };
            conflicts(&mut [inside(a, a_in), inside(b, b_in)]).len()
        };
        assert_eq!((found(0b10, 0b11), found(0b10, 0b01), found(0b10, 0)), (0, 1, 1));
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
                conflicts(&mut all.clone()).iter().filter(|f| f.is_strict).map(|f| (f.conflict.a, f.conflict.b)).collect();
            for (i, a) in all.iter().enumerate() {
                for b in &all[i + 1..] {
                    let vertical_ft = Minima::at(a.height_ft, b.height_ft).vertical_ft;
                    let margin = |t: f64| {
                        let (a, b) = (a.after(t), b.after(t));
                        let nm = (a.at.x_m - b.at.x_m).hypot(a.at.y_m - b.at.y_m) / METRES_PER_NM;
                        let ft = (a.height_ft - b.height_ft).abs();
                        (nm / HORIZONTAL_NM).max(ft / vertical_ft)
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
