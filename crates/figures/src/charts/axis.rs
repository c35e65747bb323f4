//! Axes: which values there is room for, where they are, and which of them are labelled.

use super::shapes::text_width;
use crate::numbers;

/// Scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences are equally long.
    Linear,
    /// Equal ratios are equally long. Values that are not above zero are not drawn.
    Log,
}

/// An axis.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Label of the axis with its unit; empty: no label.
    pub label: String,
    /// Scale of the values.
    pub scale: Scale,
    /// The first and the last value; otherwise all values have room.
    pub range: Option<[f64; 2]>,
    /// Values with their labels; otherwise round values. Labels that would overlap are left out.
    pub ticks: Option<Vec<(f64, String)>>,
}

impl Axis {
    /// A linear axis that has room for all values, and for zero unless some are below it.
    #[must_use]
    pub fn linear(label: &str) -> Self {
        Self { label: label.to_owned(), scale: Scale::Linear, range: None, ticks: None }
    }

    /// A logarithmic axis that has room for all values above zero.
    #[must_use]
    pub fn log(label: &str) -> Self {
        Self { scale: Scale::Log, ..Self::linear(label) }
    }

    /// An axis of times: values are seconds since `from_ns`, ticks are at round times of a zone
    /// that is `offset_ns` ahead of UTC, and `name` writes a time in nanoseconds since 1970.
    #[must_use]
    pub fn time(
        label: &str,
        [from_ns, until_ns]: [i64; 2],
        offset_ns: i64,
        name: impl Fn(i64) -> String,
    ) -> Self {
        let second = |at_ns: i64| from_ns.abs_diff(at_ns) as f64 / 1e9;
        let times = round_times([from_ns, until_ns], offset_ns, 12);
        let ticks = times.into_iter().map(|at_ns| (second(at_ns), name(at_ns))).collect();
        Self { ticks: Some(ticks), ..Self::linear(label).within(0.0, second(until_ns)) }
    }

    /// The same from a first to a last value.
    #[must_use]
    pub fn within(self, from: f64, to: f64) -> Self {
        Self { range: Some([from, to]), ..self }
    }

    /// The same with these labels at these values.
    #[must_use]
    pub fn labelled(self, ticks: impl IntoIterator<Item = (f64, String)>) -> Self {
        Self { ticks: Some(ticks.into_iter().collect()), ..self }
    }

    /// With at most this many ticks.
    pub(super) fn fit(&self, values: impl Iterator<Item = f64>, most: usize) -> Fitted {
        let [low, high] = self.ends(values);
        let mut fitted = Fitted { low, high, scale: self.scale, ticks: Vec::new() };
        fitted.ticks = match &self.ticks {
            Some(named) => {
                let shown = named.iter().filter(|(value, _)| fitted.holds(*value));
                shown.cloned().collect()
            }
            None => {
                let round = match self.scale {
                    Scale::Linear => ticks(low, high, most),
                    Scale::Log => log_ticks(low, high, most),
                };
                round.into_iter().map(|value| (value, numbers::significant(value))).collect()
            }
        };
        fitted
    }

    /// With ticks whose labels do not overlap side by side on so many pixels.
    pub(super) fn fit_within(&self, values: impl Iterator<Item = f64>, pixels: f64) -> Fitted {
        let values: Vec<f64> = values.collect();
        let mut fitted = Fitted { low: 0.0, high: 1.0, scale: self.scale, ticks: Vec::new() };
        for most in (2..=10).rev() {
            fitted = self.fit(values.iter().copied(), most);
            if self.ticks.is_some() || fitted.overlapping(pixels).is_none() {
                break;
            }
        }
        while let Some(second) = fitted.overlapping(pixels) {
            fitted.ticks.remove(second);
        }
        fitted
    }

    fn ends(&self, values: impl Iterator<Item = f64>) -> [f64; 2] {
        let is_log = self.scale == Scale::Log;
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| value.is_finite() && (!is_log || *value > 0.0)) {
            (least, most) = (least.min(value), most.max(value));
        }
        if least > most {
            (least, most) = (if is_log { 1.0 } else { 0.0 }, 1.0);
        }
        if is_log {
            let [from, to] = self.range.unwrap_or([least / 1.3, most * 1.3]);
            let from = from.max(1e-12);
            return [from, to.max(from * 2.0)];
        }
        let from = if least >= 0.0 { 0.0 } else { least * 1.06 };
        let to = if most > from { most + (most - from) * 0.06 } else { from + 1.0 };
        let [from, to] = self.range.unwrap_or([from, to]);
        [from, if to > from { to } else { from + 1.0 }]
    }
}

/// An axis whose ends and ticks are known.
pub(super) struct Fitted {
    pub(super) low: f64,
    high: f64,
    scale: Scale,
    pub(super) ticks: Vec<(f64, String)>,
}

