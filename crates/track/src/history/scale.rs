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

    /// Four to ten round values between bottom and top, the least first.
    pub(super) fn ticks(&self) -> Vec<f64> {
        let rough = (self.high - self.low) / 4.0;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [5.0, 2.0, 1.0].map(|digit| digit * power);
        let step = step.into_iter().find(|step| *step <= rough).unwrap_or(power);
        let first = (self.low / step).ceil();
        let values = (0..10).map(|number| (first + f64::from(number)) * step);
        values.take_while(|value| *value <= self.high).collect()
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

    #[test]
    fn ticks_are_round() {
        let ticks = |low, high| Scale { low, high }.ticks();
        assert_eq!(ticks(1000.0, 1100.0), [1000.0, 1020.0, 1040.0, 1060.0, 1080.0, 1100.0]);
        assert_eq!(
            ticks(11_630_852.0, 11_690_000.0),
            [11_640_000.0, 11_650_000.0, 11_660_000.0, 11_670_000.0, 11_680_000.0, 11_690_000.0]
        );
    }

    proptest::proptest! {
        #[test]
        fn there_are_some_whatever_the_values(low in 0.0..1e15_f64, part in 1e-9..10.0_f64) {
            let scale = Scale::of(&[low, low * (1.0 + part)], 1e-5);
            let count = scale.ticks().len();
            proptest::prop_assert!((4..=10).contains(&count), "{scale:?}: {count}");
        }
    }
}
