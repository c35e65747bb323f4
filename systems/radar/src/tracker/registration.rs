//! Registration: the radars' systematic errors, estimated from aircraft that several of them see.
//!
//! Each radar has an error of its ranges, of its north mark and of its clock, nearly constant for
//! hours. Two plots of one aircraft by two radars, a second or two apart, differ by the flight in
//! between, by noise and by these six errors; the flight is taken from the track, and each
//! difference is one more equation of a least-squares problem over all errors of all radars,
//! weighed by the noise of both plots (recursive least squares in information form, with
//! forgetting; Bar-Shalom, Li, Kirubarajan: *Estimation with Applications to Tracking and
//! Navigation*, §3.4; the geometry as in Dana: *Registration: a Prerequisite for Multiple Sensor
//! Tracking*, 1990). No plot is in two differences, so that the equations are independent. They
//! are summed as they come and solved every [`SOLVE_S`] seconds of plot time.
//!
//! What can be known: ranges and norths of two or more radars on different sites, absolutely, once
//! aircraft are seen in different directions from them (a turn common to all norths shows by the
//! distance between the sites; sites close together show it badly). Of clocks only the
//! differences: an error common to all is no difference. Where the equations say nothing, a prior
//! of zero does ([`PRIOR`]), so that an unknown common error of the clocks is taken for none; the
//! standard deviations tell.
//!
//! Limits: the first [`RADARS_MAX`] radars. An error of Mode C against the geometric height looks
//! like one of the range near a radar, which is why plots within [`GROUND_M_MIN`] do not count.

use super::kinematic::Kinematic;
use super::linear::{Sym2, Vec2};
use super::track::Measurement;

/// Systematic errors of a radar: what it reports less what is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Bias {
    /// Of slant ranges, m.
    pub(super) range_m: f64,
    /// Of azimuths, radians, clockwise.
    pub(super) azimuth_rad: f64,
    /// Of stamps, s; positive when they are late.
    pub(super) time_s: f64,
}

impl Bias {
    fn array(self) -> [f64; 3] {
        [self.range_m, self.azimuth_rad, self.time_s]
    }

    fn of([range_m, azimuth_rad, time_s]: [f64; 3]) -> Self {
        Self { range_m, azimuth_rad, time_s }
    }
}

/// What is known of one radar's errors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Estimate {
    /// Best estimate; of the clock against the mean of all clocks.
    pub(super) bias: Bias,
    /// Standard deviation of each.
    pub(super) sigma: Bias,
    /// Differences with this radar that were taken in.
    pub(super) differences: u64,
}

/// Radars that are registered: the problem has three unknowns for each, solved in cubic time.
pub(super) const RADARS_MAX: usize = 64;
/// Standard deviations before anything was measured: what a maintained radar may have.
pub(super) const PRIOR: Bias =
    Bias { range_m: 300.0, azimuth_rad: 0.3 * std::f64::consts::PI / 180.0, time_s: 0.3 };
/// How often the equations are solved, s of plot time.
pub(super) const SOLVE_S: f64 = 10.0;
/// Plots nearer to their radar than this, over ground, do not count, m.
pub(super) const GROUND_M_MIN: f64 = 10_000.0;
/// A difference counts 1/e after so long, s: errors wander with weather and repair.
const MEMORY_S: f64 = 1_800.0;
/// Two plots further apart than this are not compared, s: the velocity's error grows with it.
const APART_S_MAX: f64 = 3.0;
/// Before a radar has so many differences nothing is corrected.
const DIFFERENCES_MIN: u64 = 50;
/// Squared Mahalanobis distance beyond which two plots are not of one aircraft.
const GATE: f64 = 25.0;
/// Corrections that moved by more than this, and by more than twice their standard deviation, have
/// changed the tracks that they were learnt from: what was learnt before then counts less.
const MOVED: Bias =
    Bias { range_m: 20.0, azimuth_rad: 0.02 * std::f64::consts::PI / 180.0, time_s: 0.03 };
const MOVED_DISCOUNT: f64 = 0.2;

/// Unknowns of a radar.
const OF_ONE: usize = 3;
const WIDTH: usize = OF_ONE * RADARS_MAX;

/// Where a radar stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stand {
    /// In the plane, m.
    pub(super) position: Vec2,
    /// Over the ellipsoid, m.
    pub(super) height_m: f64,
}

