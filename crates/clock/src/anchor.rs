//! Conversion from ticks to nanoseconds: the scale (a rate) and the anchor (an instant).

use crate::{TickSource, monotonic_ns, tick_source, ticks, utc_now_ns};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bits behind the binary point of a scale.
const SHIFT: u32 = 32;
/// Duration of the first calibration, in nanoseconds. Its error is the width of two brackets, about
/// 50 ns, over this: 50 ppm, until the first refinement.
const FIRST_NS: u64 = 1_000_000;
/// Between two refinements, in nanoseconds: long enough for an error below 0.1 ppm.
const REFINE_NS: u64 = 1_000_000_000;
/// A bracket this narrow, in nanoseconds, is taken at once.
pub(crate) const NARROW_NS: u64 = 150;
/// Number of tries of a bracket that is interrupted.
const TRIES: u32 = 5;

static FIRST: Once = Once::new();
/// Nanoseconds a tick, times 2^32; 0 until calibrated.
static MULTIPLIER: AtomicU64 = AtomicU64::new(0);
/// The stamp that the next refinement measures from: ticks and monotonic nanoseconds.
static SINCE_TICKS: AtomicU64 = AtomicU64::new(0);
static SINCE_NS: AtomicU64 = AtomicU64::new(0);

/// Nanoseconds a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    multiplier: u64,
}

impl Scale {
    /// The present scale. The first call in a process calibrates for one millisecond.
    pub fn current() -> Self {
        FIRST.call_once(calibrate);
        Self { multiplier: MULTIPLIER.load(Ordering::Relaxed) }
    }

    /// Measures the scale anew against `CLOCK_MONOTONIC` when the last measurement is more than a
    /// second old. Cheap to call often; meant to be called off hot paths.
    pub fn refine() -> Self {
        let scale = Self::current();
        // A replay's clock stands and jumps: nothing can be measured against it.
        if tick_source() == TickSource::Monotonic || crate::is_virtual() {
            return scale;
        }
        let since = SINCE_NS.load(Ordering::Acquire);
        let since_ticks = SINCE_TICKS.load(Ordering::Acquire);
        if monotonic_ns().saturating_sub(since) < REFINE_NS {
            return scale;
        }
        let now = bracket(monotonic_ns);
        // One thread wins and moves the origin; the two stamps may be torn for a reader in
        // between, whose rate is then implausible and refused.
        if SINCE_NS.compare_exchange(since, now.ns, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return scale;
        }
        SINCE_TICKS.store(now.ticks, Ordering::Release);
        let refined = ratio(now.ns.saturating_sub(since), now.ticks.saturating_sub(since_ticks));
        // NTP slews by at most 500 ppm; more than 1000 off is a torn stamp or a suspension.
        if refined.abs_diff(scale.multiplier) > scale.multiplier / 1000 {
            return scale;
        }
        MULTIPLIER.store(refined, Ordering::Relaxed);
        Self { multiplier: refined }
    }

    /// A scale from its multiplier, as files keep it.
    pub const fn from_multiplier(multiplier: u64) -> Self {
        Self { multiplier }
    }

    /// Nanoseconds a tick, times 2^32.
    pub const fn multiplier(self) -> u64 {
        self.multiplier
    }

    /// A number of ticks in nanoseconds. One multiplication.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // 584 years fit
    pub const fn to_ns(self, ticks: u64) -> u64 {
        ((ticks as u128 * self.multiplier as u128) >> SHIFT) as u64
    }

    /// A signed number of ticks in nanoseconds, rounded down.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // 292 years fit
    pub const fn to_ns_signed(self, ticks: i64) -> i64 {
        // Signed by signed is one instruction; no tick takes the two seconds of the highest bit.
        ((ticks as i128 * self.multiplier.cast_signed() as i128) >> SHIFT) as i64
    }

    /// The scale that gives so many nanoseconds more in so many ticks.
    #[allow(clippy::cast_possible_truncation)] // a correction is a small part of the ticks' time
    pub(crate) fn corrected(self, more_ns: i64, ticks: u64) -> Self {
        let more = (i128::from(more_ns) << SHIFT) / i128::from(ticks.max(1));
        Self { multiplier: self.multiplier.saturating_add_signed(more as i64) }
    }

    /// The number of ticks in so many nanoseconds, rounded down; saturating.
    pub fn to_ticks(self, ns: u64) -> u64 {
        u64::try_from((u128::from(ns) << SHIFT) / u128::from(self.multiplier.max(1)))
            .unwrap_or(u64::MAX)
    }
}

/// An instant known on both scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The instant in ticks.
    pub ticks: u64,
    /// The same instant in UTC nanoseconds since 1970.
    pub utc_ns: i64,
    /// Half of the bracket in which both were read, in nanoseconds: neither is further off.
    pub error_ns_max: u64,
}

impl Anchor {
    /// Reads both clocks together. About 100 ns.
    ///
    /// In a replay it is the instant at which its clock was moved last: stamps reckoned from it
    /// advance while somebody works, although the clock stands.
    pub fn now() -> Self {
        if tick_source() == TickSource::Counter
            && let Some((ticks, utc_ns)) = crate::replay::anchor()
        {
            return Self { ticks, utc_ns: utc_ns + crate::os::offset_ns(), error_ns_max: 0 };
        }
        let pair = bracket(|| utc_now_ns().cast_unsigned());
        Self {
            ticks: pair.ticks,
            utc_ns: pair.ns.cast_signed(),
            error_ns_max: Scale::current().to_ns(pair.width_ticks) / 2,
        }
    }

    /// UTC of a stamp in ticks, before the anchor or after it.
    #[inline(always)]
    pub const fn utc_ns_of(&self, ticks: u64, scale: Scale) -> i64 {
        self.utc_ns.wrapping_add(scale.to_ns_signed(ticks.wrapping_sub(self.ticks).cast_signed()))
    }
}

