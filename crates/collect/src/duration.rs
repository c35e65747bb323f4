//! Durations as numbers.

use std::time::Duration;

/// Whole nanoseconds of a duration far below 584 years.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
