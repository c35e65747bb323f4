//! Opening a frame for a transaction: what the hot and the slow path have in common.
#![allow(unsafe_code)] // the correlator beside a frame

use crate::control::{Control, Ending, FLAGS_SHIFT, FrameKind, LEVEL_SHIFT, Private};
use crate::layout::{Statistics, word};
use crate::lineage::{Lineage, lineage_under};
use crate::stamp::stamp_begin;
use chronoscope_model::{ClassId, Correlator, NO_PROCESS_CPU};
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::fence;

/// Open transaction of a guard: 16 bytes that travel in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opened {
    pub(crate) index: u32,
    /// 0 where nothing was opened.
    pub(crate) id: u64,
}

impl Opened {
    /// Nothing was opened. No frame has this index.
    pub(crate) const NONE: Self = Self { index: u32::MAX - 1, id: 0 };
}

/// Opens as [`open`] does, under a correlator, which is stored beside the frame.
#[inline(always)]
pub(crate) fn open_with(
    control: &Control,
    depth: u32,
    class: ClassId,
    statistics: *const Statistics,
    parent: &Correlator,
) -> Opened {
    // SAFETY: the frame at `depth` is free, and so is the correlator beside it.
    unsafe { (*control.inherited[depth as usize].get()).write(parent.clone()) };
    let opened = open(control, depth, class, statistics, lineage_under(parent, class));
    control.private(depth).kind.set(FrameKind::Explicit);
    opened
}

/// Fills the frame at `depth`, which must be free, and stamps.
#[inline(always)]
pub(crate) fn open(
    control: &Control,
    depth: u32,
    class: ClassId,
    statistics: *const Statistics,
    lineage: Lineage,
) -> Opened {
    let id = control.next_id.get();
    let private = control.private(depth);
    let frame = control.frame(depth);
    frame.ready.store(0, Relaxed);
    fence(Release);
    let set = |index: usize, value: u64| frame.words[index].store(value, Relaxed);
    set(word::PROCESS_CPU, NO_PROCESS_CPU); // this and PROCESS: for what is begun on it
    set(word::CHAIN_HIGH, lineage.chain_high);
    set(word::CHAIN_LOW, lineage.chain_low);
    set(word::PARENT, lineage.parent);
    set(word::CLASS, class.0);
    set(word::PATH, lineage.path.0);
    set(word::ROOT_PROCESS, lineage.root_process);
    set(word::PROCESS, control.process_id.get());
    let level = lineage.level << LEVEL_SHIFT;
    let thread = control.thread.get() | u64::from(lineage.flags) << FLAGS_SHIFT;
    set(word::CONTEXT, level);
    set(word::THREAD, thread);
    private.tail.set(level, thread);
    if let Some(root_start_ns) = lineage.root_start_ns {
        set(word::ROOT_START, root_start_ns.cast_unsigned());
    }
    fill_private(control, private, id, statistics);
    if control.hot_depth_max.get() == 0 {
        private.ending.set(Ending::Slow);
    }
    let now = stamp_begin(control);
    publish(control, depth, id, now, lineage.root_start_ns.is_none())
}

#[inline(always)]
pub(crate) fn fill_private(
    control: &Control,
    private: &Private,
    id: u64,
    statistics: *const Statistics,
) {
    control.next_id.set(id + 1);
    private.id.set(id);
    private.statistics.set(statistics);
    private.context_len.set(0);
    private.kind.set(FrameKind::Nested);
    private.ending.set(Ending::Hot);
}

/// The rest of [`open`], once all is there but what comes from the stamp.
#[inline(always)]
pub(crate) fn publish(control: &Control, depth: u32, id: u64, now: u64, is_root: bool) -> Opened {
    let (frame, private) = (control.frame(depth), control.private(depth));
    private.start_ticks.set(now);
    private.cpu_offset.set(control.cpu_offset.get());
    let start_ns = control.utc_ns_of(now).cast_unsigned();
    frame.words[word::START].store(start_ns, Relaxed);
    if is_root {
        frame.words[word::ROOT_START].store(start_ns, Relaxed);
    }
    frame.ready.store(id, Release);
    control.set_depth(depth + 1);
    Opened { index: depth, id }
}
