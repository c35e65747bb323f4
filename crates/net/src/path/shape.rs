//! Distributions of delays on a grid: sums of independent delays, and what one of them was.

/// A distribution of delays: `mass[i]` is the probability of `i` cells. What lies beyond the last
/// cell is in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    mass: Vec<f64>,
}

impl Shape {
    /// No delay, on a grid of `cells`.
    ///
    /// # Panics
    /// If `cells` is 0.
    #[must_use]
    pub fn none(cells: usize) -> Self {
        let mut mass = vec![0.0; cells];
        mass[0] = 1.0;
        Self { mass }
    }

    /// Shape of measured delays, each put into the nearest cell; those below 0 count as 0. Without
    /// delays the result is a delay of 0.
    ///
    /// # Panics
    /// If `cells` is 0.
    #[must_use]
    pub fn of(delays_ns: impl IntoIterator<Item = f64>, cell_ns: f64, cells: usize) -> Self {
        let mut mass = vec![0.0; cells];
        let mut count = 0.0;
        for delay_ns in delays_ns {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // clamped
            let cell = (delay_ns / cell_ns).round().clamp(0.0, (cells - 1) as f64) as usize;
            mass[cell] += 1.0;
            count += 1.0;
        }
        if count == 0.0 {
            return Self::none(cells);
        }
        mass.iter_mut().for_each(|m| *m /= count);
        Self { mass }
    }

    /// Shape of masses, normalised to a sum of one; a delay of 0 where all are 0.
    #[must_use]
    pub fn of_masses(mut mass: Vec<f64>) -> Self {
        let sum: f64 = mass.iter().sum();
        if sum > 0.0 {
            mass.iter_mut().for_each(|m| *m /= sum);
            Self { mass }
        } else {
            Self::none(mass.len())
        }
    }

    /// Probability of each number of cells.
    #[must_use]
    pub fn mass(&self) -> &[f64] {
        &self.mass
    }

    /// The distribution of the sum of this and another, independent delay.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let mut mass = convolve(&self.mass, &other.mass);
        // What rounding took or added.
        let sum: f64 = mass.iter().sum();
        mass.iter_mut().for_each(|m| *m /= sum);
        Self { mass }
    }

    /// The smallest number of cells that is not exceeded with probability `share`, in `[0, 1]`:
    /// the nearest rank, as everywhere.
    #[must_use]
    pub fn quantile(&self, share: f64) -> usize {
        // Sums of shares of a count differ from the count's own share in the last places.
        const ROUNDING: f64 = 1e-9;
        let mut sum = 0.0;
        let found = self.mass.iter().position(|m| {
            sum += m;
            sum >= share - ROUNDING && sum > 0.0
        });
        found.unwrap_or(self.mass.len() - 1)
    }

    /// The delay that, added to `without`, gives this one: the most likely one without negative
    /// masses, approached by `rounds` of Richardson and Lucy's iteration (W. H. Richardson 1972, L.
    /// B. Lucy 1974). Few rounds leave the result smooth; many follow the noise of the measurement.
    #[must_use]
    pub fn without(&self, without: &Self, rounds: usize) -> Self {
        let cells = self.mass.len();
        // Beyond this one's last delay there is nothing to find.
        let last = self.mass.iter().rposition(|m| *m > 0.0).unwrap_or(0);
        let mut found = vec![0.0; cells];
        found[..=last].fill(1.0 / (last + 1) as f64);
        let kernel = until_last(&without.mass);
        for _ in 0..rounds {
            let made = convolve(&found, &without.mass);
            let ratio: Vec<f64> = self
                .mass
                .iter()
                .zip(&made)
                .map(|(wanted, made)| if *made > 0.0 { wanted / made } else { 0.0 })
                .collect();
            for (cell, mass) in found[..=last].iter_mut().enumerate() {
                *mass *= correlate(&ratio, kernel, cell);
            }
        }
        Self::of_masses(found)
    }
}

