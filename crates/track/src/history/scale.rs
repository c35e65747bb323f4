//! Vertical scale of a picture.

/// Values at the bottom and at the top.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Scale {
    /// The range from the smallest to the largest value, but at least as wide as the smallest step
    /// that counts, so that noise is not drawn as a step.
    pub(super) fn of(values: &[f64], floor: f64) -> Scale {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(0.0, f64::max);
        let least = (low * floor * 2.0).max(1.0);
        if high - low >= least {
            return Scale { low, high };
        }
        let middle = f64::midpoint(low, high);
        Scale { low: middle - least / 2.0, high: middle + least / 2.0 }
    }

    /// Position of a value, from 0 at the bottom to 1 at the top; values outside are clamped.
    pub(super) fn part(&self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_beneath_the_floor_is_a_line() {
        let scale = Scale::of(&[1e9, 1e9 + 900.0, 1e9], 1e-5);
        let parts = [1e9, 1e9 + 900.0].map(|value| scale.part(value));
        assert!(parts[1] - parts[0] < 0.05, "{parts:?}");
    }
}