struct Pair {
    ticks: u64,
    ns: u64,
    width_ticks: u64,
}

/// Reads a clock between two stamps; the narrowest of a few tries when something comes between.
fn bracket(read: impl Fn() -> u64) -> Pair {
    let narrow = match MULTIPLIER.load(Ordering::Relaxed) {
        0 => NARROW_NS, // about right for any counter near 1 GHz
        multiplier => Scale { multiplier }.to_ticks(NARROW_NS),
    };
    let mut best = Pair { ticks: 0, ns: 0, width_ticks: u64::MAX };
    for _ in 0..TRIES {
        let before = ticks();
        let ns = read();
        let after = ticks();
        let width_ticks = after.saturating_sub(before);
        if width_ticks < best.width_ticks {
            best = Pair { ticks: before + width_ticks / 2, ns, width_ticks };
        }
        if best.width_ticks <= narrow {
            break;
        }
    }
    best
}

fn calibrate() {
    if tick_source() == TickSource::Monotonic {
        MULTIPLIER.store(1 << SHIFT, Ordering::Relaxed);
        return;
    }
    if crate::is_virtual() {
        let multiplier = crate::replay::multiplier().unwrap_or_else(calibrated_by_cpu);
        MULTIPLIER.store(multiplier, Ordering::Relaxed);
        SINCE_TICKS.store(ticks(), Ordering::Relaxed);
        SINCE_NS.store(monotonic_ns(), Ordering::Release);
        return;
    }
    let first = bracket(monotonic_ns);
    while monotonic_ns() - first.ns < FIRST_NS {
        std::hint::spin_loop();
    }
    let last = bracket(monotonic_ns);
    MULTIPLIER.store(ratio(last.ns - first.ns, last.ticks - first.ticks), Ordering::Relaxed);
    SINCE_TICKS.store(first.ticks, Ordering::Relaxed);
    SINCE_NS.store(first.ns, Ordering::Release);
}

/// The scale where the monotonic clock stands while a process works and the coordinator gives no
/// scale: measured against the thread's CPU time, which is real in a replay too. Preemption only
/// makes a tick look shorter, so the longest of some is right. The work is the same every time,
/// however long it takes.
fn calibrated_by_cpu() -> u64 {
    const WINDOWS: u32 = 8;
    const TURNS: u32 = 20_000;
    let mut longest = 1;
    for _ in 0..WINDOWS {
        // The stamps enclose the readings of CPU time: whatever comes between makes ticks shorter.
        let (before_ticks, before_ns) = (ticks(), crate::thread_cpu_ns());
        for _ in 0..TURNS {
            std::hint::spin_loop();
        }
        let (ns, now) = (crate::thread_cpu_ns(), ticks());
        longest = longest.max(ratio(ns - before_ns, now - before_ticks));
    }
    longest
}

#[allow(clippy::cast_possible_truncation)] // a tick is below 2^32 ns
fn ratio(ns: u64, ticks: u64) -> u64 {
    ((u128::from(ns) << SHIFT) / u128::from(ticks.max(1))) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Never longer than right, and of the right order even where every window was disturbed.
    #[test]
    fn cpu_time_gives_about_the_same_scale() {
        let (by_cpu, by_clock) = (calibrated_by_cpu(), Scale::current().multiplier());
        assert!(by_cpu < by_clock + by_clock / 50 && by_cpu > by_clock / 10, "{by_cpu} {by_clock}");
    }

    #[test]
    fn a_scale_by_hand() {
        let two_per_ns = Scale::from_multiplier(1 << 31);
        assert_eq!(two_per_ns.to_ns(10), 5);
        assert_eq!(two_per_ns.to_ns_signed(-10), -5);
        assert_eq!(two_per_ns.to_ticks(5), 10);
        // 100 years of a 2 GHz counter do not overflow
        assert_eq!(two_per_ns.to_ns(6_311_520_000_000_000_000), 3_155_760_000_000_000_000);
    }

    #[test]
    fn an_anchor_reaches_both_ways() {
        let scale = Scale::from_multiplier(1 << 32);
        let anchor = Anchor { ticks: 100, utc_ns: 5_000, error_ns_max: 0 };
        assert_eq!(anchor.utc_ns_of(90, scale), 4_990);
        assert_eq!(anchor.utc_ns_of(130, scale), 5_030);
    }

    /// Ticks through the scale agree with the kernel's clock, to calibration and scheduling.
    #[test]
    fn the_scale_agrees_with_the_monotonic_clock() {
        let scale = Scale::current();
        let (ns, begin) = (monotonic_ns(), ticks());
        while monotonic_ns() - ns < 50_000_000 {}
        let (by_ticks, by_clock) = (scale.to_ns(ticks() - begin), monotonic_ns() - ns);
        assert!(by_ticks.abs_diff(by_clock) < 500_000, "{by_ticks} {by_clock}");
    }

    /// An anchor taken after 1.2 s agrees with stamps reckoned from the one before it: 10 µs is
    /// what the recorder promises, at an age a hundred times what it lets an anchor have.
    #[test]
    fn stamps_reckoned_from_an_old_anchor_stay_right() {
        Scale::current();
        crate::sleep(std::time::Duration::from_millis(1_100));
        let scale = Scale::refine();
        let old = Anchor::now();
        crate::sleep(std::time::Duration::from_millis(100));
        let mut off = u64::MAX;
        for _ in 0..20 {
            let new = Anchor::now();
            off = off.min(old.utc_ns_of(new.ticks, scale).abs_diff(new.utc_ns));
        }
        assert!(off < 10_000, "{off} ns off after 100 ms");
    }
}
