//! Stamps at a begin, and times between stamps.

use crate::control::Control;
use chronoscope_clock as clock;
use std::sync::atomic::{Ordering, compiler_fence};

/// A stamp on the thread's line of UTC, with a good CPU offset beside it.
#[inline(always)]
pub(crate) fn stamp_begin(control: &Control) -> u64 {
    let now = clock::ticks();
    compiler_fence(Ordering::SeqCst); // the detector after the ticks
    if now < control.refresh_at.get() && control.cpu_is_reckonable() {
        return now;
    }
    stamp_begin_anew(control, now)
}

/// How often a stamp is taken that may be behind its line's end.
const TRIES: u32 = 4;

/// New line where the former has ended, new CPU offset; and a stamp that all this does not count
/// in.
#[cold]
#[inline(never)]
pub(crate) fn stamp_begin_anew(control: &Control, now: u64) -> u64 {
    let mut stamp = now;
    // The thread may be switched away beside the CPU clock until the line has ended. Other threads
    // have a new line then, and this one would have it at its next stamp, which could come out
    // before this one. In a replay a line is for one stamp.
    for _ in 0..TRIES {
        if stamp >= control.refresh_at.get() {
            control.refresh();
        }
        stamp = control.stamp();
        if stamp < control.refresh_at.get() || clock::is_virtual() {
            break;
        }
    }
    stamp
}

/// CPU time of the thread between two stamps of its own, in ticks, within `[0, stop - start]`.
/// `offset` was good at the start; the stop was taken just now.
#[inline(always)]
pub(crate) fn cpu_ticks_between(control: &Control, start: u64, offset: i64, stop: u64) -> u64 {
    let elapsed = stop.saturating_sub(start);
    let offset_of_stop = if elapsed > control.exact_ticks.get() || !control.cpu_is_reckonable() {
        reckon_cpu_after(control, stop)
    } else {
        control.cpu_offset.get()
    };
    // With an unchanged offset the thread ran all the time: CPU is elapsed.
    let shift = offset_of_stop.wrapping_sub(offset);
    let ticks = elapsed.cast_signed().wrapping_add(shift);
    ticks.clamp(0, elapsed.cast_signed()).cast_unsigned()
}

/// Elapsed time of what began at `start_ns` and ended at a stamp, in a replay: its clock may have
/// been moved in between, which ticks do not tell.
pub(crate) fn elapsed_in_replay(start_ns: u64, now: u64) -> u64 {
    let end_ns = clock::Anchor::now().utc_ns_of(now, clock::Scale::current());
    u64::try_from(end_ns.saturating_sub(start_ns.cast_signed())).unwrap_or(0)
}

#[cold]
#[inline(never)]
fn reckon_cpu_after(control: &Control, stamp: u64) -> i64 {
    control.reckon_cpu_after(stamp)
}
