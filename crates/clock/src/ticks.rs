//! The cheapest stamp of the machine.
#![allow(unsafe_code)] // the counter's instruction

use std::sync::atomic::{AtomicU8, Ordering};

/// Source of ticks on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TickSource {
    /// The processor's counter: the time stamp counter, or aarch64's virtual counter.
    Counter = 1,
    /// Nanoseconds of `CLOCK_MONOTONIC`.
    Monotonic = 2,
}

/// A [`TickSource`] as its number; 0 until somebody asked.
static SOURCE: AtomicU8 = AtomicU8::new(0);

/// The stamp, in ticks since an origin that stays the same while the machine is up.
///
/// Not a barrier: the processor may execute it a few nanoseconds away from where it stands.
#[inline(always)]
pub fn ticks() -> u64 {
    if SOURCE.load(Ordering::Relaxed) == TickSource::Counter as u8 {
        return counter();
    }
    ticks_otherwise()
}

#[cold]
fn ticks_otherwise() -> u64 {
    match tick_source() {
        TickSource::Counter => counter(),
        TickSource::Monotonic => crate::monotonic_ns(),
    }
}

/// Source of ticks on this machine. The first call detects it, later ones remember it.
pub fn tick_source() -> TickSource {
    match SOURCE.load(Ordering::Relaxed) {
        1 => TickSource::Counter,
        2 => TickSource::Monotonic,
        _ => {
            let source =
                if counter_is_usable() { TickSource::Counter } else { TickSource::Monotonic };
            SOURCE.store(source as u8, Ordering::Relaxed);
            source
        }
    }
}

/// The processor's counter, for callers who know that ticks are [`TickSource::Counter`]: one test
/// less than [`ticks`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn counter() -> u64 {
    // SAFETY: every x86-64 has rdtsc. Where the kernel forbids it to programs (PR_SET_TSC) the
    // kernel's own vDSO would fault as well.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// The rate is constant and the counter never stops (CPUID 8000_0007h, EDX bit 8), and the kernel
/// trusts it, which it does only where the processors' counters agree.
#[cfg(target_arch = "x86_64")]
fn counter_is_usable() -> bool {
    use core::arch::x86_64::__cpuid;
    let invariant =
        __cpuid(0x8000_0000).eax >= 0x8000_0007 && __cpuid(0x8000_0007).edx & (1 << 8) != 0;
    let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    invariant && std::fs::read_to_string(path).is_ok_and(|name| name.trim() == "tsc")
}

/// The processor's counter, for callers who know that ticks are [`TickSource::Counter`].
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub fn counter() -> u64 {
    let ticks: u64;
    // SAFETY: reads the virtual counter, which Linux lets programs read on every aarch64.
    unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
    ticks
}

/// The architected counter is constant and common to all processors by definition.
#[cfg(target_arch = "aarch64")]
fn counter_is_usable() -> bool {
    true
}

/// Nanoseconds of `CLOCK_MONOTONIC`: no counter is known here.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn counter() -> u64 {
    crate::monotonic_ns()
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn counter_is_usable() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_never_go_back() {
        let mut last = ticks();
        for _ in 0..100_000 {
            let now = ticks();
            assert!(now >= last);
            last = now;
        }
    }
}
