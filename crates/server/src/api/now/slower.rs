//! "The system starts to become slow": a minute held against the minutes before it.

use chronoscope_statistics::median;

/// Minutes at the end that are not taken for the past: what begins to be slow is in them.
const RECENT: usize = 5;
/// Minutes of history without which no alarm is raised.
const PAST_MIN: usize = 10;
/// Rises up to this part of the usual value raise no alarm.
const PART_MIN: f64 = 0.2;
/// Rises up to so many standard deviations of the past minutes are none. Medians of minutes are
/// nearly normal; with six of them a false alarm is a matter of years.
const DEVIATIONS_MIN: f64 = 6.0;
/// Standard deviation of a normal variable by its median absolute deviation.
const DEVIATION_BY_MAD: f64 = 1.4826;
/// Rises up to so many nanoseconds are none: one bucket's width near a microsecond.
const RISE_MIN_NS: f64 = 1_000.0;
/// A height that more than one in so many minutes had before is no rise.
const AS_HIGH_MAX: usize = 4;

/// A rise that has lasted until now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Slower {
    /// Index of the first minute of it.
    pub(super) since: usize,
    /// Value of the last minute.
    pub(super) value: f64,
    /// The median of the past.
    pub(super) usual: f64,
}

/// Whether the last of these minutes' values (nanoseconds) is a rise above their own past. The
/// past is robust: its median, and the median distance from it. After half of the minutes are slow,
/// slow is the usual.
pub(super) fn slower(values: &[f64]) -> Option<Slower> {
    let past = values.len().checked_sub(RECENT).filter(|past| *past >= PAST_MIN)?;
    let usual = median(values[..past].iter().copied())?;
    let mad = median(values[..past].iter().map(|value| (value - usual).abs()))?;
    let rise = (PART_MIN * usual.abs()).max(DEVIATIONS_MIN * DEVIATION_BY_MAD * mad);
    let limit = usual + rise.max(RISE_MIN_NS);
    let value = values.last().copied().filter(|value| *value > limit)?;
    let since = values.iter().rposition(|value| *value <= limit).map_or(0, |last| last + 1);
    let before = &values[..past.min(since)];
    let as_high = before.iter().filter(|value| **value > limit).count();
    // For values that jump between two levels the median deviation may be 0.
    if as_high * AS_HIGH_MAX > before.len() {
        return None;
    }
    Some(Slower { since, value, usual })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_rise_is_told_with_its_beginning() {
        let mut minutes = vec![1e6; 20];
        assert_eq!(slower(&minutes), None);
        minutes.extend([2e6, 2.1e6, 2.2e6]);
        let found = slower(&minutes).unwrap();
        assert_eq!((found.since, found.value, found.usual), (20, 2.2e6, 1e6));
        minutes.push(1e6);
        assert_eq!(slower(&minutes), None, "it is over");
    }

    #[test]
    fn little_past_small_rises_and_noise_say_nothing() {
        assert_eq!(slower(&[1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 9e6]), None);
        let mut minutes = vec![1e6; 20];
        minutes.push(1.19e6);
        assert_eq!(slower(&minutes), None);
        let noisy = (0..30).map(|minute| if minute % 2 == 0 { 1e6 } else { 2e6 });
        assert_eq!(slower(&noisy.collect::<Vec<_>>()), None);
    }

    proptest! {
        /// The value that rises is above the usual one, and so is every minute since.
        #[test]
        fn since_then_every_minute_is_slow(values in prop::collection::vec(-1e9..1e9, 0..80)) {
            if let Some(found) = slower(&values) {
                prop_assert!(found.value > found.usual + RISE_MIN_NS);
                prop_assert!(values[found.since..].iter().all(|value| *value > found.usual));
            }
        }
    }
}
