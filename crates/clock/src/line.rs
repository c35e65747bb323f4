//! UTC as a function of ticks: straight lines that join.
//!
//! An anchor is some tens of nanoseconds off, and the next one by another amount. Stamps that are
//! converted with two anchors may therefore change places: a transaction would start before its
//! parent. So a line is not drawn through its anchor. It begins where the former line ended, and
//! reaches what the anchor says at its own end: UTC never steps back while ticks advance.

use crate::anchor::NARROW_NS;
use crate::{Anchor, Scale};

/// Length of a line, in nanoseconds. A crystal that is 100 ppm off its measured rate is then 1 µs
/// wrong, and a step of the clock is detected after this time.
const LENGTH_NS: u64 = 10_000_000;
/// What a line corrects at most, in nanoseconds: its slope is within a thousandth of the scale. NTP
/// slews half as fast. A clock that is further off has been set.
const CORRECTION_NS_MAX: u64 = LENGTH_NS / 1_000;
/// An anchor with an error up to this, in nanoseconds, counts in full: the usual one.
const ERROR_NS_USUAL: u64 = NARROW_NS / 2;

/// UTC over a range of ticks. All threads of a process convert with the same lines, which join:
/// stamps of one process keep their order, unless the system's clock is set back.
///
/// A stamp is off by no more than twice the error of an anchor (about 50 ns) and what the clock and
/// the measured scale differ by in 10 ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UtcLine {
    pub(crate) start_ticks: u64,
    pub(crate) start_utc_ns: i64,
    pub(crate) slope: Scale,
    pub(crate) end_ticks: u64,
}

impl UtcLine {
    /// The first tick of the line.
    pub const fn start_ticks(&self) -> u64 {
        self.start_ticks
    }

    /// UTC at the first tick, in nanoseconds since 1970.
    pub const fn start_utc_ns(&self) -> i64 {
        self.start_utc_ns
    }

    /// Nanoseconds of UTC a tick: the scale, and what the line corrects.
    pub const fn slope(&self) -> Scale {
        self.slope
    }

    /// The first tick behind the line, at which the next one begins. In a replay it is the start:
    /// the clock may jump at any moment, and every stamp needs a line of its own.
    pub const fn end_ticks(&self) -> u64 {
        self.end_ticks
    }

    /// UTC of a stamp on the line.
    #[inline(always)]
    pub const fn utc_ns_of(&self, ticks: u64) -> i64 {
        let since = ticks.wrapping_sub(self.start_ticks).cast_signed();
        self.start_utc_ns.wrapping_add(self.slope.to_ns_signed(since))
    }

    /// The line that begins at an anchor, and corrects nothing.
    pub(crate) fn from_anchor(anchor: &Anchor, scale: Scale) -> Self {
        Self {
            start_ticks: anchor.ticks,
            start_utc_ns: anchor.utc_ns,
            slope: scale,
            end_ticks: anchor.ticks.saturating_add(scale.to_ticks(LENGTH_NS)),
        }
    }

