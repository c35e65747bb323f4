//! Waiting in front of a busy element.
//!
//! The model is M/G/1: packets of the cross traffic arrive at random (Poisson), one is served at a
//! time, first come first served, and service times have any distribution. The waiting time of an
//! arrival is then, by Pollaczek and Khinchine, a geometric number of residual service times
//! (L. Kleinrock, *Queueing Systems* I, 1975, 5.11): `P(n) = (1 − ρ) ρⁿ`.

use super::Shape;

/// Distribution of waiting times where the service time is `service` (in cells, of those who are
/// served) and a share `utilisation` of the time is busy, on `service`'s grid. From 1 on the queue
/// would grow for ever: it counts as `UTILISATION_MAX`.
#[must_use]
pub fn waiting(service: &Shape, utilisation: f64) -> Shape {
    let utilisation = utilisation.clamp(0.0, UTILISATION_MAX);
    let residual = residual(service);
    // W is 0 with probability 1 − ρ, else R + W': solved cell by cell.
    let mut mass = vec![0.0; residual.len()];
    let own = 1.0 - utilisation * residual[0];
    for cell in 0..mass.len() {
        let others: f64 = (1..=cell).map(|back| residual[back] * mass[cell - back]).sum();
        let idle = if cell == 0 { 1.0 - utilisation } else { 0.0 };
        mass[cell] = (idle + utilisation * others) / own;
    }
    // The tail that the grid has no room for.
    if let Some(last) = mass.len().checked_sub(1) {
        mass[last] += (1.0 - mass.iter().sum::<f64>()).max(0.0);
    }
    Shape::of_masses(mass)
}

/// Highest utilisation that is reckoned with.
pub const UTILISATION_MAX: f64 = 0.99;

/// Distribution of the residual service time at an arrival: density `(1 − F(x)) / E[S]`. A service
/// of `k` cells leaves one of `k` equal parts, each put half into the cell below and half into that
/// above, which keeps the mean right.
fn residual(service: &Shape) -> Vec<f64> {
    let mass = service.mass();
    let mean: f64 = mass.iter().enumerate().map(|(cell, m)| cell as f64 * m).sum();
    let mut residual = vec![0.0; mass.len()];
    if mean == 0.0 {
        residual[0] = 1.0;
        return residual;
    }
    let mut longer: f64 = 1.0;
    for cell in 0..mass.len() {
        longer -= mass[cell];
        let part = longer.max(0.0) / mean / 2.0;
        residual[cell] += part;
        if let Some(next) = residual.get_mut(cell + 1) {
            *next += part;
        }
    }
    residual
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(shape: &Shape) -> f64 {
        shape.mass().iter().enumerate().map(|(cell, m)| cell as f64 * m).sum()
    }

    /// E\[W\] = ρ E\[S²\] / (2 E\[S\] (1 − ρ)).
    #[test]
    fn means_are_those_of_pollaczek_and_khinchine() {
        let fixed = Shape::of([40.0], 1.0, 4096);
        let mixed = Shape::of([10.0, 10.0, 10.0, 130.0], 1.0, 4096);
        for utilisation in [0.1, 0.5, 0.8] {
            for (service, first, second) in [(&fixed, 40.0, 1600.0), (&mixed, 40.0, 4300.0)] {
                let expected = utilisation * second / (2.0 * first * (1.0 - utilisation));
                let found = mean(&waiting(service, utilisation));
                assert!((found - expected).abs() < 0.01 * expected, "{found} for {expected}");
            }
        }
    }

    /// M/M/1: P(W > t) = ρ e^(−(1 − ρ) t / E\[S\]).
    #[test]
    fn exponential_service_waits_exponentially() {
        let masses = (0..4096).map(|cell| (-f64::from(cell) / 50.0).exp()).collect();
        let waiting = waiting(&Shape::of_masses(masses), 0.8);
        for cells in [0.0_f64, 50.0, 200.0, 500.0] {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let longer: f64 = waiting.mass()[cells as usize + 1..].iter().sum();
            let expected = 0.8 * (-0.2 * cells / 50.0).exp();
            assert!((longer - expected).abs() < 0.015, "{cells}: {longer} for {expected}");
        }
    }

    #[test]
    fn an_idle_element_and_an_overloaded_one() {
        let service = Shape::of([10.0], 1.0, 64);
        assert_eq!(waiting(&service, 0.0), Shape::none(64));
        let sum: f64 = waiting(&service, 7.0).mass().iter().sum();
        assert!((sum - 1.0).abs() < 1e-9);
        assert_eq!(waiting(&Shape::none(8), 0.9), Shape::none(8));
    }
}
