//! Registration: the radars' systematic errors, estimated from aircraft that several of them see.
//!
//! Each radar has an error of its ranges, of its north mark and of its clock, nearly constant for
//! hours. Where an aircraft is by a plot of one radar and where it is at that instant by another's
//! plots of before and after differ by noise, by what it did not fly straight, and by these six
//! errors; each such difference is one more equation of a least-squares problem over all errors of
//! all radars, weighed by the noise of the three plots (recursive least squares in information form, with
//! forgetting; Bar-Shalom, Li, Kirubarajan: *Estimation with Applications to Tracking and
//! Navigation*, §3.4; the geometry as in Dana: *Registration: a Prerequisite for Multiple Sensor
//! Tracking*, 1990). No plot is in two differences, so that the equations are independent. They
//! are summed as they come and solved every [`SOLVE_S`] seconds of plot time. The track says whose
//! plots they are, and how much it manoeuvres, but not where it flew in between: its velocity has
//! taken in what the radars' clocks differ by, and a difference that it is subtracted from tells of
//! a clock half to nine tenths of its error.
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

use super::inverse::inverse;
use super::linear::{Sym2, Vec2};
use super::measurement::Measurement;

/// Systematic errors of a radar: reported value less true value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Bias {
    /// Error of slant ranges, m.
    pub(super) range_m: f64,
    /// Error of azimuths, radians, clockwise.
    pub(super) azimuth_rad: f64,
    /// Error of stamps, s; positive when they are late.
    pub(super) time_s: f64,
}

impl Bias {
    /// Both errors together.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            range_m: self.range_m + other.range_m,
            azimuth_rad: self.azimuth_rad + other.azimuth_rad,
            time_s: self.time_s + other.time_s,
        }
    }

    fn array(self) -> [f64; 3] {
        [self.range_m, self.azimuth_rad, self.time_s]
    }

    fn of([range_m, azimuth_rad, time_s]: [f64; 3]) -> Self {
        Self { range_m, azimuth_rad, time_s }
    }
}

/// Estimate of one radar's errors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Estimate {
    /// Best estimate; of the clock against the mean of all clocks.
    pub(super) bias: Bias,
    /// Standard deviation of each.
    pub(super) sigma: Bias,
    /// Differences with this radar that were taken in.
    pub(super) differences: u64,
    /// References that were taken in.
    pub(super) references: u64,
}

/// What a radar measured of something whose place is known, less that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reference {
    pub(super) range_m: f64,
    pub(super) azimuth_rad: f64,
    /// How fast the true range and azimuth change: 0 for what stands.
    pub(super) range_rate_m_s: f64,
    pub(super) azimuth_rate_rad_s: f64,
    /// Standard deviations of its noise.
    pub(super) range_sigma_m: f64,
    pub(super) azimuth_sigma_rad: f64,
}

/// Radars that are registered: the problem has three unknowns for each, solved in cubic time.
pub(super) const RADARS_MAX: usize = 64;
/// Standard deviations before anything was measured: what a maintained radar may have.
pub(super) const PRIOR: Bias =
    Bias { range_m: 300.0, azimuth_rad: 0.3 * std::f64::consts::PI / 180.0, time_s: 0.3 };
/// Interval between two solutions of the equations, s of plot time.
pub(super) const SOLVE_S: f64 = 10.0;
/// Plots nearer to their radar than this, over ground, do not count, m.
pub(super) const GROUND_M_MIN: f64 = 10_000.0;
/// A difference counts 1/e after so long, s: errors wander with weather and repair.
const MEMORY_S: f64 = 1_800.0;
/// Longest interval between two plots of a radar that are used for a difference, s: one turn of the
/// slowest radar, two of the fastest. The error from not flying straight grows with its third
/// power.
const SPAN_S_MAX: f64 = 13.0;
/// Largest number of radars whose plots of an aircraft wait at a time.
const WAITING_MAX: usize = 8;
/// Before a radar has so many differences nothing is corrected.
const DIFFERENCES_MIN: u64 = 50;
/// The same for references, and before they tell the true time.
const REFERENCES_MIN: u64 = 20;
/// A reference that is further off than this is none, m and radians.
const REFERENCE_MAX: (f64, f64) = (3_000.0, 0.1);
/// Squared Mahalanobis distance beyond which two plots are not of one aircraft.
const GATE: f64 = 25.0;
/// Threshold of a change: a correction that moves by more than this, and by more than twice its
/// standard deviation, means that the error itself has changed; earlier equations then count less.
const MOVED: Bias =
    Bias { range_m: 20.0, azimuth_rad: 0.02 * std::f64::consts::PI / 180.0, time_s: 0.03 };