    /// The next line, by an anchor that was read after the end of this one.
    ///
    /// It begins at this one's end, with its UTC there, and is at its own end where the anchor and
    /// the scale say; of an anchor that was read around a preemption only what it proves counts.
    /// Where that is more than a line corrects, the clock has been set: the next line then begins
    /// at the anchor. It does so too when nobody has asked for longer than a line: there is no stamp
    /// that it could join.
    pub(crate) fn next(&self, anchor: &Anchor, scale: Scale) -> Self {
        let straight = Self::from_anchor(anchor, scale);
        let Some(late) = anchor.ticks.checked_sub(self.end_ticks) else { return straight };
        if scale.to_ns(late) > LENGTH_NS {
            return straight;
        }
        let start_utc_ns = self.utc_ns_of(self.end_ticks);
        let behind_ns = straight.utc_ns_of(self.end_ticks).saturating_sub(start_utc_ns);
        let unsure_ns = anchor.error_ns_max.saturating_sub(ERROR_NS_USUAL);
        let proved_ns = behind_ns.unsigned_abs().saturating_sub(unsure_ns);
        if proved_ns > CORRECTION_NS_MAX {
            return straight;
        }
        let corrected_ns = behind_ns.signum() * proved_ns.cast_signed();
        Self {
            start_ticks: self.end_ticks,
            start_utc_ns,
            slope: scale.corrected(corrected_ns, straight.end_ticks - self.end_ticks),
            end_ticks: straight.end_ticks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One tick a nanosecond.
    const NANOSECONDS: Scale = Scale::from_multiplier(1 << 32);
    const LENGTH: u64 = LENGTH_NS;

    const fn anchor(ticks: u64, utc_ns: i64) -> Anchor {
        Anchor { ticks, utc_ns, error_ns_max: 75 }
    }

    /// The case that used to go wrong: a parent 10 ns before an anchor's end, and its child 60 ns
    /// later, when a new anchor has been read that is 100 ns behind the former one. By the anchors
    /// alone the child starts first.
    #[test]
    fn a_child_starts_after_its_parent_when_the_anchor_is_renewed_between_them() {
        let former = UtcLine::from_anchor(&anchor(1_000, 5_000), NANOSECONDS);
        let (parent, child) = (former.end_ticks - 10, former.end_ticks + 50);
        let renewed = anchor(former.end_ticks + 20, 5_000 + LENGTH.cast_signed() + 20 - 100);
        let alone = UtcLine::from_anchor(&renewed, NANOSECONDS);
        assert_eq!(former.utc_ns_of(parent) - alone.utc_ns_of(child), 40);

        let next = former.next(&renewed, NANOSECONDS);
        assert_eq!(next.start_ticks(), former.end_ticks());
        assert_eq!(next.start_utc_ns(), 5_000 + LENGTH.cast_signed());
        // 100 ns in 10 ms: one in 100,000, which is nothing in 60 ns.
        assert!((59..=60).contains(&(next.utc_ns_of(child) - former.utc_ns_of(parent))));
        // And at its end it is where the anchor says.
        let end = next.end_ticks();
        assert!((alone.utc_ns_of(end) - next.utc_ns_of(end)).abs() <= 1);
    }

    /// Numbers as of a bad coin, the same every time.
    struct Noise(u64);

    impl Noise {
        fn next(&mut self, range: std::ops::RangeInclusive<i64>) -> i64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let width = u64::try_from(range.end() - range.start() + 1).unwrap();
            range.start() + (self.0 >> 33).rem_euclid(width).cast_signed()
        }
    }

    /// The promise in the docs, for a counter whose true rate differs from the measured one by up to
    /// 500 ppm, and anchors that are up to 100 ns off and are read up to 8 ms late: UTC never steps
    /// back, and is off by no more than an anchor and what the rate does in 10 ms.
    #[test]
    fn utc_never_steps_back_and_is_within_its_bound() {
        let mut noise = Noise(1);
        for rate_ppm in [-500_i64, -50, 0, 1, 50, 500] {
            let utc_of = |ticks: u64| {
                let ticks = i128::from(ticks);
                i64::try_from(ticks + ticks * i128::from(rate_ppm) / 1_000_000).unwrap()
            };
            let mut line = UtcLine::from_anchor(&anchor(0, 0), NANOSECONDS);
            let mut last_ns = i64::MIN;
            for _ in 0..2_000 {
                let (start, end) = (line.start_ticks(), line.end_ticks());
                let middle = start + (end - start) / 2;
                for ticks in [start, start + 1, middle, end - 1] {
                    let utc_ns = line.utc_ns_of(ticks);
                    assert!(utc_ns >= last_ns, "{rate_ppm}: {utc_ns} after {last_ns}");
                    last_ns = utc_ns;
                    let off = utc_ns.abs_diff(utc_of(ticks));
                    let bound = 100 + 2 + rate_ppm.unsigned_abs() * 10;
                    assert!(off <= bound, "{rate_ppm}: {off} ns off at {ticks}");
                }
                let late = noise.next(0..=8_000_000).cast_unsigned();
                let read = anchor(end + late, utc_of(end + late) + noise.next(-100..=100));
                line = line.next(&read, NANOSECONDS);
                assert_eq!(line.start_ticks(), end, "a step at {rate_ppm} ppm");
            }
        }
    }

    #[test]
    fn a_clock_that_was_set_is_followed_at_once() {
        let line = UtcLine::from_anchor(&anchor(0, 0), NANOSECONDS);
        for step_ns in [-3_600_000_000_000, -11_000, 11_000, 3_600_000_000_000] {
            let set = anchor(LENGTH + 500, LENGTH.cast_signed() + 500 + step_ns);
            assert_eq!(line.next(&set, NANOSECONDS), UtcLine::from_anchor(&set, NANOSECONDS));
        }
        for step_ns in [-10_000, 10_000] {
            let slewed = anchor(LENGTH + 500, LENGTH.cast_signed() + 500 + step_ns);
            let next = line.next(&slewed, NANOSECONDS);
            assert_eq!(next.start_utc_ns(), LENGTH.cast_signed());
            let off_ns =
                slewed.utc_ns_of(next.end_ticks(), NANOSECONDS) - next.utc_ns_of(next.end_ticks());
            assert!(off_ns.abs() <= 1, "{off_ns}");
        }
    }

    /// An anchor that was read around a preemption moves the line only to where it proves that UTC
    /// is, and the good one after it finds no step.
    #[test]
    fn an_anchor_counts_for_what_it_proves() {
        let line = UtcLine::from_anchor(&anchor(0, 0), NANOSECONDS);
        for off_ns in [-800_000, 800_000] {
            let off = anchor(LENGTH, LENGTH.cast_signed() + off_ns);
            let next = line.next(&Anchor { error_ns_max: 900_000, ..off }, NANOSECONDS);
            assert_eq!(next.utc_ns_of(2 * LENGTH), 2 * LENGTH.cast_signed());
            let next = line.next(&Anchor { error_ns_max: 799_075, ..off }, NANOSECONDS);
            let moved_ns = next.utc_ns_of(2 * LENGTH) - 2 * LENGTH.cast_signed();
            assert!((moved_ns - 1_000 * off_ns.signum()).abs() <= 1, "{moved_ns}");
            let good = anchor(2 * LENGTH, 2 * LENGTH.cast_signed());
            assert_eq!(next.next(&good, NANOSECONDS).start_utc_ns(), next.utc_ns_of(2 * LENGTH));
        }
    }

    /// A process that has recorded nothing for an hour does not carry the former line's rate along.
    #[test]
    fn a_line_long_past_is_not_continued() {
        let line = UtcLine::from_anchor(&anchor(0, 0), NANOSECONDS);
        let later = anchor(3_600_000_000_000, 3_600_000_300_000);
        assert_eq!(line.next(&later, NANOSECONDS), UtcLine::from_anchor(&later, NANOSECONDS));
    }
}