impl Fitted {
    /// Relative position of a value: 0 at the low end, 1 at the high end. Values beyond an end are
    /// at that end.
    pub(super) fn part(&self, value: f64) -> f64 {
        let part = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Whether a value can be drawn at all.
    pub(super) fn is_drawn(&self, value: f64) -> bool {
        value.is_finite() && (self.scale == Scale::Linear || value > 0.0)
    }

    /// Whether a value is between the ends.
    pub(super) fn holds(&self, value: f64) -> bool {
        let slack = (self.high - self.low) * 1e-9;
        (self.low - slack..=self.high + slack).contains(&value)
    }

    /// The first tick whose label would overlap the one before it.
    fn overlapping(&self, pixels: f64) -> Option<usize> {
        let is_close = |pair: &[(f64, String)]| {
            let width = (text_width(&pair[0].1) + text_width(&pair[1].1)) / 2.0;
            (self.part(pair[1].0) - self.part(pair[0].0)) * pixels < width + 10.0
        };
        self.ticks.windows(2).position(is_close).map(|first| first + 1)
    }
}

/// Round values between two ends, both included: 1, 2 or 5 times a power of ten apart, and as many
/// as possible up to `most`.
#[must_use]
pub fn ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    let span = high - low;
    if !span.is_finite() || span <= 0.0 {
        return Vec::new();
    }
    let power = (span / most.max(1) as f64).log10().floor();
    let steps =
        (0..3).flat_map(|more| [1.0, 2.0, 5.0].map(|digit| (digit, power + f64::from(more))));
    for (digit, power) in steps {
        // Divided where it can be: 3 / 10 is 0.3 and 3 * 0.1 is not.
        let value = |n: f64| match power < 0.0 {
            true => n * digit / 10_f64.powf(-power),
            false => n * digit * 10_f64.powf(power),
        };
        let slack = 1e-9;
        let first = (low / value(1.0) - slack).ceil();
        let last = (high / value(1.0) + slack).floor();
        let count = last - first + 1.0;
        if count <= most as f64 {
            let whole = (0..most).map(|n| first + n as f64).take_while(|n| *n <= last);
            return whole.map(|n| if n == 0.0 { 0.0 } else { value(n) }).collect();
        }
    }
    Vec::new()
}

/// Powers of ten, as many of their 2- and 5-fold as there is room for; round values where the ends
/// are so close that fewer than two of them are between.
fn log_ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    #[expect(clippy::cast_possible_truncation, reason = "an exponent")]
    let exponents = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let within = |digits: &[f64], every: usize| -> Vec<f64> {
        let powers = exponents.clone().step_by(every).map(|exponent| 10_f64.powi(exponent));
        let all = powers.flat_map(|power| digits.iter().map(move |digit| digit * power));
        all.filter(|value| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(value)).collect()
    };
    let fine = within(&[1.0, 2.0, 5.0], 1);
    if fine.len() < 2 {
        return ticks(low, high, most);
    }
    let coarse = (1..).map(|every| within(&[1.0], every));
    let mut all = std::iter::once(fine).chain(coarse.take(40));
    all.find(|found| found.len() <= most.max(1)).unwrap_or_default()
}

/// Round times from a first to a last one, in nanoseconds since 1970: a round number of seconds,
/// minutes, hours or days of a zone apart that is `offset_ns` ahead of UTC, and at most `most` of
/// them.
#[must_use]
pub fn round_times([from_ns, until_ns]: [i64; 2], offset_ns: i64, most: usize) -> Vec<i64> {
    const SECOND: i64 = 1_000_000_000;
    let small = (0..9).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_i64.pow(power)));
    let seconds = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800];
    let hours = [1, 2, 3, 6, 12, 24, 48, 168, 336, 720, 2160, 8760].map(|hours| hours * 3600);
    let large = seconds.into_iter().chain(hours).map(|seconds| seconds * SECOND);
    let span = i128::from(until_ns) - i128::from(from_ns);
    let enough = |step: &i64| span / i128::from(*step) < most.max(1) as i128;
    let Some(step) = small.chain(large).find(enough) else { return Vec::new() };
    let (step, offset) = (i128::from(step), i128::from(offset_ns));
    let local = i128::from(from_ns) + offset;
    let first = local + (-local).rem_euclid(step);
    let times = (0..most as i128).map(|number| first + number * step - offset);
    let within = times.take_while(|time| *time <= i128::from(until_ns));
    within.filter_map(|time| i64::try_from(time).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(0.0, 1.06, 6), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
        assert_eq!(ticks(-0.3, 0.3, 7), [-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3]);
        assert_eq!(ticks(1000.0, 1100.0, 6), [1000.0, 1020.0, 1040.0, 1060.0, 1080.0, 1100.0]);
        assert_eq!(ticks(3.0, 3.0, 6), []);
    }

    #[test]
    fn ticks_of_ratios_are_powers() {
        assert_eq!(log_ticks(0.9, 150.0, 8), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert_eq!(log_ticks(0.9, 15_000.0, 6), [1.0, 10.0, 100.0, 1000.0, 10_000.0]);
        assert_eq!(log_ticks(30.0, 40.0, 6), [30.0, 32.0, 34.0, 36.0, 38.0, 40.0]);
        assert!(log_ticks(1e-12, 1e300, 8).len() <= 8);
    }

    #[test]
    fn times_are_round_in_their_zone() {
        let noon = 1_795_262_400_000_000_000; // 2026-11-21 12:00 UTC
        let minute = 60_000_000_000;
        let found = round_times([noon + 1, noon + 30 * minute], 0, 8);
        assert_eq!(found, [5, 10, 15, 20, 25, 30].map(|n| noon + n * minute));
        let half = round_times([noon, noon + 48 * 60 * minute], 330 * minute, 6);
        assert_eq!(half, [390, 1110, 1830, 2550].map(|n| noon + n * minute));
    }

    proptest::proptest! {
        /// Some are there, no more than wanted, and all between the ends.
        #[test]
        fn there_are_some_whatever_the_values(
            low in -1e12..1e12_f64, part in 1e-3..1e3_f64, most in 4_usize..12,
        ) {
            let high = low + (low.abs() + 1.0) * part;
            let found = ticks(low, high, most);
            proptest::prop_assert!((1..=most).contains(&found.len()), "{found:?}");
            let slack = (high - low) * 1e-6;
            let inside = found.iter().all(|tick| (low - slack..=high + slack).contains(tick));
            proptest::prop_assert!(inside, "{low} {high} {found:?}");
        }
    }
}