/// A plot that waits for another radar's.
#[derive(Clone, Copy, Debug)]
struct Half {
    track: u16,
    /// Corrections that were in force.
    generation: u32,
    radar: usize,
    time_s: f64,
    position: Vec2,
    covariance: Sym2,
    along: Vec2,
    across: Vec2,
}

/// The least-squares problem over all radars.
#[derive(Debug)]
pub(super) struct Registration {
    /// By the tracker's slot.
    halves: Vec<Option<Half>>,
    /// Sum of `Gᵀ W G`, `WIDTH` columns a row, the upper triangle of blocks and the lower one.
    information: Vec<f64>,
    /// Sum of `Gᵀ W d`.
    pull: [f64; WIDTH],
    /// Of the last solution, `3 · radars` wide; empty before.
    covariance: Vec<f64>,
    estimates: Vec<Estimate>,
    generation: u32,
    solved_s: Option<f64>,
}

impl Default for Registration {
    fn default() -> Self {
        Self {
            halves: Vec::new(),
            information: vec![0.0; WIDTH * WIDTH],
            pull: [0.0; WIDTH],
            covariance: Vec::new(),
            estimates: Vec::new(),
            generation: 0,
            solved_s: None,
        }
    }
}

impl Registration {
    /// What is known of a radar, by its index.
    pub(super) fn estimate(&self, radar: usize) -> Estimate {
        self.estimates.get(radar).copied().unwrap_or_default()
    }

    /// What to subtract from a radar's reports.
    pub(super) fn correction(&self, radar: usize) -> Bias {
        let estimate = self.estimate(radar);
        if estimate.differences < DIFFERENCES_MIN { Bias::default() } else { estimate.bias }
    }

    /// Takes in a plot (corrected as [`Registration::correction`] says) that updated the track
    /// `number` in `slot`, whose state is `state` and disturbed by accelerations of density `q`.
    /// True when the corrections have changed.
    pub(super) fn observe(
        &mut self,
        (slot, number): (usize, u16),
        m: &Measurement,
        height_m: f64,
        stand: Stand,
        (state, q): (&Kinematic, f64),
    ) -> bool {
        let radar = usize::from(m.radar);
        let offset = m.position - stand.position;
        let ground_m = offset.norm();
        if radar >= RADARS_MAX || ground_m < GROUND_M_MIN {
            return false;
        }
        let unit = offset * (1.0 / ground_m);
        // d(ground)/d(range) of ground² = range² - height².
        let stretch = (height_m - stand.height_m).hypot(ground_m) / ground_m;
        let half = Half {
            track: number,
            generation: self.generation,
            radar,
            time_s: m.time_s,
            position: m.position,
            covariance: m.covariance,
            along: unit * stretch,
            across: Vec2::new(unit.y, -unit.x) * ground_m,
        };
        if self.halves.len() <= slot {
            self.halves.resize(slot + 1, None);
        }
        let pair = self.halves[slot].filter(|other| {
            other.track == number
                && other.generation == self.generation
                && other.radar != radar
                && (m.time_s - other.time_s).abs() <= APART_S_MAX
        });
        match pair {
            Some(other) => {
                self.halves[slot] = None;
                self.difference(&other, &half, state, q);
            }
            None => self.halves[slot] = Some(half),
        }
        let since = *self.solved_s.get_or_insert(m.time_s);
        // Time that leaps back, too: plots of another day.
        (m.time_s - since).abs() >= SOLVE_S && self.solve(m.time_s)
    }

