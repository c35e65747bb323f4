//! Closing the topmost frame of a thread, off the hot path.
#![allow(unsafe_code)] // statistics in the ring

use crate::commit::{self, Ended};
use crate::control::{Control, Ending, FrameKind};
use crate::issued::publish_path;
use crate::layout::word;
use crate::stamp::{cpu_ticks_between, elapsed_in_replay};
use chronoscope_clock as clock;
use chronoscope_model::{NO_PROCESS_CPU, Status};
use std::sync::atomic::Ordering::Relaxed;

/// Ends the transaction in the topmost frame, which must be one.
#[inline(always)]
pub(crate) fn close(control: &Control, depth: u32, now: u64, status: Status, process_cpu: u64) {
    let private = control.private(depth);
    let start = private.start_ticks.get();
    let cpu_ticks = cpu_ticks_between(control, start, private.cpu_offset.get(), now);
    let scale = control.scale();
    let frame = control.frame(depth);
    let elapsed_ns = if clock::is_virtual() {
        elapsed_in_replay(frame.words[word::START].load(Relaxed), now)
    } else {
        scale.to_ns(now.saturating_sub(start))
    };
    let ended = Ended {
        id: private.id.get(),
        elapsed_ns,
        cpu_ns: scale.to_ns(cpu_ticks).min(elapsed_ns) & control.cpu_mask.get(),
        process_cpu_ns: process_cpu,
        status,
        context_len: private.context_len.get(),
        flags: private.flags(),
        links: control.links(depth),
    };
    // SAFETY: statistics of the class, set when the frame was opened; never null, never freed.
    let statistics = unsafe { &*private.statistics.get() };
    commit::write(control, frame, &ended, statistics);
    if commit::is_new_path(control, frame) {
        publish_path(control, depth);
    }
    control.set_depth(depth);
}

/// Ends the topmost frame, whatever it is.
pub(crate) fn end_top(control: &Control, now: u64, status: Status) {
    let depth = control.depth.get() - 1;
    let private = control.private(depth);
    if matches!(private.kind.get(), FrameKind::Borrowed | FrameKind::Left) {
        return control.set_depth(depth);
    }
    let process_cpu = if private.ending.get() == Ending::ProcessCpu {
        clock::process_cpu_ns().saturating_sub(control.process_cpu_ns[depth as usize].get())
    } else {
        NO_PROCESS_CPU
    };
    close(control, depth, now, status, process_cpu);
}

/// Ends all that is open above `depth` frames, ABORTED, innermost first.
pub(crate) fn abort_above(control: &Control, depth: u32) {
    while control.depth.get() > depth {
        end_top(control, clock::ticks(), Status::Aborted);
    }
}