const MOVED_DISCOUNT: f64 = 0.2;

/// Unknowns of a radar.
const OF_ONE: usize = 3;
const WIDTH: usize = OF_ONE * RADARS_MAX;

/// Site of a radar.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stand {
    /// In the plane, m.
    pub(super) position: Vec2,
    /// Over the ellipsoid, m.
    pub(super) height_m: f64,
}

/// A plot that waits for another radar's, and its own radar's next.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    track: u16,
    radar: usize,
    time_s: f64,
    position: Vec2,
    covariance: Sym2,
    along: Vec2,
    across: Vec2,
    /// What it was corrected by: along and across, …
    moved: Vec2,
    /// … and its stamp.
    moved_s: f64,
}

/// The least-squares problem over all radars.
#[derive(Debug)]
pub(super) struct Registration {
    /// By the tracker's slot.
    waiting: Vec<Vec<Waiting>>,
    /// Sum of `Gᵀ W G`, `WIDTH` columns a row, the upper triangle of blocks and the lower one.
    information: Vec<f64>,
    /// Sum of `Gᵀ W d`.
    pull: [f64; WIDTH],
    /// Covariance of the last solution, `3 · radars` wide; empty before.
    covariance: Vec<f64>,
    estimates: Vec<Estimate>,
    solved_s: Option<f64>,
    /// References that move, and so tell of stamps.
    moving: u64,
}

impl Default for Registration {
    fn default() -> Self {
        Self {
            waiting: Vec::new(),
            information: vec![0.0; WIDTH * WIDTH],
            pull: [0.0; WIDTH],
            covariance: Vec::new(),
            estimates: Vec::new(),
            solved_s: None,
            moving: 0,
        }
    }
}

impl Registration {
    /// Estimate of a radar's errors, by its index.
    pub(super) fn estimate(&self, radar: usize) -> Estimate {
        self.estimates.get(radar).copied().unwrap_or_default()
    }

    /// Value to subtract from a radar's reports.
    pub(super) fn correction(&self, radar: usize) -> Bias {
        let Estimate { bias, differences, references, .. } = self.estimate(radar);
        let known = differences >= DIFFERENCES_MIN || references >= REFERENCES_MIN;
        if known { bias } else { Bias::default() }
    }

    /// Adds what a radar measured of something whose place is known, as a field monitor or an
    /// aircraft with ADS-B: two equations of its own errors alone, so that one radar is enough.
    /// Returns whether the corrections have changed.
    pub(super) fn refer(&mut self, radar: usize, reference: &Reference, now_s: f64) -> bool {
        let Reference { range_m, azimuth_rad, range_sigma_m, azimuth_sigma_rad, .. } = *reference;
        let near = range_m.abs() < REFERENCE_MAX.0 && azimuth_rad.abs() < REFERENCE_MAX.1;
        if radar >= RADARS_MAX || !near {
            return false;
        }
        if self.estimates.len() <= radar {
            self.estimates.resize(radar + 1, Estimate::default());
        }
        // A late stamp is a position of earlier.
        let rows = [
            ([1.0, 0.0, -reference.range_rate_m_s], range_m, range_sigma_m),
            ([0.0, 1.0, -reference.azimuth_rate_rad_s], azimuth_rad, azimuth_sigma_rad),
        ];
        let first = OF_ONE * radar;
        for (columns, off, sigma) in rows {
            let weight = sigma.powi(-2);
            for (i, a) in columns.iter().enumerate() {
                self.pull[first + i] += weight * a * off;
                for (j, b) in columns.iter().enumerate() {
                    self.information[(first + i) * WIDTH + first + j] += weight * a * b;
                }
            }
        }
        self.estimates[radar].references += 1;
        self.moving += u64::from(reference.range_rate_m_s != 0.0);
        let since = *self.solved_s.get_or_insert(now_s);
        (now_s - since).abs() >= SOLVE_S && self.solve(now_s)
    }

    /// Adds a plot (corrected by [`Registration::correction`]) that updated the track `number` in
    /// `slot`, whose velocity is `velocity`, disturbed by accelerations of density `q`. Returns
    /// whether the corrections have changed.
    pub(super) fn observe(
        &mut self,
        (slot, number): (usize, u16),
        m: &Measurement,
        height_m: f64,
        stand: Stand,
        (velocity, q): (Vec2, f64),
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
        let (along, across) = (unit * stretch, Vec2::new(unit.y, -unit.x) * ground_m);
        let correction = self.correction(radar);
        let plot = Waiting {
            track: number,
            radar,
            time_s: m.time_s,
            position: m.position,
            covariance: m.covariance,
            along,
            across,
            moved: along * correction.range_m + across * correction.azimuth_rad,
            moved_s: correction.time_s,
        };
        if let Some((before, between)) = self.partners(slot, &plot) {
            self.difference([&before, &plot], &between, velocity, q);
        }
        let since = *self.solved_s.get_or_insert(m.time_s);
        // Time that leaps back, too: plots of another day.
        (m.time_s - since).abs() >= SOLVE_S && self.solve(m.time_s)
    }