    /// One equation: `b` less `a` brought to the time of `b`.
    fn difference(&mut self, a: &Half, b: &Half, state: &Kinematic, q: f64) {
        let dt = b.time_s - a.time_s;
        let flown = state.velocity * dt;
        let noise = state.vv * (dt * dt) + Sym2::isotropic(q * dt.abs().powi(3) / 3.0);
        let covariance = a.covariance + b.covariance + noise;
        let seen = b.position - a.position - flown;
        // A late stamp is a position of earlier.
        let (of_a, of_b) = ([a.along, a.across], [b.along, b.across]);
        let columns = [
            of_b[0],
            of_b[1],
            state.velocity * -1.0,
            of_a[0] * -1.0,
            of_a[1] * -1.0,
            state.velocity,
        ];
        let place = |k: usize| OF_ONE * if k < OF_ONE { b.radar } else { a.radar } + k % OF_ONE;
        if self.estimates.len() <= a.radar.max(b.radar) {
            self.estimates.resize(a.radar.max(b.radar) + 1, Estimate::default());
        }
        let unknown = self.spread(&columns, &place);
        let plausible = (covariance + unknown).inverse().is_some_and(|s| s.quadratic(seen) <= GATE);
        let Some(weight) = covariance.inverse().filter(|_| plausible) else { return };
        // The corrections in force are put back, so that all equations are about the whole error.
        let whole =
            [(b.radar, 0), (a.radar, OF_ONE)].into_iter().fold(seen, |sum, (radar, first)| {
                let bias = self.correction(radar).array();
                (0..OF_ONE).fold(sum, |sum, k| sum + columns[first + k] * bias[k])
            });
        for i in 0..2 * OF_ONE {
            let weighed = weight.apply(columns[i]);
            self.pull[place(i)] += weighed.dot(whole);
            for (j, column) in columns.iter().enumerate() {
                self.information[place(i) * WIDTH + place(j)] += weighed.dot(*column);
            }
        }
        self.estimates[a.radar].differences += 1;
        self.estimates[b.radar].differences += 1;
    }

    /// How uncertain the difference is for want of knowledge of the errors.
    fn spread(&self, columns: &[Vec2; 2 * OF_ONE], place: &impl Fn(usize) -> usize) -> Sym2 {
        let prior = PRIOR.array();
        let known = OF_ONE * self.estimates.len();
        let wide = self.covariance.len() == known * known;
        let mut sum = Sym2::default();
        for i in 0..2 * OF_ONE {
            for j in 0..2 * OF_ONE {
                let p = match (wide, i == j) {
                    (true, _) => self.covariance[place(i) * known + place(j)],
                    (false, true) => prior[i % OF_ONE].powi(2),
                    (false, false) => continue,
                };
                sum = sum + columns[i].outer_with(columns[j]).symmetric_part() * p;
            }
        }
        sum
    }

    /// Solves for all errors, and forgets a little. False when nothing has changed.
    fn solve(&mut self, now_s: f64) -> bool {
        let elapsed_s = self.solved_s.replace(now_s).map_or(0.0, |then| (now_s - then).abs());
        let size = OF_ONE * self.estimates.len();
        if size == 0 {
            return false;
        }
        let prior = PRIOR.array();
        let mut normal = vec![0.0; size * size];
        for row in 0..size {
            let from = &self.information[row * WIDTH..row * WIDTH + size];
            normal[row * size..(row + 1) * size].copy_from_slice(from);
            normal[row * size + row] += prior[row % OF_ONE].powi(-2);
        }
        // Positive definite by the prior, unless numbers are broken: then all starts anew.
        let Some(covariance) = inverse(normal, size) else {
            *self = Self { generation: self.generation.wrapping_add(1), ..Self::default() };
            return true;
        };
        let mut moved = false;
        for radar in 0..self.estimates.len() {
            let before = self.correction(radar).array();
            let (mut bias, mut sigma) = ([0.0; OF_ONE], [0.0; OF_ONE]);
            for k in 0..OF_ONE {
                let row = &covariance[(OF_ONE * radar + k) * size..][..size];
                bias[k] = row.iter().zip(&self.pull).map(|(c, p)| c * p).sum();
                sigma[k] = row[OF_ONE * radar + k].max(0.0).sqrt();
            }
            let estimate = &mut self.estimates[radar];
            (estimate.bias, estimate.sigma) = (Bias::of(bias), Bias::of(sigma));
            let now = self.correction(radar).array();
            moved |= (0..OF_ONE)
                .any(|k| (now[k] - before[k]).abs() > MOVED.array()[k].max(2.0 * sigma[k]));
        }
        self.covariance = covariance;
        self.centre_times(size);
        let kept = (-elapsed_s / MEMORY_S).exp() * if moved { MOVED_DISCOUNT } else { 1.0 };
        for row in self.information.chunks_exact_mut(WIDTH).take(size) {
            row[..size].iter_mut().for_each(|value| *value *= kept);
        }
        self.pull.iter_mut().for_each(|value| *value *= kept);
        self.generation = self.generation.wrapping_add(1);
        true
    }

