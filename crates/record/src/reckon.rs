//! The thread's CPU time at a stamp.
//!
//! An *offset* is what is added to a stamp to get the thread's CPU time at it, both in ticks. It
//! comes from a reading: the thread's CPU clock (a system call) between two stamps. The thread may
//! be switched away anywhere around the reading, and the time away must not become CPU time or be
//! taken from it. Therefore there are two offsets:
//!
//! * that of a given stamp, for the begin or the end of a transaction: it is right whenever the
//!   thread is switched away, because the CPU clock stands meanwhile;
//! * that of the stamps to come, which is right while a detector ([`crate::cpu`]) sees no switch.

#![allow(clippy::cast_possible_truncation)] // centuries of CPU time fit

use chronoscope_clock::{self as clock, Scale};

/// Stamps and a reading within this time, in nanoseconds, are taken as uninterrupted: to switch to
/// another thread and back takes longer. An offset is wrong by less than this.
const UNINTERRUPTED_NS: u64 = 1_000;

/// A thread's CPU time, counted in ticks.
///
/// A count and not a product: when the scale is refined by a millionth, hours of CPU time times the
/// scale would jump by milliseconds, which would be added to the transactions that are open.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CpuCount {
    /// The last reading, in nanoseconds.
    ns: u64,
    ticks: u64,
    /// What the last reading had beyond whole ticks, in nanoseconds times 2^32.
    rest: u64,
}

impl CpuCount {
    /// Counts up to the thread's CPU time, in nanoseconds.
    fn count_to(&mut self, cpu_ns: u64, scale: Scale) {
        let more = (u128::from(cpu_ns.saturating_sub(self.ns)) << 32) + u128::from(self.rest);
        let tick = u128::from(scale.multiplier().max(1));
        self.ns = cpu_ns;
        self.ticks = self.ticks.wrapping_add((more / tick) as u64);
        self.rest = (more % tick) as u64;
    }

    /// Nanoseconds of a CPU time in ticks, which must be near the last reading.
    pub(crate) fn ns_of(&self, cpu_ticks: u64, scale: Scale) -> u64 {
        let since = scale.to_ns_signed(cpu_ticks.wrapping_sub(self.ticks).cast_signed());
        self.ns.saturating_add_signed(since)
    }
}

/// The thread's CPU clock, read between two stamps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    before: u64,
    cpu_ticks: u64,
    after: u64,
}

impl Reading {
    /// Reads the clock now, and counts up to it.
    pub(crate) fn take(count: &mut CpuCount, scale: Scale) -> Self {
        let before = clock::ticks();
        let cpu_ns = clock::thread_cpu_ns();
        let after = clock::ticks();
        count.count_to(cpu_ns, scale);
        Self { before, cpu_ticks: count.ticks, after }
    }

    /// The offset of the stamps to come, good if the thread is not switched away from before the
    /// reading on.
    pub(crate) fn offset(&self) -> i64 {
        let middle = self.before + self.after.saturating_sub(self.before) / 2;
        self.cpu_ticks.wrapping_sub(middle).cast_signed()
    }

    /// The offset of one stamp, which was taken shortly before the reading or after it. Where the
    /// thread may have been switched away between the two, its CPU time at the reading is taken for
    /// that at the stamp: what the recorder itself has used in between counts, and time away does
    /// not.
    pub(crate) fn offset_of(&self, stamp: u64, scale: Scale) -> i64 {
        let (first, last) = (self.before.min(stamp), self.after.max(stamp));
        if scale.to_ns(last.saturating_sub(first)) < UNINTERRUPTED_NS {
            return self.offset();
        }
        self.cpu_ticks.wrapping_sub(stamp).cast_signed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One tick a nanosecond.
    const NANOSECONDS: Scale = Scale::from_multiplier(1 << 32);

    /// CPU time between a reading's stamp and another's, in ticks.
    fn between((start, begun): (u64, Reading), (stop, ended): (u64, Reading)) -> i64 {
        let elapsed = stop.wrapping_sub(start).cast_signed();
        let shift =
            ended.offset_of(stop, NANOSECONDS).wrapping_sub(begun.offset_of(start, NANOSECONDS));
        elapsed + shift
    }

    /// A thread works for 2 ms from 1000 to 2,001,000, with a reading of 200 ns on either side.
    #[test]
    fn a_reading_is_at_the_middle_of_its_stamps() {
        let begun = Reading { before: 800, cpu_ticks: 900, after: 1_000 };
        let ended = Reading { before: 2_001_010, cpu_ticks: 2_001_110, after: 2_001_210 };
        assert_eq!(begun.offset(), 0);
        assert_eq!(between((1_000, begun), (2_001_000, ended)), 2_000_000);
    }

    /// The same thread is switched away for 30 ms somewhere: in the first reading, before the start,
    /// at work, after the stop, in the second reading. Its CPU time stays 2 ms, to what the readings
    /// take themselves.
    #[test]
    fn time_away_beside_a_reading_is_not_taken_from_the_work() {
        const AWAY: u64 = 30_000_000;
        for place in 0..5 {
            let at = |index: usize, ticks: u64| if index > place { ticks + AWAY } else { ticks };
            let begun = Reading { before: 800, cpu_ticks: 900, after: at(1, 1_000) };
            let (start, stop) = (at(2, 1_000), at(3, 2_001_000));
            let before = at(4, 2_001_010);
            let ended = Reading { before, cpu_ticks: 2_001_110, after: at(5, 2_001_210) };
            let cpu = between((start, begun), (stop, ended));
            assert!((2_000_000..=2_000_210).contains(&cpu), "away at {place}: {cpu}");
        }
    }

    /// A thread that has worked for ten hours; the scale is then refined by 0.1 ppm, in the middle
    /// of a transaction of 1 ms.
    #[test]
    fn a_refined_scale_adds_nothing_to_what_is_open() {
        let refined = Scale::from_multiplier((1 << 32) + (1 << 32) / 10_000_000);
        let mut count = CpuCount::default();
        count.count_to(36_000_000_000_000, NANOSECONDS);
        let begun = count.ticks;
        count.count_to(36_000_001_000_000, refined);
        assert!((999_998..=1_000_000).contains(&(count.ticks - begun)), "{}", count.ticks - begun);
        assert_eq!(count.ns_of(count.ticks + 5, refined), 36_000_001_000_005);
    }

    /// Ticks of 41.7 ns, as many aarch64 processors have them: readings that are no whole number of
    /// ticks apart lose nothing in the sum.
    #[test]
    fn parts_of_ticks_are_not_lost() {
        let scale = Scale::from_multiplier((1u64 << 32) * 125 / 3);
        let mut count = CpuCount::default();
        for reading in 1..=10_000 {
            count.count_to(reading * 100, scale);
        }
        // 1 ms is 24,000 ticks.
        assert!((23_999..=24_000).contains(&count.ticks), "{}", count.ticks);
    }
}