    /// The plot before of the same radar, and one of another radar in between; both are then used
    /// up, and so is `plot`. Else `plot` waits.
    fn partners(&mut self, slot: usize, plot: &Waiting) -> Option<(Waiting, Waiting)> {
        if self.waiting.len() <= slot {
            self.waiting.resize_with(slot + 1, Vec::new);
        }
        let waiting = &mut self.waiting[slot];
        waiting.retain(|other| {
            other.track == plot.track && (plot.time_s - other.time_s).abs() <= SPAN_S_MAX
        });
        let Some(first) = waiting.iter().position(|other| other.radar == plot.radar) else {
            if waiting.len() < WAITING_MAX {
                waiting.push(*plot);
            }
            return None;
        };
        let before = waiting[first];
        // Nearer to the middle of the interval a deviation from straight flight matters less.
        let inside = |at_s: f64| (at_s - before.time_s).min(plot.time_s - at_s);
        let second = (0..waiting.len())
            .filter(|&index| index != first && inside(waiting[index].time_s) > 0.0)
            .max_by(|&a, &b| inside(waiting[a].time_s).total_cmp(&inside(waiting[b].time_s)));
        let Some(second) = second else {
            waiting[first] = *plot;
            return None;
        };
        let between = waiting[second];
        waiting.swap_remove(first.max(second));
        waiting.swap_remove(first.min(second));
        Some((before, between))
    }

    /// Adds one equation: the plot `b` less the position interpolated to its time from the two
    /// plots `a` of another radar.
    fn difference(&mut self, a: [&Waiting; 2], b: &Waiting, velocity: Vec2, q: f64) {
        let [before, after] = a;
        let span_s = after.time_s - before.time_s;
        let later = (b.time_s - before.time_s) / span_s;
        let earlier = 1.0 - later;
        let mean = |of: [Vec2; 2]| of[0] * earlier + of[1] * later;
        // What white-noise acceleration makes of the middle of a path whose ends are known.
        let bent = q * span_s.powi(3) * (earlier * later).powi(2) / 3.0;
        let covariance = b.covariance
            + before.covariance * (earlier * earlier)
            + after.covariance * (later * later)
            + Sym2::isotropic(bent);
        let seen = b.position - mean([before.position, after.position]);
        // A late stamp is a position of earlier.
        let of_a = [mean([before.along, after.along]), mean([before.across, after.across])];
        let (of_b, a) = ([b.along, b.across], before.radar);
        let columns = [of_b[0], of_b[1], velocity * -1.0, of_a[0] * -1.0, of_a[1] * -1.0, velocity];
        let place = |k: usize| OF_ONE * if k < OF_ONE { b.radar } else { a } + k % OF_ONE;
        if self.estimates.len() <= a.max(b.radar) {
            self.estimates.resize(a.max(b.radar) + 1, Estimate::default());
        }
        let unknown = self.spread(&columns, &place);
        let plausible = (covariance + unknown).inverse().is_some_and(|s| s.quadratic(seen) <= GATE);
        let Some(weight) = covariance.inverse().filter(|_| plausible) else { return };
        // The corrections are added back, because all equations are about the whole error.
        let moved_s = earlier * before.moved_s + later * after.moved_s;
        let whole =
            seen + b.moved - mean([before.moved, after.moved]) + velocity * (moved_s - b.moved_s);
        for i in 0..2 * OF_ONE {
            let weighed = weight.apply(columns[i]);
            self.pull[place(i)] += weighed.dot(whole);
            for (j, column) in columns.iter().enumerate() {
                self.information[place(i) * WIDTH + place(j)] += weighed.dot(*column);
            }
        }
        self.estimates[a].differences += 1;
        self.estimates[b.radar].differences += 1;
    }

    /// Uncertainty of the difference due to the uncertainty of the errors.
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
            *self = Self::default();
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
        true
    }

    /// Takes the mean of the clocks as true: only deviations from it can be estimated, and their
    /// standard deviation is that of the difference.
    fn centre_times(&mut self, size: usize) {
        if self.moving >= REFERENCES_MIN {
            // Their time is the true one.
            return;
        }
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
