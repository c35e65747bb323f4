//! Resolution of the clock: its smallest step, and the cost of reading it.

use chronoscope_clock as clock;
use serde::Serialize;

/// Reads by which the clock is measured: a fraction of a millisecond.
const READS: u32 = 4096;

/// The clock by which round trips are measured, measured by itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Timer {
    /// Shortest time seen between two consecutive different stamps, in nanoseconds: the smallest
    /// duration that can be measured.
    pub step_ns: u64,
    /// Mean duration of one reading, in nanoseconds. A round trip contains about one.
    pub read_ns: f64,
}

impl Timer {
    /// Measures it, now and here.
    #[must_use]
    pub fn measure() -> Self {
        let began_ns = clock::monotonic_ns();
        let (mut last_ns, mut step_ns) = (began_ns, u64::MAX);
        for _ in 0..READS {
            let now_ns = clock::monotonic_ns();
            if now_ns > last_ns {
                step_ns = step_ns.min(now_ns - last_ns);
            }
            last_ns = now_ns;
        }
        let took_ns = last_ns - began_ns;
        // A clock that stood still all the while has steps longer than that.
        let step_ns = if step_ns == u64::MAX { took_ns.max(1) } else { step_ns };
        Self { step_ns, read_ns: took_ns as f64 / f64::from(READS) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_has_steps_and_a_cost() {
        let timer = Timer::measure();
        assert!(timer.step_ns >= 1 && timer.read_ns > 0.0, "{timer:?}");
        assert!(timer.step_ns as f64 <= timer.read_ns * f64::from(READS), "{timer:?}");
    }
}
