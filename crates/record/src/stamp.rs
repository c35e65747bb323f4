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

/// New anchor, new CPU offset, as they are due; then a stamp that all this does not count in.
#[cold]
#[inline(never)]
pub(crate) fn stamp_begin_anew(control: &Control, now: u64) -> u64 {
    if now >= control.refresh_at.get() {
        control.refresh();
    } else {
        control.reckon_cpu();
    }
    clock::ticks()
}

/// Elapsed time of what began at `start_ns` and ended at a stamp, in a replay: its clock may have
/// been moved in between, which ticks do not tell.
pub(crate) fn elapsed_in_replay(start_ns: u64, now: u64) -> u64 {
    let end_ns = clock::Anchor::now().utc_ns_of(now, clock::Scale::current());
    u64::try_from(end_ns.saturating_sub(start_ns.cast_signed())).unwrap_or(0)
}

#[cold]
#[inline(never)]
pub(crate) fn reckon_cpu(control: &Control) {
    control.reckon_cpu();
}