/// Sums of products; what goes beyond the last cell is put into it.
fn convolve(a: &[f64], b: &[f64]) -> Vec<f64> {
    let (cells, b) = (a.len(), until_last(b));
    let mut sum = vec![0.0; cells];
    for (i, x) in a.iter().enumerate().filter(|(_, x)| **x > 0.0) {
        let (inside, beyond) = b.split_at(b.len().min(cells - i));
        for (s, y) in sum[i..].iter_mut().zip(inside) {
            *s += x * y;
        }
        sum[cells - 1] += x * beyond.iter().sum::<f64>();
    }
    sum
}

/// Share of `ratio` that a delay of `cell` reaches through `kernel`.
fn correlate(ratio: &[f64], kernel: &[f64], cell: usize) -> f64 {
    let cells = ratio.len();
    let (inside, beyond) = kernel.split_at(kernel.len().min(cells - cell));
    let sum: f64 = ratio[cell..].iter().zip(inside).map(|(r, k)| r * k).sum();
    sum + ratio[cells - 1] * beyond.iter().sum::<f64>()
}

/// The cells until the last one that is not empty: most shapes are short on a grid that has room for the
/// sum of all.
fn until_last(mass: &[f64]) -> &[f64] {
    let last = mass.iter().rposition(|m| *m != 0.0);
    &mass[..last.map_or(0, |last| last + 1)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn two_dice() {
        let die = Shape::of((1..=6).map(f64::from), 1.0, 16);
        let sum = die.plus(&die);
        for (eyes, ways) in [(1, 0.0), (2, 1.0), (7, 6.0), (12, 1.0), (13, 0.0)] {
            assert!((sum.mass()[eyes] - ways / 36.0).abs() < 1e-12, "{eyes}");
        }
        assert_eq!(sum.quantile(0.5), 7);
        assert_eq!(sum.quantile(1.0), 12);
        assert_eq!(sum.quantile(0.0), 2);
    }

    #[test]
    fn what_goes_beyond_is_in_the_last_cell() {
        let late = Shape::of([3.0], 1.0, 4);
        assert_eq!(late.plus(&late).mass(), [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(Shape::of([99.0, -5.0], 1.0, 4).mass(), [0.5, 0.0, 0.0, 0.5]);
    }

    #[test]
    fn one_of_two_dice_is_found() {
        let die = Shape::of((1..=6).map(f64::from), 1.0, 16);
        let found = die.plus(&die).without(&die, 2000);
        for (eyes, mass) in found.mass().iter().enumerate() {
            let expected = if (1..=6).contains(&eyes) { 1.0 / 6.0 } else { 0.0 };
            assert!((mass - expected).abs() < 0.01, "{eyes}: {mass}");
        }
    }

    proptest! {
        /// Whatever is measured, a distribution comes out, and what is found explains at least the
        /// median.
        #[test]
        fn is_a_distribution(
            with in prop::collection::vec(0.0..90.0, 1..60),
            without in prop::collection::vec(0.0..40.0, 0..60),
        ) {
            let with = Shape::of(with, 1.0, 100);
            let without = Shape::of(without, 1.0, 100);
            for shape in [with.plus(&without), with.without(&without, 10)] {
                prop_assert!((shape.mass().iter().sum::<f64>() - 1.0).abs() < 1e-9);
                prop_assert!(shape.mass().iter().all(|m| *m >= 0.0));
            }
        }

        #[test]
        fn order_does_not_matter(
            a in prop::collection::vec(0.0..50.0, 1..20),
            b in prop::collection::vec(0.0..50.0, 1..20),
        ) {
            let (a, b) = (Shape::of(a, 1.0, 64), Shape::of(b, 1.0, 64));
            for (x, y) in a.plus(&b).mass().iter().zip(b.plus(&a).mass()) {
                prop_assert!((x - y).abs() < 1e-12);
            }
        }
    }
}