    /// Takes the mean of the clocks for right: only what is different from it can be known, and
    /// its standard deviation is that of the difference.
    fn centre_times(&mut self, size: usize) {
        let heard: Vec<usize> =
            (0..self.estimates.len()).filter(|&r| self.estimates[r].differences > 0).collect();
        let share = 1.0 / heard.len().max(1) as f64;
        let clock = |radar: usize| OF_ONE * radar + 2;
        let mean = share * heard.iter().map(|&r| self.estimates[r].bias.time_s).sum::<f64>();
        let row_means: Vec<f64> = heard
            .iter()
            .map(|&r| {
                let row = &self.covariance[clock(r) * size..][..size];
                share * heard.iter().map(|&other| row[clock(other)]).sum::<f64>()
            })
            .collect();
        let all = share * row_means.iter().sum::<f64>();
        for (&radar, row_mean) in heard.iter().zip(&row_means) {
            let own = self.covariance[clock(radar) * size + clock(radar)];
            let estimate = &mut self.estimates[radar];
            estimate.bias.time_s -= mean;
            estimate.sigma.time_s = (own - 2.0 * row_mean + all).max(0.0).sqrt();
        }
    }
}

/// The inverse of a symmetric positive definite matrix of `size` rows, by Cholesky's
/// decomposition; `None` when it is not one.
fn inverse(mut a: Vec<f64>, size: usize) -> Option<Vec<f64>> {
    // Unknowns are metres, radians and seconds: scaled to a diagonal of ones.
    let scale: Vec<f64> = (0..size).map(|i| a[i * size + i].sqrt().recip()).collect();
    for i in 0..size {
        for j in 0..size {
            a[i * size + j] *= scale[i] * scale[j];
        }
    }
    // The lower triangle becomes the factor, then the factor's inverse.
    for j in 0..size {
        for i in j..size {
            let dot: f64 = (0..j).map(|k| a[i * size + k] * a[j * size + k]).sum();
            let rest = a[i * size + j] - dot;
            if i == j {
                if !(rest > 0.0 && rest.is_finite()) {
                    return None;
                }
                a[i * size + j] = rest.sqrt();
            } else {
                a[i * size + j] = rest / a[j * size + j];
            }
        }
    }
    for j in 0..size {
        a[j * size + j] = a[j * size + j].recip();
        for i in j + 1..size {
            let dot: f64 = (j..i).map(|k| a[i * size + k] * a[k * size + j]).sum();
            a[i * size + j] = -dot / a[i * size + i];
        }
    }
    let mut result = vec![0.0; size * size];
    for i in 0..size {
        for j in 0..=i {
            let dot: f64 = (i..size).map(|k| a[k * size + i] * a[k * size + j]).sum();
            let value = dot * scale[i] * scale[j];
            (result[i * size + j], result[j * size + i]) = (value, value);
        }
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn inverse_of_a_known_matrix() {
        // [4 2; 2 3] has determinant 8.
        let found = inverse(vec![4.0, 2.0, 2.0, 3.0], 2).unwrap();
        for (found, expected) in found.iter().zip([0.375, -0.25, -0.25, 0.5]) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        assert_eq!(inverse(vec![1.0, 1.0, 1.0, 1.0], 2), None);
        assert_eq!(inverse(vec![f64::NAN], 1), None);
    }

    proptest! {
        #[test]
        fn a_matrix_times_its_inverse_is_one(
            root in prop::collection::vec(-3f64..3.0, 36), scale in prop::collection::vec(-3i32..4, 6),
        ) {
            // RᵀR + 1, in units that differ as metres and radians do.
            let unit = |i: usize| 10f64.powi(scale[i]);
            let a: Vec<f64> = (0..36).map(|at| {
                let (i, j) = (at / 6, at % 6);
                let dot: f64 = (0..6).map(|k| root[6 * k + i] * root[6 * k + j]).sum();
                (dot + f64::from(u8::from(i == j))) * unit(i) * unit(j)
            }).collect();
            let b = inverse(a.clone(), 6).unwrap();
            for i in 0..6 {
                for j in 0..6 {
                    let one: f64 = (0..6).map(|k| a[6 * i + k] * b[6 * k + j]).sum();
                    let expected = f64::from(u8::from(i == j));
                    prop_assert!((one * unit(j) / unit(i) - expected).abs() < 1e-8, "{i} {j} {one}");
                }
            }
        }
    }
}
