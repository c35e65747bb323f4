//! Stamps at a begin, and times between stamps.

use crate::control::Control;
use chronoscope_clock as clock;
use std::sync::atomic::{Ordering, compiler_fence};

/// A stamp with a good CPU offset and a fresh anchor beside it.
#[inline(always)]
pub(crate) fn stamp_begin(control: &Control) -> u64 {
    let now = clock::ticks();
    compiler_fence(Ordering::SeqCst); // the detector after the ticks
    if now < control.refresh_at.get() && control.cpu_is_reckonable() {
        return now;
    }
    stamp_begin_anew(control, now)
}

/// New anchor where it is due, new CPU offset; and a stamp that all this does not count in.
#[cold]
#[inline(never)]
pub(crate) fn stamp_begin_anew(control: &Control, now: u64) -> u64 {
    if now >= control.refresh_at.get() {
        control.refresh();
    }
    control.stamp()
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
