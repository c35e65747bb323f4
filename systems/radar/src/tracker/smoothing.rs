//! Fixed-interval smoothing: where an aircraft was, by all its plots, earlier and later ones.
//!
//! For evaluation, where no truth is known: a smoothed path has no lag in turns and about half the
//! error of a filter's. Forwards the plots of a track go through a constant-velocity filter whose
//! noise at each plot is what the tracker's filter found there; backwards each state is corrected by
//! the later ones (Rauch, Tung, Striebel: *Maximum likelihood estimates of linear dynamic systems*,
//! AIAA Journal 3(8), 1965).

use super::inverse::inverse;
use super::kinematic::{Kinematic, Step};
use super::linear::{Mat2, Sym2, Vec2};

/// A plot that a track took in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Time of the plot, s.
    pub time_s: f64,
    /// Position of the plot, m.
    pub position: Vec2,
    /// Covariance of the position, m².
    pub covariance: Sym2,
    /// Density of the acceleration noise that the tracker found there, m²/s³.
    pub q: f64,
}

type Mat4 = [[f64; 4]; 4];

/// The smoothed state at each of `samples`, in their order of time; samples that are older than the
/// one before are left out. `speed_sigma` is the standard deviation of each component of an unknown
/// velocity, m/s.
#[must_use]
pub fn smoothed(samples: &[Sample], speed_sigma: f64) -> Vec<(f64, Kinematic)> {
    let Some(first) = samples.first() else { return Vec::new() };
    let state = Kinematic::from_position(first.position, first.covariance, speed_sigma);
    // Time, state before the plot, and state after it.
    let mut forwards = vec![(first.time_s, state, state)];
    for sample in &samples[1..] {
        let (time_s, _, state) = forwards[forwards.len() - 1];
        if sample.time_s <= time_s {
            continue;
        }
        let before = state.predicted(&Step::straight(sample.time_s - time_s, sample.q));
        let mut after = before;
        if after.update(sample.position, sample.covariance).is_some() {
            forwards.push((sample.time_s, before, after));
        }
    }
    let Some(&(last_s, _, last)) = forwards.last() else { return Vec::new() };
    let mut backwards = vec![(last_s, last)];
    let mut later = last;
    for pair in forwards.windows(2).rev() {
        let [(time_s, _, filtered), (next_s, predicted, _)] = pair else { continue };
        later = corrected(filtered, predicted, &later, next_s - time_s).unwrap_or(*filtered);
        backwards.push((*time_s, later));
    }
    backwards.reverse();
    backwards
}

/// `filtered`, corrected by what is known of the next state: `predicted` from it, `later` by all
/// plots. `None` when numbers are broken.
fn corrected(
    filtered: &Kinematic,
    predicted: &Kinematic,
    later: &Kinematic,
    dt: f64,
) -> Option<Kinematic> {
    let (p, next, smooth) = (matrix(filtered), matrix(predicted), matrix(later));
    let inverted = inverse(next.iter().flatten().copied().collect(), 4)?;
    let inverted: Mat4 = std::array::from_fn(|i| std::array::from_fn(|j| inverted[4 * i + j]));
    // P Fᵀ: positions of the next state have the velocities times dt in them.
    let moved: Mat4 = std::array::from_fn(|i| {
        std::array::from_fn(|j| if j < 2 { p[i][j] + dt * p[i][j + 2] } else { p[i][j] })
    });
    let gain = product(&moved, &inverted);
    let off = [
        later.position.x - predicted.position.x,
        later.position.y - predicted.position.y,
        later.velocity.x - predicted.velocity.x,
        later.velocity.y - predicted.velocity.y,
    ];
    let add: [f64; 4] = std::array::from_fn(|i| (0..4).map(|j| gain[i][j] * off[j]).sum());
    let less: Mat4 = std::array::from_fn(|i| std::array::from_fn(|j| smooth[i][j] - next[i][j]));
    let transposed: Mat4 = std::array::from_fn(|i| std::array::from_fn(|j| gain[j][i]));
    let change = product(&product(&gain, &less), &transposed);
    let c = |i: usize, j: usize| p[i][j] + change[i][j];
    Some(Kinematic {
        position: filtered.position + Vec2::new(add[0], add[1]),
        velocity: filtered.velocity + Vec2::new(add[2], add[3]),
        pp: Sym2 { xx: c(0, 0), xy: 0.5 * (c(0, 1) + c(1, 0)), yy: c(1, 1) },
        pv: Mat2 { a: c(0, 2), b: c(0, 3), c: c(1, 2), d: c(1, 3) },
        vv: Sym2 { xx: c(2, 2), xy: 0.5 * (c(2, 3) + c(3, 2)), yy: c(3, 3) },
    })
}

/// The whole covariance of a state: x, y and their velocities.
fn matrix(k: &Kinematic) -> Mat4 {
    [
        [k.pp.xx, k.pp.xy, k.pv.a, k.pv.b],
        [k.pp.xy, k.pp.yy, k.pv.c, k.pv.d],
        [k.pv.a, k.pv.c, k.vv.xx, k.vv.xy],
        [k.pv.b, k.pv.d, k.vv.xy, k.vv.yy],
    ]
}

fn product(a: &Mat4, b: &Mat4) -> Mat4 {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..4).map(|k| a[i][k] * b[k][j]).sum()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_statistics::Random;

    /// Straight for 400 s at 220 m/s, a plot every 5 s with 200 m of noise, a hundred times.
    #[test]
    fn a_smoothed_path_is_much_nearer_and_says_how_near() {
        let mut random = Random(9);
        let (mut plots, mut smooth, mut nees, mut count) = (0.0, 0.0, 0.0, 0.0);
        for _ in 0..100 {
            let at = |t: f64| Vec2::new(220.0 * t, 50.0 * t);
            let samples: Vec<Sample> = (0..80)
                .map(|k| {
                    let time_s = 5.0 * f64::from(k);
                    let noise = Vec2::new(random.normal(), random.normal()) * 200.0;
                    let covariance = Sym2::isotropic(200.0 * 200.0);
                    Sample { time_s, position: at(time_s) + noise, covariance, q: 0.05 }
                })
                .collect();
            for ((time_s, state), sample) in smoothed(&samples, 300.0).iter().zip(&samples) {
                let error = state.position - at(*time_s);
                smooth += error.norm_squared();
                plots += (sample.position - at(*time_s)).norm_squared();
                nees += state.pp.inverse().unwrap().quadratic(error);
                count += 1.0;
            }
        }
        let gain: f64 = f64::sqrt(smooth / plots);
        assert!(gain < 0.35, "{gain}");
        // It allows for accelerations that there were not: no more than two.
        let nees: f64 = nees / count;
        assert!((0.8..2.2).contains(&nees), "{nees}");
    }

    #[test]
    fn what_is_out_of_order_is_left_out() {
        let sample = |time_s: f64| Sample {
            time_s,
            position: Vec2::new(time_s, 0.0),
            covariance: Sym2::isotropic(1.0),
            q: 0.1,
        };
        assert!(smoothed(&[], 100.0).is_empty());
        assert_eq!(smoothed(&[sample(1.0)], 100.0).len(), 1);
        let times: Vec<f64> =
            smoothed(&[sample(1.0), sample(5.0), sample(4.0), sample(9.0)], 100.0)
                .iter()
                .map(|(time_s, _)| *time_s)
                .collect();
        assert_eq!(times, [1.0, 5.0, 9.0]);
    }
}
